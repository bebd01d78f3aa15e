"""Tiles of pointers to boxes of memory, cut by masks, do what the interpreter does: results, traps, and nothing beyond.

Arrays end where memory does, so that an access beyond one that no check finds ends the process.
"""

from __future__ import annotations

import re
import sys
import warnings
from itertools import product

import numpy as np
import pytest

import tileir
from tests.cpu.guarded import Guarded
from tests.passes.random_pointers import RandomPointers
from tileir.analysis.affine import Affines
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.analysis.loads import LoadPlacement, Loads
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm.engine import host, optimized_text
from tileir.cpu.run.program import lowered
from tileir.ops.pointers import LoadPtr, StorePtr

ROWS, COLUMNS = 4, 16
SHAPE = f"{ROWS}x{COLUMNS}"
I64, I32, I1 = f"tile<{SHAPE}xi64>", f"tile<{SHAPE}xi32>", f"tile<{SHAPE}xi1>"


def spread(name: str, scalar: str, element: str = "i32") -> str:
    return f"""
  %{name}_1 = reshape {scalar} : tile<{element}> -> tile<1x1x{element}>
  %{name} = broadcast %{name}_1 : tile<1x1x{element}> -> tile<{SHAPE}x{element}>"""


LANES = f"""
  %i = iota : tile<{ROWS}xi32>
  %i_1 = reshape %i : tile<{ROWS}xi32> -> tile<{ROWS}x1xi32>
  %row = broadcast %i_1 : tile<{ROWS}x1xi32> -> {I32}
  %j = iota : tile<{COLUMNS}xi32>
  %j_1 = reshape %j : tile<{COLUMNS}xi32> -> tile<1x{COLUMNS}xi32>
  %column = broadcast %j_1 : tile<1x{COLUMNS}xi32> -> {I32}""" + "".join(
    spread(name, f"%{name}_0") for name in ("m", "n", "first", "stride")
)
BELOW_N = f"%below_n = cmpi less_than %column, %n, signed : {I32} -> {I1}"
BELOW_M = f"%below_m = cmpi less_than %row, %m, signed : {I32} -> {I1}"
MASKS = {
    "columns": BELOW_N.replace("%below_n", "%mask"),
    "rows and columns": f"{BELOW_N}\n  {BELOW_M}\n  %mask = andi %below_n, %below_m : {I1}",
    "the last one too": f"%mask = cmpi less_than_or_equal %column, %n, signed : {I32} -> {I1}",
    "the other way round": f"%mask = cmpi greater_than %n, %column, signed : {I32} -> {I1}",
    "unsigned": f"%mask = cmpi less_than %column, %n, unsigned : {I32} -> {I1}",
    "from a start": f"""%at = addi %column, %first : {I32}
  %mask = cmpi less_than %at, %n, signed : {I32} -> {I1}""",
    "before it is spread": f"""%n_row = broadcast %n_1 : tile<1x1xi32> -> tile<1x{COLUMNS}xi32>
  %small = cmpi less_than %j_1, %n_row, signed : tile<1x{COLUMNS}xi32> -> tile<1x{COLUMNS}xi1>
  %mask = broadcast %small : tile<1x{COLUMNS}xi1> -> {I1}""",
    "all or none": f"%mask = cmpi less_than %m, %n, signed : {I32} -> {I1}",
}
BEHIND_N = f"%mask = cmpi less_than %n, %column, signed : {I32} -> {I1}"
OTHER_MASKS = {
    "one column": f"%mask = cmpi equal %n, %column, signed : {I32} -> {I1}",
    "either": f"{BELOW_N}\n  {BELOW_M}\n  %mask = ori %below_n, %below_m : {I1}",
    "a row that wraps around with the column": f"""%at = addi %column, %first : {I32}
  %at_wide = exti %at signed : {I32} -> {I64}
  %column_wide = exti %column signed : {I32} -> {I64}
  %row_wide = exti %row signed : {I32} -> {I64}
  %n_wide = exti %n signed : {I32} -> {I64}
  %back = subi %at_wide, %column_wide : {I64}
  %sum = addi %back, %row_wide : {I64}
  %mask = cmpi less_than %sum, %n_wide, signed : {I64} -> {I1}""",
    "a triangle": f"%mask = cmpi less_than_or_equal %column, %row, signed : {I32} -> {I1}",
}


