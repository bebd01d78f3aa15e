"""The GPUs that tests run on: every GPU target of the machine, or a stand-in as a rehearsal.

Without a GPU the first case of each test for GPUs runs on a stand-in, so that a mistake in a test shows without one; a
fault that ends the use of the GPU ends the process.

Cases for GPUs, real or not, have the mark `hardware`. A test for which the specification leaves open what compiled code
does has the mark ``not_on("cpu", "ttir", "gpu")``, naming those it does not run on.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.gpu.hardware.hardware_device import Device

GPUS = ("cuda", "cuda:tileiras")
REHEARSAL = "machine"
REHEARSED = 1
"""Number of cases of a test that are rehearsed."""
FIXTURES = {"target", "gpu_code", "device"}
"""The fixtures of a test that runs on a GPU."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rehearse-all", action="store_true", help="run every case of the GPU tests on the TTIR machine")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "hardware: runs on a GPU, or on its stand-in")
    config.addinivalue_line("markers", "not_on(*targets): what compiled code does here is left open")


@cache
def gpus() -> tuple[str, ...]:
    """The GPU targets that can be used here."""
    return tuple(name for name in GPUS if _is_there(name))


def _is_there(name: str) -> bool:
    import tileir
    from tileir.runtime.module import target_named

    try:
        target_named(name)
    except tileir.UnsupportedError:
        return False
    return True


# ---------------------------------------------------------------- cases


def run_on(metafunc: pytest.Metafunc, fixture: str, names: tuple[str, ...]) -> None:
    """Run a test that asks for the fixture on each of the names, and on every GPU."""
    if fixture in metafunc.fixturenames:
        left_out = {name for mark in metafunc.definition.iter_markers("not_on") for name in mark.args}
        metafunc.parametrize(fixture, list(_cases(names, left_out)), indirect=True)


def _cases(names: tuple[str, ...], left_out: set[str]) -> Iterator[object]:
    yield from (name for name in names if name not in left_out)
    if "gpu" not in left_out:
        yield from (pytest.param(name, marks=pytest.mark.hardware) for name in gpus() or (REHEARSAL,))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The vendor's route comes last, so that a fault there takes nothing from ours. A rehearsal is short, and leaves
    out what needs more than the stand-in has."""
    if gpus():
        items.sort(key=lambda item: GPUS[-1] in item.name)
        return
    left_out = {id(item) for item in items if "gpu" in getattr(item, "fixturenames", ())}
    if not config.getoption("--rehearse-all"):
        left_out |= {id(item) for item in _beyond(items)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) in left_out])
    items[:] = [item for item in items if id(item) not in left_out]


def _beyond(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The cases of each test that are not rehearsed."""
    seen: Counter[tuple[object, str]] = Counter()
    for item in items:
        if item.get_closest_marker("hardware") and not FIXTURES.isdisjoint(item.fixturenames):  # type: ignore[attr-defined]
            test = item.path, item.originalname  # type: ignore[attr-defined]
            seen[test] += 1
            if seen[test] > REHEARSED:
                yield item


# ---------------------------------------------------------------- devices


@contextmanager
def opened(name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """The device of a case, which must still be usable in the end."""
    from tests.gpu.hardware.hardware_device import Device
    from tests.gpu.hardware.hardware_standin import machine
    from tileir.runtime.module import DeviceTarget, target_named

    if name == REHEARSAL:
        found = machine()
        monkeypatch.setattr(
            "tileir.runtime.module.target_named",
            lambda asked: found.target if asked == found.name else target_named(asked),
        )
        yield found
        return
    gpu = target_named(name)
    assert isinstance(gpu, DeviceTarget)
    yield Device(gpu, gpu.driver.device().arch.name)  # type: ignore[attr-defined]
    _require_gpu(request.node.nodeid)


def _require_gpu(test: str) -> None:
    """After an access to memory that is not there, for example, nothing works any more in this process. One of several
    processes ends and is replaced by a new one; otherwise the test run ends."""
    import tileir
    from tileir.runtime.module import DeviceTarget, target_named

    gpu = target_named(gpus()[0])
    assert isinstance(gpu, DeviceTarget)
    try:
        gpu.finish()
    except (tileir.Trap, tileir.UnsupportedError) as fault:
        if "PYTEST_XDIST_WORKER" in os.environ:
            os._exit(1)
        pytest.exit(f"{test}: {fault}", returncode=3)
