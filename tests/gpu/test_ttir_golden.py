"""The TTIR of golden programs and examples leaves what the interpreter leaves, value by value.

Run on the TTIR machine, without a GPU, for an architecture before tensor descriptors, two since, and one of AMD; an
entry whose TTIR is that of the architecture before is not run again.
"""

from __future__ import annotations

from itertools import product

import pytest

import tileir
from tests.differential import Outcome, exact_part, outcome
from tests.golden.arguments import Run, arguments, runs
from tests.gpu.golden_on_machine import assert_same_if_defined, require_every_value, require_example
from tests.gpu.ttir_refusals import refusal
from tests.targets import ttir
from tests.thorough import sampled
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES
from tileir.ir.diagnostics import UnsupportedError

ARCHS = ("sm_80", "sm_90", "sm_100", "gfx942")
RUNS = [(f"{file}.{entry}", text, entry, run) for file, text, entry, run in runs()]


@pytest.mark.parametrize(
    ("place", "text", "entry", "run"),
    sampled(RUNS, 2),
    ids=[f"{place}-{number}" for number, (place, *_) in enumerate(RUNS)],
)
def test_every_value_of_a_golden_program_is_that_of_the_interpreter(
    place: str, text: str, entry: str, run: Run
) -> None:
    require_every_value(place, text, entry, run, lambda *launch: _outcomes(place, *launch))


@pytest.mark.parametrize(
    ("place", "text", "entry", "run"),
    [case for case in RUNS if case[3].grid != (1,)],
    ids=[case[0] for case in RUNS if case[3].grid != (1,)],
)
def test_a_grid_leaves_what_the_interpreter_leaves(place: str, text: str, entry: str, run: Run) -> None:
    kernel = tileir.parse(text)[entry]
    args = arguments(kernel, run)
    exact = len(exact_part(kernel.entry)) == sum(1 for _ in kernel.entry.walk())
    first = outcome(kernel, run.grid, args, "interp")
    for second in _outcomes(place, kernel, run.grid, args):
        assert_same_if_defined(first, second, [exact] * len(args), [f"array {number}" for number in range(len(args))])


def _outcomes(place: str, kernel: tileir.Kernel, grid: tuple[int, ...], args: list[object]) -> list[Outcome]:
    """Outcomes on each architecture that has code of its own; those that are to refuse the kernel do."""
    found: dict[str, Outcome] = {}
    for arch in ARCHS:
        expected = refusal(place, arch)
        if expected is not None:
            with pytest.raises(UnsupportedError, match=expected):
                ttir.lowered(kernel, arch)
            continue
        text = ttir.lowered(kernel, arch).text
        if text not in found:
            found[text] = ttir.outcome(kernel, grid, args, arch)
    return list(found.values())


@pytest.mark.parametrize(
    ("example", "arch"),
    sampled(product(EXAMPLES, ["sm_80", "sm_90", "gfx942"]), 4),
    ids=lambda one: getattr(one, "name", one),
)
def test_an_example_gives_what_numpy_gives(example: Example, arch: str) -> None:
    require_example(example, arch, ttir.outcome, example.sizes)
