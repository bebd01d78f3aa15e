"""Loads and stores under masks that leave out elements in front, at the end, at both or of the whole tile."""

from __future__ import annotations

import numpy as np
import pytest

import tileir

ROW = """
entry @k(%x: tile<ptr<{type}>>, %out: tile<ptr<{type}>>, %low: tile<i32>, %high: tile<i32>, %move: tile<i32>) {{
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %size = constant <i32: 32> : tile<i32>
  %start = muli %bx, %size : tile<i32>
  %lanes = iota : tile<32xi32>
  %s0 = reshape %start : tile<i32> -> tile<1xi32>
  %s1 = broadcast %s0 : tile<1xi32> -> tile<32xi32>
  %place = addi %s1, %lanes : tile<32xi32>
  %m0 = reshape %move : tile<i32> -> tile<1xi32>
  %m1 = broadcast %m0 : tile<1xi32> -> tile<32xi32>
  %at = addi %place, %m1 : tile<32xi32>
  %l0 = reshape %low : tile<i32> -> tile<1xi32>
  %l1 = broadcast %l0 : tile<1xi32> -> tile<32xi32>
  %h0 = reshape %high : tile<i32> -> tile<1xi32>
  %h1 = broadcast %h0 : tile<1xi32> -> tile<32xi32>
  %in_front = cmpi {front}, signed : tile<32xi32> -> tile<32xi1>
  %at_end = cmpi less_than %at, %h1, signed : tile<32xi32> -> tile<32xi1>
  %mask = andi %in_front, %at_end : tile<32xi1>
  %x0 = reshape %x : tile<ptr<{type}>> -> tile<1xptr<{type}>>
  %x1 = broadcast %x0 : tile<1xptr<{type}>> -> tile<32xptr<{type}>>
  %x2 = offset %x1, %at : tile<32xptr<{type}>>, tile<32xi32> -> tile<32xptr<{type}>>
  %other = constant <{type}: {seven}> : tile<32x{type}>
  %o0 = reshape %out : tile<ptr<{type}>> -> tile<1xptr<{type}>>
  %o1 = broadcast %o0 : tile<1xptr<{type}>> -> tile<32xptr<{type}>>
  %o2 = offset %o1, %place : tile<32xptr<{type}>>, tile<32xi32> -> tile<32xptr<{type}>>
  {move}
}}
"""
LOAD = """
  %v, %t = load_ptr_tko weak %x2, %mask, %other
    : tile<32xptr<{type}>>, tile<32xi1>, tile<32x{type}> -> tile<32x{type}>, token
  %t1 = store_ptr_tko weak %o2, %v : tile<32xptr<{type}>>, tile<32x{type}> -> token
"""
STORE = """
  %v, %t = load_ptr_tko weak %o2 : tile<32xptr<{type}>> -> tile<32x{type}>, token
  %t1 = store_ptr_tko weak %x2, %v, %mask token=%t : tile<32xptr<{type}>>, tile<32x{type}>, tile<32xi1> -> token
"""
WINDOW = """
entry @k(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %down: tile<i32>, %right: tile<i32>) {{
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %h = constant <i32: 8> : tile<i32>
  %w = constant <i32: 16> : tile<i32>
  %i = muli %bx, %h : tile<i32>
  %j = muli %by, %w : tile<i32>
  %i0 = reshape %i : tile<i32> -> tile<1x1xi32>
  %i1 = broadcast %i0 : tile<1x1xi32> -> tile<8x1xi32>
  %j0 = reshape %j : tile<i32> -> tile<1x1xi32>
  %j1 = broadcast %j0 : tile<1x1xi32> -> tile<1x16xi32>
  %down_lanes = iota : tile<8xi32>
  %d0 = reshape %down_lanes : tile<8xi32> -> tile<8x1xi32>
  %right_lanes = iota : tile<16xi32>
  %r0 = reshape %right_lanes : tile<16xi32> -> tile<1x16xi32>
  %row = addi %i1, %d0 : tile<8x1xi32>
  %column = addi %j1, %r0 : tile<1x16xi32>
  %down0 = reshape %down : tile<i32> -> tile<1x1xi32>
  %down1 = broadcast %down0 : tile<1x1xi32> -> tile<8x1xi32>
  %right0 = reshape %right : tile<i32> -> tile<1x1xi32>
  %right1 = broadcast %right0 : tile<1x1xi32> -> tile<1x16xi32>
  %r = addi %row, %down1 : tile<8x1xi32>
  %c = addi %column, %right1 : tile<1x16xi32>
  %zr = constant <i32: 0> : tile<8x1xi32>
  %zc = constant <i32: 0> : tile<1x16xi32>
  %m0 = reshape %m : tile<i32> -> tile<1x1xi32>
  %m1 = broadcast %m0 : tile<1x1xi32> -> tile<8x1xi32>
  %n0 = reshape %n : tile<i32> -> tile<1x1xi32>
  %n1 = broadcast %n0 : tile<1x1xi32> -> tile<1x16xi32>
  %n2 = broadcast %n0 : tile<1x1xi32> -> tile<8x1xi32>
  %above = cmpi greater_than_or_equal %r, %zr, signed : tile<8x1xi32> -> tile<8x1xi1>
  %below = cmpi less_than %r, %m1, signed : tile<8x1xi32> -> tile<8x1xi1>
  %left = cmpi greater_than_or_equal %c, %zc, signed : tile<1x16xi32> -> tile<1x16xi1>
  %before = cmpi less_than %c, %n1, signed : tile<1x16xi32> -> tile<1x16xi1>
  %rows = andi %above, %below : tile<8x1xi1>
  %columns = andi %left, %before : tile<1x16xi1>
  %rows1 = broadcast %rows : tile<8x1xi1> -> tile<8x16xi1>
  %columns1 = broadcast %columns : tile<1x16xi1> -> tile<8x16xi1>
  %mask = andi %rows1, %columns1 : tile<8x16xi1>
  %begin = muli %r, %n2 : tile<8x1xi32>
  %b0 = broadcast %begin : tile<8x1xi32> -> tile<8x16xi32>
  %c0 = broadcast %c : tile<1x16xi32> -> tile<8x16xi32>
  %at = addi %b0, %c0 : tile<8x16xi32>
  %x0 = reshape %x : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %x1 = broadcast %x0 : tile<1x1xptr<f32>> -> tile<8x16xptr<f32>>
  %x2 = offset %x1, %at : tile<8x16xptr<f32>>, tile<8x16xi32> -> tile<8x16xptr<f32>>
  %other = constant <f32: -1.0> : tile<8x16xf32>
  %v, %t = load_ptr_tko weak %x2, %mask{other}
    : tile<8x16xptr<f32>>, tile<8x16xi1>{types} -> tile<8x16xf32>, token
  %own = muli %row, %n2 : tile<8x1xi32>
  %own0 = broadcast %own : tile<8x1xi32> -> tile<8x16xi32>
  %column0 = broadcast %column : tile<1x16xi32> -> tile<8x16xi32>
  %to = addi %own0, %column0 : tile<8x16xi32>
  %fits = cmpi less_than %column, %n1, signed : tile<1x16xi32> -> tile<1x16xi1>
  %fits0 = broadcast %fits : tile<1x16xi1> -> tile<8x16xi1>
  %o0 = reshape %out : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %o1 = broadcast %o0 : tile<1x1xptr<f32>> -> tile<8x16xptr<f32>>
  %o2 = offset %o1, %to : tile<8x16xptr<f32>>, tile<8x16xi32> -> tile<8x16xptr<f32>>
  %t1 = store_ptr_tko weak %o2, %v, %fits0 : tile<8x16xptr<f32>>, tile<8x16xf32>, tile<8x16xi1> -> token
}}
"""
FRONTS = [
    "greater_than_or_equal %at, %l1",
    "greater_than %at, %l1",
    "less_than %l1, %at",
    "less_than_or_equal %l1, %at",
]
SIZES = {"i8": np.int8, "f16": np.float16, "i32": np.int32, "f64": np.float64}


