"""What is tested of reductions in the interpreter holds natively."""

import pytest
from shadow import follow_evaluations

from tests.interp import test_machine_reduction
from tests.interp.test_machine_reduction import *  # noqa: F403

FREE = (
    "test_a_reduction_passes_the_element_first_and_starts_with_the_identity",
    "test_sums_of_floats_are_not_regrouped",
    "test_a_body_may_capture_values_and_ignore_its_arguments",
)
"""What the specification leaves to native code: the order in which elements are combined."""


@pytest.fixture(autouse=True)
def _native_too(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if request.node.name not in FREE:
        follow_evaluations(monkeypatch, test_machine_reduction)
