"""The measured kernels, with arguments, peers, and a check of their results.

Kernels are the example programs and, where those differ in element type or size, the files in ``bench/kernels``. Import
this before NumPy and torch: both are told how many threads they have when they are loaded.
"""

from __future__ import annotations

import os
import tempfile

from tileir.cpu.run.threads import default_threads

THREADS = default_threads()
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", str(THREADS))

from collections.abc import Callable  # noqa: E402
from contextlib import suppress  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from functools import cache  # noqa: E402
from pathlib import Path  # noqa: E402

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from table import Skipped  # noqa: E402

import tileir  # noqa: E402
from tileir.examples import FOLDER as EXAMPLES  # noqa: E402

KERNELS = Path(__file__).parent / "kernels"
PRODUCT_AIM, HALF_AIM, BF16_AIM, AHEAD = 0.9, 0.8, 0.6, 1.0
STREAM_AIM, FUSED_AIM = 0.95, 4.0

Array = np.ndarray
Action = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """One kernel and its peers. ``check`` raises AssertionError for a wrong result in the arguments."""

    name: str
    path: Path
    kernel: str
    grid: tuple[int, ...]
    arguments: tuple[object, ...]
    check: Action
    peers: dict[str, Action]
    aim: float


def launcher(case: Case, **options: object) -> Action:
    """A launch of the case; the kernel is loaded afresh."""
    kernel = tileir.load(case.path)[case.kernel]
    grid, arguments = (*case.grid, 1, 1)[:3], case.arguments
    return lambda: kernel.launch(grid, *arguments, target="cpu", **options)


def torch() -> object:
    try:
        import torch
    except ImportError:
        raise Skipped("torch is not installed: pip install '.[bench]'") from None
    torch.set_num_threads(THREADS)
    return torch


def tiles(extent: int, tile: int) -> int:
    return -(-extent // tile)


def close(got: Array, expected: Array, tolerance: float) -> None:
    """Every element is right to within `tolerance` of the largest."""
    error = np.max(np.abs(np.asarray(got, np.float64) - expected)) / np.max(np.abs(expected))
    assert error <= tolerance, f"off by {error:.2g} of the largest element, expected at most {tolerance:g}"


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="tileir-bench-")


def written(name: str, text: str) -> Path:
    """The file of a kernel that a benchmark makes; it is gone when the process ends."""
    path = Path(_folder().name) / f"{name}.mlir"
    path.write_text(text, encoding="utf-8")
    return path


def normal(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)


# ---------------------------------------------------------------- matrix products

SIZE = 2048


def _product(
    name: str,
    path: Path,
    kernel: str,
    given: tuple[Array, Array],
    out: Array,
    peers: dict[str, Action],
    transposed: bool,
    aim: float,
) -> Case:
    a, b = given

    def check() -> None:
        right = b.T if transposed else b
        close(out, a.astype(np.float64) @ right.astype(np.float64), 1e-5)

    (rows, columns), depth = out.shape, a.shape[1]
    arguments = (a, b, out, rows, columns, depth, depth, b.shape[1], columns)
    return Case(name, path, kernel, (tiles(rows, 128), tiles(columns, 128)), arguments, check, peers, aim)


def gemm_f32(rows: int = SIZE, columns: int = SIZE, depth: int = SIZE) -> Case:
    """A product with B transposed, as OpenBLAS and torch take it without a copy."""
    a, b = normal(rows, depth), normal(columns, depth)
    mine, theirs = np.zeros((rows, columns), np.float32), np.zeros((rows, columns), np.float32)
    peers: dict[str, Action] = {"NumPy f32": lambda: np.matmul(a, b.T, out=theirs)}
    with suppress(Skipped):
        library = torch()
        x, y, z = (library.from_numpy(array) for array in (a, b, theirs))
        peers["torch"] = lambda: library.mm(x, y.T, out=z)
    name = f"GEMM f32 {rows}" if rows == columns == depth else f"GEMM f32 {rows} x {columns} x {depth}"
    return _product(name, KERNELS / "gemm_f32.mlir", "gemm_views", (a, b), mine, peers, True, PRODUCT_AIM)


