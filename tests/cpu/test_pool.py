"""Work is done by as many threads as asked for, once, and is over when it says so."""

import os
import signal
import threading
import time

import pytest

from tileir.cpu.run import threads
from tileir.cpu.run.threads import Job, Pool, default_threads


def run(pool, helpers, work):
    Job(pool, work, lambda: None).run(helpers)


def test_helpers_do_the_work_together_with_the_caller():
    pool, meeting, seen = Pool(), threading.Barrier(4, timeout=10), []

    def work():
        meeting.wait()
        seen.append(threading.get_ident())

    run(pool, 3, work)
    assert len(set(seen)) == 4
    assert threading.get_ident() in seen


def test_helpers_are_used_again():
    pool, seen = Pool(), set()

    def work():
        seen.add(threading.get_ident())
        time.sleep(1e-3)

    for _ in range(20):
        run(pool, 2, work)
        time.sleep(1e-3)
    assert 2 <= len(seen) < 20


def test_work_is_over_when_run_returns():
    pool, running = Pool(), []

    def work():
        running.append(1)
        time.sleep(1e-3)
        running.pop()

    for _ in range(30):
        run(pool, 3, work)
        assert not running


def test_a_helper_that_comes_too_late_does_not_begin():
    pool, calls = Pool(), []
    for _ in range(200):
        before = len(calls)
        run(pool, 1, lambda: calls.append(1))
        assert len(calls) - before in (1, 2)


def test_an_error_of_the_caller_still_waits_for_the_helpers():
    pool, caller, done = Pool(), threading.get_ident(), []
    started = threading.Event()

    def work():
        if threading.get_ident() == caller:
            started.wait(10)
            raise KeyError
        started.set()
        time.sleep(0.02)
        done.append(1)

    with pytest.raises(KeyError):
        run(pool, 1, work)
    assert done


def test_an_error_of_a_helper_is_raised_and_stops_the_others():
    pool, caller, stopped = Pool(), threading.get_ident(), threading.Event()

    def work():
        if threading.get_ident() != caller:
            raise KeyError("of a helper")
        assert stopped.wait(10)

    with pytest.raises(KeyError, match="of a helper"):
        Job(pool, work, stopped.set).run(1)


def test_a_caller_that_waits_looks_up():
    pool, caller, looked = Pool(), threading.get_ident(), threading.Event()
    begun = threading.Event()

    def work():
        if threading.get_ident() == caller:
            begun.wait(10)
        else:
            begun.set()
            assert looked.wait(10)

    Job(pool, work, lambda: None, looked.set).run(1)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system cannot signal a thread")
def test_an_interrupt_stops_the_work_and_waits_for_the_helpers():
    pool, caller, done = Pool(), threading.get_ident(), []
    begun, stopped = threading.Event(), threading.Event()

    def work():
        if threading.get_ident() == caller:
            begun.wait(10)
            return
        begun.set()
        signal.pthread_kill(caller, signal.SIGINT)
        done.append(stopped.wait(10))

    with pytest.raises(KeyboardInterrupt):
        Job(pool, work, stopped.set).run(1)
    assert done == [True]


class TestDefault:
    def test_the_environment_decides(self, monkeypatch):
        monkeypatch.setenv("TILEIR_NUM_THREADS", "3")
        assert default_threads() == 3

    def test_else_the_processors_of_the_process(self, monkeypatch):
        monkeypatch.delenv("TILEIR_NUM_THREADS", raising=False)
        assert default_threads() >= 1

    @pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
    def test_nonsense_is_refused(self, monkeypatch, text):
        monkeypatch.setenv("TILEIR_NUM_THREADS", text)
        with pytest.raises(ValueError, match="TILEIR_NUM_THREADS: expected a positive integer"):
            default_threads()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_a_helper_keeps_off_the_processor_of_its_caller(monkeypatch):
    everywhere = os.sched_getaffinity(0)
    caller = min(everywhere)
    monkeypatch.setattr(threads, "processor", lambda: caller)
    pool, both = Pool(), threading.Barrier(2, timeout=10)
    allowed = {}

    def work():
        both.wait()
        allowed[threading.get_ident()] = os.sched_getaffinity(0)

    run(pool, 1, work)  # starts the helper
    run(pool, 1, work)
    assert allowed.pop(threading.get_ident()) == everywhere
    assert list(allowed.values()) == [everywhere - {caller}]
