"""Launches with padded tiles run as native code where no padding counts, and are reported as the interpreter does.

Each case says whether native code is enough to tell that it is right.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tileir
from tests.sanitize.corpus_programs import Case, cases, clean_cases
from tests.sanitize.test_native_launches import kernel, stored
from tests.thorough import sampled
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES
from tileir.sanitize import native
from tileir.sanitize.report import SanitizerReport

BLOCKS, LANES = 32, 4096
COUNT = BLOCKS * LANES - 5
"""Elements that the mask leaves."""
TILE, BITS = f"tile<{LANES}xi32>", f"tile<{LANES}xi1>"
INSIDE = f"%inside = cmpi less_than %index, %ns, signed : {TILE} -> {BITS}\n%zeros = constant <i32: 0> : {TILE}\n"
STORE = f"%u = store_ptr_tko weak %to, %r, %inside : tile<{LANES}xptr<i32>>, {TILE}, {BITS} -> token"
STORE_ALL = stored("%r")


def loaded(other: int | None) -> str:
    """Return a load of `%value` whose padding is `other`, or of no value that the program chooses."""
    if other is None:
        types = f"tile<{LANES}xptr<i32>>, {BITS} -> {TILE}, token"
        return f"{INSIDE}%value, %t = load_ptr_tko weak %from, %inside : {types}\n"
    types = f"tile<{LANES}xptr<i32>>, {BITS}, {TILE} -> {TILE}, token"
    return f"{INSIDE}%other = constant <i32: {other}> : {TILE}\n" + (
        f"%value, %t = load_ptr_tko weak %from, %inside, %other : {types}\n"
    )


def total(value: str) -> str:
    """Return the sum of a tile, in all elements of `%r`."""
    return f"""
        %s = reduce {value} dim=0 identities=[0 : i32] : {TILE} -> tile<i32> (%l: tile<i32>, %q: tile<i32>) {{
          %both = addi %l, %q : tile<i32>
          yield %both : tile<i32>
        }}
        %s_1 = reshape %s : tile<i32> -> tile<1xi32>
        %r = broadcast %s_1 : tile<1xi32> -> {TILE}
        """


def selected(then: str, otherwise: str) -> str:
    return f"%r = select %inside, {then}, {otherwise} : {BITS}, {TILE}\n"


def mask_moved_by(number: int) -> str:
    """Return a store whose mask ends so many elements further on."""
    return (
        f"%moved = constant <i32: {number}> : {TILE}\n%ends = addi %ns, %moved : {TILE}\n"
        f"%wide = cmpi less_than %index, %ends, signed : {TILE} -> {BITS}\n%r = addi %value, %zeros : {TILE}\n"
        + STORE.replace("%inside", "%wide")
    )


def summed_up(other: int | None) -> str:
    """Return a loop that adds loaded tiles to what it carries."""
    load = loaded(other).removeprefix(INSIDE)
    return f"""{INSIDE}
        %once = constant <i32: 1> : tile<i32>
        %three = constant <i32: 3> : tile<i32>
        %r = for %i in (%zero to %three, step %once) : tile<i32> iter_values(%carried = %zeros) -> ({TILE}) {{
          {load}
          %next = addi %carried, %value : {TILE}
          continue %next : {TILE}
        }}
        """


FIVE = f"%five = constant <i32: 5> : {TILE}\n"
QUOTIENT = f"{FIVE}%r = divi %five, %value signed : {TILE}\n{STORE}"
PROMISE = f"%r = assume bounded<1, ?>, %value : {TILE}\n{STORE}"
DOUBLE = f"%r = addi %value, %value overflow<no_signed_wrap> : {TILE}\n{STORE}"
INFINITY = 0x7F800000
CASES: dict[str, tuple[str, bool]] = {
    "doubled": (loaded(None) + f"%r = addi %value, %value : {TILE}\n{STORE}", True),
    "stored beyond the mask": (loaded(0) + f"%r = addi %value, %value : {TILE}\n{STORE_ALL}", False),
    "replaced, then stored": (loaded(None) + selected("%value", "%zeros") + STORE_ALL, True),
    "replaced in the wrong place": (loaded(None) + selected("%zeros", "%value") + STORE_ALL, False),
    "mask off by one": (loaded(0) + mask_moved_by(1), False),
    "mask one less": (loaded(0) + mask_moved_by(-1), True),
    "neutral in a sum": (loaded(0) + total("%value") + STORE_ALL, True),
    "not neutral in a sum": (loaded(1) + total("%value") + STORE, False),
    "of no value in a sum": (loaded(None) + total("%value") + STORE, False),
    "added to what a loop carries": (summed_up(0) + STORE_ALL, True),
    "changing what a loop carries": (summed_up(1) + STORE_ALL, False),
    "of no value in what a loop carries": (summed_up(None) + STORE_ALL, False),
    "dividing by one": (loaded(1) + QUOTIENT, True),
    "dividing by zero": (loaded(0) + QUOTIENT, False),
    "dividing by no value": (loaded(None) + QUOTIENT, False),
    "keeping a promise": (loaded(1) + PROMISE, True),
    "breaking a promise": (loaded(0) + PROMISE, False),
    "fitting": (loaded(0) + DOUBLE, True),
    "overflowing": (loaded(0x7FFFFFFF) + DOUBLE, False),
    "shifting too far": (loaded(40) + f"{FIVE}%r = shli %five, %value : {TILE}\n{STORE}", False),
    "no integer": (
        loaded(INFINITY) + f"%f = bitcast %value : {TILE} -> tile<{LANES}xf32>\n"
        f"%r = ftoi %f signed rounding<nearest_int_to_zero> : tile<{LANES}xf32> -> {TILE}\n{STORE}",
        False,
    ),
    "failing an assertion": (
        loaded(0) + f"%big = cmpi greater_than %value, %zeros, signed : {TILE} -> {BITS}\n"
        f'assert %big, "positive" : {BITS}\n%r = addi %value, %value : {TILE}\n{STORE}',
        False,
    ),
}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each launch that was proved went right as native code, which is tried for small ones as well."""
    ran: list[bool] = []
    native_run = native.ran_clean

    def noted(*given) -> bool:  # type: ignore[no-untyped-def]
        ran.append(native_run(*given))
        return ran[-1]

    monkeypatch.setattr(native, "ran_clean", noted)
    monkeypatch.setattr(native, "LARGE", 0)
    return ran


