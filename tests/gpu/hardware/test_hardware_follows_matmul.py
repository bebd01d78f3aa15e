"""What is tested of the interpreter in `test_machine_matmul` holds on a GPU."""

import pytest

from tests.gpu.hardware.hardware_follow import follow_evaluations
from tests.interp import test_machine_matmul
from tests.interp.test_machine_matmul import *  # noqa: F403

del test_the_integer_sum_saturates  # noqa: F821  (or it wraps)


@pytest.fixture(autouse=True)
def _on_a_gpu_too(monkeypatch: pytest.MonkeyPatch, device) -> None:
    follow_evaluations(monkeypatch, test_machine_matmul, device)
