"""The targets that the tests of the language are run on, as the fixture `target`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.targets.compared import Interpreted
from tests.targets.gpu_code import GpuCompared, OnDevice, OnMachine
from tests.targets.hardware import opened, run_on
from tests.targets.native import Native

TARGETS = ("interp", "cpu", "ttir")
ARCHS = ("sm_80", "sm_90")
"""Architectures without and with descriptors."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    run_on(metafunc, "target", TARGETS)


@pytest.fixture
def target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Interpreted]:
    """The interpreter, alone or beside the target of this case."""
    name = request.param
    if name == "interp":
        yield Interpreted()
    elif name == "cpu":
        yield Native()
    elif name == "ttir":
        yield GpuCompared(name, OnMachine(), ARCHS)
    else:
        with opened(name, request, monkeypatch) as device:
            yield GpuCompared(name, OnDevice(device), (device.arch,))
