"""The hooks of the pytest plugin: ``pytest -p tileir.triton`` runs the kernels of a test suite on a tileir target."""

from __future__ import annotations

from tileir.frontend.plugin import Plugin
from tileir.frontend.sanitizing import SanitizerSession
from tileir.triton.switch import active, disable, enable


def _session() -> SanitizerSession | None:
    driver = active()
    return None if driver is None else driver.chosen.session


_plugin = Plugin("Triton", enable, disable, _session)
pytest_addoption = _plugin.pytest_addoption
pytest_load_initial_conftests = _plugin.pytest_load_initial_conftests
pytest_report_header = _plugin.pytest_report_header
pytest_sessionfinish = _plugin.pytest_sessionfinish
pytest_terminal_summary = _plugin.pytest_terminal_summary