def gemm_f16() -> Case:
    a, b = normal(SIZE, SIZE), normal(SIZE, SIZE)
    narrow = a.astype(np.float16), b.astype(np.float16)
    mine, theirs = np.zeros((SIZE, SIZE), np.float32), np.zeros((SIZE, SIZE), np.float32)
    peers = {"NumPy f32": lambda: np.matmul(a, b, out=theirs)}
    path = EXAMPLES / "gemm_kloop.mlir"
    return _product("GEMM f16 -> f32 2048", path, "gemm_kloop_kernel", narrow, mine, peers, False, HALF_AIM)


def gemm_bf16() -> Case:
    library = torch()
    a, b = (normal(SIZE, SIZE).astype(ml_dtypes.bfloat16) for _ in range(2))
    x, y = (library.from_numpy(array.astype(np.float32)).bfloat16() for array in (a, b))
    mine = np.zeros((SIZE, SIZE), np.float32)
    peers = {"torch bf16": lambda: x @ y.T}
    return _product(
        "GEMM bf16 -> f32 2048", KERNELS / "gemm_bf16.mlir", "gemm_views", (a, b), mine, peers, True, BF16_AIM
    )


def gemm_i8() -> Case:
    library = torch()
    random = np.random.default_rng(0)
    a, b = (random.integers(-128, 128, (SIZE, SIZE)).astype(np.int8) for _ in range(2))
    x, y = library.from_numpy(a), library.from_numpy(b)
    mine = np.zeros((SIZE, SIZE), np.int32)
    peers = {"torch._int_mm": lambda: library._int_mm(x, y.T)}
    return _product("mmai i8 -> i32 2048", KERNELS / "gemm_i8.mlir", "gemm_views", (a, b), mine, peers, True, AHEAD)


# ---------------------------------------------------------------- memory

MANY = 1 << 26


def _saxpy(name: str, path: Path, shape: tuple[int, ...], grid: tuple[int, ...]) -> Case:
    library = torch()
    x, y = normal(*shape), np.zeros(shape, np.float32)
    tensor, out = library.from_numpy(x), library.from_numpy(np.zeros_like(y))

    def check() -> None:
        close(y, np.float64(2.5) * x, 1e-6)

    peers = {"torch.add(out=)": lambda: library.add(out, tensor, alpha=2.5, out=out)}
    return Case(name, path, "saxpy", grid, (x, y, 2.5, *shape), check, peers, STREAM_AIM)


def saxpy() -> Case:
    grid = (tiles(MANY, 4096),)
    return _saxpy("SAXPY 64Mi f32, views", KERNELS / "saxpy_vector.mlir", (MANY,), grid)


def saxpy_matrix(rows: int = 8192) -> Case:
    shape, grid = (rows, 8192), (tiles(rows, 128), tiles(8192, 256))
    return _saxpy(f"SAXPY {rows} x 8192 f32, tiles of 128 x 256", EXAMPLES / "saxpy.mlir", shape, grid)


def _vector_add(name: str, path: Path, block: int, count: int) -> Case:
    library = torch()
    a, b, c = normal(count), normal(count), np.zeros(count, np.float32)
    x, y, z = library.from_numpy(a), library.from_numpy(b), library.from_numpy(np.zeros_like(c))

    def check() -> None:
        assert np.array_equal(c, a + b)

    peers = {"torch.add(out=)": lambda: library.add(x, y, out=z)}
    return Case(name, path, "vector_add", (tiles(count, block),), (a, b, c, count), check, peers, STREAM_AIM)


def add_views(count: int = MANY) -> Case:
    return _vector_add(f"vector add {_shown(count)} f32, views", KERNELS / "vector_add_views.mlir", 4096, count)


def add_pointers(count: int = MANY) -> Case:
    return _vector_add(f"vector add {_shown(count)} f32, pointers", EXAMPLES / "vector_add.mlir", 1024, count)


def _shown(count: int) -> str:
    """A power of two as people say it: 64Mi."""
    return f"{count >> 20}Mi" if count >> 20 else f"{count >> 10}Ki"


def transpose(size: int = 4096) -> Case:
    library = torch()
    x = normal(size, size)
    y = np.zeros_like(x)
    tensor, out = library.from_numpy(x), library.from_numpy(np.zeros_like(y))

    def check() -> None:
        assert np.array_equal(y, x.T)

    peers = {"NumPy": lambda: np.copyto(y, x.T), "torch": lambda: out.copy_(tensor.T)}
    grid = (tiles(size, 64), tiles(size, 32))
    name, path = f"transpose {size} x {size} f32", EXAMPLES / "transpose.mlir"
    return Case(name, path, "transpose", grid, (x, y, size, size), check, peers, AHEAD)


