"""Places where GPU code runs, as the fixtures `gpu_code` and `device`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gpu.hardware.hardware_device import Device
from tests.targets.gpu_code import GpuCode, OnDevice, OnMachine
from tests.targets.hardware import opened, run_on


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    run_on(metafunc, "gpu_code", ("ttir",))
    run_on(metafunc, "device", ())


@pytest.fixture
def gpu_code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[GpuCode]:
    """The TTIR machine, or a device."""
    if request.param == "ttir":
        yield OnMachine()
    else:
        with opened(request.param, request, monkeypatch) as found:
            yield OnDevice(found)


@pytest.fixture
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A device, by its name as a target; in a rehearsal the stand-in answers to ``cuda``."""
    with opened(request.param, request, monkeypatch) as found:
        yield found


@pytest.fixture
def gpu(device: Device) -> Device:
    """A device that is a real one; tests that use this are not rehearsed."""
    assert not device.rehearsal
    return device
