"""Native code that counts: what operations ran, and how many elements they accessed, is what the interpreter did."""

from __future__ import annotations

import pytest

import tileir
from tests.golden.arguments import Run, arguments, runs
from tileir.cpu.lowering.functions import Instruments
from tileir.cpu.lowering.state import Counters
from tileir.ir.effects import AccessTrait
from tileir.runtime.grid import checked_grid
from tileir.runtime.module import bind, target_named
from tileir.runtime.native import NativeLaunches, program_of
from tileir.tools.profile.report import applications, bytes_of

EVERY = 4
"""Of the golden launches one in so many is counted: each has to be compiled."""
RUNS = runs()[::EVERY]


@pytest.mark.parametrize(
    ("text", "name", "run"),
    [case[1:] for case in RUNS],
    ids=[f"{case[0]}-{case[2]}-{number}" for number, case in enumerate(RUNS)],
)
def test_counts_are_those_of_the_interpreter(
    text: str, name: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel, other = tileir.parse(text)[name], tileir.parse(text)[name]
    grid = checked_grid(run.grid, name)
    ops = [op for item in kernel.module.items for op in item.walk()]
    counters = Counters(ops)
    launches = NativeLaunches(kernel, program_of(kernel, instruments=Instruments(counters=counters)))
    expected = tileir.view(other, grid, *arguments(other, run), findings=False)
    given = bind(kernel, arguments(kernel, run), target_named("cpu"))
    if expected.trap is not None:
        with pytest.raises(tileir.Trap):
            launches.runs(launches.settings({"threads": 1}))(grid, given)
        return
    launches.runs(launches.settings({"threads": 1}))(grid, given)
    bodies = {inner for op in ops if applications(op) is not None for inner in op.regions[0].ops}
    for op, sums in zip(ops, expected.data["ops"], strict=True):
        if op in bodies or not sums["count"]:
            continue
        assert counters.executed(op) == sums["count"], op
        if op.spec.trait(AccessTrait):
            assert bytes_of(op, counters.accessed(op)) == max(sums["read"], sums["written"]), op
