"""Whole programs do the same after optimisation as before, bit for bit: golden ones, examples, random ones."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

import numpy as np
import pytest

import tileir
from tests.differential import Outcome, outcome
from tests.golden.arguments import Run, arguments, programs, runs
from tests.observe import observe
from tests.thorough import sampled
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES
from tileir.fuzz.builder import ProgramBuilder
from tileir.fuzz.draft import STORED, arrays
from tileir.ir import types as t
from tileir.ir.compare import identical
from tileir.ir.diagnostics import DiagnosticError
from tileir.ops.pointers import Alloca
from tileir.passes.pipeline import LEVELS
from tileir.tools.optimise import watched

T = TypeVar("T")
RUNS = runs()
HIGHEST = len(LEVELS) - 1
RANDOM_PROGRAMS = 60
STATEMENTS = 12


def assert_same_bits(first: Outcome, second: Outcome) -> None:
    """Equal arrays and output. A failed assertion still fails; after any other trap, which is undefined, all may be."""
    if first.trap is not None:
        assert "assertion failed" not in str(first.trap) or second.trap is not None, first.trap
        return
    assert second.trap is None, second.trap
    assert first.printed == second.printed
    for number, (one, other) in enumerate(zip(first.arrays, second.arrays)):
        assert one.tobytes() == other.tobytes(), f"array {number}: {np.argwhere(one != other)[:4].tolist()}"


def assert_settled(module: tileir.Module, level: int) -> None:
    """The program is valid, the same after another optimisation, and after a way through bytecode."""
    report = tileir.verify(module)
    assert report.ok, f"{report}\n{tileir.to_text(module)}"
    assert identical(tileir.optimize(module, level), module)
    try:
        data = tileir.to_bytecode(module)
    except DiagnosticError:
        return
    assert tileir.to_bytecode(tileir.from_bytecode(data)) == data


every_run = pytest.mark.parametrize(
    ("text", "name", "run"),
    sampled([case[1:] for case in RUNS], 2),
    ids=[f"{case[0]}-{case[2]}-{number}" for number, case in enumerate(RUNS)],
)


@every_run
def test_every_value_of_a_golden_program_stays_the_same(text: str, name: str, run: Run) -> None:
    module = tileir.parse(text)
    given = arguments(tileir.parse(text)[name], run)
    observed = observe(module[name].entry)
    args = [*given, *(value.array for value in observed)]
    optimised = tileir.optimize(module, HIGHEST)
    first, second = (outcome(one[name], (1,), args, "interp") for one in (module, optimised))
    own = sum(isinstance(value, np.ndarray) for value in given)
    for place, value in enumerate(observed, own):
        if isinstance(value.op, Alloca):
            second.arrays[place] = first.arrays[place]
    assert_same_bits(first, second)


@pytest.mark.parametrize("level", range(1, HIGHEST + 1))
@pytest.mark.parametrize(("name", "text"), list(programs()), ids=lambda value: value if "\n" not in value else "")
def test_a_golden_program_stays_valid_and_settles(name: str, text: str, level: int) -> None:
    module = tileir.parse(text)
    optimised = tileir.optimize(module, level)
    assert identical(module, tileir.parse(text))
    assert identical(watched(module, level, watch=lambda step: None), optimised)
    assert_settled(optimised, level)


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_the_same(example: Example, target: str) -> None:
    module = tileir.load(example.path)
    optimised = tileir.optimize(module, HIGHEST)
    args = list(example.arguments(example.sizes, np.random.default_rng(1)).values())
    grid = example.grid(example.sizes)
    # Atomic sums of f32 depend on the order of tile blocks.
    first, second = (outcome(one[example.kernel], grid, args, target, threads=1) for one in (module, optimised))
    assert_same_bits(sorted_lines(first), sorted_lines(second))
    assert_settled(optimised, HIGHEST)


def sorted_lines(found: Outcome) -> Outcome:
    """Tile blocks print in any order."""
    return Outcome(found.arrays, "\n".join(sorted(found.printed.splitlines())), found.trap)


def check_random_program(seed: int, targets: Sequence[str], level: int = HIGHEST, statements: int = STATEMENTS) -> None:
    """Put a program together from a seed, and compare it with what a level makes of it."""
    random = Random(seed)

    def choose(options: Sequence[T]) -> T:
        return random.choice(options)

    others = [element for element in STORED if element not in (t.I32, t.I1)]
    elements = tuple(dict.fromkeys((t.I32, t.I1, choose(others), choose(others))))
    module = tileir.Module.of(ProgramBuilder(choose, elements).program(statements))
    optimised = tileir.optimize(module, level)
    args = arrays(elements)
    for target in targets:
        first, second = (outcome(one["k"], (1,), args, target) for one in (module, optimised))
        assert_same_bits(first, second)
    assert_settled(optimised, level)


@pytest.mark.parametrize("seed", sampled(range(RANDOM_PROGRAMS), 6))
def test_a_random_program_gives_the_same(seed: int) -> None:
    check_random_program(seed, ("interp", "cpu") if seed % 6 == 0 else ("interp",))
