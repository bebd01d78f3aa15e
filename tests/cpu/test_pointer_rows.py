"""Tiles of pointers to rows that lie anywhere do what the interpreter does: results, traps, and nothing beyond.

Arrays end where memory does, so that an access beyond one that no check finds ends the process.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest

import tileir
from tests.cpu.guarded import Guarded
from tests.cpu.test_pointer_boxes import outcome
from tileir.analysis.affine import Affines
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.analysis.loads import Loads
from tileir.ops.pointers import LoadPtr, StorePtr

ROWS, COLUMNS = 4, 16
SHAPE = f"{ROWS}x{COLUMNS}"
I32, I1 = f"tile<{SHAPE}xi32>", f"tile<{SHAPE}xi1>"
BELOW_N = f"%below_n = cmpi less_than %column, %n, signed : {I32} -> {I1}"
WANTED = f"%wanted = cmpi less_than %start, %m, unsigned : {I32} -> {I1}"
MASKS = {
    "columns": BELOW_N.replace("%below_n", "%mask"),
    "rows": WANTED.replace("%wanted", "%mask"),
    "rows and columns": f"{BELOW_N}\n  {WANTED}\n  %mask = andi %below_n, %wanted : {I1}",
    "either of two for rows": f"""{BELOW_N}\n  {WANTED}
  %nothing = cmpi equal %start, %first, signed : {I32} -> {I1}
  %one = ori %wanted, %nothing : {I1}
  %mask = andi %one, %below_n : {I1}""",
    "from a start": f"""%at = addi %column, %first : {I32}
  %mask = cmpi less_than %at, %n, signed : {I32} -> {I1}""",
    "an end for each row": f"%mask = cmpi less_than %column, %start, signed : {I32} -> {I1}",
    "a start for each row": f"""%at = addi %column, %start : {I32}
  %below_n = cmpi greater_than_or_equal %n, %at, unsigned : {I32} -> {I1}
  %below_m = cmpi less_than %at, %m, signed : {I32} -> {I1}
  %mask = andi %below_n, %below_m : {I1}""",
}
OTHER_MASKS = {
    "the other end": f"%mask = cmpi less_than %n, %column, signed : {I32} -> {I1}",
    "rows or columns": f"{BELOW_N}\n  {WANTED}\n  %mask = ori %below_n, %wanted : {I1}",
}


def program(mask: str, element: str = "i32", masked: bool = True, padded: bool = True, turned: bool = False) -> str:
    """``c[to[row] + column] = a[from[row] + column] + 1`` where the mask holds; turned, rows are columns of the tile.

    `first` is added to the index of a column, and taken from that of a row.
    """
    pointer, tile = f"tile<{SHAPE}xptr<{element}>>", f"tile<{SHAPE}x{element}>"
    given, types = (", %mask", f", {I1}") if masked else ("", "")
    padding, padding_type = (", %seven", f", {tile}") if masked and padded else ("", "")
    down, across = (f"1x{ROWS}", f"{COLUMNS}x1") if turned else (f"{ROWS}x1", f"1x{COLUMNS}")

    def spread(name: str, scalar: str, kind: str) -> str:
        return f"""
  %{name}_1 = reshape {scalar} : tile<{kind}> -> tile<1x1x{kind}>
  %{name} = broadcast %{name}_1 : tile<1x1x{kind}> -> tile<{SHAPE}x{kind}>"""

    def chosen(name: str, table: str) -> str:
        return f"""
  %{name}_p1 = reshape {table} : tile<ptr<i32>> -> tile<1xptr<i32>>
  %{name}_ps = broadcast %{name}_p1 : tile<1xptr<i32>> -> tile<{ROWS}xptr<i32>>
  %{name}_at = offset %{name}_ps, %i : tile<{ROWS}xptr<i32>>, tile<{ROWS}xi32> -> tile<{ROWS}xptr<i32>>
  %{name}_0, %{name}_read = load_ptr_tko weak %{name}_at : tile<{ROWS}xptr<i32>> -> tile<{ROWS}xi32>, token
  %{name}_1 = reshape %{name}_0 : tile<{ROWS}xi32> -> tile<{down}xi32>
  %{name} = broadcast %{name}_1 : tile<{down}xi32> -> {I32}"""

    text = f"""entry @k(%a: tile<ptr<{element}>>, %c: tile<ptr<{element}>>, %from: tile<ptr<i32>>, %to: tile<ptr<i32>>,
         %m_0: tile<i32>, %n_0: tile<i32>, %first_0: tile<i32>) {{
  %i = iota : tile<{ROWS}xi32>
  %j = iota : tile<{COLUMNS}xi32>
  %j_1 = reshape %j : tile<{COLUMNS}xi32> -> tile<{across}xi32>
  %column = broadcast %j_1 : tile<{across}xi32> -> {I32}
  {"".join(spread(name, f"%{name}_0", "i32") for name in ("m", "n", "first"))}
  {chosen("start", "%from")}
  {chosen("goal", "%to")}
  {mask}
  %shifted = addi %column, %first : {I32}
  %start_back = subi %start, %first : {I32}
  %source = addi %start_back, %shifted : {I32}
  %target = addi %goal, %column : {I32}
  {spread("as", "%a", f"ptr<{element}>")}{spread("cs", "%c", f"ptr<{element}>")}
  %a_at = offset %as, %source : {pointer}, {I32} -> {pointer}
  %c_at = offset %cs, %target : {pointer}, {I32} -> {pointer}
  %seven = constant <{element}: 7> : {tile}
  %ones = constant <{element}: 1> : {tile}
  %x, %read = load_ptr_tko weak %a_at{given}{padding} : {pointer}{types}{padding_type} -> {tile}, token
  %y = addi %x, %ones : {tile}
  %done = store_ptr_tko weak %c_at, %y{given} token=%read : {pointer}, {tile}{types} -> token
  return
}}"""
    return text.replace(SHAPE, f"{COLUMNS}x{ROWS}") if turned else text


def rows_of(text: str) -> list[bool]:
    """Return whether each two-dimensional access is recognised as moving rows."""
    body = tileir.parse(text)["k"].entry.body
    loads = Loads(Fusion(body), Affines(body))
    moves = [op for op in body.ops if isinstance(op, LoadPtr | StorePtr) and op.operands[0].tile.rank == 2]
    return [op in loads.rows for op in moves]


@pytest.mark.parametrize("mask", MASKS)
def test_masks_that_leave_out_rows_and_their_ends_are_seen(mask: str) -> None:
    assert rows_of(program(MASKS[mask])) == [True, True]


@pytest.mark.parametrize("mask", OTHER_MASKS)
def test_other_masks_are_not_taken_for_such(mask: str) -> None:
    assert rows_of(program(OTHER_MASKS[mask])) == [False, False]


def test_a_store_is_taken_in_rows_only_in_row_major_order() -> None:
    assert rows_of(program("", masked=False)) == [True, True]
    assert rows_of(program("", "i64", masked=False, turned=True)) == [True, False]


def test_rows_shorter_than_a_line_are_no_rows() -> None:
    assert rows_of(program("", "i8", masked=False)) == [False, False]


# ---------------------------------------------------------------- what is done


def assert_same(kernel: tileir.Kernel, arrays: list[np.ndarray], *numbers: int) -> bool:
    """Launch on both targets, on arrays that end where memory does; gives whether it trapped."""
    guard = Guarded()
    given = [guard.copy(array) for array in arrays]
    expected, found = (outcome(kernel, target, given, *numbers) for target in ("interp", "cpu"))
    same = expected == found
    assert same, (numbers, expected[1], found[1])
    return found[1] is not None


def memory(size: int, rows: tuple[int, ...], goals: tuple[int, ...], dtype: type = np.int32) -> list[np.ndarray]:
    tables = [np.array(starts, np.int32) for starts in (rows, goals)]
    return [(np.arange(size) % 100).astype(dtype), np.full(size, 50, dtype), *tables]


STARTS = (
    (0, 16, 32, 48), (48, 0, 16, 32), (5, 5, 5, 5), (3, 4, 5, 6), (0, 16, 32, 49), (49, 0, 16, 32), (0, -1, 16, 32),
    (0, 2**31 - 8, 16, 32), (0, -(2**31), 16, 32),
)  # fmt: skip
"""Starts of rows in arrays of 64: each apart, the same one, overlapping, out at either end, wrapping around."""


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
@pytest.mark.parametrize("mask", [*MASKS, *OTHER_MASKS])
def test_every_cut_and_every_place_of_rows(mask: str) -> None:
    kernel, traps = tileir.parse(program({**MASKS, **OTHER_MASKS}[mask]))["k"], set()
    for starts, m, n in product(STARTS, (0, 20, 2**31 - 1), (0, 1, 15, 16, 40)):
        traps.add(assert_same(kernel, memory(64, starts, STARTS[0]), m, n, 0))
        traps.add(assert_same(kernel, memory(64, STARTS[0], starts), m, n, 0))
    assert traps == {True, False}


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
@pytest.mark.parametrize("mask", ["columns", "from a start"])
@pytest.mark.parametrize("first", [1, -1, 2**31 - 8, -8, -(2**31)])
def test_indices_that_wrap_around_within_rows(mask: str, first: int) -> None:
    kernel = tileir.parse(program(MASKS[mask]))["k"]
    for n in (0, 9, 16, 2**31 - 1, -(2**31)):
        assert_same(kernel, memory(64, STARTS[1], STARTS[3]), 0, n, first)


@pytest.mark.parametrize(("element", "dtype"), [("i8", np.int8), ("i16", np.int16), ("i64", np.int64)])
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_elements_of_other_sizes_with_and_without_masks(element: str, dtype: type, masked: bool, turned: bool) -> None:
    text = program(MASKS["columns"] if masked else "", element, masked, padded=False, turned=turned)
    kernel, starts = tileir.parse(text)["k"], tuple(3 * row % 31 for row in range(16))
    for n in (2, 16):
        assert not assert_same(kernel, memory(64, starts, starts[::-1], dtype), 0, n, 0)


@pytest.mark.parametrize("shift", [0, 1, 16])
def test_rows_moved_within_one_array_are_read_before_they_are_written(shift: int) -> None:
    kernel = tileir.parse(program("", masked=False))["k"]
    results = []
    for target in ("interp", "cpu"):
        whole = np.arange(100, dtype=np.int32)
        tables = [np.array(starts, np.int32) for starts in ((0, 16, 32, 48), (16, 0, 48, 32))]
        kernel.launch(1, whole[: 100 - shift], whole[shift:], *tables, 0, 0, 0, target=target)
        results.append(whole.tolist())
    assert results[0] == results[1]


def test_strict_launches_see_what_the_interpreter_sees() -> None:
    kernel, found = tileir.parse(program("", masked=False))["k"], []
    for target in ("interp", "cpu"):
        with pytest.raises(tileir.Trap) as trap:
            kernel.launch(1, *memory(64, STARTS[0], STARTS[3]), 0, 0, 0, target=target, check="strict")
        found.append(str(trap.value))
    assert found[0] == found[1]
