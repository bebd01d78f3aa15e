"""Every operation does for the explorer what it does for the interpreter: golden programs, one tile block at a time."""

from __future__ import annotations

import warnings
from itertools import pairwise
from math import prod

import numpy as np
import pytest

import tileir
from tests.explore.launched import explored_text
from tests.golden.arguments import arguments, runs
from tests.thorough import sampled

LIMIT = 4
REFUSED = {
    "matmul.gemm": "more than 1024 elements",
    "multicast_13_5.replicas": "memory on several GPUs",
    "multicast_13_5.kinds": "memory on several GPUs",
}
"""Golden entries that are not explored, and why."""
RUNS = [(file, text, entry, run) for file, text, entry, run in runs() if prod(run.grid) == 1]


def memory(kernel: tileir.Kernel, args: list[object]) -> dict[str, object]:
    """Every element of every array, by the name that the explorer gives it."""
    found: dict[str, object] = {}
    for parameter, value in zip(kernel.parameters, args):
        if isinstance(value, np.ndarray):
            for index in np.ndindex(value.shape):
                place = f"[{','.join(map(str, index))}]" if value.size > 1 else ""
                found[f"{parameter.name}{place}"] = value[index].item()
    return found


@pytest.mark.parametrize(
    "number", sampled(range(len(RUNS)), 3), ids=lambda number: f"{RUNS[number][0]}.{RUNS[number][2]}-{number}"
)
def test_a_program_with_one_outcome_has_that_of_the_interpreter(number: int) -> None:
    file, text, entry, run = RUNS[number]
    kernel = tileir.parse(text, file)[entry]
    args = arguments(kernel, run)
    if f"{file}.{entry}" in REFUSED:
        with pytest.raises(tileir.UnsupportedError, match=REFUSED[f"{file}.{entry}"]):
            tileir.explore(kernel, run.grid, *args, limit=LIMIT, mends=False)
        return
    report = tileir.explore(kernel, run.grid, *args, limit=LIMIT, mends=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kernel.launch(run.grid, *args, target="interp", output=lambda text: None)
        except tileir.Trap:
            assert {fault.kind for fault in report.faults} & {"assert", "trap"}
            return
    after = memory(kernel, args)
    usual = [one for one in report.outcomes if not one.surprising]
    if report.complete:
        assert any(same(one.values, after) for one in usual)


def same(values: dict[str, int | float], after: dict[str, object]) -> bool:
    there = {name: value for name, value in values.items() if ":%" not in name and name in after}
    return all(value == after[name] or (value != value and after[name] != after[name]) for name, value in there.items())


STREAM = """\
// launch: --grid 1 x=i32[4]:arange y=i32[4]:zeros
cuda_tile.module @m {
  experimental$func @twice(%value: tile<i32>) -> (tile<i32>) {
    %sum = addi %value, %value : tile<i32>
    return %sum : tile<i32>
  }
  entry @k(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %n, %t0 = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %at = offset %x, %three : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %m, %t1 = load_ptr_tko weak %at token=%t0 : tile<ptr<i32>> -> tile<i32>, token
    %last = for %i in (%n to %m, step %one) : tile<i32> iter_values(%t = %t1) -> (token) {
      %double = experimental$call @twice(%i) : (tile<i32>) -> tile<i32>
      %to = offset %y, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %next = store_ptr_tko weak %to, %double token=%t : tile<ptr<i32>>, tile<i32> -> token
      continue %next : token
    }
    %end, %t2 = load_ptr_tko weak %y token=%last : tile<ptr<i32>> -> tile<i32>, token
  }
}
"""


def test_bounds_of_loops_and_calls_wait_for_what_is_read() -> None:
    report = explored_text(STREAM)
    (outcome,) = report.outcomes
    assert [outcome.values[f"y[{at}]"] for at in range(3)] == [0, 2, 4]
    events = outcome.witness.graph.events
    positions = sorted(event.position for event in events)
    assert all(one < other for one, other in pairwise(positions))
