"""Verdicts on two accesses: proved where tile blocks keep apart, refuted with a witness where they do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import tileir
from tileir.analysis.disjoint import Proved, Refuted, Undecided, Verdict, disjoint, disjoint_in_turns
from tileir.analysis.extents import common, extent
from tileir.analysis.footprint import Footprint, footprints

HEAD = "%x, %y, %z = get_tile_block_id : tile<i32>\n  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>"
VIEW = """
  %view = make_tensor_view %p, shape = [%rows, %columns], strides = [STRIDE, 1]
    : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %tiles = make_partition_view %view : partition_view<tile=(16x32), tensor_view<?x?xf32, strides=[?,1]>>
  %tile = constant <f32: 0.0> : tile<16x32xf32>"""
STORE = """
  %written = store_view_tko weak %tile, %tiles[INDEX]
    : tile<16x32xf32>, partition_view<tile=(16x32), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token"""


def accesses(*lines: str) -> list[Footprint]:
    parameters = "%p: tile<ptr<f32>>, %rows: tile<i32>, %columns: tile<i32>, %stride: tile<i32>"
    body = "\n  ".join((HEAD, *lines))
    return footprints(tileir.parse(f"entry @k({parameters}) {{\n  {body}\n}}")["k"].entry)


def stored(index: str, *before: str, stride: str = "%columns") -> Footprint:
    found = accesses(*before, VIEW.replace("STRIDE", stride), STORE.replace("INDEX", index))
    return found[-1]


def verdict(one: Footprint, arguments: Sequence[int | None] | None, grid: tuple | None) -> Verdict:
    return disjoint(one, one, arguments=arguments, grid=grid)


ARGUMENTS = [None, 100, 200, 200]
PLANE = (None, None, 1)


def test_tiles_of_a_view_are_apart_whatever_it_is() -> None:
    assert verdict(stored("%x, %y"), None, PLANE) == Proved()


def test_an_axis_that_is_not_used_is_a_race() -> None:
    store = stored("%x, %y")
    assert isinstance(verdict(store, None, None), Undecided)
    found = verdict(store, ARGUMENTS, None)
    assert isinstance(found, Refuted)
    assert (found.first, found.second, found.grid) == ((0, 0, 0), (0, 0, 1), (2, 2, 2))
    assert verdict(store, ARGUMENTS, (7, 7, 1)) == Proved()


def test_rows_that_are_too_close_overlap() -> None:
    """With a stride of its own a view may fold rows onto each other."""
    store = stored("%x, %y", stride="%stride")
    assert isinstance(verdict(store, None, PLANE), Undecided)
    assert verdict(store, ARGUMENTS, PLANE) == Proved()
    assert isinstance(verdict(store, [None, 100, 200, 8], PLANE), Refuted)


def test_blocks_take_turns_at_rows() -> None:
    """A loop over every so many rows, as many as there are tile blocks."""
    found = accesses(
        VIEW.replace("STRIDE", "%columns"),
        "%many = constant <i32: 7> : tile<i32>",
        "for %i in (%x to %many, step %gx) : tile<i32> {",
        STORE.replace("INDEX", "%i, %y"),
        "}",
    )
    assert verdict(found[0], ARGUMENTS, (3, 4, 1)) == Proved()


SWIZZLE = """
  %group = constant <i32: 4> : tile<i32>
  %i = divi %x, %group signed rounding<zero> : tile<i32>
  %j = remi %x, %group signed : tile<i32>"""


def test_tiles_in_another_order_are_told_apart_by_their_numbers() -> None:
    assert verdict(stored("%i, %j", SWIZZLE), ARGUMENTS, (28, 1, 1)) == Proved()
    assert isinstance(verdict(stored("%i, %j", SWIZZLE), ARGUMENTS, (None, 1, 1)), Undecided)
    # Blocks 0 and 4 have the same tile here.
    wrong = stored("%j, %j", SWIZZLE)
    assert isinstance(verdict(wrong, ARGUMENTS, (28, 1, 1)), Refuted | Undecided)


POINTERS = """
  %width = constant <i32: WIDTH> : tile<i32>
  %first = muli %x, %width : tile<i32>
  %first_1 = reshape %first : tile<i32> -> tile<1xi32>
  %firsts = broadcast %first_1 : tile<1xi32> -> tile<64xi32>
  %lanes = iota : tile<64xi32>
  %index = addi %firsts, %lanes : tile<64xi32>
  %p_1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %ps = broadcast %p_1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %at = offset %ps, %index : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %value, %read = load_ptr_tko weak %at : tile<64xptr<f32>> -> tile<64xf32>, token
  %shift = constant <i32: SHIFT> : tile<64xi32>
  %there = offset %at, %shift : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %written = store_ptr_tko weak %there, %value : tile<64xptr<f32>>, tile<64xf32> -> token"""


@pytest.mark.parametrize(
    ("width", "shift", "stores", "neighbours", "itself"),
    [
        (64, 0, Proved, Proved, Refuted),
        (64, 64, Proved, Refuted, Proved),
        (128, 64, Proved, Proved, Proved),
        (128, 32, Proved, Proved, Refuted),
        (32, 0, Refuted, Refuted, Refuted),
    ],
)
def test_pointers_that_step_by_a_width(width: int, shift: int, stores: type, neighbours: type, itself: type) -> None:
    load, store = accesses(POINTERS.replace("WIDTH", str(width)).replace("SHIFT", str(shift)))
    fields = {"arguments": ARGUMENTS, "grid": (10, 1, 1)}
    assert type(disjoint(store, store, **fields)) is stores
    assert type(disjoint(load, store, **fields)) is neighbours
    assert type(disjoint(load, store, across_blocks=False, **fields)) is itself


ROW = """
  %first = muli %x, %stride : tile<i32>
  %first_1 = reshape %first : tile<i32> -> tile<1xi32>
  %firsts = broadcast %first_1 : tile<1xi32> -> tile<64xi32>
  %columns_1 = reshape %columns : tile<i32> -> tile<1xi32>
  %ends = broadcast %columns_1 : tile<1xi32> -> tile<64xi32>
  %lanes = iota : tile<64xi32>
  %p_1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %ps = broadcast %p_1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %zero = constant <i32: 0> : tile<i32>
  %step = constant <i32: STEP> : tile<i32>
  for %i in (%zero to %columns, step %step) : tile<i32> {
    %i_1 = reshape %i : tile<i32> -> tile<1xi32>
    %is = broadcast %i_1 : tile<1xi32> -> tile<64xi32>
    %column = addi %lanes, %is : tile<64xi32>
    %inside = cmpi less_than %column, %ends, signed : tile<64xi32> -> tile<64xi1>
    %index = addi %firsts, %column : tile<64xi32>
    %at = offset %ps, %index : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %value = constant <f32: 0.0> : tile<64xf32>
    %written = store_ptr_tko weak %at, %value, %inside : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
  }"""


@pytest.mark.parametrize(
    ("step", "columns", "stride", "blocks", "turns"),
    [
        (64, 100, 100, Proved, Proved),
        (64, 101, 100, Refuted, Proved),
        (64, 100, 99, Refuted, Proved),
        (128, 100, 100, Proved, Proved),
        (32, 100, 100, Proved, Undecided),
        (63, 100, 100, Proved, Undecided),
    ],
)
def test_rows_of_masked_pointers_are_apart_if_they_are_no_longer_than_their_distance(
    step: int, columns: int, stride: int, blocks: type, turns: type
) -> None:
    (store,) = accesses(ROW.replace("STEP", str(step)))
    arguments, grid = [None, 100, columns, stride], (10, 1, 1)
    found = verdict(store, arguments, grid)
    assert type(found) is blocks or (blocks is Refuted and isinstance(found, Undecided))
    assert type(disjoint_in_turns(store, arguments=arguments, grid=grid)) is turns


def test_an_index_that_could_wrap_around_is_a_condition() -> None:
    """On the largest grid the index leaves i32."""
    _, store = accesses(POINTERS.replace("WIDTH", "4096").replace("SHIFT", "0"))
    found = verdict(store, None, (None, 1, 1))
    assert isinstance(found, Proved) and len(found.assuming) == 1
    assert verdict(store, None, (1000, 1, 1)) == Proved()


def test_a_private_allocation_is_nobody_elses() -> None:
    found = accesses(
        "%own = alloca num_elem = 4, alignment = 4 : tile<ptr<f32>>",
        "%value = constant <f32: 1.0> : tile<f32>",
        "%written = store_ptr_tko weak %own, %value : tile<ptr<f32>>, tile<f32> -> token",
    )
    assert verdict(found[0], None, None) == Proved()


def test_bytes_in_common() -> None:
    rows = extent(0, [(8, 100)], 40, True)
    assert common(rows, extent(40, [(8, 100)], 60, True)) is None
    assert common(rows, extent(739, [(8, 100)], 60, True)) == 739
    assert common(rows, extent(50, [(3, 200)], 4, True)) is None
