"""`tileir.prove` and ``tileir prove``: scopes, what they assume, what breaks them, what a run confirms."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import tileir
from tests.analysis.test_disjoint import HEAD, POINTERS, STORE, SWIZZLE, VIEW
from tileir.cli import main
from tileir.sanitize.proofs import smt
from tileir.sanitize.proofs.verdict import Answer, ProofReport, Scope

EXAMPLES = Path(tileir.__file__).parent / "examples"
PARAMETERS = "%p: tile<ptr<f32>>, %rows: tile<i32>, %columns: tile<i32>"


def kernel_of(*lines: str) -> tileir.Kernel:
    body = "\n  ".join((HEAD, *lines))
    return tileir.parse(f"entry @k({PARAMETERS}) {{\n  {body}\n}}", "k.mlir")["k"]


def tiles(index: str, *before: str) -> tileir.Kernel:
    return kernel_of(*before, VIEW.replace("STRIDE", "%columns"), STORE.replace("INDEX", index))


def pointers(width: int, shift: int = 0) -> tileir.Kernel:
    return kernel_of(POINTERS.replace("WIDTH", str(width)).replace("SHIFT", str(shift)))


def matrix(rows: int = 64, columns: int = 96) -> Sequence[object]:
    return np.zeros((rows, columns), np.float32), rows, columns


def scopes(report: ProofReport) -> tuple[Scope, Scope]:
    return report.races.scope, report.bounds.scope


def test_tiles_of_a_view_are_apart_on_any_grid() -> None:
    report = tileir.prove(tiles("%x, %y"))
    assert scopes(report) == (Scope.ANY, Scope.ANY)
    assert report.races.grid == (None, None, 1) and report.ok
    assert report.bounds.assuming == ("each array holds the views that are made of it",)


STORE_OF_ROWS = [
    "%t = make_tensor_view %p, shape = [%rows, %rows], strides = [%columns, 1]"
    " : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>",
    "%v = make_partition_view %t : partition_view<tile=(4x4), tensor_view<?x?xf32, strides=[?,1]>>",
    "%c = constant <f32: 1.0> : tile<4x4xf32>",
    "%w = store_view_tko weak %c, %v[%x, %y]"
    " : tile<4x4xf32>, partition_view<tile=(4x4), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token",
]


def test_what_is_assumed_of_a_number_is_said_in_the_words_of_the_program() -> None:
    assuming = tileir.prove(kernel_of(*STORE_OF_ROWS)).races.assuming
    assert assuming == ("no two elements of a view have one address", "columns lies in [0, 4294967295]")


def pointer_store(*offset: str) -> tileir.Kernel:
    """Return a kernel that stores at `%offset`, a tile of four i32."""
    lines = [
        "%one = constant <i32: 1> : tile<i32>",
        "%i = iota : tile<4xi32>",
        *offset,
        "%p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>",
        "%p4 = broadcast %p1 : tile<1xptr<f32>> -> tile<4xptr<f32>>",
        "%q = offset %p4, %offset : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>",
        "%c = constant <f32: 1.0> : tile<4xf32>",
        "%w = store_ptr_tko weak %q, %c : tile<4xptr<f32>>, tile<4xf32> -> token",
    ]
    return kernel_of(*lines)


def scaled_block(factor: int, times: int = 1) -> tileir.Kernel:
    """Return a kernel that stores at ``block_x * factor ** times + iota``."""
    product = ["%at0 = addi %x, %zero : tile<i32>"]
    product += [f"%at{n + 1} = muli %at{n}, %factor : tile<i32>" for n in range(times)]
    return pointer_store(
        "%zero = constant <i32: 0> : tile<i32>",
        f"%factor = constant <i32: {factor}> : tile<i32>",
        *product,
        f"%at1x = reshape %at{times} : tile<i32> -> tile<1xi32>",
        "%at = broadcast %at1x : tile<1xi32> -> tile<4xi32>",
        "%offset = addi %at, %i : tile<4xi32>",
    )


def test_assumptions_that_only_one_tile_block_can_keep_prove_nothing() -> None:
    # In 32 bits the factor is 0: on every grid of two tile blocks or more, all store to the same place.
    kernel = scaled_block(65536, times=2)
    assert tileir.prove(kernel).races.outcome is Answer.OPEN
    assert tileir.prove(kernel, (2,), *matrix()).races.outcome is Answer.PRESENT


def one_element(at: str, *before: str) -> list[str]:
    """Return the lines of a store of one element at `at`."""
    return [
        *before,
        f"%q_{at} = offset %p, %{at} : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>",
        f"%c_{at} = constant <f32: 1.0> : tile<f32>",
        f"%w_{at} = store_ptr_tko weak %q_{at}, %c_{at} : tile<ptr<f32>>, tile<f32> -> token",
    ]


def test_assumptions_that_exclude_each_other_prove_nothing() -> None:
    small = one_element(
        "low",
        "%most = constant <i32: 2147483640> : tile<i32>",
        "%sum = addi %rows, %most : tile<i32>",
        "%low = addi %sum, %x : tile<i32>",
    )
    large = one_element(
        "high",
        "%least = constant <i32: -2147483648> : tile<i32>",
        "%sixteen = constant <i32: 16> : tile<i32>",
        "%less = addi %rows, %least : tile<i32>",
        "%more = subi %less, %sixteen : tile<i32>",
        "%high = addi %more, %x : tile<i32>",
    )
    assert tileir.prove(kernel_of(*small)).races.outcome is Answer.ABSENT
    assert tileir.prove(kernel_of(*large)).races.outcome is Answer.ABSENT
    assert tileir.prove(kernel_of(*small, *large)).races.outcome is Answer.OPEN


def test_a_fault_on_any_grid_is_confirmed_on_the_grid_that_has_it() -> None:
    kernel = kernel_of(*one_element("rows"))
    report = tileir.prove(kernel, None, np.zeros(4, np.float32), 2, 1)
    assert report.races.outcome is Answer.PRESENT and [one.certainty for one in report.findings] == ["confirmed"]
    assert "possible: race" in str(tileir.prove(kernel, None, np.zeros(4, np.float32), 2, 1, run=False))


def test_a_verdict_that_bounds_the_grid_does_not_say_any() -> None:
    races = tileir.prove(scaled_block(1 << 30)).races
    assert races.outcome is Answer.ABSENT
    assert races.text.startswith("none: arguments and grids (X, 1, 1) for which lane_0 + 1073741824*block_x lies in [")
    assert "any" not in races.text and "any" not in races.to_json()["scope"]


def test_a_verdict_that_bounds_arguments_says_so_on_its_line() -> None:
    text = tileir.prove(kernel_of(*STORE_OF_ROWS)).races.text
    assert text == "none: arguments for which columns lies in [0, 4294967295], any grid (X, Y, 1)"


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("run", [True, False])
def test_a_lane_in_two_terms_of_an_address_leaves_no_array(rows: int, run: bool) -> None:
    # iota * (rows - 1) is iota * rows - iota: between 0 and 3 for two rows, not between -3 and 6.
    kernel = pointer_store(
        "%less = subi %rows, %one : tile<i32>",
        "%less1 = reshape %less : tile<i32> -> tile<1xi32>",
        "%less4 = broadcast %less1 : tile<1xi32> -> tile<4xi32>",
        "%offset = muli %i, %less4 : tile<4xi32>",
    )
    report = tileir.prove(kernel, (1,), np.zeros(4, np.float32), rows, 1, run=run)
    assert report.ok and report.bounds.outcome is Answer.ABSENT


def test_what_is_assumed_is_checked_for_a_launch() -> None:
    kernel = tiles("%x, %y")
    held = tileir.prove(kernel, (4, 3), *matrix())
    assert held.bounds.scope is Scope.ANY and held.bounds.holds_here
    # The view says 128 rows, the array has 64.
    array, _, columns = matrix()
    broken = tileir.prove(kernel, (8, 3), array, 128, columns, run=False)
    assert broken.bounds.outcome is Answer.PRESENT and broken.bounds.scope is Scope.LAUNCH
    assert not broken.ok and not broken.findings[0].confirmed


def test_a_fault_is_confirmed_by_a_run() -> None:
    array, _, columns = matrix()
    before = array.copy()
    report = tileir.prove(tiles("%x, %y"), (8, 3), array, 128, columns)
    assert [one.certainty for one in report.findings] == ["confirmed"]
    assert report.findings[0].finding.kind == "out-of-bounds"
    assert np.array_equal(array, before)


def test_a_kernel_that_never_reads_its_block_id_races() -> None:
    kernel = tiles("%zero, %zero", "%zero = constant <i32: 0> : tile<i32>")
    assert tileir.prove(kernel, (1, 1), *matrix()).races.outcome is Answer.ABSENT
    report = tileir.prove(kernel, (4, 1), *matrix(), run=False)
    assert report.races.outcome is Answer.PRESENT and report.races.decided
    assert "PROOF" not in str(report) and "possible: race" in str(report)
    assert "confirmed: race" in str(tileir.prove(kernel, (4, 1), *matrix()))


def test_safe_only_because_of_the_grid() -> None:
    """Tiles along one axis only: two blocks along the other would write the same ones."""
    kernel = tiles("%x, %half", "%two = constant <i32: 2> : tile<i32>", "%half = divi %y, %two signed : tile<i32>")
    report = tileir.prove(kernel, (4, 1), *matrix())
    assert report.races.scope is Scope.LAUNCH and report.races.outcome is Answer.ABSENT
    assert report.races.fragile is not None and "(2, 2, 1)" in report.races.fragile
    assert "grid-fragile: " in str(report)


def test_the_smallest_grid_that_leaves_an_array_is_named() -> None:
    report = tileir.prove(pointers(64), 8, np.zeros(512, np.float32), 0, 0)
    assert report.bounds.scope is Scope.LAUNCH
    assert report.bounds.fragile is not None and "(9, 1, 1)" in report.bounds.fragile


def test_arrays_of_a_launch_that_overlap_are_seen() -> None:
    text = """
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %p = offset %a, %x : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %q = offset %b, %x : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %v, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
      %s = store_ptr_tko weak %q, %v token = %t : tile<ptr<f32>>, tile<f32> -> token
    }"""
    kernel, memory = tileir.parse(text)["k"], np.zeros(64, np.float32)
    assert tileir.prove(kernel, 32, memory[:32], memory[32:]).races.outcome is Answer.ABSENT
    shifted = tileir.prove(kernel, 32, memory[:32], memory[1:33])
    assert shifted.races.outcome is Answer.PRESENT and shifted.findings[0].confirmed
    assert tileir.prove(kernel, 32, memory, memory).races.outcome is Answer.ABSENT


def test_accesses_that_hold_a_lock_do_not_race() -> None:
    kernel = tileir.load(EXAMPLES / "mutex.mlir")["mutex"]
    report = tileir.prove(kernel)
    assert (report.races.outcome, report.races.scope) == (Answer.ABSENT, Scope.ANY)
    given = tileir.prove(kernel, 8, np.zeros(1, np.int32), run=False)
    assert (given.races.outcome, given.races.scope) == (Answer.ABSENT, Scope.ANY) and given.bounds.decided
    lockers = tileir.load(EXAMPLES / "concurrent" / "mutex.mlir")
    decided = {name: tileir.prove(locker).races.outcome for name, locker in lockers.kernels.items()}
    # One that is never given back is held once, which a deadlock makes no race.
    assert {name for name, outcome in decided.items() if outcome is Answer.ABSENT} == {"mutex"}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("acquire device %lock", "relaxed device %lock"),
        ("acquire device %lock", "acquire tl_blk %lock"),
        ("release device %lock, xchg", "relaxed device %lock, xchg"),
        ("release device %lock, xchg", "release tl_blk %lock, xchg"),
        ("release device %lock, xchg", "release device %lock, add"),
        ("xchg, %free", "xchg, %held"),
        ("xchg, %free", "xchg, %block"),
        ("%free, %held\n", "%free, %free\n"),
        ("%free, %held\n", "%free, %block\n"),
        ("cmpi equal %before, %free", "cmpi not_equal %before, %free"),
        ("cmpi equal %before, %free", "cmpi equal %before, %held"),
        ("cmpi equal %before, %free", "cmpi equal %block, %free"),
        ("break %tried", "%none = make_token : token\n break %none"),
        ("%counter token=%locked", "%counter"),
        ("%new token=%read", "%new"),
        ("xchg, %free token=%stored", "xchg, %free"),
        ("xchg, %free token=%stored", "xchg, %free token=%locked"),
        ("%old, %read =", "%again = store_ptr_tko relaxed device %lock, %free : tile<ptr<i32>>, tile<i32> -> token\n"
         "%old, %read ="),
        ("%locked = loop", "%early = store_ptr_tko weak %counter, %free : tile<ptr<i32>>, tile<i32> -> token\n"
         "%locked = loop"),
        ("%was, %unlocked", "%late = store_ptr_tko weak %counter, %new : tile<ptr<i32>>, tile<i32> -> token\n"
         "%was, %unlocked"),
        ("get_global @lock : tile<ptr<i32>>", "get_global @lock : tile<ptr<i32>>\n"
         "%aside = offset %lock, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>"),
    ],
)  # fmt: skip
def test_what_is_no_lock_orders_nothing(right: str, wrong: str) -> None:
    text = (EXAMPLES / "mutex.mlir").read_text().replace("%held\n        :", "%held\n :")
    changed = text.replace(right, wrong)
    if "%aside" in wrong:
        changed = changed.replace("device %lock", "device %aside")
    assert changed != text
    report = tileir.prove(tileir.parse(changed)["mutex"])
    assert report.races.outcome is not Answer.ABSENT


def test_a_lock_in_an_array_is_not_the_memory_that_it_guards() -> None:
    kernel = tileir.load(EXAMPLES / "concurrent" / "mutex.mlir")["mutex"]
    memory = np.zeros(2, np.int32)
    assert tileir.prove(kernel, 2, memory[:1], memory[1:], run=False).races.outcome is Answer.ABSENT
    assert tileir.prove(kernel, 2, memory[:1], memory[:1], run=False).races.outcome is not Answer.ABSENT


def message(*changes: tuple[str, str]) -> tileir.Kernel:
    """Return the kernel that hands an array over by a flag, changed."""
    text = (EXAMPLES / "concurrent" / "message_passing.mlir").read_text()
    text = text[: text.index("// A relaxed flag")] + "}"
    for right, wrong in changes:
        assert right in text
        text = text.replace(right, wrong)
    return tileir.parse(text)["message"]


def test_a_flag_orders_what_it_is_set_after_and_what_has_seen_it() -> None:
    report = tileir.prove(message())
    assert (report.races.outcome, report.races.scope) == (Answer.ABSENT, Scope.ANY)
    assert "'flag' does not hold 1 before the launch" in report.races.assuming
    names = ("message_relaxed_flag", "message_no_token_before_flag", "message_no_token_after_wait")
    faulty = tileir.load(EXAMPLES / "concurrent" / "message_passing.mlir")
    assert all(tileir.prove(faulty[name]).races.outcome is not Answer.ABSENT for name in names)


def test_a_flag_that_is_set_before_the_launch_orders_nothing() -> None:
    kernel, data, flag = message(), np.zeros(4, np.int32), np.zeros(1, np.int32)
    for value, decided in ((0, True), (1, False), (2, True)):
        flag[0] = value
        report = tileir.prove(kernel, 2, data, flag, run=False)
        assert (report.races.outcome is Answer.ABSENT and report.races.holds_here) is decided
    flag[0] = 0
    report = tileir.sanitize(kernel, 2, data, flag)
    # The proof is about memory as it was before the run, which has set the flag.
    assert flag[0] == 1 and report.proofs[0].races.decided
    flag[0] = 1
    assert not tileir.sanitize(kernel, 2, data, flag).proofs[0].races.decided


def test_a_flag_that_is_tested_once_orders_what_is_done_if_it_is_set() -> None:
    found = {
        name: tileir.prove(next(iter(tileir.load(EXAMPLES / "litmus" / f"{name}.mlir").kernels.values()))).races.outcome
        for name in ("MP1", "MP11", "MP2", "S3", "WAR1")
    }
    assert {name for name, outcome in found.items() if outcome is Answer.ABSENT} == {"MP1", "S3", "WAR1"}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("acquire device %flag", "relaxed device %flag"),
        ("acquire device %flag", "acquire tl_blk %flag"),
        ("release device %flag", "relaxed device %flag"),
        ("release device %flag", "release tl_blk %flag"),
        ("%flag, %one token=%written", "%flag, %one"),
        ("%flag, %one token", "%flag, %zero token"),
        ("%flag, %one token", "%flag, %block token"),
        ("cmpi equal %value, %one", "cmpi not_equal %value, %one"),
        ("cmpi equal %value, %one", "cmpi equal %value, %zero"),
        ("cmpi equal %value, %one", "cmpi equal %block, %one"),
        ("cmpi equal %block, %zero", "cmpi not_equal %block, %zero"),
        ("%at token=%ready", "%at token=%fresh"),
        ("%at token=%ready", "%at"),
        ("break %seen", "break %before"),
        ("%written = store", "%early = store_ptr_tko release device %flag, %one : tile<ptr<i32>>, tile<i32> -> token\n"
         "%written = store"),
        ("%found, %read", "%early = store_ptr_tko relaxed device %flag, %one : tile<ptr<i32>>, tile<i32> -> token\n"
         "%found, %read"),
        ("%told =", "%late = store_ptr_tko weak %at, %lanes : tile<4xptr<i32>>, tile<4xi32> -> token\n%told ="),
    ],
)  # fmt: skip
def test_what_is_no_handover_orders_nothing(right: str, wrong: str) -> None:
    assert tileir.prove(message((right, wrong))).races.outcome is not Answer.ABSENT


@pytest.mark.parametrize("around", ["for %i in (%zero to %two, step %one) : tile<i32>", "loop"])
def test_a_flag_that_is_set_again_orders_nothing(around: str) -> None:
    kernel = message(
        ("%lanes = iota", "%two = constant <i32: 2> : tile<i32>\n%lanes = iota"),
        ("if %first {", f"if %first {{\n{around} {{"),
        ("    } else {", "}\n} else {"),
    )
    assert tileir.prove(kernel).races.outcome is not Answer.ABSENT


def test_a_flag_in_the_memory_that_it_hands_over_orders_nothing() -> None:
    memory = np.zeros(4, np.int32)
    assert tileir.prove(message(), 2, memory, memory[3:], run=False).races.outcome is not Answer.ABSENT


@pytest.mark.parametrize(("guard", "decided"), [("not_equal %x, %c0", True), ("not_equal %x, %c1", False)])
def test_a_guard_against_one_number_at_an_end_of_the_range(guard: str, decided: bool) -> None:
    pytest.importorskip("z3", reason="needs the package z3-solver")
    kernel = kernel_of(
        "%c0 = constant <i32: 0> : tile<i32>",
        "%c1 = constant <i32: 1> : tile<i32>",
        f"%b = cmpi {guard}, signed : tile<i32> -> tile<i1>",
        "if %b { return }",
        "%v = constant <f32: 1.0> : tile<f32>",
        "%s = store_ptr_tko weak %p, %v : tile<ptr<f32>>, tile<f32> -> token",
    )
    report = tileir.prove(kernel, 4, *matrix(), run=False)
    # Only tile block 0, or only tile block 1, stores.
    assert (report.races.outcome is Answer.ABSENT) is decided
    still = kernel_of(
        "%c0 = constant <i32: 0> : tile<i32>",
        "%b = cmpi not_equal %x, %c0, signed : tile<i32> -> tile<i1>",
        "%v = constant <f32: 1.0> : tile<f32>",
        "if %b { %s = store_ptr_tko weak %p, %v : tile<ptr<f32>>, tile<f32> -> token }",
    )
    assert tileir.prove(still, 4, *matrix()).races.outcome is Answer.PRESENT


SCATTER = """
    entry @k(%index: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %from = offset %index, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      FETCH
      %to = offset %out, %at : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %s = store_ptr_tko weak %to, %x : tile<ptr<i32>>, tile<i32> -> token
    }"""
LOADED = "%at, %t = load_ptr_tko weak %from : tile<ptr<i32>> -> tile<i32>, token"
DRAWN = """%one = constant <i32: 1> : tile<i32>
      %at, %t = atomic_rmw_tko relaxed device %index, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token"""


def test_a_run_whose_addresses_nobody_writes_holds_for_all_orders() -> None:
    kernel = tileir.parse(SCATTER.replace("FETCH", LOADED))["k"]
    order, out = np.array([3, 1, 0, 2], np.int32), np.zeros(4, np.int32)
    report = tileir.prove(kernel, 4, order, out)
    assert scopes(report) == (Scope.LAUNCH, Scope.LAUNCH) and report.ok
    assert "'index' holds the values of the run" in report.races.assuming and report.races.holds_here
    assert tileir.prove(kernel, 4, order, out, run=False).races.scope is Scope.OPEN
    twice = tileir.prove(kernel, 4, np.array([3, 1, 1, 2], np.int32), out)
    assert (twice.races.outcome, twice.bounds.outcome) == (Answer.PRESENT, Answer.ABSENT)
    outside = tileir.prove(kernel, 4, np.array([3, 1, 4, 2], np.int32), out)
    assert outside.bounds.outcome is Answer.PRESENT


def test_a_run_whose_addresses_may_change_is_one_run() -> None:
    drawn = tileir.parse(SCATTER.replace("FETCH", DRAWN))["k"]
    assert tileir.prove(drawn, 4, np.zeros(1, np.int32), np.zeros(4, np.int32)).races.scope is Scope.RUN
    loaded = tileir.parse(SCATTER.replace("FETCH", LOADED))["k"]
    memory = np.array([4, 5, 6, 7, 0, 0, 0, 0], np.int32)
    # The indices lie in the array that is written.
    assert tileir.prove(loaded, 4, memory, memory).races.scope is Scope.RUN


def test_a_condition_that_a_tile_block_changes_is_of_one_run() -> None:
    kernel = tileir.parse("""
    entry @k(%flag: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %seen, %t = load_ptr_tko relaxed device %flag : tile<ptr<i32>> -> tile<i32>, token
      %set = store_ptr_tko relaxed device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
      %first = cmpi equal %seen, %zero, signed : tile<i32> -> tile<i1>
      if %first {
        %s = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token
      }
    }""")["k"]
    assert tileir.prove(kernel, 2, np.zeros(1, np.int32), np.zeros(1, np.int32)).races.scope is not Scope.LAUNCH


def test_loops_in_steps_of_the_whole_grid() -> None:
    kernel = kernel_of(
        VIEW.replace("STRIDE", "%columns"),
        "%many = constant <i32: 7> : tile<i32>",
        "for %i in (%x to %many, step %gx) : tile<i32> {",
        STORE.replace("INDEX", "%i, %y"),
        "}",
    )
    assert scopes(tileir.prove(kernel)) == (Scope.ANY, Scope.ANY)


def test_the_solver_decides_what_boxes_leave_open() -> None:
    pytest.importorskip("z3", reason="needs the package z3-solver")
    report = tileir.prove(tiles("%i, %j", SWIZZLE))
    assert (report.races.outcome, report.races.scope) == (Answer.ABSENT, Scope.ANY)


def test_exclusive_or_of_a_block_id() -> None:
    kernel = tiles("%other, %y", "%one = constant <i32: 1> : tile<i32>", "%other = xori %x, %one : tile<i32>")
    report = tileir.prove(kernel, (4, 3), *matrix())
    assert report.races.outcome is Answer.ABSENT and report.races.decided
    if smt.INSTALLED:
        assert tileir.prove(kernel, None, *matrix()).races.decided


def test_without_the_solver_a_hint_says_what_may_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "INSTALLED", False)
    report = tileir.prove(tiles("%i, %j", SWIZZLE))
    assert report.races.outcome is Answer.OPEN and "pip install 'z3-solver" in (report.races.because or "")


def test_a_sanitized_launch_says_what_holds_beyond_it() -> None:
    report = tileir.sanitize(tiles("%x, %y"), (4, 3), *matrix())
    assert "PROOF: tileir prove: kernel @k: races: none: any arguments, any grid (X, Y, 1)" in str(report)
    assert report.to_json()["proofs"][0]["races"]["scope"] == "any arguments, any grid"


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    file = tmp_path / "k.mlir"
    file.write_text(tileir.to_text(tiles("%x, %y").module))
    assert main(["prove", str(file)]) == 0
    assert "races: none: any arguments, any grid (X, Y, 1)" in capsys.readouterr().out
    assert main(["prove", str(file), "--grid", "8,3", "f32[64,96]:zeros", "128", "96", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["certainty"] == "confirmed"
    assert main(["prove", str(file), "f32[64,96]:zeros", "64", "96"]) == 0
    assert main(["prove", str(file), "--grid", "8,3"]) == 2


def test_rows_of_half_bytes_that_share_one_race() -> None:
    """Rows of 3: the last element of one has its byte with the first of the next."""
    type = "tensor_view<4x3xf4E2M1FN, strides=[3,1]>"
    text = f"""
    entry @k(%x: tile<ptr<f4E2M1FN>>) {{
      %b, %y, %z = get_tile_block_id : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %view = make_tensor_view %x, shape = [4, 3], strides = [3, 1] : {type}
      %rows = make_partition_view %view : partition_view<tile=(1x4), {type}>
      %ones = constant <f4E2M1FN: 1.0> : tile<1x4xf4E2M1FN>
      %t = store_view_tko weak %ones, %rows[%b, %zero]
        : tile<1x4xf4E2M1FN>, partition_view<tile=(1x4), {type}>, tile<i32> -> token
    }}"""
    report = tileir.prove(tileir.parse(text)["k"], 4, np.zeros(6, np.uint8))
    assert report.races.outcome is Answer.PRESENT and report.findings[0].confirmed


INTERRUPTED = """
import os, signal, sys, threading
import tileir
signal.signal(signal.SIGINT, signal.default_int_handler)
tileir.prove(tileir.parse(sys.argv[1])["k"])
assert "z3" in sys.modules
reading, writing = os.pipe()
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
late = threading.Timer(20, os.write, (writing, b"late"))
late.start()
try:
    os.read(reading, 4)
except KeyboardInterrupt:
    print("interrupted" if late.is_alive() else "too late", flush=True)
os._exit(0)
"""
"""A process that proves something, and is interrupted where it reads."""


def test_an_interrupt_still_ends_calls_of_the_system_afterwards() -> None:
    pytest.importorskip("z3", reason="needs the package z3-solver")
    text = tileir.to_text(tiles("%i, %j", SWIZZLE).module)
    ran = subprocess.run([sys.executable, "-c", INTERRUPTED, text], capture_output=True, text=True, timeout=100)
    assert ran.stdout == "interrupted\n", ran.stderr
