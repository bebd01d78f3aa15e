"""Tiles of pointers that a loop carries: whatever moves them, natively they point where they do in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

import tileir

PROGRAM = """entry @k(%from: tile<ptr<i32>>, %to: tile<ptr<i32>>, %turns: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %two = constant <i32: 2> : tile<i32>
  %eight = constant <i32: 8> : tile<8xi32>
  %lanes = iota : tile<8xi32>
  %none = constant <i32: 0> : tile<8xi32>
  %from_1 = reshape %from : tile<ptr<i32>> -> tile<1xptr<i32>>
  %from_8 = broadcast %from_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %start = offset %from_8, %lanes : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %to_1 = reshape %to : tile<ptr<i32>> -> tile<1xptr<i32>>
  %to_8 = broadcast %to_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %out = offset %to_8, %lanes : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %sum, %end, %last = for %i in (%zero to %turns, step %one) : tile<i32>
      iter_values(%partial = %none, %at = %start, %goal = %out)
      -> (tile<8xi32>, tile<8xptr<i32>>, tile<8xptr<i32>>) {
    %value, %read = load_ptr_tko weak %at : tile<8xptr<i32>> -> tile<8xi32>, token
    %next = addi %partial, %value : tile<8xi32>
    %goal_next = offset %goal, %eight : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    MOVE
  }
  %left, %after = load_ptr_tko weak %end : tile<8xptr<i32>> -> tile<8xi32>, token
  %total = addi %sum, %left : tile<8xi32>
  %written = store_ptr_tko weak %last, %total : tile<8xptr<i32>>, tile<8xi32> -> token
}"""
CONTINUE = "continue %next, AT, %goal_next : tile<8xi32>, tile<8xptr<i32>>, tile<8xptr<i32>>"
MOVED = "offset %at, DISTANCE : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>"
SPREAD = """%i_1 = reshape %i : tile<i32> -> tile<1xi32>
    %i_8 = broadcast %i_1 : tile<1xi32> -> tile<8xi32>"""
MOVES = {
    "by one constant": f"%a = {MOVED}\n{CONTINUE}".replace("DISTANCE", "%eight").replace("AT", "%a"),
    "by a number of the turn": f"{SPREAD}\n%a = {MOVED}\n{CONTINUE}".replace("DISTANCE", "%i_8").replace("AT", "%a"),
    "each by its own distance": f"%a = {MOVED}\n{CONTINUE}".replace("DISTANCE", "%lanes").replace("AT", "%a"),
    "twice in a turn": f"%b = {MOVED}\n%a = {MOVED.replace('%at', '%b')}\n{CONTINUE}".replace(
        "DISTANCE", "%eight"
    ).replace("AT", "%a"),
    "not at all": CONTINUE.replace("AT", "%at"),
    "only in some turns": f"""%odd = remi %i, %two signed : tile<i32>
    %is = cmpi equal %odd, %one, signed : tile<i32> -> tile<i1>
    if %is {{
      {CONTINUE.replace("AT", "%at")}
    }}
    %a = {MOVED.replace("DISTANCE", "%eight")}
    {CONTINUE.replace("AT", "%a")}""",
    "by two distances": f"""%odd = remi %i, %two signed : tile<i32>
    %is = cmpi equal %odd, %one, signed : tile<i32> -> tile<i1>
    if %is {{
      {SPREAD}
      %b = {MOVED.replace("DISTANCE", "%i_8")}
      {CONTINUE.replace("AT", "%b")}
    }}
    %a = {MOVED.replace("DISTANCE", "%eight")}
    {CONTINUE.replace("AT", "%a")}""",
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_pointers_move(move: str) -> None:
    kernel = tileir.parse(PROGRAM.replace("MOVE", move))["k"]
    source = np.arange(512, dtype=np.int32) ** 2
    for turns in (0, 1, 5):
        native, expected = np.zeros(64, np.int32), np.zeros(64, np.int32)
        kernel.launch(1, source, native, turns, target="cpu")
        kernel.launch(1, source, expected, turns, target="interp")
        np.testing.assert_array_equal(native, expected)
        assert expected.any()


NESTED = """entry @k(%from: tile<ptr<i32>>, %to: tile<ptr<i32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %three = constant <i32: 3> : tile<i32>
  %four = constant <i32: 4> : tile<4xi32>
  %lanes = iota : tile<4xi32>
  %from_1 = reshape %from : tile<ptr<i32>> -> tile<1xptr<i32>>
  %from_4 = broadcast %from_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
  %start = offset %from_4, %lanes : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %to_1 = reshape %to : tile<ptr<i32>> -> tile<1xptr<i32>>
  %to_4 = broadcast %to_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
  %out = offset %to_4, %lanes : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %a, %b = for %i in (%zero to %three, step %one) : tile<i32>
      iter_values(%at = %start, %goal = %out) -> (tile<4xptr<i32>>, tile<4xptr<i32>>) {
    %c, %d = for %j in (%zero to %three, step %one) : tile<i32>
        iter_values(%inner = %at, %place = %goal) -> (tile<4xptr<i32>>, tile<4xptr<i32>>) {
      %value, %read = load_ptr_tko weak %inner : tile<4xptr<i32>> -> tile<4xi32>, token
      %written = store_ptr_tko weak %place, %value : tile<4xptr<i32>>, tile<4xi32> -> token
      %e = offset %inner, %four : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
      %f = offset %place, %four : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
      continue %e, %f : tile<4xptr<i32>>, tile<4xptr<i32>>
    }
    %g = offset %c, %four : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    continue %g, %d : tile<4xptr<i32>>, tile<4xptr<i32>>
  }
}"""


def test_loops_inside_loops_hand_their_pointers_on() -> None:
    kernel = tileir.parse(NESTED)["k"]
    source, native, expected = np.arange(64, dtype=np.int32), np.zeros(64, np.int32), np.zeros(64, np.int32)
    kernel.launch(1, source, native, target="cpu")
    kernel.launch(1, source, expected, target="interp")
    np.testing.assert_array_equal(native, expected)
    assert expected[4:36].all() and not expected[36:].any()
