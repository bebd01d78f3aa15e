"""Products as they are swept: of f32 with either factor transposed, and of f64, bf16, f16, f8 and i8.

Peers compute the closest operation they have: NumPy and torch have no product of f8, and are given the same numbers in
f32. torch rounds the result of bf16 to bf16, and has no other on a CPU: kernels store the sums in f32, twice the bytes,
but those that are `rounded`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
from cases import AHEAD, KERNELS, Action, Array, Case, close, normal, tiles, torch, written
from table import Skipped

DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "i8": np.int8,
}
SUMS = {"i8": np.int32, "f64": np.float64}
TOLERANCE = {"float32": 1e-5, "float64": 1e-13, "int32": 0.0, "bfloat16": 2.0**-8}
OWN_TYPES = {"f64": "float64", "f32": "float32", "bf16": "bfloat16", "f16": "float16"}
"""Element types that torch multiplies, by its names."""


@dataclass(frozen=True)
class Kind:
    """A product of `element`; a factor lies as it is multiplied, or transposed. `rounded`: the result is stored in
    `element`, too."""

    element: str
    a_transposed: bool = False
    b_transposed: bool = True
    rounded: bool = False


def _text(kind: Kind) -> str:
    base = {"f32": "f32", "f64": "f32", "i8": "i8"}.get(kind.element, "bf16")
    text = (KERNELS / f"gemm_{base}.mlir").read_text(encoding="utf-8").replace(base, kind.element)
    view = f"tensor_view<?x?x{kind.element}, strides=[?,1]>"
    if not kind.b_transposed:
        text = text.replace("[%N, %K]", "[%K, %N]").replace(f"{view}, dim_map=[1, 0]>", f"{view}>")
    if kind.a_transposed:
        padded = f"partition_view<tile=(128x64), padding_value = zero, {view}"
        text = text.replace("[%M, %K]", "[%K, %M]").replace(f"{padded}>", f"{padded}, dim_map=[1, 0]>")
    return _rounded(text, kind.element) if kind.rounded else text


def _rounded(text: str, element: str) -> str:
    """The kernel that rounds its sums of f32 to `element` before they are stored."""
    for type in ("tile<ptr<{}>>", "tensor_view<?x?x{}, strides=[?,1]>"):
        text = text.replace(type.format("f32"), type.format(element))
    sums, numbers = "tile<128x128xf32>", f"tile<128x128x{element}>"
    before, store = text.split("    %written =")
    store = store.replace("%sum", "%rounded").replace(f"{sums},", f"{numbers},")
    return f"{before}    %rounded = ftof %sum : {sums} -> {numbers}\n    %written ={store}"


def _kernel(kind: Kind) -> Path:
    return written(f"gemm_{kind.element}_{kind.a_transposed:d}_{kind.b_transposed:d}_{kind.rounded:d}", _text(kind))


def _numbers(element: str, rows: int, columns: int, seed: int) -> Array:
    if element == "i8":
        return np.random.default_rng(seed).integers(-128, 128, (rows, columns)).astype(np.int8)
    return (normal(rows, columns) * seed).astype(DTYPES[element])


def _peers(kind: Kind, a: Array, b: Array) -> dict[str, Action]:
    """`a` and `b` as they lie in memory."""
    peers: dict[str, Action] = {}
    wide = "f64" if kind.element == "f64" else "f32"
    left, right = (array.astype(DTYPES[wide]) for array in (a, b))
    left, right = left.T if kind.a_transposed else left, right.T if kind.b_transposed else right
    if kind.element != "i8":
        peers[f"NumPy {wide}"] = lambda: np.matmul(left, right)
    with suppress(Skipped):
        library = torch()
        own = getattr(library, OWN_TYPES.get(kind.element, "float32"))
        x, y = (library.from_numpy(array.astype(np.float32)).to(own) for array in (a, b))
        if kind.element == "i8":
            x, y = library.from_numpy(a), library.from_numpy(b)
        x, y = x.T if kind.a_transposed else x, y.T if kind.b_transposed else y
        if kind.element == "i8":
            peers["torch._int_mm"] = lambda: library._int_mm(x, y)
        else:
            peers[f"torch {OWN_TYPES.get(kind.element, 'float32')}"] = lambda: library.mm(x, y)
    return peers


def _case(kind: Kind, rows: int, columns: int, depth: int) -> Case:
    a = _numbers(kind.element, *((depth, rows) if kind.a_transposed else (rows, depth)), 1)
    b = _numbers(kind.element, *((columns, depth) if kind.b_transposed else (depth, columns)), 2)
    out = np.zeros((rows, columns), DTYPES[kind.element] if kind.rounded else SUMS.get(kind.element, np.float32))

    def check() -> None:
        left, right = (array.astype(np.float64) for array in (a, b))
        left, right = left.T if kind.a_transposed else left, right.T if kind.b_transposed else right
        close(out, left @ right, TOLERANCE[out.dtype.name])

    arguments = (a, b, out, rows, columns, depth, a.shape[1], b.shape[1], columns)
    grid = tiles(rows, 128), tiles(columns, 128)
    title = f"GEMM {kind.element} {rows} x {columns} x {depth}"
    return Case(title, _kernel(kind), "gemm_views", grid, arguments, check, _peers(kind, a, b), AHEAD)


KINDS = {
    "gemm_b_plain": Kind("f32", b_transposed=False),
    "gemm_a_transposed": Kind("f32", a_transposed=True, b_transposed=False),
    "gemm_f64": Kind("f64"),
    "gemm_f64_b_plain": Kind("f64", b_transposed=False),
    "gemm_bf16": Kind("bf16"),
    "gemm_bf16_b_plain": Kind("bf16", b_transposed=False),
    "gemm_bf16_rounded": Kind("bf16", rounded=True),
    "gemm_bf16_b_plain_rounded": Kind("bf16", b_transposed=False, rounded=True),
    "gemm_f16": Kind("f16"),
    "gemm_f8": Kind("f8E4M3FN"),
    "gemm_i8": Kind("i8"),
}
"""The sweeps, by name."""
CASES = {name: lambda *extents, kind=kind: _case(kind, *extents) for name, kind in KINDS.items()}
