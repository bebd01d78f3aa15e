"""What is tested of the interpreter in `test_pointers` holds on a GPU."""

import pytest

from tests.gpu.hardware.hardware_follow import follow_launches
from tests.interp import test_pointers
from tests.interp.test_pointers import *  # noqa: F403


class TestAlloca(test_pointers.TestAlloca):
    test_fresh_storage_holds_0xcd = None  # the specification leaves open what new memory holds and where it is
    test_another_tile_block_may_use_it_only_if_it_is_global = None


@pytest.fixture(autouse=True)
def _on_a_gpu_too(monkeypatch: pytest.MonkeyPatch, device) -> None:
    follow_launches(monkeypatch, device)
