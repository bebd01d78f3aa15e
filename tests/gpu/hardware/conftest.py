"""Which devices the tests of the hardware run on: every GPU target there is, or a stand-in as a rehearsal.

Knows: that without a GPU the first case of each test runs on the TTIR machine, so that a mistake in a test shows
without one; and that a fault which ends the use of the GPU ends the process. Does not know: the tests.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tileir
from tests.gpu.hardware.hardware_device import Device
from tests.gpu.hardware.hardware_standin import machine
from tileir.runtime import targets

GPUS = ("cuda", "cuda:tileiras")
REHEARSAL = "machine"
REHEARSED = 1
"""How many cases of a test are rehearsed."""
HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rehearse-all", action="store_true", help="run every case of the GPU tests on the TTIR machine")


@cache
def gpus() -> tuple[str, ...]:
    """The GPU targets that can be used here."""
    return tuple(name for name in GPUS if _is_there(name))


def _is_there(name: str) -> bool:
    try:
        targets.target_named(name)
    except tileir.UnsupportedError:
        return False
    return True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", gpus() or (REHEARSAL,), indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The vendor's route comes last, so that a fault there takes nothing from ours. A rehearsal is short, and leaves
    out what needs more than the stand-in has."""
    mine = [item for item in items if HERE in item.path.parents]
    if gpus():
        items.sort(key=lambda item: GPUS[-1] in item.name)
        return
    left_out = {id(item) for item in mine if "gpu" in item.fixturenames}  # type: ignore[attr-defined]
    if not config.getoption("--rehearse-all", default=False):
        left_out |= {id(item) for item in _beyond(mine)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) in left_out])
    items[:] = [item for item in items if id(item) not in left_out]


def _beyond(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The cases of each test that are not rehearsed."""
    seen: Counter[tuple[Path, str]] = Counter()
    for item in items:
        test = item.path, item.originalname  # type: ignore[attr-defined]
        seen[test] += 1
        if seen[test] > REHEARSED and "device" in item.fixturenames:  # type: ignore[attr-defined]
            yield item


@pytest.fixture
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Device:
    """A device, by its name as a target; in a rehearsal the stand-in answers to ``cuda``."""
    if request.param == REHEARSAL:
        found = machine()
        monkeypatch.setattr("tileir.runtime.launch.target_named", lambda name: _rehearsed(name, found))
        return found
    target = targets.target_named(request.param)
    assert isinstance(target, targets.DeviceTarget)
    return Device(target, target.driver.device().arch.name)  # type: ignore[attr-defined]


def _rehearsed(name: str, device: Device) -> targets.Target:
    return device.target if name == device.name else targets.target_named(name)


@pytest.fixture
def gpu(device: Device) -> Device:
    """A device that is a real one; tests that use this are not rehearsed."""
    assert not device.rehearsal
    return device


@pytest.fixture(autouse=True)
def _gpu_can_still_be_used(request: pytest.FixtureRequest) -> Iterator[None]:
    """After an access to memory that is not there, for example, nothing works any more in this process. One of several
    processes ends and is replaced by a new one; otherwise the test run ends."""
    yield
    if "device" not in request.fixturenames or not gpus():
        return
    target = targets.target_named(gpus()[0])
    assert isinstance(target, targets.DeviceTarget)
    try:
        target.finish()
    except (tileir.Trap, tileir.UnsupportedError) as fault:
        if "PYTEST_XDIST_WORKER" in os.environ:
            os._exit(1)
        pytest.exit(f"{request.node.nodeid}: {fault}", returncode=3)
