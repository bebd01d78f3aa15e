"""Jobs on one program are copies of a process that has made it ready: their ends are those of any job."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.farm.probes import job
from tileir.farm import isolation
from tileir.farm import job as kinds
from tileir.farm.executors import processes
from tileir.farm.isolation import attempt
from tileir.farm.job import Attempt, Ending, FarmJob, JobLimits
from tileir.farm.launching import launch_job
from tileir.farm.templates import MOST, Templates, templates
from tileir.host import child
from tileir.runtime.loading import parse

pytestmark = pytest.mark.skipif(not child.POSSIBLE, reason="this system cannot copy a process")
LIMITS = JobLimits(seconds=5.0)
PATIENCE = 30.0
PROGRAM = ("probe", b"a program")
ADD = """cuda_tile.module @m { entry @add(%x: tile<ptr<i32>>, %n: tile<i32>) {
  %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
  %s = addi %v, %n : tile<i32>
  %u = store_ptr_tko weak %x, %s token=%t : tile<ptr<i32>>, tile<i32> -> token
} }"""


def prepare(spec: dict, content: bytes) -> None:
    """Of the jobs of these tests: nothing, or harm, as the content says."""
    if content == b"no program":
        raise ValueError("no program")
    if content == b"crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if content == b"hang":
        time.sleep(100)


@pytest.fixture(autouse=True)
def prepared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Templates]:
    monkeypatch.setitem(kinds.PREPARED, "probe", ("tests.farm.test_templates", "prepare"))
    templates().close()
    templates.cache_clear()
    yield templates()
    templates().close()
    templates.cache_clear()


def ended(harm: str, content: bytes = PROGRAM[1], limits: JobLimits = LIMITS, **more: str) -> Attempt:
    given = replace(job(7, harm, **more), content=content)
    return attempt(given.kind, given.text, given.content, limits)


def number_of(made: Templates, program: tuple[str, bytes] = PROGRAM) -> int:
    """The process of a template, which is there."""
    return made._made[program]._number


def test_a_program_on_which_a_job_was_done_gets_a_template(prepared: Templates) -> None:
    first = ended("none")
    assert first.ending is Ending.DONE and not prepared._made
    seen = {ended("none").worker for _ in range(3)}
    assert list(prepared._made) == [PROGRAM] and seen == {first.worker}
    again = ended("none")
    assert (again.ending, again.answer, again.log) == (first.ending, first.answer, first.log) and again.peak > 0


@pytest.mark.parametrize(
    ("harm", "ending", "reason"),
    [
        ("crash", Ending.CRASHED, "SIGSEGV"),
        ("exit", Ending.CRASHED, "it left with status 3"),
        ("bug", Ending.CRASHED, "ZeroDivisionError"),
        ("hang", Ending.HUNG, "no end after 1 s"),
        ("hang with a child", Ending.HUNG, "no end after 1 s"),
        ("memory", Ending.MEMORY, "memory"),
        ("refuse", Ending.FAILED, "ValueError: expected another number"),
    ],
)
def test_a_bad_end_costs_the_copy_alone(prepared: Templates, harm: str, ending: Ending, reason: str) -> None:
    ended("none")
    ended("none")
    number = number_of(prepared)
    found = ended(harm, limits=JobLimits(seconds=1.0))
    assert found.ending is ending and reason in found.reason and found.log.startswith("probe 7")
    assert ended("none").ending is Ending.DONE and number_of(prepared) == number


def test_a_template_that_was_killed_is_made_again(prepared: Templates) -> None:
    ended("none")
    ended("none")
    number = number_of(prepared)
    os.kill(number, signal.SIGKILL)
    os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT)
    assert [ended("none").ending for _ in range(2)] == [Ending.DONE] * 2
    assert number_of(prepared) != number and not _is_there(number)


def test_a_job_whose_template_is_killed_is_lost(prepared: Templates, tmp_path: Path) -> None:
    ended("none")
    ended("none")
    found = ended("kill the worker", mark=str(tmp_path / "mark"))
    assert found.ending is Ending.LOST and "was lost" in found.reason
    assert ended("kill the worker", mark=str(tmp_path / "mark")).ending is Ending.DONE


@pytest.mark.parametrize("content", [b"no program", b"crash", b"hang"])
def test_a_program_that_cannot_be_prepared_has_no_template(prepared: Templates, content: bytes) -> None:
    limits = JobLimits(seconds=1.0)
    assert [ended("none", content, limits).ending for _ in range(3)] == [Ending.DONE] * 3
    assert not prepared._made and prepared._done == {("probe", content): False}


def test_templates_are_few_and_leave_nothing_open(prepared: Templates) -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc").exists() else 0
    for number in range(MOST + 2):
        for _ in range(3):
            assert ended("none", b"%d" % number).ending is Ending.DONE
    assert [content for _, content in prepared._made] == [b"%d" % number for number in range(2, MOST + 2)]
    numbers = [template._number for template in prepared._made.values()]
    prepared.close()
    assert not any(map(_is_there, numbers))
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


def test_a_thread_that_may_end_makes_no_template(prepared: Templates) -> None:
    with ThreadPoolExecutor(1) as threads:
        found = [threads.submit(ended, "none").result(timeout=PATIENCE) for _ in range(3)]
    assert {one.ending for one in found} == {Ending.DONE} and not prepared._made


def _is_there(number: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, 0)
        return True
    return False


def test_launches_from_a_template_give_what_others_give(prepared: Templates, tmp_path: Path) -> None:
    module = parse(ADD)
    jobs = [launch_job(module, {"grid": 1, "arguments": ["x=i32[1]:ones", f"n={number}"]}) for number in range(4)]
    jobs.append(launch_job(module, {"grid": 1, "arguments": ["x=i32[1]:ones", "n=9"], "target": "interp"}))
    jobs.append(launch_job(module, {"grid": 1, "arguments": ["x=i32[1]:ones", "n=9"], "check": False}))

    def of(job: FarmJob) -> Attempt:
        return attempt(job.kind, job.text, job.content, LIMITS)

    plain = []
    for one in jobs:
        templates().close()
        templates.cache_clear()
        plain.append(of(one))
    copies = [of(one) for one in [jobs[0], *jobs]][1:]
    assert templates()._made.keys() == {("launch", jobs[0].content)}
    assert [one.answer for one in copies] == [one.answer for one in plain]
    means = [one.result.answer["arrays"]["x"]["mean"] for one in copies if one.result is not None]  # type: ignore[index, call-overload]
    assert means == [1, 2, 3, 4, 10, 10]


def test_templates_end_with_their_worker() -> None:
    with processes(1).open() as pool:
        given = replace(job(7), content=PROGRAM[1])
        for _ in range(2):
            work = pool.submit(isolation.attempt, given.kind, given.text, given.content, LIMITS)
            assert work.result(timeout=PATIENCE).ending is Ending.DONE
        number = pool.submit(probe_template).result(timeout=PATIENCE)
        assert _is_there(number)
        os.kill(pool.submit(os.getpid).result(timeout=PATIENCE), signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE
        while _is_running(number) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not _is_running(number)


def _is_running(number: int) -> bool:
    """Return whether a process runs and is no zombie, which orphans stay where nobody waits for them."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return not Path("/proc").exists() and _is_there(number)


def probe_template() -> int:
    """In a worker: the process of its only template."""
    (made,) = templates()._made.values()
    return made._number
