"""PTX of every golden program and example leaves what the interpreter leaves, value by value.

Run on the PTX machine, without a GPU.
"""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")

from tests.gpu.golden_on_machine import cases, require_example, require_golden
from tests.targets import ptx
from tests.thorough import sampled
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES

CASES = cases("sm_80")
"""Without those with multicast memory, which sm_80 refuses and the machine does not have."""
ARCHES = ("sm_80", "sm_90", "sm_100", "sm_120")


@pytest.mark.parametrize(
    "number", sampled(range(len(CASES)), 5), ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)]
)
@pytest.mark.parametrize("arch", sampled(ARCHES, len(ARCHES)))
def test_a_golden_program_gives_what_the_interpreter_gives(arch: str, number: int) -> None:
    require_golden(*CASES[number], arch, ptx.outcome)


@pytest.mark.parametrize(
    ("example", "arch"),
    sampled(itertools.product(EXAMPLES, ARCHES), 7),
    ids=lambda value: getattr(value, "name", value),
)
def test_an_example_gives_what_numpy_gives(example: Example, arch: str) -> None:
    require_example(example, arch, ptx.outcome)
