"""Golden programs and examples run natively as they do in the interpreter, value by value."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tests.differential import Outcome, assert_same, exact_part, observed_names, outcome
from tests.golden.arguments import Run, arguments, runs
from tests.observe import Observed, observe
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES, largest_error
from tileir.ops.pointers import Alloca

RUNS = runs()


every_run = pytest.mark.parametrize(
    ("text", "name", "run"),
    [case[1:] for case in RUNS],
    ids=[f"{case[0]}-{case[2]}-{number}" for number, case in enumerate(RUNS)],
)


@every_run
def test_every_value_of_a_golden_program_is_that_of_the_interpreter(text: str, name: str, run: Run) -> None:
    given = arguments(tileir.parse(text)[name], run)
    kernel = tileir.parse(text)[name]
    certain = exact_part(kernel.entry)
    observed = observe(kernel.entry)
    args = [*given, *(value.array for value in observed)]
    first, second = (outcome(kernel, (1,), args, target) for target in ("interp", "cpu"))
    own = sum(isinstance(value, np.ndarray) for value in given)
    exact = [len(certain) == sum(1 for _ in kernel.entry.walk())] * own
    _forget_addresses(observed, first, second, own)
    assert_same(
        first,
        second,
        exact + [value.op in certain for value in observed],
        [f"array {number}" for number in range(own)] + observed_names(observed),
    )


def _forget_addresses(observed: list[Observed], first: Outcome, second: Outcome, own: int) -> None:
    """Addresses of an `alloca` are its own affair."""
    for place, value in enumerate(observed, own):
        if isinstance(value.op, Alloca):
            second.arrays[place] = first.arrays[place]


@pytest.mark.parametrize(
    ("text", "name", "run"),
    [case[1:] for case in RUNS if case[3].grid != (1,)],
    ids=[case[2] for case in RUNS if case[3].grid != (1,)],
)
def test_a_grid_leaves_what_the_interpreter_leaves(text: str, name: str, run: Run) -> None:
    kernel = tileir.parse(text)[name]
    args = arguments(kernel, run)
    first, second = (outcome(kernel, run.grid, args, target) for target in ("interp", "cpu"))
    exact = len(exact_part(kernel.entry)) == sum(1 for _ in kernel.entry.walk())
    assert_same(first, second, [exact] * len(first.arrays), [f"array {number}" for number in range(len(args))])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_what_numpy_gives(example: Example) -> None:
    arguments = example.arguments(example.sizes, np.random.default_rng(1))
    answer = example.answer(arguments)
    lines: list[str] = []
    kernel = tileir.load(example.path)[example.kernel]
    kernel.launch(example.grid(example.sizes), *arguments.values(), target="cpu", output=lines.append)
    assert largest_error(arguments, answer) <= example.tolerance
    assert sorted("".join(lines).splitlines()) == sorted(example.printed(example.sizes))
