"""Machine code for AMD of every golden program and example; `make amd-test` runs this."""

from __future__ import annotations

import pytest

from tests.golden.arguments import Run
from tests.gpu.test_hsaco_golden import (  # noqa: F401
    ARCHS,
    RUNS,
    _functions_of_the_host,
    require_example,
    require_golden,
)
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("case", RUNS, ids=[f"{case[0]}-{number}" for number, case in enumerate(RUNS)])
def test_a_golden_program_gives_what_the_interpreter_gives(case: tuple[str, str, str, Run], arch: str) -> None:
    require_golden(*case, arch)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_what_numpy_gives(example: Example, arch: str) -> None:
    require_example(example, arch)
