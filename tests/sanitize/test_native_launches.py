"""Large launches that are proved to go right run as native code: their reports are those of the interpreter.

With several schedules the interpreter runs them, whatever is proved.
"""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tileir.sanitize import native

BLOCKS, LANES = 32, 4096
COUNT = BLOCKS * LANES
"""Elements of arrays that are large enough for native code."""


def kernel(body: str, parameters: str = "%x: tile<ptr<i32>>, %y: tile<ptr<i32>>, %n: tile<i32>") -> tileir.Kernel:
    """Return a kernel with `body` between a load of a tile of x, `%value`, and a store of `%result` into y."""
    return tileir.parse(f"""
        entry @k({parameters}) {{
          %b, %b1, %b2 = get_tile_block_id : tile<i32>
          %width = constant <i32: {LANES}> : tile<i32>
          %zero = constant <i32: 0> : tile<i32>
          %lanes = iota : tile<{LANES}xi32>
          %start = muli %b, %width : tile<i32>
          %start_1 = reshape %start : tile<i32> -> tile<1xi32>
          %starts = broadcast %start_1 : tile<1xi32> -> tile<{LANES}xi32>
          %index = addi %starts, %lanes : tile<{LANES}xi32>
          %n_1 = reshape %n : tile<i32> -> tile<1xi32>
          %ns = broadcast %n_1 : tile<1xi32> -> tile<{LANES}xi32>
          %x_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
          %xs = broadcast %x_1 : tile<1xptr<i32>> -> tile<{LANES}xptr<i32>>
          %y_1 = reshape %y : tile<ptr<i32>> -> tile<1xptr<i32>>
          %ys = broadcast %y_1 : tile<1xptr<i32>> -> tile<{LANES}xptr<i32>>
          %from = offset %xs, %index : tile<{LANES}xptr<i32>>, tile<{LANES}xi32> -> tile<{LANES}xptr<i32>>
          %to = offset %ys, %index : tile<{LANES}xptr<i32>>, tile<{LANES}xi32> -> tile<{LANES}xptr<i32>>
          {body}
        }}""")["k"]


LOAD = f"%value, %t = load_ptr_tko weak %from : tile<{LANES}xptr<i32>> -> tile<{LANES}xi32>, token"


def stored(value: str, to: str = "%to") -> str:
    return f"%u = store_ptr_tko weak {to}, {value} : tile<{LANES}xptr<i32>>, tile<{LANES}xi32> -> token"


MASKED = f"""
    %inside = cmpi less_than %index, %ns, signed : tile<{LANES}xi32> -> tile<{LANES}xi1>
    %value, %t = load_ptr_tko weak %from, %inside
      : tile<{LANES}xptr<i32>>, tile<{LANES}xi1> -> tile<{LANES}xi32>, token"""
HALVES = f"""
    %two = constant <i32: 2> : tile<{LANES}xi32>
    %half = divi %lanes, %two signed : tile<{LANES}xi32>
    %places = addi %starts, %half : tile<{LANES}xi32>
    %twice = offset %ys, %places : tile<{LANES}xptr<i32>>, tile<{LANES}xi32> -> tile<{LANES}xptr<i32>>"""
