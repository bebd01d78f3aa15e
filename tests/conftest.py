"""Options of the test run, a place of its own for machine code, and a watch over tests that hang."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import tempfile
from collections import Counter
from math import inf
from time import monotonic

import pytest

pytest_plugins = ("tests.targets.hardware",)

LONGEST_S = 300
"""Seconds after which a test that hangs ends its process with every thread's place; xdist names it and goes on."""
WATCHED_S = 10
"""Seconds for which the tests that begin share a watch: one for each would be a thread for each."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the expected outputs of the golden tests")


def pytest_configure(config: pytest.Config) -> None:
    """Hear interrupts, which tests send: what a shell or a service starts in the background ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(_Watch())
    if "PYTEST_XDIST_WORKER" not in os.environ:
        _use_own_cache(config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End with a table of why tests were skipped."""
    reasons = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()))
    if reasons:
        terminalreporter.section("skipped", sep="-")
        for reason, count in reasons.most_common():
            terminalreporter.write_line(f"{count:6}  {reason.removeprefix('Skipped: ')}")


class _Watch:
    """Ends a process in which no test has begun for long; a test may take `LONGEST_S` less `WATCHED_S` at least."""

    def __init__(self) -> None:
        self._errors = os.dup(2)  # where it is written what a test's own output is not: nothing is captured yet
        self._since = -inf

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        if monotonic() - self._since > WATCHED_S:
            faulthandler.dump_traceback_later(LONGEST_S, exit=True, file=self._errors)
            self._since = monotonic()

    def pytest_unconfigure(self) -> None:
        faulthandler.cancel_dump_traceback_later()
        os.close(self._errors)


def _use_own_cache(config: pytest.Config) -> None:
    """Give the test run a cache directory of its own, which neither reads nor adds to the user's. It exists before
    tests are collected, and the processes that share a run share it."""
    patch = pytest.MonkeyPatch()
    folder = tempfile.TemporaryDirectory(prefix="tileir-tests-", ignore_cleanup_errors=True)
    patch.setenv("TILEIR_CACHE_DIR", folder.name)
    patch.setenv("TRITON_CACHE_DIR", os.path.join(folder.name, "triton"))
    config.add_cleanup(patch.undo)
    config.add_cleanup(folder.cleanup)


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over what has been imported and collected: it lives as long as the run."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Return whether expected outputs are to be rewritten instead of compared."""
    return bool(request.config.getoption("--bless"))
