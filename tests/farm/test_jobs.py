"""A job costs only itself: every bad end is recorded with its reason, and all others get their answer."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.farm.probes import BAD_ENDS, job, workers
from tileir.farm.driver import drive
from tileir.farm.isolation import attempt
from tileir.farm.job import KINDS, Attempt, Ending, FarmJob, JobLimits, WorkResult, canonical, work_of
from tileir.farm.store import JobStore
from tileir.ir.usage import UsageError

LIMITS = JobLimits(seconds=1.0, memory=1 << 30, tries=2)


def ended(harm: str, limits: JobLimits = LIMITS) -> Attempt:
    given = job(7, harm)
    return attempt(given.kind, given.text, given.content, limits)


def test_an_answer_comes_with_figures_files_and_a_log() -> None:
    found = ended("none")
    assert (found.ending, found.log) == (Ending.DONE, "probe 7\n")
    assert found.result is not None and found.result.answer == {"square": 49}
    assert json.loads(found.answer)["files"].keys() == {"n.txt"} and found.peak > 0


@pytest.mark.parametrize(("harm", "ending", "reason"), BAD_ENDS)
def test_a_bad_end_has_its_reason(harm: str, ending: Ending, reason: str) -> None:
    found = ended(harm)
    assert found.ending is ending and reason in found.reason
    assert found.result is None and found.log.startswith("probe 7")


def test_nothing_is_left_of_a_job_that_hangs() -> None:
    before = set(_children())
    assert ended("hang with a child").ending is Ending.HUNG
    deadline = time.monotonic() + 10
    while set(_children()) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert set(_children()) <= before


def _children() -> list[str]:
    """Processes that run what the probe started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline") if Path("/proc").exists() else ():
        try:
            if b"time.sleep(1000)" in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:
            continue
    return found


def test_the_key_follows_from_what_is_done() -> None:
    one = FarmJob("probe", {"a": 1, "b": [2, None]}, b"program")
    assert one.key == FarmJob("probe", {"b": [2, None], "a": 1}, b"program").key
    others = [
        FarmJob("launch", one.spec, b"program"),
        FarmJob("probe", {"a": 1}, b"program"),
        FarmJob("probe", one.spec),
    ]
    assert len({one.key, *(other.key for other in others)}) == 4
    with pytest.raises(ValueError):
        canonical({"x": float("nan")})


def test_every_job_is_settled_whatever_others_do(tmp_path: Path) -> None:
    harms = ["none"] * 20 + ["crash", "hang", "memory", "refuse", "bug"]
    jobs = [job(number, harm) for number, harm in enumerate(harms)]
    with JobStore(tmp_path / "store.db") as store:
        summary = drive(store, workers(), jobs, LIMITS)
        assert store.counts() == {"done": 20, "failed": 1, "crashed": 2, "hung": 1, "memory": 1}
        assert summary.attempts == {
            Ending.DONE: 20, Ending.FAILED: 1, Ending.CRASHED: 4, Ending.HUNG: 2, Ending.MEMORY: 2,
        }  # fmt: skip
        assert {row.tries for row in store.rows("crashed")} == {2} and {row.tries for row in store.rows("failed")} == {
            1
        }
        assert [row.answer["square"] for row in store.rows("done")] == [number**2 for number in range(20)]
        assert store.files(jobs[3].key) == {"n.txt": b"3"}
        assert drive(store, workers(), jobs, LIMITS).attempts == {}, "nothing is left to do"


def test_a_job_that_crashes_once_gets_its_answer(tmp_path: Path) -> None:
    with JobStore(tmp_path / "store.db") as store:
        drive(store, workers(1), [job(5, "crash once", mark=str(tmp_path / "mark"))], LIMITS)
        (row,) = store.rows()
        assert (row.state, row.tries, row.answer["square"]) == ("done", 2, 25)


def test_a_lost_worker_loses_no_job(tmp_path: Path) -> None:
    jobs = [job(number, "kill the worker" if number % 10 == 3 else "slow", mark=str(tmp_path / f"mark{number}"))
            for number in range(40)]  # fmt: skip
    with JobStore(tmp_path / "store.db") as store:
        summary = drive(store, workers(), jobs, LIMITS)
        assert store.counts() == {"done": 40} and summary.attempts[Ending.LOST] >= 4
        assert [row.answer["square"] for row in store.rows()] == [number**2 for number in range(40)]


def test_no_answer_is_replaced_and_another_one_is_a_conflict(tmp_path: Path) -> None:
    given = job(1)
    with JobStore(tmp_path / "store.db") as store:
        store.add([given])
        for value in (1, 1, 2):
            store.record([(given.key, Attempt(Ending.DONE, result=WorkResult({"value": value})))], LIMITS)
        assert [row.answer for row in store.rows()] == [{"value": 1}]
        assert store.conflicts() == [(given.key, '{"value":1}', '{"value":2}')]


def test_jobs_are_begun_for_so_many_seconds_only(tmp_path: Path) -> None:
    endless = (job(number, "slow") for number in range(10**9))
    with JobStore(tmp_path / "store.db") as store:
        assert drive(store, workers(1), endless, LIMITS, seconds=0.5).stopped
        counts = store.counts()
        assert counts["done"] > 0 and counts.get("waiting", 0) <= 3


def test_a_store_is_driven_by_one_process(tmp_path: Path) -> None:
    with JobStore(tmp_path / "store.db") as store, JobStore(tmp_path / "store.db") as other, store.driven():
        with pytest.raises(UsageError, match="is in use"):
            drive(other, workers(1), [job(1)], LIMITS)
        assert other.counts() == {}


@pytest.mark.thorough
def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    jobs = [job(number, more="x" * 4096) for number in range(30)]
    with JobStore(tmp_path / "store.db") as store:
        store.add(jobs[:20])
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(UsageError, match="full"):
            store.add(jobs[20:])
        store._db.execute("PRAGMA max_page_count=1000000")
        drive(store, workers(), jobs, LIMITS)
        assert store.counts() == {"done": 30}


@pytest.mark.parametrize("content", [b"not a database, but a text that is long enough" * 30, None])
def test_what_is_no_store_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "store.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=r"store|no store"):
        JobStore(path, create=False)
    assert (path.read_bytes() if path.exists() else None) == content


def test_a_store_of_another_format_is_refused(tmp_path: Path) -> None:
    with JobStore(tmp_path / "store.db") as store:
        store._db.execute("PRAGMA user_version=99")
    with pytest.raises(UsageError, match="expected format 1, got 99"):
        JobStore(tmp_path / "store.db")


def test_every_kind_of_job_has_its_work() -> None:
    assert all(callable(work_of(kind)) for kind in KINDS)
    with pytest.raises(ValueError, match="no kind of job 'none'; there are launch"):
        work_of("none")
