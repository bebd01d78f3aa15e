"""The search finds what brute force finds: all outcomes of random programs, each execution once."""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.explore.launched import explored_program, explored_text
from tests.explore.oracle import Outcome, interleavings, judged
from tests.explore.programs import Program, program, text
from tests.explore.random_programs import random_program
from tests.explore.rows import ROWS
from tests.thorough import sampled
from tileir.explore.results import OutcomeFound

TRIES = int(os.environ.get("TILEIR_FUZZ_TRIES", 200))


def outcomes(found: Program, reached: list[OutcomeFound]) -> set[Outcome]:
    """The outcomes by the names of the oracle, with places that nobody writes."""
    places = {f"{array}[{at}]": 0 for array, size in found.arrays.items() for at in range(size)}
    single = {array: f"{array}[0]" for array, size in found.arrays.items() if size == 1}
    return {
        tuple(sorted({**places, **{single.get(name, name): int(value) for name, value in one.values.items()}}.items()))
        for one in reached
    }


def agree(found: Program) -> None:
    expected = judged(found)
    # Results that nothing uses are told if a line asks for them.
    asked = sorted({name for outcome in expected.outcomes for name, _ in outcome if ":%" in name})
    line = f"// exists: {' or '.join(f'{name} = 0' for name in asked)}\n" if asked else ""
    report = explored_text(f"// launch: {found.launch}\n{line}{text(found)}", mends=False)
    assert outcomes(found, report.outcomes) == expected.outcomes
    assert any(fault.kind == "race" for fault in report.faults) == expected.racy
    usual = [outcome for outcome in report.outcomes if not outcome.surprising]
    assert outcomes(found, usual) == interleavings(found)


@pytest.mark.parametrize("chunk", sampled(range(4), 2))
def test_random_programs_have_the_outcomes_of_brute_force(chunk: int) -> None:
    for seed in range(chunk, TRIES, 4):
        agree(random_program(Random(seed)))


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if len(row.blocks) < 4 and "LOCK" not in name])
def test_litmus_tests_have_the_outcomes_of_brute_force(name: str) -> None:
    agree(ROWS[name].program)


def test_no_execution_is_found_twice() -> None:
    from tileir.explore import results

    found: list[object] = []
    usual = results.Collection.add

    def add(self: results.Collection, execution) -> None:
        graph = execution.graph
        keys = [event.key for event in graph.events]
        sources = frozenset(
            (keys[read], keys[write] if write >= 0 else write) for read, write in enumerate(graph.source)
        )
        orders = frozenset((cell, tuple(keys[write] for write in order)) for cell, order in graph.coherence.items())
        found.append((sources, orders))
        usual(self, execution)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results.Collection, "add", add)
        for name in ("LOCK5", "IRIW1", "CoRR5", "RS5", "SB7"):
            found.clear()
            report = explored_program(ROWS[name].program, mends=False)
            assert report.executions == len(found) == len(set(found)) > 3


def test_a_value_does_not_justify_itself() -> None:
    copies = program("R.rlx x:r | W.rlx y=%r", "R.rlx y:s | W.rlx x=%s")
    assert [one.values for one in explored_program(copies).outcomes] == [{"0:%r": 0, "1:%s": 0, "x": 0, "y": 0}]
    guarded = program("R.rlx x:r | ?r=1 W.rlx y=1", "R.rlx y:s | ?s=1 W.rlx x=1")
    assert [one.values for one in explored_program(guarded).outcomes] == [{"0:%r": 0, "1:%s": 0}]
    constant = program("R.rlx x:r | ?r=1 W.rlx y=1", "R.rlx y:s | W.rlx x=1")
    assert {"0:%r": 1, "1:%s": 1, "x": 1, "y": 1} in [one.values for one in explored_program(constant).outcomes]