def row_kernel(front: str, type: str, move: str) -> tileir.Kernel:
    seven = "7" if type[0] == "i" else "7.0"
    return tileir.parse(ROW.format(type=type, front=front, seven=seven, move=move.format(type=type)))["k"]


def outcome(kernel: tileir.Kernel, type: str, target: str, low: int, high: int, move: int, check: bool) -> object:
    """Return the arrays after a launch over three tile blocks, or where it stopped."""
    x, out = np.arange(96).astype(SIZES[type]), np.arange(100, 196).astype(SIZES[type])
    try:
        kernel.launch(3, x, out, low, high, move, target=target, check=check)
    except tileir.Trap as trap:
        return str(trap).splitlines()[0]
    return x.tobytes(), out.tobytes()


@pytest.mark.parametrize("move", [LOAD, STORE], ids=["load", "store"])
@pytest.mark.parametrize("type", SIZES)
@pytest.mark.parametrize("front", FRONTS)
def test_rows_that_begin_and_end_anywhere(front: str, type: str, move: str) -> None:
    kernel = row_kernel(front, type, move)
    lows, highs = (0, 1, 31, 33, 96), (0, 2, 50, 96)
    for low, high in ((low, high) for low in lows for high in highs):
        for moved in (0, -3, 40):
            wanted = outcome(kernel, type, "interp", low, high, moved, True)
            assert outcome(kernel, type, "cpu", low, high, moved, True) == wanted, (low, high, moved)
            if not isinstance(wanted, str):
                assert outcome(kernel, type, "cpu", low, high, moved, False) == wanted, (low, high, moved)


@pytest.mark.parametrize(("low", "high", "move"), [(-4, 96, -4), (0, 200, 20), (-50, 300, 1), (-(1 << 31), 50, -3)])
def test_what_the_mask_leaves_beyond_the_array_is_found(low: int, high: int, move: int) -> None:
    kernel = row_kernel(FRONTS[0], "i32", LOAD)
    wanted = outcome(kernel, "i32", "interp", low, high, move, True)
    assert outcome(kernel, "i32", "cpu", low, high, move, True) == wanted
    assert isinstance(wanted, str)


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("shift", [(0, 0), (-2, -3), (1, -17), (-20, 4), (3, 5), (-9, 0)])
def test_windows_that_reach_over_every_side_of_a_matrix(shift: tuple[int, int], padded: bool) -> None:
    kernel = tileir.parse(WINDOW.format(other=", %other" if padded else "", types=", tile<8x16xf32>" if padded else ""))
    x = np.arange(24 * 40, dtype=np.float32).reshape(24, 40)
    results = []
    for target in ("interp", "cpu"):
        out = np.zeros_like(x)
        kernel["k"].launch((3, 3), x, out, 24, 40, *shift, target=target)
        results.append(out)
    rows, columns = np.mgrid[:24, :40][0] + shift[0], np.mgrid[:24, :40][1] + shift[1]
    inside = (rows >= 0) & (rows < 24) & (columns >= 0) & (columns < 40)
    wanted = np.where(inside, x[rows.clip(0, 23), columns.clip(0, 39)], -1 if padded else 0)
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(np.where(inside | padded, results[1], 0), wanted)
