"""Options of the test run, and a place of its own for machine code."""

from __future__ import annotations

import gc
import os
import signal
import tempfile

import pytest

pytest_plugins = ("tests.targets.hardware",)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the expected outputs of the golden tests")


def pytest_configure(config: pytest.Config) -> None:
    """Hear interrupts, which tests send: what a shell or a service starts in the background ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        _use_own_cache(config)


def _use_own_cache(config: pytest.Config) -> None:
    """Have a cache directory of the test run, which neither reads what the user's holds nor adds to it. It is there
    before tests are collected, and the processes that share a run share it."""
    patch = pytest.MonkeyPatch()
    folder = tempfile.TemporaryDirectory(prefix="tileir-tests-", ignore_cleanup_errors=True)
    patch.setenv("TILEIR_CACHE_DIR", folder.name)
    config.add_cleanup(patch.undo)
    config.add_cleanup(folder.cleanup)


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over what has been imported and collected: it lives as long as the run."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether expected outputs are to be rewritten instead of compared."""
    return bool(request.config.getoption("--bless"))
