"""Stores that bypass the cache leave what others leave, only where nothing depends on when they become visible."""

from __future__ import annotations

import sys
from itertools import product

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.cpu.anew import always_streamed, planned
from tests.cpu.guarded import Guarded
from tileir.cpu.analysis.streams import streams_of
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm.engine import assembly, host
from tileir.cpu.run.program import library_text, lowered

X86 = pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="only x86-64 has code that bypasses the cache")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
ELEMENTS = {"i8": np.int8, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def program(element: str = "f32", tile: tuple[int, int] = (4, 1024), extra: str = "", source: str = "a") -> str:
    """``c = a + a`` in tiles of any matrix, with the rows as far apart as is asked."""
    rows, columns = tile
    tensor = f"tensor_view<?x?x{element}, strides=[?,1]>"
    part, values = f"partition_view<tile=({rows}x{columns}), {tensor}>", f"tile<{rows}x{columns}x{element}>"
    add = "addi" if element.startswith("i") else "addf"
    return f"""entry @k(%a: tile<ptr<{element}>>, %c: tile<ptr<{element}>>, %m: tile<i32>, %n: tile<i32>,
                        %stride: tile<i32>) {{
  %a_view = make_tensor_view %{source}, shape = [%m, %n], strides = [%stride, 1] : tile<i32> -> {tensor}
  %c_view = make_tensor_view %c, shape = [%m, %n], strides = [%stride, 1] : tile<i32> -> {tensor}
  %a_tiles = make_partition_view %a_view : {part}
  %c_tiles = make_partition_view %c_view : {part}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %tile, %read = load_view_tko weak %a_tiles[%x, %y] : {part}, tile<i32> -> {values}, token
  %twice = {add} %tile, %tile : {values}
  {extra}
  %done = store_view_tko weak %twice, %c_tiles[%x, %y] : {values}, {part}, tile<i32> -> token
}}"""


ONE = "constant <f32: 1.0> : tile<f32>"
KERNELS = {
    "another array": (program(), True),
    "in place": (program(source="c"), False),
    "a relaxed store": (
        program(extra=f"%o = {ONE}\n%t = store_ptr_tko relaxed device %a, %o : tile<ptr<f32>>, tile<f32> -> token"),
        False,
    ),
    "a release": (
        program(extra=f"%o = {ONE}\n%t = store_ptr_tko release sys %a, %o : tile<ptr<f32>>, tile<f32> -> token"),
        False,
    ),
    "an atomic addition": (
        program(extra=f"%o = {ONE}\n%f, %t = atomic_rmw_tko relaxed device %a, addf, %o "
                ": tile<ptr<f32>>, tile<f32> -> tile<f32>, token"),
        False,
    ),
    "what is printed": (program(extra='%t = print_tko "%d", %m : tile<i32> -> token'), False),
    "a pointer from anywhere": (
        program(extra="%l = constant <i64: 0> : tile<i64>\n%p = int_to_ptr %l : tile<i64> -> tile<ptr<f32>>\n"
                "%w, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token"),
        False,
    ),
    "what it has stored, read again": (
        program(extra="%w, %t = load_ptr_tko weak %c : tile<ptr<f32>> -> tile<f32>, token"), False
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_what_others_may_wait_for_or_what_is_read_stays_in_the_cache(name: str) -> None:
    text, expected = KERNELS[name]
    assert bool(streams_of(tileir.parse(text)["k"].entry)) is expected


def code(text: str) -> str:
    return assembly(str(lowered(tileir.parse(text)["k"].entry, (), CheckLevel.ON).module), host())


@X86
def test_machine_code_bypasses_the_cache() -> None:
    assert "movnt" in code(program())


@X86
def test_the_driver_has_a_fence_at_its_end() -> None:
    assert assembly(library_text(), host()).count("sfence") == 1


SHORT = program(tile=(4, 128)).replace("[%x, %y]", "[%x, %x]")
"""Tile blocks whose rows are not joined."""


@X86
@pytest.mark.parametrize("text", [program(source="c"), SHORT], ids=["in place", "short rows"])
def test_other_code_does_not(text: str) -> None:
    found = code(text)
    assert "movnt" not in found


# ---------------------------------------------------------------- what is stored


@pytest.fixture(autouse=True)
def _whatever_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    planned(monkeypatch, change=always_streamed)


def at_offset(guard: Guarded, count: int, offset: int, dtype: type) -> np.ndarray:
    """Elements that begin `offset` bytes behind a multiple of 64 and end not far from where memory does."""
    size = np.dtype(dtype).itemsize
    whole = guard.copy(np.zeros(count + 128 // size, dtype))
    skip = (offset - whole.ctypes.data) % 64 // size
    return whole[skip : skip + count]


@LINUX
@pytest.mark.parametrize("element", ELEMENTS)
def test_arrays_at_any_address_and_of_any_extents(element: str) -> None:
    dtype = ELEMENTS[element]
    size = np.dtype(dtype).itemsize
    kernel = tileir.parse(program(element, (2, 2048 // size)))["k"]
    columns = 2048 // size
    for offset, (m, n, gap) in product(
        (0, 16, 48, size), ((2, columns, 0), (4, 2 * columns, 16 // size), (3, columns + 5, 11), (1, columns - 1, 1))
    ):
        guard = Guarded()
        stride = n + gap
        a, c = (at_offset(guard, m * stride, offset, dtype) for _ in range(2))
        a[:] = (np.arange(a.size) % 50).astype(dtype)
        c[:] = np.array(99).astype(dtype)
        expected = c.copy()
        for row in range(m):
            expected[row * stride : row * stride + n] = a[row * stride : row * stride + n] * np.array(2).astype(dtype)
        kernel.launch((-(-m // 2), -(-n // columns)), a, c, m, n, stride, target="cpu")
        same = c.tobytes() == expected.tobytes()
        assert same, (offset, m, n, gap)


@pytest.mark.parametrize("shift", [0, 4, 64, 1024, 4096])
def test_arrays_that_overlap(shift: int) -> None:
    kernel = tileir.parse(program(tile=(1, 1024)))["k"]
    results = []
    for target in ("interp", "cpu"):
        whole = np.arange(8192, dtype=np.float32)
        kernel.launch(1, whole, whole[shift:], 1, 1024, 1024, target=target)
        results.append(whole.tobytes())
    same = results[0] == results[1]
    assert same


@pytest.mark.parametrize("columns", [512, 64])
def test_a_tile_that_was_computed_before_is_stored_from_where_it_lies(columns: int) -> None:
    text = program(tile=(4, columns), extra="""
  %most = reduce %twice dim=1 identities=[0.0 : f32] : tile<4x512xf32> -> tile<4xf32>
    (%l: tile<f32>, %r: tile<f32>) {
      %s = maxf %l, %r : tile<f32>
      yield %s : tile<f32>
    }
  %zero = constant <f32: 0.0> : tile<4xf32>
  %less = cmpf less_than ordered %most, %zero : tile<4xf32> -> tile<4xi1>
  %not = constant <i1: true> : tile<4xi1>
  %fine = xori %less, %not : tile<4xi1>
  assert %fine, "negative" : tile<4xi1>""".replace("512", str(columns)))  # fmt: skip
    halves = f"%half = constant <f32: 0.5> : tile<4x{columns}xf32>\n"
    text = text.replace("%twice = addf %tile, %tile", halves + "%twice = divf %tile, %half")  # not computed again
    assert "movnt" in code(text) or not host().triple.startswith("x86_64")
    kernel = tileir.parse(text)["k"]
    a = np.arange(64 * 2048, dtype=np.float32).reshape(64, 2048)
    c = np.zeros_like(a)
    kernel.launch((16, 2048 // columns), a, c, 64, 2048, 2048, target="cpu")
    same = np.array_equal(c, 2 * a)
    assert same


def test_all_threads_have_stored_everything_when_a_launch_returns() -> None:
    kernel = tileir.parse(program())["k"]
    for turn in range(20):
        a = np.full((256, 4096), turn, np.float32)
        c = np.zeros_like(a)
        kernel.launch((64, 4), a, c, 256, 4096, 4096, target="cpu", threads=2)
        assert (c == 2 * turn).all()
