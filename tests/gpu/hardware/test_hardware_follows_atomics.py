"""What is tested of the interpreter in `test_atomics` holds on a GPU."""

import pytest

from tests.gpu.hardware.hardware_follow import follow_launches
from tests.interp.test_atomics import *  # noqa: F403


@pytest.fixture(autouse=True)
def _on_a_gpu_too(monkeypatch: pytest.MonkeyPatch, device) -> None:
    follow_launches(monkeypatch, device)
