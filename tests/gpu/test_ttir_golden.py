"""The TTIR of golden programs and examples leaves what the interpreter leaves, value by value.

Run on the TTIR machine, without a GPU, for an architecture before tensor descriptors, two since, and one of AMD; an
entry whose TTIR is that of the architecture before is not run again.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import tileir
from tests.differential import Outcome, assert_same, exact_part, observed_names, outcome
from tests.golden.arguments import Run, arguments, runs
from tests.gpu.ttir_refusals import refusal
from tests.observe import Observed, observe
from tests.targets import ttir
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES, largest_error
from tileir.host import extern
from tileir.ir.diagnostics import UnsupportedError
from tileir.ops.pointers import Alloca

ARCHS = ("sm_80", "sm_90", "sm_100", "gfx942")
RUNS = [(f"{file}.{entry}", text, entry, run) for file, text, entry, run in runs()]
GUARDED = ("divi", "remi", "for", "extract", "insert")
"""Operations whose undefined behaviour (spec: undefined#catalogue) ends the interpreter, and stops nothing on a GPU."""
UNSPECIFIED = {
    "reductions.argmax": ("reduce #1", "itof #0", "addf #0"),  # which of equal elements comes first
    "reductions.identities": ("reduce #0",),  # identities that are none
    "version_13_4.bodies": ("reduce #0",),
}
"""Values that depend on the order of a reduction (spec: numerics#determinism), in all entries but these they do not."""


@pytest.fixture(autouse=True)
def _functions_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extern, "_externs", {"hypot": math.hypot})


@pytest.mark.parametrize(
    ("place", "text", "entry", "run"), RUNS, ids=[f"{place}-{number}" for number, (place, *_) in enumerate(RUNS)]
)
def test_every_value_of_a_golden_program_is_that_of_the_interpreter(
    place: str, text: str, entry: str, run: Run
) -> None:
    given = arguments(tileir.parse(text)[entry], run)
    kernel = tileir.parse(text)[entry]
    certain = exact_part(kernel.entry)
    observed = observe(kernel.entry)
    args = [*given, *(value.array for value in observed)]
    own = sum(isinstance(value, np.ndarray) for value in given)
    exact = [len(certain) == sum(1 for _ in kernel.entry.walk())] * own + [value.op in certain for value in observed]
    first = outcome(kernel, (1,), args, "interp")
    names = [f"array {number}" for number in range(own)] + observed_names(observed)
    for second in _outcomes(place, kernel, (1,), args):
        _forget_unspecified(place, observed, first, second, own)
        _assert_same(first, second, exact, names)


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
        _assert_same(first, second, [exact] * len(args), [f"array {number}" for number in range(len(args))])


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


def _assert_same(first: Outcome, second: Outcome, exact: list[bool], names: list[str]) -> None:
    if first.trap is None or first.trap.op not in GUARDED:
        assert_same(first, second, exact, names)


def _forget_unspecified(place: str, observed: list[Observed], first: Outcome, second: Outcome, own: int) -> None:
    """Addresses of an `alloca` are its own affair, as is the order of a reduction."""
    for number, value in enumerate(observed, own):
        if isinstance(value.op, Alloca) or f"{value.op.spec.name} #{value.result}" in UNSPECIFIED.get(place, ()):
            second.arrays[number] = first.arrays[number]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "gfx942"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_what_numpy_gives(example: Example, arch: str) -> None:
    given = example.arguments(example.sizes, np.random.default_rng(1))
    answer = example.answer(given)
    kernel = tileir.load(example.path)[example.kernel]
    result = ttir.outcome(kernel, example.grid(example.sizes), list(given.values()), arch)
    arrays = iter(result.arrays)
    found = {name: next(arrays) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    assert largest_error(found, answer) <= example.tolerance
    assert sorted(result.printed.splitlines()) == sorted(example.printed(example.sizes))
