"""Options of the test run, and a place of its own for machine code."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest

pytest_plugins = ("tests.targets.hardware",)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the expected outputs of the golden tests")


def pytest_configure() -> None:
    """Hear interrupts, which tests send: what a shell or a service starts in the background ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over what has been imported and collected: it lives as long as the run."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether expected outputs are to be rewritten instead of compared."""
    return bool(request.config.getoption("--bless"))


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache directory of the test run: neither reads what the user's holds nor adds to it. The processes that share
    a run, whose folders are beside each other, share it."""
    before, place = os.environ.get("TILEIR_CACHE_DIR"), tmp_path_factory.getbasetemp()
    run = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place
    os.environ["TILEIR_CACHE_DIR"] = str(run / "cache")
    yield
    if before is None:
        del os.environ["TILEIR_CACHE_DIR"]
    else:
        os.environ["TILEIR_CACHE_DIR"] = before