BODIES = {
    "right": f"{LOAD}\n{stored('%value')}",
    "masks that hold": f"{MASKED}\n{stored('%value')}",
    "elements left out": f"{MASKED}\n{stored('%value')}",
    "division by zero": f"{LOAD}\n%r = divi %ns, %value signed : tile<{LANES}xi32>\n{stored('%r')}",
    "unused division by zero": f"{LOAD}\n%r = divi %ns, %value signed : tile<{LANES}xi32>\n{stored('%value')}",
    "overflow": f"{LOAD}\n%r = muli %value, %ns overflow<no_signed_wrap> : tile<{LANES}xi32>\n{stored('%r')}",
    "shift by the width": f"{LOAD}\n%r = shli %value, %ns : tile<{LANES}xi32>\n{stored('%r')}",
    "assertion": f"""{LOAD}
        %ok = cmpi less_than %value, %ns, signed : tile<{LANES}xi32> -> tile<{LANES}xi1>
        assert %ok, "small" : tile<{LANES}xi1>
        {stored("%value")}""",
    "broken promise": f"{LOAD}\n%r = assume bounded<0, 100>, %value : tile<{LANES}xi32>\n{stored('%r')}",
    "equal addresses": f"{LOAD}{HALVES}\n{stored('%value', '%twice')}",
    "missing token": f"{stored('%lanes')}\n{LOAD.replace('%from', '%to')}",
    "race": f"{LOAD}\n%again = offset %ys, %lanes : tile<{LANES}xptr<i32>>, tile<{LANES}xi32> -> "
    f"tile<{LANES}xptr<i32>>\n{stored('%value', '%again')}",
    "oversized view": f"""{LOAD}
        %view = make_tensor_view %x, shape = [%n, {COUNT}], strides = [{COUNT}, 1]
          : tile<i32> -> tensor_view<?x{COUNT}xi32, strides=[{COUNT},1]>
        {stored("%value")}""",
}
NUMBERS = {"masks that hold": COUNT, "elements left out": COUNT - 1, "overflow": 1 << 20, "shift by the width": 32}


@pytest.mark.parametrize("name", BODIES)
def test_a_large_launch_has_the_report_that_the_interpreter_gives(name: str) -> None:
    made, n = kernel(BODIES[name]), NUMBERS.get(name, 7)
    arrays = [np.arange(COUNT, dtype=np.int32), np.zeros(COUNT, np.int32)]
    same = [array.copy() for array in arrays]
    report = tileir.sanitize(made, BLOCKS, *arrays, n)
    expected = tileir.sanitize(made, BLOCKS, *same, n, schedules=2)
    assert {one.kind for one in report} == {one.kind for one in expected} - {"order-dependent"}
    assert [one.message for one in report] == [one.message for one in expected if one.kind != "order-dependent"]
    assert (report.notes, report.kept) == (expected.notes, expected.kept)
    assert (name in ("right", "masks that hold")) == (not report.findings), str(report)
    for array, other in zip(arrays, same):
        np.testing.assert_array_equal(array, other)


def test_a_large_launch_notes_the_elements_that_it_never_writes() -> None:
    arrays = np.arange(COUNT, dtype=np.int32), np.zeros(COUNT + 3, np.int32)
    report = tileir.sanitize(kernel(BODIES["right"]), BLOCKS, *arrays, 7)
    assert report.ok and report.kept == {"x"}
    assert [note.split(",")[0] for note in report.notes] == ["3 of 131"]
    assert f"elements {COUNT} to {COUNT + 2}" in report.notes[0]


def test_a_large_launch_of_memory_that_nobody_wrote_is_looked_at() -> None:
    arrays = np.arange(COUNT, dtype=np.int32), np.zeros(COUNT, np.int32)
    report = tileir.sanitize(kernel(BODIES["right"]), BLOCKS, *arrays, 7, uninitialized=["x"])
    assert {one.kind for one in report} == {"uninitialized"}


@pytest.mark.parametrize(("body", "least", "is_native"), [("right", 0, True), ("race", 0, False), ("right", 1, False)])
def test_native_code_runs_what_is_large_and_proved(
    monkeypatch: pytest.MonkeyPatch, body: str, least: int, is_native: bool
) -> None:
    ran, native_run = [], native.ran_clean
    monkeypatch.setattr(native, "ran_clean", lambda *given: ran.append(native_run(*given)) or ran[-1])
    monkeypatch.setattr(native, "LARGE", 2 * 4 * COUNT + least)
    tileir.sanitize(kernel(BODIES[body]), BLOCKS, np.arange(COUNT, dtype=np.int32), np.zeros(COUNT, np.int32), 7)
    assert ran == ([True] if is_native else [])
