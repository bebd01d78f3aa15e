"""PTX of every golden program and example leaves what the interpreter leaves, value by value.

Run on the PTX machine, without a GPU.
"""

from __future__ import annotations

import pytest

pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")

from tests.gpu.golden_on_machine import cases, require_example, require_golden
from tests.targets import ptx
from tests.thorough import sampled
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES

CASES = cases(ptx.ARCH)


@pytest.mark.parametrize(
    "number", sampled(range(len(CASES)), 4), ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)]
)
def test_a_golden_program_gives_what_the_interpreter_gives(number: int) -> None:
    require_golden(*CASES[number], ptx.ARCH, ptx.outcome)


@pytest.mark.parametrize("example", sampled(EXAMPLES, 4), ids=lambda example: example.name)
def test_an_example_gives_what_numpy_gives(example: Example) -> None:
    require_example(example, ptx.ARCH, ptx.outcome)
