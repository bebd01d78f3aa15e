"""Machine code for AMD of every golden program and example; `make amd-test` runs this."""

from __future__ import annotations

import pytest

from tests.gpu.golden_on_machine import Case, require_example, require_golden
from tests.gpu.test_hsaco_golden import ARCHS, RUNS, _functions_of_the_host  # noqa: F401
from tests.targets import hsaco
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("case", RUNS, ids=[f"{case[0]}-{number}" for number, case in enumerate(RUNS)])
def test_a_golden_program_gives_what_the_interpreter_gives(case: Case, arch: str) -> None:
    require_golden(*case, arch, hsaco.outcome)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_what_numpy_gives(example: Example, arch: str) -> None:
    require_example(example, arch, hsaco.outcome)
