"""PTX of every golden program and example leaves what the interpreter leaves, value by value.

Run on the PTX machine, without a GPU.
"""

from __future__ import annotations

import math

import pytest

pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")

from tests.gpu.golden_on_machine import Case, cases, require_example, require_golden
from tests.targets import ptx
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES
from tileir.host import extern

CASES = cases(ptx.ARCH)


@pytest.fixture(autouse=True)
def _functions_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extern, "_externs", {"hypot": math.hypot})


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)])
def test_a_golden_program_gives_what_the_interpreter_gives(case: Case) -> None:
    require_golden(*case, ptx.ARCH, ptx.outcome)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_what_numpy_gives(example: Example) -> None:
    require_example(example, ptx.ARCH, ptx.outcome)
