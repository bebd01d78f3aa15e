"""A process that did a job well does the next one: the end of each is that of any job, and costs only itself."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.farm.probes import BAD_ENDS, job
from tileir.farm import isolation
from tileir.farm.executors import attempts, processes
from tileir.farm.isolation import attempt
from tileir.farm.job import Attempt, Ending, FarmJob, JobLimits
from tileir.farm.launching import launch_job
from tileir.host import child
from tileir.runtime.loading import parse

pytestmark = pytest.mark.skipif(not child.POSSIBLE, reason="this system cannot copy a process")
LIMITS = JobLimits(seconds=5.0)
PATIENCE = 30.0
ADD = """cuda_tile.module @m { entry @add(%x: tile<ptr<i32>>, %n: tile<i32>) {
  %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
  %s = addi %v, %n : tile<i32>
  %u = store_ptr_tko weak %x, %s token=%t : tile<ptr<i32>>, tile<i32> -> token
} }"""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """No process of an earlier test is there, nor one of this test after it."""
    isolation._own.child = None
    yield
    isolation._own.child = None


def of(given: FarmJob, limits: JobLimits = LIMITS) -> Attempt:
    return attempt(given.kind, given.text, given.content, limits)


def process(reusable: bool = True, touched: int = 0) -> int:
    """Do a job; gives the number of the process that did it."""
    found = of(job(7, reusable=reusable, touched=touched))
    assert found.ending is Ending.DONE and found.log == "probe 7\n" and found.result is not None
    number = found.result.answer["process"]
    assert isinstance(number, int)
    return number


def test_only_a_job_that_says_so_is_followed_by_another() -> None:
    assert process() == process() == process(reusable=False) != process()


@pytest.mark.parametrize(("harm", "ending", "reason"), BAD_ENDS)
def test_a_bad_end_is_that_of_its_job_alone(harm: str, ending: Ending, reason: str) -> None:
    number = process()
    found = of(job(7, harm), JobLimits(seconds=1.0))
    assert found.ending is ending and reason in found.reason and found.log.startswith("probe 7")
    assert not _is_running(number) and process() != number


def test_a_bad_end_among_jobs_that_are_handed_over_together_is_that_of_its_job_alone() -> None:
    good = job(7, reusable=True, touched=0)
    harmful = [job(8, harm) for harm, _, _ in BAD_ENDS]
    jobs = [one for bad in harmful for one in (good, bad, good)]
    found = isolation.attempts([(one.kind, one.text, one.content) for one in jobs], JobLimits(seconds=1.0))
    endings = [one for _, ending, _ in BAD_ENDS for one in (Ending.DONE, ending, Ending.DONE)]
    assert [one.ending for one in found] == endings
    assert all(reason in one.reason for (_, _, reason), one in zip(BAD_ENDS, found[1::3]))
    assert [one.log.splitlines()[0] for one in found] == [f"probe {one.spec['number']}" for one in jobs]
    hung = [one.seconds for one in found if one.ending is Ending.HUNG]
    assert len(hung) == 2 and all(0.9 < seconds < PATIENCE for seconds in hung)
    assert all(one.log == "probe 7\n" and 0 < one.seconds < 1 and one.peak > 1 << 20 for one in found[0::3])


def test_each_job_has_the_memory_of_its_limit_and_a_peak_of_its_own() -> None:
    number, room = process(touched=200 << 20), JobLimits(memory=300 << 20)
    small, large = (of(job(7, reusable=True, touched=size), room) for size in (0, 250 << 20))
    assert small.peak + (150 << 20) < large.peak
    assert of(job(7, reusable=True, touched=350 << 20), room).ending is Ending.MEMORY
    assert process() != number


def test_a_process_that_is_killed_while_idle_costs_no_job() -> None:
    number = process()
    os.kill(number, signal.SIGKILL)
    os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT)
    assert process() != number


def test_a_process_does_so_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "MOST_JOBS", 3)
    assert len({process() for _ in range(7)}) == 3


def test_each_thread_has_a_process_that_ends_with_it() -> None:
    with ThreadPoolExecutor(1) as threads:
        number = threads.submit(process).result(PATIENCE)
        assert threads.submit(process).result(PATIENCE) == number != process()
    _require_ended(number)


def test_a_process_ends_with_its_worker() -> None:
    with processes(1).open() as pool:
        given = job(7, reusable=True, touched=0)
        (found,) = pool.submit(attempts, [(given.kind, given.text, b"")], LIMITS).result(PATIENCE)
        assert found.result is not None
        number = found.result.answer["process"]
        assert isinstance(number, int) and _is_running(number)
        os.kill(pool.submit(os.getpid).result(PATIENCE), signal.SIGKILL)
        _require_ended(number)


def test_a_connection_that_a_worker_closes_has_an_end_while_the_process_is_there() -> None:
    here, there = socket.socketpair()
    with here:
        number = process()
        there.close()
        here.settimeout(PATIENCE)
        assert here.recv(1) == b"" and _is_running(number)


def test_processes_leave_nothing_open() -> None:
    if not Path("/proc").exists():
        pytest.skip("needs /proc")
    before, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(3):
        process()
        of(job(7, "crash"))
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == (before, threads)


def test_launches_in_one_process_give_what_others_give() -> None:
    module = parse(ADD)
    jobs = [launch_job(module, {"grid": 1, "arguments": ["x=i32[1]:ones", f"n={number}"]}) for number in range(4)]
    jobs.append(launch_job(module, {"grid": 1, "arguments": ["x=i32[1]:ones", "n=9"], "target": "interp"}))
    jobs.append(launch_job(module, {"grid": 1, "arguments": ["x=i32[1]:ones", "n=9"], "check": False}))
    plain = []
    for one in jobs:
        isolation._own.child = None
        plain.append(of(one))
    together = [of(one) for one in jobs]
    assert [one.answer for one in together] == [one.answer for one in plain]
    means = [one.result.answer["arrays"]["x"]["mean"] for one in together if one.result is not None]  # type: ignore[index, call-overload]
    assert means == [1, 2, 3, 4, 10, 10]
    assert isolation._own.child is None, "what is not checked may have left anything behind"


def _is_running(number: int) -> bool:
    """Return whether a process runs and is no zombie, which orphans stay where nobody waits for them."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _require_ended(number: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while _is_running(number):
        assert time.monotonic() < deadline
        time.sleep(0.02)
