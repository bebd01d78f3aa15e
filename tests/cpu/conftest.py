"""The tests of the native target keep their machine code apart from the user's."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    """A cache directory of the test run."""
    before = os.environ.get("TILEIR_CACHE_DIR")
    os.environ["TILEIR_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["TILEIR_CACHE_DIR"]
    else:
        os.environ["TILEIR_CACHE_DIR"] = before
