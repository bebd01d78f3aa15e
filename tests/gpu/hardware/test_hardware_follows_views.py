"""What is tested of the interpreter in `test_views` holds on a GPU."""

import pytest

from tests.gpu.hardware.hardware_follow import follow_launches
from tests.interp import test_views
from tests.interp.test_views import *  # noqa: F403

del test_multicast_memory_has_one_replica  # noqa: F821  (on a GPU it is memory of another kind)


class TestIndices(test_views.TestIndices):
    test_a_broken_inbounds_promise_is_a_warning = None  # undefined, and on a GPU an access outside the arrays


@pytest.fixture(autouse=True)
def _on_a_gpu_too(monkeypatch: pytest.MonkeyPatch, device) -> None:
    follow_launches(monkeypatch, device)