def total() -> Case:
    library = torch()
    x, sum = np.random.default_rng(0).random(MANY, np.float32), np.zeros(1, np.float32)
    tensor = library.from_numpy(x)

    def check() -> None:
        # Kept from overflowing by starting anew; each launch adds to what is there.
        close(sum, x.sum(dtype=np.float64, keepdims=True), 1e-3)
        sum[0] = 0

    peers = {"NumPy": lambda: x.sum(), "torch": lambda: tensor.sum()}
    grid = (tiles(MANY, 4096),)
    path = EXAMPLES / "reduction.mlir"
    return Case("sum of 64Mi f32", path, "total", grid, (x, sum, MANY), check, peers, AHEAD)


# ---------------------------------------------------------------- rows

ROWS = COLUMNS = 4096


def softmax(rows: int = ROWS) -> Case:
    library = torch()
    x = normal(rows, COLUMNS)
    y, tensor = np.zeros_like(x), library.from_numpy(x)

    def check() -> None:
        powers = np.exp(x.astype(np.float64))
        close(y, powers / powers.sum(axis=1, keepdims=True), 5e-6)

    peers = {"torch.softmax": lambda: library.softmax(tensor, 1)}
    arguments = (x, y, rows, COLUMNS)
    return Case(
        f"softmax {rows} x 4096 f32", KERNELS / "softmax.mlir", "softmax", (rows,), arguments, check, peers, FUSED_AIM
    )


def layer_norm(rows: int = ROWS) -> Case:
    library = torch()
    x, weight, bias = normal(rows, COLUMNS), normal(COLUMNS), normal(COLUMNS)
    y = np.zeros_like(x)
    tensor, scale, shift = (library.from_numpy(array) for array in (x, weight, bias))

    def check() -> None:
        centred = x - x.mean(axis=1, dtype=np.float64, keepdims=True)
        deviation = np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + 1e-5)
        close(y, centred / deviation * weight + bias, 5e-6)

    peers = {"torch layer_norm": lambda: library.nn.functional.layer_norm(tensor, (COLUMNS,), scale, shift, 1e-5)}
    arguments = (x, weight, bias, y, rows, COLUMNS, 1e-5)
    path = KERNELS / "layer_norm.mlir"
    return Case(f"layer norm {rows} x 4096 f32", path, "layer_norm", (rows,), arguments, check, peers, FUSED_AIM)


def rms_norm(rows: int = ROWS) -> Case:
    library = torch()
    x, weight = normal(rows, COLUMNS), normal(COLUMNS)
    y = np.zeros_like(x)
    tensor, scale = library.from_numpy(x), library.from_numpy(weight)

    def check() -> None:
        root = np.sqrt(np.square(x.astype(np.float64)).mean(axis=1, keepdims=True) + 1e-6)
        close(y, x / root * weight, 5e-6)

    peers = {"torch rms_norm": lambda: library.nn.functional.rms_norm(tensor, (COLUMNS,), scale, 1e-6)}
    arguments = (x, weight, y, rows, COLUMNS, 1e-6)
    path = KERNELS / "rms_norm.mlir"
    return Case(f"RMS norm {rows} x 4096 f32", path, "rms_norm", (rows,), arguments, check, peers, FUSED_AIM)


def attention(heads: int = 8, length: int = 1024) -> Case:
    library = torch()
    q, k, v = (normal(heads, length, 64) * scale for scale in (1.0, 0.5, 2.0))
    out = np.zeros_like(q)
    tensors = [library.from_numpy(array)[None] for array in (q, k, v)]

    def check() -> None:
        for head in range(heads):
            scores = q[head].astype(np.float64) @ k[head].T * 0.125
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            close(out[head], powers / powers.sum(axis=1, keepdims=True) @ v[head], 1e-5)

    peers = {"torch attention": lambda: library.nn.functional.scaled_dot_product_attention(*tensors)}
    grid, arguments = (tiles(length, 64), heads), (q, k, v, out, heads, length, 0.125)
    path = KERNELS / "attention.mlir"
    return Case(f"attention {heads} x {length} x 64 f32", path, "attention", grid, arguments, check, peers, AHEAD)


CASES = (
    gemm_f32,
    gemm_f16,
    gemm_bf16,
    gemm_i8,
    saxpy,
    saxpy_matrix,
    add_views,
    add_pointers,
    transpose,
    total,
    softmax,
    layer_norm,
    rms_norm,
    attention,
)
