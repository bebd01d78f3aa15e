"""Golden programs and examples on a machine of the tests, beside the interpreter and NumPy.

`machine` launches a kernel for an architecture: `targets.ttir.outcome`, `targets.hsaco.outcome` or
`targets.ptx.outcome`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

import tileir
from tests.differential import Outcome, assert_same, exact_part, observed_names, outcome
from tests.golden.arguments import Run, arguments, runs
from tests.gpu.ttir_refusals import refusal
from tests.observe import Observed, observe
from tileir.examples import Example
from tileir.examples.checks import largest_error
from tileir.ops.pointers import Alloca

Machine = Callable[[tileir.Kernel, tuple[int, ...], list[object], str], Outcome]
Machines = Callable[[tileir.Kernel, tuple[int, ...], list[object]], Iterable[Outcome]]
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

GUARDED = ("divi", "remi", "for", "extract", "insert")
"""Operations whose undefined behaviour (spec: undefined#catalogue) ends the interpreter, and stops nothing on a GPU."""
UNSPECIFIED = {
    "reductions.argmax": ("reduce #1", "itof #0", "addf #0"),  # which of equal elements comes first
    "reductions.identities": ("reduce #0",),  # identities that are none
    "version_13_4.bodies": ("reduce #0",),
}
"""Values that depend on the order of a reduction (spec: numerics#determinism), in all entries but these they do not."""


def cases(arch: str) -> list[Case]:
    """The golden programs that an architecture has code for."""
    return [
        (f"{file}.{entry}", text, entry, run)
        for file, text, entry, run in runs()
        if refusal(f"{file}.{entry}", arch) is None
    ]


def require_golden(place: str, text: str, entry: str, run: Run, arch: str, machine: Machine) -> None:
    """Run an entry with every value stored on the machine and on the interpreter."""
    require_every_value(place, text, entry, run, lambda *launch: [machine(*launch, arch)])


def require_every_value(place: str, text: str, entry: str, run: Run, machines: Machines) -> None:
    """Run an entry with every value stored on machines and on the interpreter."""
    given = arguments(tileir.parse(text)[entry], run)
    kernel = tileir.parse(text)[entry]
    certain = exact_part(kernel.entry)
    observed = observe(kernel.entry)
    args = [*given, *(value.array for value in observed)]
    own = sum(isinstance(value, np.ndarray) for value in given)
    exact = [len(certain) == sum(1 for _ in kernel.entry.walk())] * own + [value.op in certain for value in observed]
    first = outcome(kernel, (1,), args, "interp")
    names = [f"array {number}" for number in range(own)] + observed_names(observed)
    for second in machines(kernel, (1,), args):
        _forget_unspecified(place, observed, first, second, own)
        assert_same_if_defined(first, second, exact, names)


def assert_same_if_defined(first: Outcome, second: Outcome, exact: list[bool], names: list[str]) -> None:
    if first.trap is None or first.trap.op not in GUARDED:
        assert_same(first, second, exact, names)


def _forget_unspecified(place: str, observed: list[Observed], first: Outcome, second: Outcome, own: int) -> None:
    """Addresses of an `alloca` are its own affair, as is the order of a reduction."""
    for number, value in enumerate(observed, own):
        if isinstance(value.op, Alloca) or f"{value.op.spec.name} #{value.result}" in UNSPECIFIED.get(place, ()):
            second.arrays[number] = first.arrays[number]


def require_example(example: Example, arch: str, machine: Machine, sizes: dict[str, int] | None = None) -> None:
    """Run an example on the machine, in small sizes if none are given, and compare with NumPy."""
    sizes = sizes or SMALLER.get(example.name, example.sizes)
    given = example.arguments(sizes, np.random.default_rng(1))
    answer = example.answer(given)
    kernel = tileir.load(example.path)[example.kernel]
    result = machine(kernel, example.grid(sizes), list(given.values()), arch)
    arrays = iter(result.arrays)
    found = {name: next(arrays) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    assert largest_error(found, answer) <= example.tolerance
    assert sorted(result.printed.splitlines()) == sorted(example.printed(sizes))
