"""cuTile Python kernels on a tileir target: the user's file as it is, without GPU or driver.

Knows: the switch: `enable`, `disable`, `on`; and, as a pytest plugin (``-p tileir.cutile``), the hooks of `plugin`.
Does not know: what a launch does (`launch`). Needs the package `cuda-tile`, and imports it when a target is enabled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tileir.cutile.launch import installed
from tileir.cutile.plugin import pytest_addoption, pytest_configure, pytest_report_header, pytest_unconfigure
from tileir.cutile.switch import DEFAULT, disable, enable

__all__ = [
    "DEFAULT",
    "disable",
    "enable",
    "enabled",
    "on",
    "pytest_addoption",
    "pytest_configure",
    "pytest_report_header",
    "pytest_unconfigure",
]


def enabled() -> str | None:
    """The target that `cuda.tile.launch` runs on; None if it is the library's own."""
    launcher = installed()
    return None if launcher is None else launcher.target


@contextmanager
def on(target: str = DEFAULT, *, gpu: bool = True, **options: object) -> Iterator[None]:
    """Run launches on `target` within the block; see `enable`. What was enabled before is so again after it."""
    before = installed()
    enable(target, gpu=gpu, **options)
    try:
        yield
    finally:
        disable()
        if before is not None:
            before.install()
