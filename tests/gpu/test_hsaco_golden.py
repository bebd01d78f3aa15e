"""Machine code for AMD of golden programs and examples leaves what the interpreter leaves, value by value.

Run on the hsaco machine, without a GPU. A sample: `make amd-test` runs all.
"""

from __future__ import annotations

from itertools import product

import pytest

pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
pytest.importorskip("tinygrad", reason="needs tinygrad, whose tables decode AMD's instructions")

from tests.gpu.golden_on_machine import cases, require_example, require_golden
from tests.targets import hsaco
from tests.thorough import sampled
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES

ARCHS = ("gfx1100", "gfx942", "gfx1201")
RUNS = cases(ARCHS[0])
SAMPLE = [
    "arithmetic_float.modes", "arithmetic_float.basic", "atomics.swaps", "control_flow.loops", "conversions.floats",
    "matmul.floats", "memory.copy", "printing.hello", "reductions.sum", "shapes.joining", "views.strided",
]  # fmt: skip
QUICK = ("vector_add", "hello_grid")


@pytest.mark.parametrize(("place", "arch"), sampled(product(SAMPLE, ARCHS), 4))
def test_a_golden_program_gives_what_the_interpreter_gives(place: str, arch: str) -> None:
    found = [case for case in RUNS if case[0] == place]
    require_golden(*found[0], arch, hsaco.outcome)


@pytest.mark.parametrize(
    ("example", "arch"),
    sampled(product([example for example in EXAMPLES if example.name in QUICK], ARCHS), 4),
    ids=lambda one: getattr(one, "name", one),
)
def test_an_example_gives_what_numpy_gives(example: Example, arch: str) -> None:
    require_example(example, arch, hsaco.outcome)
