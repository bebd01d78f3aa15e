"""A pytest plugin: ``pytest -p tileir.cutile`` runs the kernels of a test suite on a tileir target.

Knows: pytest's hooks and the options it adds. Does not know: what they switch on (`switch`, `cuda_as_cpu`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir.ir.diagnostics import UnsupportedError

if TYPE_CHECKING:
    import pytest

    from tileir.sanitize.report import SanitizerReport


def pytest_addoption(parser: pytest.Parser) -> None:
    from tileir.cutile.switch import DEFAULT

    group = parser.getgroup("tileir", "cuTile kernels on a tileir target")
    group.addoption("--tileir-target", default=DEFAULT, metavar="TARGET", help=f"where to run (default: {DEFAULT})")
    group.addoption("--tileir-sanitize", action="store_true", help="run on the interpreter, under the sanitizer")
    group.addoption("--cuda-as-cpu", action="store_true", help="let code that asks for CUDA use the CPU")


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before anything of the suite is imported, its ``conftest.py`` included."""
    import pytest

    from tileir.cuda_as_cpu import cuda_as_cpu
    from tileir.cutile.switch import disable, enable

    options = early_config.known_args_namespace
    if options.cuda_as_cpu:
        cuda_as_cpu()
    target = "interp" if options.tileir_sanitize else options.tileir_target
    try:
        enable(target, children=True, sanitize=options.tileir_sanitize)
    except UnsupportedError as error:
        raise pytest.UsageError(str(error)) from error
    early_config.add_cleanup(disable)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Findings that are errors fail the run."""
    report = _report()
    if report is not None and not report.ok and session.exitstatus == 0:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    report = _report()
    if report is not None:
        terminalreporter.write_line(str(report))


def _report() -> SanitizerReport | None:
    from tileir.cutile.launch import installed

    launcher = installed()
    return None if launcher is None or launcher.session is None else launcher.session.report


def pytest_report_header(config: pytest.Config) -> list[str]:
    from tileir.cuda_as_cpu import NOTICE, cuda_as_cpu

    target = f"cuTile kernels run on tileir target '{config.getoption('--tileir-target')}'"
    return [target, NOTICE] if config.getoption("--cuda-as-cpu") and cuda_as_cpu() else [target]