def program(mask: str, element: str = "i32", masked: bool = True) -> str:
    """``c[at] = a[at] + 1`` where the mask holds, for rows that lie `stride` apart."""
    pointer, tile = f"tile<{SHAPE}xptr<{element}>>", f"tile<{SHAPE}x{element}>"
    given, types = (", %mask", f", {I1}") if masked else ("", "")
    padding, padding_type = (", %seven", f", {tile}") if masked else ("", "")
    return f"""entry @k(%a: tile<ptr<{element}>>, %c: tile<ptr<{element}>>, %m_0: tile<i32>, %n_0: tile<i32>,
         %first_0: tile<i32>, %stride_0: tile<i32>) {{{LANES}
  {mask}
  %down = muli %row, %stride : {I32}
  %across = addi %column, %first : {I32}
  %index = addi %down, %across : {I32}{spread("as", "%a", f"ptr<{element}>")}{spread("cs", "%c", f"ptr<{element}>")}
  %a_at = offset %as, %index : {pointer}, {I32} -> {pointer}
  %c_at = offset %cs, %index : {pointer}, {I32} -> {pointer}
  %seven = constant <{element}: 7> : {tile}
  %one = constant <{element}: 1> : {tile}
  %x, %read = load_ptr_tko weak %a_at{given}{padding} : {pointer}{types}{padding_type} -> {tile}, token
  %y = addi %x, %one : {tile}
  %done = store_ptr_tko weak %c_at, %y{given} token=%read : {pointer}, {tile}{types} -> token
  return
}}"""


def boxes_of(text: str) -> list[bool]:
    """Return whether each access is recognised as one to a box."""
    body = tileir.parse(text)["k"].entry.body
    loads = Loads(Fusion(body), Affines(body))
    return [loads.regions[op].is_box for op in body.ops if isinstance(op, LoadPtr | StorePtr)]


@pytest.mark.parametrize("mask", MASKS)
def test_masks_that_leave_out_ends_are_seen(mask: str) -> None:
    assert all(boxes_of(program(MASKS[mask])))


def test_masks_that_leave_out_a_beginning_are_seen_where_a_box_is_read() -> None:
    assert boxes_of(program(BEHIND_N)) == [True, False]


@pytest.mark.parametrize("mask", OTHER_MASKS)
def test_other_masks_are_not_taken_for_such(mask: str) -> None:
    assert boxes_of(program(OTHER_MASKS[mask])) == [False, False]


def test_the_elements_of_a_box_are_read_where_they_are_used() -> None:
    body = tileir.parse(program(MASKS["columns"]))["k"].entry.body
    loads = Loads(Fusion(body), Affines(body))
    (load,) = (op for op in body.ops if isinstance(op, LoadPtr))
    assert loads.placement(load.result) is LoadPlacement.IN_STORE


def test_a_load_and_store_of_a_box_move_vectors_without_gathers() -> None:
    """Optimised code, before it is spelled for a processor: there gathers have names of their own."""
    kernel = tileir.parse(program(MASKS["rows and columns"]))["k"].entry
    text = optimized_text(str(lowered(kernel, (), CheckLevel.ON).module), host())
    assert "llvm.masked.gather" not in text and "llvm.masked.scatter" not in text
    assert re.search(r"load <\d+ x i32>", text) and re.search(r"store <\d+ x i32>", text)


# ---------------------------------------------------------------- what is done


def outcome(kernel: tileir.Kernel, target: str, arrays: list[np.ndarray], *numbers: int) -> tuple[object, object]:
    """Return the memory afterwards, which is then restored, and the trap's message, if there is one."""
    before, trap = [array.copy() for array in arrays], None
    try:
        kernel.launch(1, *arrays, *numbers, target=target)
    except tileir.Trap as error:
        trap = (error.message, error.op, error.array, error.index, error.block, str(error.loc))
    after = [array.tobytes() for array in arrays]
    for array, content in zip(arrays, before):
        array[...] = content
    return after, trap


def assert_same(kernel: tileir.Kernel, arrays: list[np.ndarray], *numbers: int) -> object:
    """Launch on both targets, on arrays that end where memory does; gives the trap."""
    guard = Guarded()
    given = [guard.copy(array) for array in arrays]
    expected, found = (outcome(kernel, target, given, *numbers) for target in ("interp", "cpu"))
    same = expected == found
    assert same, (numbers, expected[1], found[1])
    return found[1]


def memory(size: int, dtype: type = np.int32) -> list[np.ndarray]:
    return [(np.arange(size) % 100).astype(dtype), np.full(size, 50, dtype)]


