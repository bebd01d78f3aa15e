"""Kinds of jobs that end in every way, for the tests of the farm."""

from __future__ import annotations

import pytest

from tileir.farm import job
from tileir.host import child

collect_ignore_glob = [] if child.POSSIBLE else ["test_*.py"]


@pytest.fixture(autouse=True)
def _kinds_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(job.KINDS, "probe", ("tests.farm.probes", "probe"))
