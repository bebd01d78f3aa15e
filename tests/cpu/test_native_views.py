"""What is tested of views in the interpreter holds natively."""

import pytest
from shadow import follow_launches

from tests.interp.test_views import *  # noqa: F403


@pytest.fixture(autouse=True)
def _native_too(monkeypatch: pytest.MonkeyPatch) -> None:
    follow_launches(monkeypatch)
