"""A pytest plugin: ``pytest -p tileir.cutile`` runs the kernels of a test suite on a tileir target."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from tileir.ir.diagnostics import UnsupportedError

if TYPE_CHECKING:
    import pytest

    from tileir.frontend.sanitizing import SanitizerSession
    from tileir.sanitize.report import SanitizerReport


class Plugin:
    """The hooks of a front end. `kernels` is what pytest's header calls its kernels; `session` gives the sanitizer's
    session if there is one."""

    def __init__(
        self,
        kernels: str,
        enable: Callable[..., object],
        disable: Callable[[], None],
        session: Callable[[], SanitizerSession | None],
    ) -> None:
        self._kernels, self._enable, self._disable, self._session = kernels, enable, disable, session

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        group = parser.getgroup("tileir", "kernels on a tileir target")
        with suppress(ValueError):  # the plugin of another front end has added them
            group.addoption("--tileir-target", default="cpu", metavar="TARGET", help="where to run (default: cpu)")
            group.addoption(
                "--tileir-sanitize", action="store_true", help="run on the interpreter, under the sanitizer"
            )
            group.addoption("--cuda-as-cpu", action="store_true", help="let code that asks for CUDA use the CPU")

    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> None:
        """Set up before anything of the suite is imported, its ``conftest.py`` included."""
        import pytest

        from tileir.cuda_as_cpu import cuda_as_cpu

        options = early_config.known_args_namespace
        if options.cuda_as_cpu:
            cuda_as_cpu()
        target = "interp" if options.tileir_sanitize else options.tileir_target
        try:
            self._enable(target, children=True, sanitize=options.tileir_sanitize)
        except UnsupportedError as error:
            raise pytest.UsageError(str(error)) from error
        early_config.add_cleanup(self._disable)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run if findings are errors."""
        report = self._report()
        if report is not None and not report.ok and session.exitstatus == 0:
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        report = self._report()
        if report is not None:
            terminalreporter.write_line(str(report))

    def pytest_report_header(self, config: pytest.Config) -> list[str]:
        from tileir.cuda_as_cpu import NOTICE, cuda_as_cpu

        target = f"{self._kernels} kernels run on tileir target '{config.getoption('--tileir-target')}'"
        return [target, NOTICE] if config.getoption("--cuda-as-cpu") and cuda_as_cpu() else [target]

    def _report(self) -> SanitizerReport | None:
        session = self._session()
        return None if session is None else session.report
