"""Rows that are no patterns do what they say: the program before and after gives the same, on the interpreter."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from structural import PROGRAMS

import tileir
from tests.differential import outcome
from tests.golden.arguments import data
from tileir.ir import types as t
from tileir.passes.pipeline import PASSES
from tileir.passes.rebuilding import Exactness, Row
from tileir.passes.running import Step
from tileir.tools.optimise import watched

ROWS = [row for one in PASSES.values() for row in one.rows if row.name in PROGRAMS]
ARGUMENTS = {"a": 7, "b": 3}
"""Those that a program is made for by ``specialise``."""
INTEGERS = ((7, 3), (-5, 4), (0, 1), (-(2**31), 9), (99, -1))
REALS = ((1.5, -0.25), (float("nan"), 1.0), (-0.0, float("inf")), (1e-45, 3e38), (0.1, 0.2))


def optimised(row: Row) -> tuple[tileir.Module, list[Step]]:
    """The program of a row after its pass alone."""
    steps: list[Step] = []
    known = ARGUMENTS if row.pass_name == "specialise" else None
    made = watched(tileir.parse(PROGRAMS[row.name]), passes=[row.pass_name], arguments=known, watch=steps.append)
    return made, steps


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_row_applies_and_the_program_stays_valid(row: Row) -> None:
    made, steps = optimised(row)
    assert row in [change.row for step in steps for change in step.changes]
    assert tileir.verify(made).ok, tileir.verify(made)
    assert tileir.to_text(tileir.parse(tileir.to_text(made))) == tileir.to_text(made)


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind is not Exactness.ROUNDING], ids=lambda row: row.name)
def test_the_results_stay_the_same(row: Row) -> None:
    before, (after, _) = tileir.parse(PROGRAMS[row.name]), optimised(row)
    ran = 0
    for flag, (integers, reals) in itertools.product((True, False), zip(INTEGERS, REALS)):
        args = [flag, *integers, *reals, data(t.I32, 64), data(t.F32, 64)]
        first = outcome(before["k"], (1,), args, "interp")
        if first.trap is not None or (row.pass_name == "specialise" and integers != (7, 3)):
            continue
        second = outcome(after["k"], (1,), args, "interp")
        assert second.trap is None, second.trap
        assert [array.tobytes() for array in first.arrays] == [array.tobytes() for array in second.arrays]
        ran += 1
    assert ran >= (1 if row.pass_name == "specialise" else 4)


def test_a_multiply_add_rounds_once() -> None:
    (row,) = (row for row in ROWS if row.name == "addf-mulf")
    made, _ = optimised(row)
    x, y = one_that_rounds_twice()
    array = np.zeros(64, np.float32)
    made["k"].launch((1,), False, 0, 0, float(x), float(y), np.zeros(64, np.int32), array, target="interp")
    assert np.float32(np.float64(x) * np.float64(y) + np.float64(x)) in array


def one_that_rounds_twice() -> tuple[np.float32, np.float32]:
    """Numbers for which x * y + x is another one with two roundings than with one, and exact in f64."""
    x = np.float32(1 + 2**-12)
    return next(
        (x, y)
        for y in np.float32(-1) + np.arange(1, 4096, dtype=np.float32) * np.float32(2**-20)
        if np.float32(x * y) + x != np.float32(np.float64(x) * np.float64(y) + np.float64(x))
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_pass_is_done_when_it_has_run_some_times(row: Row) -> None:
    """Its result stays unchanged, once unneeded operations are left out."""
    made, _ = optimised(row)
    known = ARGUMENTS if row.pass_name == "specialise" else None
    for _ in range(4):
        before, made = made, tileir.optimize(made, passes=[row.pass_name, "dce"], arguments=known)
    assert tileir.to_text(made) == tileir.to_text(before)
