"""What is tested of pointers in the interpreter holds natively."""

import pytest
from shadow import follow_launches

from tests.interp.test_pointers import *  # noqa: F403

FREE = ("test_fresh_storage_holds_0xcd", "test_another_tile_block_may_use_it_only_if_it_is_global")
"""What the specification leaves to native code: the content of new memory, and where it is."""


@pytest.fixture(autouse=True)
def _native_too(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if request.node.name not in FREE:
        follow_launches(monkeypatch)
