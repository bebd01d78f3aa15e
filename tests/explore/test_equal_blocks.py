"""Equal tile blocks and updates that commute: of what only they make different the search tells one."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

import tileir
from tests.explore.launched import explored_text
from tests.explore.oracle import Outcome, judged
from tests.explore.programs import Program, text
from tests.explore.random_programs import random_program
from tests.thorough import sampled
from tileir.explore.report import ExplorationReport

FOLDER = Path(tileir.__file__).parent / "examples" / "concurrent"
UPDATE = "tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
BEGIN = """
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %own = offset %out, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
"""
TICKET = f"%old, %t = atomic_rmw_tko acq_rel device %x, add, %one : {UPDATE}\n"
KEPT = "%kept = store_ptr_tko weak %own, %old : tile<ptr<i32>>, tile<i32> -> token\n"


def explored(body: str, blocks: int, lines: str = "") -> ExplorationReport:
    source = f"{lines}cuda_tile.module @m {{ entry @k(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {{{BEGIN}{body} }} }}"
    kernel = tileir.parse(source)["k"]
    return tileir.explore(kernel, blocks, np.zeros(1, np.int32), np.zeros(blocks, np.int32), mends=False)


def told(report: ExplorationReport, found: Program) -> set[Outcome]:
    places = {f"{array}[{at}]": 0 for array, size in found.arrays.items() for at in range(size)}
    single = {array: f"{array}[0]" for array, size in found.arrays.items() if size == 1}
    return {
        tuple(sorted({**places, **{single.get(name, name): int(value) for name, value in values.items()}}.items()))
        for outcome in report.outcomes
        for values in report.exchanged(outcome)
    }


@pytest.mark.parametrize("chunk", sampled(range(3), 3))
def test_equal_blocks_have_the_outcomes_of_brute_force(chunk: int) -> None:
    tried = 0
    for seed in range(chunk, 96, 3):
        found = random_program(Random(seed))
        steps = found.blocks[0]
        lanes = sum(len(step.lanes) for step in steps)
        if lanes > 3:
            continue
        whole = Program((steps,) * (2 if lanes > 2 else 3))
        source = f"// launch: {whole.launch}\n{text(Program((steps,)))}"
        report, expected = explored_text(source, mends=False), judged(whole)
        names = {name for outcome in report.outcomes for values in report.exchanged(outcome) for name in values}
        # Updates that commute are told by what they leave in memory alone.
        names |= {name for outcome in expected.outcomes for name, _ in outcome if ":%" not in name}
        projected = {tuple(one for one in outcome if one[0] in names) for outcome in expected.outcomes}
        assert told(report, whole) == projected
        assert any(fault.kind == "race" for fault in report.faults) == expected.racy
        tried += 1
    assert tried > 5


def test_executions_are_counted_with_all_exchanges() -> None:
    equal = explored(TICKET + KEPT, 4)
    named = "// never: " + " or ".join(f"{block}:%old = 9" for block in range(4)) + "\n"
    apart = explored(TICKET + KEPT, 4, named)
    assert equal.equal.classes == ((0, 1, 2, 3),) and len(apart.equal.classes) == 4
    assert (equal.found, equal.executions, apart.found, apart.executions) == (1, 24, 24, 24)
    assert apart.ok
    (outcome,) = equal.outcomes
    everyone = {tuple(sorted(values.items())) for values in equal.exchanged(outcome)}
    assert everyone == {tuple(sorted(one.values.items())) for one in apart.outcomes} and len(everyone) == 24


def test_blocks_that_a_line_names_or_that_look_at_each_other_are_not_equal() -> None:
    named = explored(TICKET + KEPT, 3, "// exists: out[1] = 2\n// exists: out[1] = 0\n")
    assert named.ok and named.executions == 6
    neighbour = explored(
        TICKET
        + KEPT
        + """%back = remi %block, %one signed : tile<i32>
    %first = offset %out, %back : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %seen, %u = load_ptr_tko relaxed device %first : tile<ptr<i32>> -> tile<i32>, token""",
        3,
    )
    assert len(neighbour.equal.classes) > 1 and any(fault.kind == "race" for fault in neighbour.faults)
    later = explored(
        TICKET
        + """%mine = cmpi equal %old, %block, signed : tile<i32> -> tile<i1>
    if %mine { %s = store_ptr_tko weak %own, %one : tile<ptr<i32>>, tile<i32> -> token }""",
        3,
    )
    assert len(later.equal.classes) == 3 and later.executions == 6
    held = {tuple(one.values.get(f"out[{at}]", 0) for at in range(3)) for one in later.outcomes}
    assert held == {(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)}


def test_the_order_of_updates_whose_results_nobody_uses_is_not_enumerated() -> None:
    unused = "".join(
        f"%a{at}, %t{at} = atomic_rmw_tko {order} device %x, add, %one : {UPDATE}\n"
        for at, order in enumerate(("relaxed", "release"))
    )
    report = explored(unused, 8)
    assert report.ok and report.complete and report.found == 1 and report.visited < 40
    assert [one.values for one in report.outcomes] == [{"x": 16}]
    asked = explored(unused, 2, "// exists: 0:%a0 = 3\n// exists: 0:%a0 = 2 and 1:%a1 = 3\n")
    assert asked.ok and asked.found == 24


@pytest.mark.parametrize(
    "second",
    [
        f"%b, %u = atomic_rmw_tko relaxed device %x, xchg, %one : {UPDATE}",
        "%b, %u = load_ptr_tko relaxed device %x : tile<ptr<i32>> -> tile<i32>, token",
        f"%b, %u = atomic_rmw_tko relaxed device %x, max, %one : {UPDATE}",
        "%u = store_ptr_tko relaxed device %x, %one : tile<ptr<i32>>, tile<i32> -> token",
    ],
)
def test_updates_that_something_else_may_meet_are_ordered(second: str) -> None:
    report = explored(f"%a, %t = atomic_rmw_tko relaxed device %x, add, %one : {UPDATE}\n{second}", 2)
    assert report.complete and report.executions > 2


def test_an_update_that_acquires_orders_what_follows() -> None:
    body = """%last = cmpi equal %block, %one, signed : tile<i32> -> tile<i1>
    %f, %r = atomic_rmw_tko acq_rel device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %first, %s = load_ptr_tko weak %out token=%r : tile<ptr<i32>> -> tile<i32>, token
    if %last { %w = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token }"""
    assert {fault.kind for fault in explored(body, 2).faults} == {"race"}


@pytest.mark.parametrize(("name", "kernel", "arrays"), [("mutex", "mutex", 2), ("ticket_lock", "ticket", 3)])
def test_six_lockers_are_explored_to_the_end(name: str, kernel: str, arrays: int) -> None:
    module = tileir.load(FOLDER / f"{name}.mlir")
    report = tileir.explore(module[kernel], 6, *(np.zeros(1, np.int32) for _ in range(arrays)), mends=False)
    assert report.complete and not report.faults and (report.found, report.executions) == (1, 720)
    assert report.visited < 2_000