SIZES = (ROWS * COLUMNS, ROWS * COLUMNS - 1, ROWS * COLUMNS - 9, 20, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
@pytest.mark.parametrize("mask", [*MASKS.values(), *OTHER_MASKS.values(), BEHIND_N])
def test_every_cut_and_every_end_of_memory(mask: str) -> None:
    kernel = tileir.parse(program(mask))["k"]
    traps = set()
    for size, m, n in product(SIZES, (0, 1, 3, 4, 9), (-1, 0, 1, 7, 15, 16, 40)):
        traps.add(assert_same(kernel, memory(size), m, n, 0, COLUMNS) is None)
    assert traps == {True, False}


ODD = [
    (0, 1), (0, 0), (1, 3), (-1, 16), (5, 16), (0, 17), (0, -1), (48, -16),
    (2**31 - 8, 16), (-8, 16), (-(2**31), 16), (0, 2**30), (2**31 - 1, 2**31 - 1), (0, 2**28),
]  # fmt: skip
"""First indices and distances between rows: overlapping, turned round, beyond 32 bits."""


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
@pytest.mark.parametrize("mask", ["columns", "rows and columns", "from a start", "unsigned"])
def test_rows_that_overlap_turn_round_or_wrap_around(mask: str) -> None:
    kernel = tileir.parse(program(MASKS[mask]))["k"]
    for (first, stride), m, n in product(ODD, (0, 1, 4), (0, 1, 9, 16, 2**31 - 1, -(2**31))):
        assert_same(kernel, memory(80), m, n, first, stride)


def with_index(lines: str) -> str:
    """Return the program without a mask, with other lines for `%index`."""
    text = program("", masked=False)
    return text.replace(text[text.index("%down = ") : text.index("%as_1 = ")], lines + "\n  ", 1)


COLUMNS_START_AGAIN = f"""%across = addi %column, %first : {I32}
  %below_n = remi %across, %n signed : {I32}
  %down = muli %row, %stride : {I32}
  %index = addi %down, %below_n : {I32}"""
ROWS_START_AGAIN = f"""%moved = addi %row, %first : {I32}
  %below_m = remi %moved, %m signed : {I32}
  %down = muli %below_m, %stride : {I32}
  %index = addi %down, %column : {I32}"""


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
@pytest.mark.parametrize("lines", [COLUMNS_START_AGAIN, ROWS_START_AGAIN], ids=["columns", "rows"])
def test_remainders_that_may_start_again_within_the_tile(lines: str) -> None:
    text = with_index(lines)
    assert boxes_of(text) == [True, True]
    kernel, traps = tileir.parse(text)["k"], set()
    for first, bound, stride in product(
        (0, 1, 9, 40, -3, -40, 2**31 - 8, -(2**31)), (1, 3, 16, 17, 40, 2**16, 2**31 - 1, -7), (16, 1, 0, 2**16, -1)
    ):
        traps.add(assert_same(kernel, memory(80), bound, bound, first, stride) is None)
    assert traps == {True, False}


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
def test_rows_and_columns_that_wrap_around_each_by_itself() -> None:
    pointers = f"tile<{SHAPE}xptr<i32>>"
    text = with_index(f"%down = muli %row, %stride : {I32}\n  %across = addi %column, %first : {I32}")
    for name in ("a", "c"):
        text = text.replace(
            f"%{name}_at = offset %{name}s, %index",
            f"""%{name}_row = offset %{name}s, %down : {pointers}, {I32} -> {pointers}
  %{name}_at = offset %{name}_row, %across""",
        )
    assert boxes_of(text) == [True, True]
    kernel = tileir.parse(text)["k"]
    for first, stride in ODD:
        assert_same(kernel, memory(80), 0, 0, first, stride)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("shift", [0, 1, 3, 16, 40])
def test_arrays_that_overlap(masked: bool, shift: int) -> None:
    kernel = tileir.parse(program(MASKS["rows and columns"], masked=masked))["k"]
    for turned, n in product((False, True), (5, 16)):
        results = []
        for target in ("interp", "cpu"):
            whole = np.arange(200, dtype=np.int32)
            views = [whole[: 200 - shift], whole[shift:]]
            kernel.launch(1, *(views[::-1] if turned else views), 3, n, 0, 20, target=target)
            results.append(whole.tolist())
        assert results[0] == results[1]


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
@pytest.mark.parametrize("mask", ["rows and columns", "from a start"])
@pytest.mark.parametrize("shift", [0, 1, 20])
def test_arrays_that_overlap_and_end_where_the_mask_does(mask: str, shift: int) -> None:
    """What is stored through a copy, as it overwrites what is read, is computed as far as it is stored."""
    kernel = tileir.parse(program(MASKS[mask]))["k"]
    for stride in (20, 2**28, 16):
        results = []
        for target in ("interp", "cpu"):
            whole = Guarded().copy(np.arange(2 * 20 + 5 + shift, dtype=np.int32))
            trapped = False
            try:
                kernel.launch(1, whole[: len(whole) - shift], whole[shift:], 3, 5, 0, stride, target=target)
            except tileir.Trap:
                trapped = True
            results.append((whole.tolist(), trapped))
        assert results[0] == results[1]


@pytest.mark.parametrize(("element", "dtype"), [("i8", np.int8), ("i16", np.int16), ("i64", np.int64)])
def test_elements_of_other_sizes_at_addresses_that_suit_no_vector(element: str, dtype: type) -> None:
    kernel = tileir.parse(program(MASKS["rows and columns"], element))["k"]
    for offset, n in product((0, 1, 5), (3, 15, 16)):
        arrays = [array[offset:] for array in memory(100, dtype)]
        results = []
        for target in ("interp", "cpu"):
            out = arrays[1].copy()
            kernel.launch(1, arrays[0], out, 3, n, 0, 17, target=target)
            results.append(out.tolist())
        assert results[0] == results[1]


@pytest.mark.parametrize("n", [5, 16])
def test_strict_launches_see_what_the_interpreter_sees(n: int) -> None:
    text = program(MASKS["rows and columns"]).replace(f", %seven : tile<{SHAPE}xptr<i32>>, {I1}, {I32}",
                                                      f" : tile<{SHAPE}xptr<i32>>, {I1}")  # fmt: skip
    kernel = tileir.parse(text)["k"]
    found = []
    for target in ("interp", "cpu"):
        arrays = memory(64)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            kernel.launch(1, *arrays, 4, n, 0, 16, target=target, check="strict")
        found.append(([str(one.message) for one in seen], [array.tolist() for array in arrays]))
    assert found[0] == found[1]
    assert len(found[0][0]) == (n == 5)


@pytest.mark.parametrize("seed", range(12))
def test_random_kernels_on_memory_of_any_size(seed: int) -> None:
    check_random(seed)


def check_random(seed: int) -> bool:
    """Compare both targets on a random kernel; gives whether anything trapped."""
    made, trapped = RandomPointers(seed), False
    kernel = tileir.parse(made.text())["k"]
    for size in (4096, 1030, 1024 + made.random.randint(1, 60)):
        numbers = made.random.randint(-2, 12), made.random.randint(-2, 12), made.random.randint(1, 9)
        arrays = [np.arange(size, dtype=np.float32), np.zeros(made.random.choice((20, 100, 4096)), np.float32)]
        outs, traps = [], []
        for target, options in (("interp", {}), ("cpu", {"threads": 1})):
            arrays[1][:] = 0
            trap = None
            try:
                kernel.launch(made.grid, *arrays, *numbers, target=target, **options)
            except tileir.Trap as error:
                trap = (error.message, error.op, error.array, error.index, error.block, str(error.loc))
            outs.append(arrays[1].tobytes())
            traps.append(trap)
        same = outs[0] == outs[1]
        assert traps[0] == traps[1], (size, numbers, traps)
        assert same, (size, numbers)
        trapped |= traps[0] is not None
    return trapped


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
def test_an_index_that_wraps_around_in_one_corner_alone() -> None:
    """`start + column - row` in 32 bits, plus 32 rows in 64: the first and the last element are as they seem."""
    tile, wide, pointers = "tile<4x16xi32>", "tile<4x16xi64>", "tile<4x16xptr<i32>>"
    text = program("", masked=False).replace(
        f"""  %down = muli %row, %stride : {I32}
  %across = addi %column, %first : {I32}
  %index = addi %down, %across : {I32}""",
        f"""  %across = addi %column, %first : {tile}
  %index = subi %across, %row : {tile}
  %row_wide = exti %row signed : {tile} -> {wide}
  %steps = constant <i64: 32> : {wide}
  %down = muli %row_wide, %steps : {wide}
  %ahead_narrow = subi %m, %first : {tile}
  %ahead = exti %ahead_narrow signed : {tile} -> {wide}
  %moved = addi %down, %ahead : {wide}""",
    )
    for name in ("a", "c"):
        text = text.replace(
            f"%{name}_at = offset %{name}s, %index",
            f"""%{name}_row = offset %{name}s, %moved : {pointers}, {wide} -> {pointers}
  %{name}_at = offset %{name}_row, %index""",
        )
    kernel, traps = tileir.parse(text)["k"], []
    for first in (0, 5, 2**31 - 20, 2**31 - 14):
        traps.append(assert_same(kernel, memory(128), 0, 0, first, 0) is not None)
    assert traps == [False, False, False, True]
