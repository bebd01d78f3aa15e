"""What is tested of the extension operations in the interpreter holds natively."""

import pytest
from shadow import follow_evaluations

from tests.interp import test_machine_extension
from tests.interp.test_machine_extension import *  # noqa: F403


@pytest.fixture(autouse=True)
def _native_too(monkeypatch: pytest.MonkeyPatch) -> None:
    follow_evaluations(monkeypatch, test_machine_extension)
