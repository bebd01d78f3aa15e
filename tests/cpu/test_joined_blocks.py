"""Tile blocks of element-wise kernels that run as one leave what they leave one by one, and trap where they do."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest

import tileir
from tests.cpu.anew import kernel_of
from tileir.cache import shared_cache
from tileir.cpu.emit.record import COLUMNS, JOINED_COLUMNS, CheckLevel
from tileir.cpu.run import program
from tileir.cpu.run.program import lowered
from tileir.ir.diagnostics import Trap

TENSOR, PART = "tensor_view<?x?xf32, strides=[?,1]>", "partition_view<tile=(4x16), padding_value = zero, {}>"


def matrices(index: str = "%x, %y", extra: str = "", stored: str = "%sum", last: str = "") -> str:
    """``b = a + b`` in tiles of 4 x 16, of matrices with rows that lie `stride` apart."""
    part = PART.format(TENSOR)
    return f"""entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %stride: tile<i32>) {{
  %a_view = make_tensor_view %a, shape = [%m, %n], strides = [%stride, 1] : tile<i32> -> {TENSOR}
  %b_view = make_tensor_view %b, shape = [%m, %n], strides = [%stride, 1] : tile<i32> -> {TENSOR}
  %a_tiles = make_partition_view %a_view : {part}
  %b_tiles = make_partition_view %b_view : {part}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %p, %p_read = load_view_tko weak %a_tiles[{index}] : {part}, tile<i32> -> tile<4x16xf32>, token
  %q, %q_read = load_view_tko weak %b_tiles[{index}] : {part}, tile<i32> -> tile<4x16xf32>, token
  %sum = addf %p, %q : tile<4x16xf32>
  {extra}
  %done = store_view_tko weak {stored}, %b_tiles[{index}] token = %q_read
    : tile<4x16xf32>, {part}, tile<i32> -> token
  {last}
}}"""


def vectors(index: str = "addi %firsts, %lanes : tile<16xi32>", mask: str = "%mask") -> str:
    """``c = a + b`` through pointers, 16 elements in a tile, of vectors of `n` elements."""
    given = {"%mask": ("tile<16xptr<f32>>, tile<16xi1>", "tile<16xptr<f32>>, tile<16xf32>, tile<16xi1>")}
    read, written = given.get(mask, ("tile<16xptr<f32>>", "tile<16xptr<f32>>, tile<16xf32>"))
    masked = f", {mask}" if mask else ""
    pointers = "\n".join(
        f"""  %{name}_1 = reshape %{name} : tile<ptr<f32>> -> tile<1xptr<f32>>
  %{name}_all = broadcast %{name}_1 : tile<1xptr<f32>> -> tile<16xptr<f32>>
  %{name}_at = offset %{name}_all, %index : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>"""
        for name in "abc"
    )
    return f"""entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i32>) {{
  %x, %y, %z = get_tile_block_id : tile<i32>
  %length = constant <i32: 16> : tile<i32>
  %first = muli %x, %length : tile<i32>
  %first_1 = reshape %first : tile<i32> -> tile<1xi32>
  %firsts = broadcast %first_1 : tile<1xi32> -> tile<16xi32>
  %lanes = iota : tile<16xi32>
  %seven = constant <i32: 7> : tile<16xi32>
  %low = andi %lanes, %seven : tile<16xi32>
  %index = {index}
  %n_1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n_1 : tile<1xi32> -> tile<16xi32>
  %mask = cmpi less_than %index, %ns, signed : tile<16xi32> -> tile<16xi1>
{pointers}
  %p, %p_read = load_ptr_tko weak %a_at{masked} : {read} -> tile<16xf32>, token
  %q, %q_read = load_ptr_tko weak %b_at{masked} : {read} -> tile<16xf32>, token
  %sum = addf %p, %q : tile<16xf32>
  %read = join_tokens %p_read, %q_read : token
  %done = store_ptr_tko weak %c_at, %sum{masked} token = %read : {written} -> token
}}"""


# ---------------------------------------------------------------- which kernels

_TWICE = "  %again = store_view_tko weak %sum, %a_tiles[%x, %y] : tile<4x16xf32>, {0}, tile<i32> -> token"
_AGAIN = "  %r, %r_read = load_view_tko weak %a_tiles[%x, %y] : {0}, tile<i32> -> tile<4x16xf32>, token\n" + _TWICE
_NUMBER = """%f = itof %y signed : tile<i32> -> tile<f32>
  %f_1 = reshape %f : tile<f32> -> tile<1x1xf32>
  %fs = broadcast %f_1 : tile<1x1xf32> -> tile<4x16xf32>
  %other = addf %sum, %fs : tile<4x16xf32>"""
_LANES = """%l = iota : tile<16xi32>
  %l_f = itof %l signed : tile<16xi32> -> tile<16xf32>
  %l_1 = reshape %l_f : tile<16xf32> -> tile<1x16xf32>
  %ls = broadcast %l_1 : tile<1x16xf32> -> tile<4x16xf32>
  %other = addf %sum, %ls : tile<4x16xf32>"""
_ONE = """%o = constant <f32: 1.0> : tile<4x16xf32>
  %other = mulf %sum, %o : tile<4x16xf32>"""
_PRINT = '%t = print_tko "%d", %m : tile<i32> -> token'
KERNELS = {
    "views, along rows": (matrices(), 1),
    "views, rows along the first axis of the grid": (matrices("%y, %x"), 0),
    "a constant of all tile blocks": (matrices(extra=_ONE, stored="%other"), 1),
    "pointers": (vectors(), 0),
    "pointers without a mask": (vectors(mask=""), 0),
    "the number of the tile block": (matrices(extra=_NUMBER, stored="%other"), None),
    "the index of the element in its tile": (matrices(extra=_LANES, stored="%other"), None),
    "two stores": (matrices(last=_TWICE.format(PART.format(TENSOR))), 1),
    "two stores, and a load between": (matrices(last=_AGAIN.format(PART.format(TENSOR))), None),
    "output": (matrices(extra=_PRINT), None),
    "tiles along a diagonal": (matrices("%x, %x"), None),
    "all tile blocks on the same tiles": (matrices("%z, %z"), None),
    "pointers that begin anew in the tile": (vectors("addi %firsts, %low : tile<16xi32>"), None),
    "pointers with gaps": (vectors("addi %firsts, %firsts : tile<16xi32>"), None),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_whose_tile_blocks_may_be_joined(name: str) -> None:
    text, axis = KERNELS[name]
    made = lowered(tileir.parse(text)["k"].entry, (), CheckLevel.ON)
    coarsening = made.plan.coarsening
    assert (None if coarsening is None else coarsening.axis) == axis
    assert ("tileir.joined" in str(made.module)) is (axis is not None)
    assert made.plan.columns == (JOINED_COLUMNS if axis == 1 else COLUMNS)


def test_strict_mode_looks_at_each_tile_block() -> None:
    made = lowered(tileir.parse(matrices())["k"].entry, (), CheckLevel.STRICT)
    assert "tileir.joined" not in str(made.module)


# ---------------------------------------------------------------- results


Given = Callable[[np.ndarray], tuple]


def both(text: str, grid: tuple[int, ...], memory: np.ndarray, given: Given, threads: int = 2) -> list[np.ndarray]:
    """One array, in which all that is `given` of it lies, after the interpreter and after native code."""
    results = []
    for target, options in (("interp", {}), ("cpu", {"threads": threads})):
        own = memory.copy()
        kernel_of(text).launch(grid, *given(own), target=target, **options)
        results.append(own)
    return results


@pytest.mark.filterwarnings("ignore:the index of dimension")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("index", ["%x, %y", "%y, %x"])
def test_matrices_of_any_extents(index: str, threads: int) -> None:
    for m, n, gap in product((1, 4, 9), (1, 16, 40, 1040), (0, 3)):
        stride = n + gap
        grid = (-(-m // 4) + 1, -(-n // 16) + 1)
        memory = np.arange(2 * m * stride, dtype=np.float32)
        expected, got = both(
            matrices(index),
            grid if index == "%x, %y" else grid[::-1],
            memory,
            lambda own, m=m, n=n, stride=stride: (own[: m * stride], own[m * stride :], m, n, stride),
            threads=threads,
        )
        same = np.array_equal(expected, got)
        assert same, (m, n, gap)


@pytest.mark.parametrize("mask", ["%mask", ""])
@pytest.mark.parametrize("blocks", [1, 2, 7, 64])
def test_vectors_of_any_length(blocks: int, mask: str) -> None:
    for count in (16 * blocks, *((16 * blocks - 5, 1, 0) if mask else ())):
        memory = np.arange(3 * 16 * blocks, dtype=np.float32)
        size = 16 * blocks
        expected, got = both(
            vectors(mask=mask),
            (blocks,),
            memory,
            lambda own, size=size, count=count: (own[:size], own[size : 2 * size], own[2 * size :], count),
        )
        same = np.array_equal(expected, got)
        assert same, count


@pytest.mark.parametrize("offset", [-80, -40, 0, 40, 80])
def test_rows_that_overlap_within_a_tile_block(offset: int) -> None:
    """Each tile block of the row reads what it writes, at other places of its own columns."""
    stride, m, n = 40, 4, 40
    memory = np.arange(16 * stride, dtype=np.float32)
    expected, got = both(
        matrices(),
        (1, -(-n // 16)),
        memory,
        lambda own: (own[5 * stride + offset :], own[5 * stride :], m, n, stride),
    )
    same = np.array_equal(expected, got)
    assert same


def test_code_for_single_tile_blocks_is_made_when_a_launch_first_needs_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))
    entries = []
    for _ in range(2):  # the second time from the cache
        kernel = tileir.parse(matrices())["k"]
        for offset in (200, -40, -40, 200):  # tile blocks cannot be joined where what one reads is written by another
            results = []
            for target in ("interp", "cpu"):
                memory = np.arange(16 * 40, dtype=np.float32)
                kernel.launch((1, 3), memory[200 + offset :], memory[200:], 4, 40, 40, target=target)
                results.append(memory)
            same = np.array_equal(*results)
            assert same, offset
            entries.append(shared_cache().used()[0])
    assert [count - entries[0] for count in entries] == [0, 1, 1, 1, 1, 1, 1, 1]


def test_code_for_single_tile_blocks_is_made_once_by_threads_that_need_it_at_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))
    make, made = program._single_code, []

    def slowly(*given: object) -> bytes:
        made.append(given)
        time.sleep(0.05)  # so that the others ask meanwhile
        return make(*given)

    monkeypatch.setattr(program, "_single_code", slowly)
    kernel = tileir.parse(matrices())["k"]

    def launched(target: str, offset: int = -40) -> bytes:
        memory = np.arange(16 * 40, dtype=np.float32)
        kernel.launch((1, 3), memory[200 + offset :], memory[200:], 4, 40, 40, target=target)
        return memory.tobytes()

    launched("cpu", offset=200)
    assert not made
    with ThreadPoolExecutor(4) as threads:
        results = set(threads.map(launched, ["cpu"] * 8))
    assert results == {launched("interp")} and len(made) == 1


def test_a_grid_of_three_dimensions_runs_every_tile_block() -> None:
    memory = np.arange(2 * 8 * 640, dtype=np.float32)
    text = matrices()
    expected, got = both(text, (2, 40, 1), memory, lambda own: (own[: 8 * 640], own[8 * 640 :], 8, 640, 640))
    same = np.array_equal(expected, got)
    assert same
    flat = matrices("%z, %x")
    expected, got = both(flat, (40, 1, 2), memory, lambda own: (own[: 8 * 640], own[8 * 640 :], 8, 640, 640))
    same = np.array_equal(expected, got)
    assert same


# ---------------------------------------------------------------- traps


def outcome(text: str, grid: tuple[int, ...], arrays: list[np.ndarray], rest: tuple[int, ...], target: str) -> str:
    options = {"threads": 1} if target == "cpu" else {}
    with pytest.raises(Trap) as caught:
        tileir.parse(text)["k"].launch(grid, *arrays, *rest, target=target, **options)
    return str(caught.value)


@pytest.mark.parametrize("length", [16 * 40 - 1, 16 * 21 + 3, 16, 3])
def test_a_trap_in_the_middle_names_its_tile_block_and_those_before_have_run(length: int) -> None:
    results, said = [], []
    for target in ("interp", "cpu"):
        a, b = np.ones(640, np.float32), np.arange(640, dtype=np.float32)
        c = np.zeros(length, np.float32)
        said.append(outcome(vectors(), (40,), [a, b, c], (640,), target))
        results.append(c[: length // 16 * 16].copy())
    assert said[0] == said[1]
    assert f"({length // 16}, 0, 0)" in said[0]
    same = np.array_equal(*results)
    assert same


@pytest.mark.parametrize("rows", [1, 3])
def test_a_view_that_is_larger_than_its_array(rows: int) -> None:
    said = []
    for target in ("interp", "cpu"):
        a, b = np.ones(4 * 640, np.float32), np.ones(rows * 640, np.float32)
        said.append(outcome(matrices(), (1, 40), [a, b], (4, 640, 640), target))
    assert said[0] == said[1]
