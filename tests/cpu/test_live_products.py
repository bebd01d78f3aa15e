"""Products at the border of a tensor leave out rows and columns that nobody reads, and change nothing else.

Results are compared bit by bit with code that computes all of them, on numbers whose sums are exact in any order: a
product of few rows adds in another one. Arrays end where memory does, so that a read beyond one ends the process.
"""

from __future__ import annotations

import sys

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.cpu.anew import compile_anew, planned
from tests.cpu.guarded import Guarded
from tileir.cpu.analysis.live_extents import FactorOf, LiveExtents
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm.engine import host
from tileir.cpu.plan import plan_of
from tileir.ops import matmul

ELEMENTS = {
    "f32": ("f32", np.float32),
    "f16": ("f32", np.float16),
    "bf16": ("f32", ml_dtypes.bfloat16),
    "f64": ("f64", np.float64),
    "i8": ("i32", np.int8),
}
TILE = 32
NONE_MAP, SWAPPED = "", ", dim_map=[1, 0]"
SHAPES = [(1, 1, 1), (1, 64, 64), (3, 50, 40), (16, 16, 16), (33, 31, 17), (64, 1, 64), (70, 90, 33), (32, 48, 64)]


def view(name: str, rows: str, columns: str, tile: tuple[int, int], element: str, turned: bool, padding: str) -> str:
    """A partition view of a dense matrix: the tile's dimensions are rows and columns, or the other way round."""
    extents, tile_text = (columns, rows) if turned else (rows, columns), "x".join(map(str, tile))
    tensor = f"tensor_view<?x?x{element}, strides=[?,1]>"
    kind = f"partition_view<tile=({tile_text}){padding}, {tensor}{SWAPPED if turned else NONE_MAP}>"
    return (
        f"""
    %{name}_tensor = make_tensor_view %{name}, shape = [%{extents[0]}, %{extents[1]}], strides = [%{extents[1]}, 1]
      : tile<i32> -> {tensor}
    %{name}_tiles = make_partition_view %{name}_tensor : {kind}
    """,
        kind,
    )


def program(element: str, turned_a: bool, turned_b: bool, scaled: bool) -> str:
    sums, _ = ELEMENTS[element]
    m = n = k = TILE
    a, a_kind = view("a", "m", "k", (m, k), element, turned_a, ", padding_value = zero")
    b, b_kind = view("b", "k", "n", (k, n), element, turned_b, ", padding_value = zero")
    c, c_kind = view("c", "m", "n", (m, n), sums, False, "")
    kind, acc = ("mmai", f"tile<{m}x{n}xi32>") if element == "i8" else ("mmaf", f"tile<{m}x{n}x{sums}>")
    signs = " signed unsigned" if element == "i8" else ""
    zero = "<i32: 0>" if element == "i8" else f"<{sums}: 0.0>"
    twice = f"%out = addf %sum, %sum : {acc}" if scaled else ""
    return f"""
entry @gemm(%a: tile<ptr<{element}>>, %b: tile<ptr<{element}>>, %c: tile<ptr<{sums}>>,
            %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) {{
    {a} {b} {c}
    %x, %y, %z = get_tile_block_id : tile<i32>
    %rows, %steps = get_index_space_shape %a_tiles : {a_kind} -> tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zeros = constant {zero} : {acc}
    %sum = for %i in (%zero to %steps, step %one) : tile<i32> iter_values(%partial = %zeros) -> ({acc}) {{
      %ta, %t0 = load_view_tko weak %a_tiles[%x, %i] : {a_kind}, tile<i32> -> tile<{m}x{k}x{element}>, token
      %tb, %t1 = load_view_tko weak %b_tiles[%i, %y] : {b_kind}, tile<i32> -> tile<{k}x{n}x{element}>, token
      %next = {kind} %ta, %tb, %partial{signs} : tile<{m}x{k}x{element}>, tile<{k}x{n}x{element}>, {acc}
      continue %next : {acc}
    }}
    {twice}
    %t2 = store_view_tko weak {"%out" if scaled else "%sum"}, %c_tiles[%x, %y] : {acc}, {c_kind}, tile<i32> -> token
}}"""


