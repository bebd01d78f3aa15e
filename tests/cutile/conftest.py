"""The tests of cuTile kernels keep their machine code apart from the user's."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    """A cache directory of the test run, for its processes too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEIR_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