def as_interpreted(monkeypatch: pytest.MonkeyPatch, run: Callable[[], SanitizerReport]) -> SanitizerReport:
    """Return the report of a launch that native code is not tried for."""
    monkeypatch.setattr(native, "LARGE", 1 << 60)
    return run()


def told(report: SanitizerReport) -> list[tuple[object, ...]]:
    found = [(one.kind, one.severity, one.message, one.loc, one.other, one.count) for one in report]
    return [*found, report.notes, report.kept]


@pytest.mark.parametrize("name", CASES)
def test_padding_counts_as_it_does_for_the_interpreter(
    name: str, runs: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    body, is_right = CASES[name]
    made = kernel(body)
    arrays = [np.arange(COUNT, dtype=np.int32) % 30 + 1, np.zeros(BLOCKS * LANES, np.int32)]
    same = [array.copy() for array in arrays]
    report = tileir.sanitize(made, BLOCKS, *arrays, COUNT)
    assert runs == [is_right]
    expected = as_interpreted(monkeypatch, lambda: tileir.sanitize(made, BLOCKS, *same, COUNT))
    assert told(report) == told(expected)
    assert is_right == (not report.findings), str(report)
    np.testing.assert_array_equal(arrays[1], same[1])


PROVED = {
    "vector_add", "transpose", "gemm_single_block", "gemm_blocked", "gemm_kloop", "gemm_views", "softmax", "layer_norm",
    "rms_norm", "attention", "row_argmax", "prefix_sum",
}  # fmt: skip
"""The examples that are proved and run natively; the others need values, atomic operations, or print."""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_examples_run_natively(example: Example, runs: list[bool]) -> None:
    given = example.arguments(example.sizes, np.random.default_rng(3))
    answer = example.answer({name: np.copy(value) for name, value in given.items()})
    made = tileir.load(str(example.path))[example.kernel]
    report = tileir.sanitize(made, example.grid(example.sizes), *given.values(), output=lambda text: None)
    assert not report.findings, str(report)
    assert (runs == [True]) == (example.name in PROVED)
    for name, expected in answer.items():
        scale = np.abs(expected).max() or 1.0
        assert np.abs(np.asarray(given[name], np.float64) - expected).max() <= example.tolerance * scale


@pytest.mark.parametrize("case", sampled([*cases(), *clean_cases()], 3), ids=lambda case: case.id)
def test_a_program_of_the_corpus_is_found_faulty_or_right_either_way(
    case: Case, runs: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = case.report()
    expected = as_interpreted(monkeypatch, case.report)
    assert [(one.kind, one.loc, one.other) for one in report] == [(one.kind, one.loc, one.other) for one in expected]
    assert (report.notes, report.kept) == (expected.notes, expected.kept)
    assert runs != [True] or not report.findings