def random(shape: tuple[int, int], dtype: np.dtype, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    if dtype == np.int8:
        return generator.integers(-128, 128, shape).astype(np.int8)
    values = generator.integers(-4, 5, shape).astype(np.float64)
    values.flat[:: max(1, values.size // 5)] = [np.nan, np.inf, -0.0, 0.5, -np.inf, 0.0][seed % 6]
    return values.astype(dtype)


def bits(array: np.ndarray) -> bytes:
    """With every NaN as one and the same."""
    return np.where(array == array, array, array.dtype.type(np.nan if array.dtype.kind == "f" else 0)).tobytes()


def launched(kernel: tileir.Kernel, a: np.ndarray, b: np.ndarray, m: int, n: int, k: int) -> np.ndarray:
    dtype = {"float64": np.float64, "int8": np.int32}.get(a.dtype.name, np.float32)
    guard = Guarded()
    out = np.full((m, n), 7, dtype)
    kernel.launch((-(-m // TILE), -(-n // TILE)), guard.copy(a), guard.copy(b), out, m, n, k)
    return out


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
@pytest.mark.parametrize(
    "turned", [(False, False), (False, True), (True, False)], ids=["plain", "b turned", "a turned"]
)
@pytest.mark.parametrize("element", ELEMENTS)
def test_the_results_are_those_of_whole_products(monkeypatch, element, turned):
    compile_anew(monkeypatch)
    text = program(element, *turned, scaled=element in ("f32", "f64"))
    part, whole = (tileir.parse(text)["gemm"] for _ in range(2))
    dtype = ELEMENTS[element][1]
    cases = []
    for seed, (m, n, k) in enumerate(SHAPES):
        a = random((k, m) if turned[0] else (m, k), dtype, seed)
        b = random((n, k) if turned[1] else (k, n), dtype, seed + 1)
        cases.append((a, b, m, n, k))
    needed = [launched(part, *case) for case in cases]
    planned(monkeypatch, "live extents")
    for mine, case in zip(needed, cases):
        is_same = bits(mine) == bits(launched(whole, *case))
        assert is_same, case[2:]


@pytest.mark.parametrize("turned", [False, True], ids=["plain", "b turned"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_few_rows_of_real_numbers_are_within_the_error_of_their_sums(element, turned):
    kernel = tileir.parse(program(element, False, turned, scaled=False))["gemm"]
    m, n, k = 3, 40, 70
    rng, dtype = np.random.default_rng(5), ELEMENTS[element][1]
    if element == "i8":
        a, b = random((m, k), np.int8, 1), random((k, n), np.int8, 2)
        exact = a.astype(np.int64) @ b.view(np.uint8)
    else:
        a, b = (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n)))
        exact = a.astype(np.float64) @ b.astype(np.float64)
    out = launched(kernel, a, np.ascontiguousarray(b.T) if turned else b, m, n, k)
    allowed = {"f64": 1e-14, "i8": 0}.get(element, 1e-5)
    assert np.max(np.abs(out - exact)) <= allowed * k


@pytest.mark.parametrize("turned", [False, True], ids=["plain", "b turned"])
def test_sums_of_negative_zeros_in_few_rows_stay_negative(turned):
    text = program("f32", False, turned, scaled=False).replace("<f32: 0.0>", "<f32: -0.0>")
    a, b = np.full((2, TILE), -0.0, np.float32), np.ones((TILE, TILE), np.float32)
    out = launched(tileir.parse(text)["gemm"], a, b, 2, TILE, TILE)
    assert np.all(np.signbit(out))


def products(text: str) -> tuple[LiveExtents, list[matmul.MmaF]]:
    entry = tileir.parse(text).kernels["gemm"].entry
    return plan_of(entry, CheckLevel.ON, host()).body.live, [op for op in entry.walk() if isinstance(op, matmul.MmaF)]


def test_sums_of_a_loop_are_needed_as_far_as_they_are_stored():
    needed, (product,) = products(program("f32", False, False, scaled=True))
    assert needed[product.result].op.spec.name == "store_view_tko"
    assert needed[product.lhs] == FactorOf(product, 0)


def test_all_is_needed_of_sums_that_are_stored_at_another_place_in_each_iteration():
    text = program("f32", False, False, scaled=False)
    store = next(line for line in text.splitlines() if "store_view_tko" in line)
    inside = store.replace("%sum", "%next").replace("%x, %y", "%i, %y").replace("%t2", "%t3")
    needed, (product,) = products(text.replace("      continue", f"{inside}\n      continue").replace(store, ""))
    assert product.result not in needed


@pytest.mark.parametrize("use", ["%r = reduce_of", "%t = permute %sum [1, 0] : tile<32x32xf32> -> tile<32x32xf32>"])
def test_all_is_needed_of_sums_that_something_else_reads(use):
    if use.startswith("%r"):
        use = """%r = reduce %sum dim=0 identities=[0.0 : f32] : tile<32x32xf32> -> tile<32xf32>
          (%one_side: tile<f32>, %other: tile<f32>) {
            %both = addf %one_side, %other : tile<f32>
            yield %both : tile<f32>
          }"""
    text = program("f32", False, False, scaled=False)
    needed, (product,) = products(text.replace("    %t2", f"    {use}\n    %t2"))
    assert product.result not in needed
