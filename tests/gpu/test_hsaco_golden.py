"""Machine code for AMD of golden programs and examples leaves what the interpreter leaves, value by value.

Run on the hsaco machine, without a GPU. A sample: `make amd-test` runs all.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import tileir

pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
pytest.importorskip("tinygrad", reason="needs tinygrad, whose tables decode AMD's instructions")

from tests.differential import exact_part, observed_names, outcome
from tests.golden.arguments import Run, arguments, runs
from tests.gpu.test_ttir_golden import _assert_same, _forget_unspecified
from tests.gpu.ttir_refusals import refusal
from tests.observe import observe
from tests.targets import hsaco
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES, largest_error
from tileir.host import extern

ARCHS = ("gfx1100", "gfx942", "gfx1201")
RUNS = [
    (f"{file}.{entry}", text, entry, run)
    for file, text, entry, run in runs()
    if refusal(f"{file}.{entry}", ARCHS[0]) is None
]
SAMPLE = [
    "arithmetic_float.modes", "arithmetic_float.basic", "atomics.swaps", "control_flow.loops", "conversions.floats",
    "matmul.floats", "memory.copy", "printing.hello", "reductions.sum", "shapes.joining", "views.strided",
]  # fmt: skip
SMALLER = {
    "vector_add": {"n": 1500}, "saxpy": {"M": 40, "N": 70}, "transpose": {"rows": 40, "columns": 70},
    "gemm_blocked": {"size": 64}, "gemm_kloop": {"M": 64, "N": 64, "K": 48}, "gemm_views": {"M": 64, "N": 64, "K": 64},
    "softmax": {"rows": 2, "columns": 1000}, "layer_norm": {"rows": 2, "columns": 768},
    "rms_norm": {"rows": 2, "columns": 896}, "attention": {"heads": 1, "length": 40}, "total": {"n": 5000},
    "row_argmax": {"rows": 2, "columns": 500}, "prefix_sum": {"rows": 2, "columns": 300},
    "embedding": {"words": 100, "count": 20},
}  # fmt: skip
"""Sizes of examples that do not take too long; those of the others are their own."""
QUICK = ("vector_add", "hello_grid")


@pytest.fixture(autouse=True)
def _functions_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extern, "_externs", {"hypot": math.hypot})


def require_golden(place: str, text: str, entry: str, run: Run, arch: str) -> None:
    """Run an entry with every value stored on the machine and on the interpreter."""
    given = arguments(tileir.parse(text)[entry], run)
    kernel = tileir.parse(text)[entry]
    certain = exact_part(kernel.entry)
    observed = observe(kernel.entry)
    args = [*given, *(value.array for value in observed)]
    own = sum(isinstance(value, np.ndarray) for value in given)
    exact = [len(certain) == sum(1 for _ in kernel.entry.walk())] * own + [value.op in certain for value in observed]
    first, second = outcome(kernel, (1,), args, "interp"), hsaco.outcome(kernel, (1,), args, arch)
    _forget_unspecified(place, observed, first, second, own)
    _assert_same(first, second, exact, [f"array {number}" for number in range(own)] + observed_names(observed))


def require_example(example: Example, arch: str) -> None:
    sizes = SMALLER.get(example.name, example.sizes)
    given = example.arguments(sizes, np.random.default_rng(1))
    answer = example.answer(given)
    kernel = tileir.load(example.path)[example.kernel]
    result = hsaco.outcome(kernel, example.grid(sizes), list(given.values()), arch)
    arrays = iter(result.arrays)
    found = {name: next(arrays) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    assert largest_error(found, answer) <= example.tolerance
    assert sorted(result.printed.splitlines()) == sorted(example.printed(sizes))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("place", SAMPLE)
def test_a_golden_program_gives_what_the_interpreter_gives(place: str, arch: str) -> None:
    found = [case for case in RUNS if case[0] == place]
    require_golden(*found[0], arch)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    "example", [example for example in EXAMPLES if example.name in QUICK], ids=lambda one: one.name
)
def test_an_example_gives_what_numpy_gives(example: Example, arch: str) -> None:
    require_example(example, arch)
