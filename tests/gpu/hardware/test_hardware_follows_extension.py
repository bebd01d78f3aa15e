"""What is tested of the interpreter in `test_machine_extension` holds on a GPU."""

import pytest

from tests.gpu.hardware.hardware_follow import follow_evaluations
from tests.interp import test_machine_extension
from tests.interp.test_machine_extension import *  # noqa: F403

# These call functions of the host.
del test_host_functions_are_applied_to_every_element  # noqa: F821
del test_results_are_rounded_or_wrapped_to_the_element_type  # noqa: F821


@pytest.fixture(autouse=True)
def _on_a_gpu_too(monkeypatch: pytest.MonkeyPatch, device) -> None:
    follow_evaluations(monkeypatch, test_machine_extension, device)
