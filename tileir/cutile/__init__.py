"""cuTile Python kernels on a tileir target: the user's file as it is, without GPU or driver.

Knows: the switch: `enable`, `disable`, `on`; and, as a pytest plugin (``-p tileir.cutile``), the hooks of
`frontend.plugin`.
Does not know: what a launch does (`launch`). Needs the package `cuda-tile`, and imports it when a target is enabled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tileir.cutile.launch import installed
from tileir.cutile.switch import DEFAULT, disable, enable
from tileir.frontend.plugin import Plugin
from tileir.frontend.sanitizing import SanitizerSession
from tileir.runtime.module import TargetName

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tileir.runtime.options import Check, LaunchOptions
    from tileir.sanitize.launch import SanitizerOptions

__all__ = [
    "DEFAULT",
    "SanitizerSession",
    "disable",
    "enable",
    "enabled",
    "on",
    "pytest_addoption",
    "pytest_load_initial_conftests",
    "pytest_report_header",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
]


def enabled() -> str | None:
    """Return the target that `cuda.tile.launch` runs on; None if it is the library's own."""
    launcher = installed()
    return None if launcher is None else launcher.target


@contextmanager
def on(
    target: TargetName | str = DEFAULT,
    *,
    gpu: bool = True,
    children: bool | None = None,
    sanitize: bool | SanitizerOptions = False,
    check: Check = True,
    **options: Unpack[LaunchOptions],
) -> Iterator[SanitizerSession | None]:
    """Run launches on `target` within the block; see `enable`.

    Afterwards the earlier state is restored. With ``sanitize`` the block gets a session, whose ``report`` has the
    findings of all launches so far.
    """
    before = installed()
    session = enable(target, gpu=gpu, children=children, sanitize=sanitize, check=check, **options)
    try:
        yield session
    finally:
        disable()
        if before is not None:
            before.install()


def _session() -> SanitizerSession | None:
    launcher = installed()
    return None if launcher is None else launcher.session


_plugin = Plugin("cuTile", enable, disable, _session)
pytest_addoption = _plugin.pytest_addoption
pytest_load_initial_conftests = _plugin.pytest_load_initial_conftests
pytest_report_header = _plugin.pytest_report_header
pytest_sessionfinish = _plugin.pytest_sessionfinish
pytest_terminal_summary = _plugin.pytest_terminal_summary
