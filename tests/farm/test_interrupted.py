"""The driver may be killed at any moment: another goes on, no job is lost, no answer changes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.farm.probes import job, workers
from tileir.farm.driver import drive
from tileir.farm.job import JobLimits
from tileir.farm.store import JobStore

ROOT = Path(__file__).parents[2]
COUNT = int(os.environ.get("TILEIR_FARM_JOBS", "200"))
"""`make cluster-test` tries more."""
PATIENCE = 60.0 + COUNT / 20
DRIVER = """
import sys
from tests.farm.probes import job, register, workers
from tileir.farm.driver import drive
from tileir.farm.store import JobStore
register()
with JobStore(sys.argv[1]) as store:
    store.add([job(number, "slow") for number in range(int(sys.argv[2]))])
    drive(store, workers())
"""


def done(path: Path) -> int:
    """Return how many jobs of a store are done, seen from outside."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            return db.execute("SELECT count(*) FROM jobs WHERE state = 'done'").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def working(driver: int) -> list[int]:
    """The processes of the group of a driver that still run."""
    return [
        int(entry.name)
        for entry in Path("/proc").glob("[0-9]*")
        if _group(entry) == driver and int(entry.name) != os.getpid()
    ]


def _group(entry: Path) -> int | None:
    try:
        fields = (entry / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[2]) if fields[0] != "Z" else None


@pytest.mark.thorough
def test_a_killed_driver_loses_nothing_and_leaves_nobody(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for threshold in (COUNT // 8, COUNT // 3):
        command = [sys.executable, "-c", DRIVER, str(path), str(COUNT)]
        driver = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
        deadline = time.monotonic() + PATIENCE
        while done(path) < threshold:
            assert driver.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait(PATIENCE)
        while working(driver.pid):
            assert time.monotonic() < deadline, "the workers of a killed driver end"
            time.sleep(0.05)
    with JobStore(path) as store:
        before = {row.key: row.answer for row in store.rows("done")}
        assert COUNT // 3 <= len(before) < COUNT
        jobs = [job(number, "slow") for number in range(COUNT)]
        drive(store, workers(), jobs, JobLimits())
        assert store.counts() == {"done": COUNT} and store.conflicts() == []
        after = {row.key: row.answer for row in store.rows()}
        assert [after[one.key]["square"] for one in jobs] == [number**2 for number in range(COUNT)]
        assert before.items() <= after.items()
