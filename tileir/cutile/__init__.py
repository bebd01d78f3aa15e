"""cuTile Python kernels on a tileir target: the user's file as it is, without GPU or driver.

Knows: the switch: `enable`, `disable`, `on`; and, as a pytest plugin (``-p tileir.cutile``), the hooks of
`frontend.plugin`.
Does not know: what a launch does (`launch`). Needs the package `cuda-tile`, and imports it when a target is enabled.
"""

from __future__ import annotations

from tileir.cutile.launch import installed
from tileir.cutile.switch import DEFAULT, disable, enable, on
from tileir.frontend.plugin import Plugin
from tileir.frontend.sanitizing import SanitizerSession

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
    return None if launcher is None else launcher.chosen.target.name


def _session() -> SanitizerSession | None:
    launcher = installed()
    return None if launcher is None else launcher.chosen.session


_plugin = Plugin("cuTile", enable, disable, _session)
pytest_addoption = _plugin.pytest_addoption
pytest_load_initial_conftests = _plugin.pytest_load_initial_conftests
pytest_report_header = _plugin.pytest_report_header
pytest_sessionfinish = _plugin.pytest_sessionfinish
pytest_terminal_summary = _plugin.pytest_terminal_summary
