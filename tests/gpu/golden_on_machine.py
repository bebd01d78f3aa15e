"""Golden programs and examples on a machine of the tests, beside the interpreter and NumPy.

`machine` launches a kernel for an architecture: `targets.hsaco.outcome` or `targets.ptx.outcome`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import tileir
from tests.differential import Outcome, exact_part, observed_names, outcome
from tests.golden.arguments import Run, arguments, runs
from tests.gpu.test_ttir_golden import _assert_same, _forget_unspecified
from tests.gpu.ttir_refusals import refusal
from tests.observe import observe
from tileir.examples import Example
from tileir.examples.checks import largest_error

Machine = Callable[[tileir.Kernel, tuple[int, ...], list[object], str], Outcome]
Case = tuple[str, str, str, Run]
"""Place, text and entry of a golden program, and its arguments."""

SMALLER = {
    "vector_add": {"n": 1500}, "saxpy": {"M": 40, "N": 70}, "transpose": {"rows": 40, "columns": 70},
    "gemm_blocked": {"size": 64}, "gemm_kloop": {"M": 64, "N": 64, "K": 48}, "gemm_views": {"M": 64, "N": 64, "K": 64},
    "softmax": {"rows": 2, "columns": 1000}, "layer_norm": {"rows": 2, "columns": 768},
    "rms_norm": {"rows": 2, "columns": 896}, "attention": {"heads": 1, "length": 40}, "total": {"n": 5000},
    "row_argmax": {"rows": 2, "columns": 500}, "prefix_sum": {"rows": 2, "columns": 300},
    "embedding": {"words": 100, "count": 20},
}  # fmt: skip
"""Sizes of examples that do not take too long; those of the others are their own."""


def cases(arch: str) -> list[Case]:
    """The golden programs that an architecture has code for."""
    return [
        (f"{file}.{entry}", text, entry, run)
        for file, text, entry, run in runs()
        if refusal(f"{file}.{entry}", arch) is None
    ]


def require_golden(place: str, text: str, entry: str, run: Run, arch: str, machine: Machine) -> None:
    """Run an entry with every value stored on the machine and on the interpreter."""
    given = arguments(tileir.parse(text)[entry], run)
    kernel = tileir.parse(text)[entry]
    certain = exact_part(kernel.entry)
    observed = observe(kernel.entry)
    args = [*given, *(value.array for value in observed)]
    own = sum(isinstance(value, np.ndarray) for value in given)
    exact = [len(certain) == sum(1 for _ in kernel.entry.walk())] * own + [value.op in certain for value in observed]
    first, second = outcome(kernel, (1,), args, "interp"), machine(kernel, (1,), args, arch)
    _forget_unspecified(place, observed, first, second, own)
    _assert_same(first, second, exact, [f"array {number}" for number in range(own)] + observed_names(observed))


def require_example(example: Example, arch: str, machine: Machine) -> None:
    sizes = SMALLER.get(example.name, example.sizes)
    given = example.arguments(sizes, np.random.default_rng(1))
    answer = example.answer(given)
    kernel = tileir.load(example.path)[example.kernel]
    result = machine(kernel, example.grid(sizes), list(given.values()), arch)
    arrays = iter(result.arrays)
    found = {name: next(arrays) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    assert largest_error(found, answer) <= example.tolerance
    assert sorted(result.printed.splitlines()) == sorted(example.printed(sizes))
