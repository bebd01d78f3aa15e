"""Ctrl-C ends a launch, whatever it is at, on both targets; the next one is like any other."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from long_programs import BUSY, CIRCLE, LARGE_TILES, LOOP, PATIENT, SPIN, WAIT_FOR_LAST

import tileir
from tileir.host import limits

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="this system has no such signals")

TARGETS = ("interp", "cpu")
NEVER = 1 << 62
EMPTY = "entry @k(%out: tile<ptr<i32>>) { loop { } return }"
NESTED = """entry @k(%out: tile<ptr<i32>>) {
  %zero = constant <i64: 0> : tile<i64>
  %one = constant <i64: 1> : tile<i64>
  %many = constant <i64: 4611686018427387904> : tile<i64>
  for %i in (%zero to %many, step %one) : tile<i64> {
    for %j in (%zero to %one, step %one) : tile<i64> { }
  }
  return
}"""
CASES = {
    "an endless loop": (BUSY, 1, "i4", ()),
    "an endless loop in which nothing happens": (EMPTY, 1, "i4", ()),
    "a loop of 2^62 steps": (LOOP, 1, "f4", (NEVER,)),
    "loops in a loop": (NESTED, 4, "i4", ()),
    "many blocks of short loops": (LOOP, 2_000_000, "f4", (30_000,)),
    "a wait for nobody": (SPIN.replace("ORDER", "acquire device"), 50, "i4", ()),
    "a wait by a weak load": (SPIN.replace("ORDER", "weak"), 3, "i4", ()),
    "waiting in a circle": (CIRCLE, 100, "i4", ()),
}


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr(limits, "GRACE", 60.0)


def interrupted(launch):
    """Return whether an interrupt ends the launch; it is sent after the launch has worked for a while."""
    timer = threading.Timer(0.15, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            launch()
    finally:
        timer.cancel()
    return time.monotonic() - begin < 10


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CASES)
def test_it_ends_a_launch_that_would_not_end(case, target):
    text, blocks, dtype, more = CASES[case]
    kernel = tileir.parse(text)["k"]
    out = np.zeros(blocks, dtype)
    with pytest.raises(tileir.Trap):  # compiled
        kernel.launch(1, np.zeros(1, dtype), *(NEVER for _ in more), target=target, max_iterations=1)
    assert interrupted(lambda: kernel.launch(blocks, out, *more, target=target, max_iterations=NEVER))
    before = out.copy()
    time.sleep(0.02)
    np.testing.assert_array_equal(out, before)
    with pytest.raises(tileir.Trap, match="hang"):
        kernel.launch(1, np.zeros(1, dtype), *(NEVER for _ in more), target=target, max_iterations=5)


def test_it_ends_long_operations_of_native_code():
    kernel, out = tileir.parse(LARGE_TILES)["k"], np.zeros(1 << 20)
    kernel.launch(1, out)
    assert interrupted(lambda: kernel.launch(10_000, out))


@pytest.mark.parametrize("target", TARGETS)
def test_it_ends_the_launch_of_the_main_thread_alone(target):
    kernel, out, other = tileir.parse(PATIENT)["k"], np.zeros(1, np.int32), np.zeros(1, np.int32)
    steps = 60_000 if target == "interp" else 200_000_000
    helper = threading.Thread(target=lambda: kernel.launch(1, np.zeros(1, np.int32), other, steps, target=target))
    helper.start()
    endless = tileir.parse(BUSY)["k"]
    assert interrupted(lambda: endless.launch(1, out, target=target, max_iterations=NEVER))
    helper.join()
    assert other[0] == steps


@pytest.mark.parametrize("target", TARGETS)
def test_a_handler_that_raises_nothing_lets_the_launch_go_on(target):
    kernel, flag, handled = tileir.parse(SPIN.replace("ORDER", "acquire device"))["k"], np.zeros(1, np.int32), []

    def handler(number, frame):
        handled.append(number)
        flag[0] = 1

    before = signal.signal(signal.SIGINT, handler)
    try:
        threading.Timer(0.15, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        kernel.launch(10, flag, target=target)
    finally:
        signal.signal(signal.SIGINT, before)
    assert handled == [signal.SIGINT]


@pytest.mark.parametrize("target", TARGETS)
def test_a_handler_of_a_signal_may_raise_anything(target):
    kernel = tileir.parse(BUSY)["k"]

    def handler(number, frame):
        raise ConnectionAbortedError("alarm")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        with pytest.raises(ConnectionAbortedError, match="alarm"):
            kernel.launch(3, np.zeros(1, np.int32), target=target, max_iterations=NEVER)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot copy a process")
@pytest.mark.parametrize("target", TARGETS)
def test_blocks_that_wait_run_in_a_forked_child_too(target):
    kernel, flag, count = tileir.parse(WAIT_FOR_LAST)["k"], np.zeros(1, np.int32), np.zeros(1, np.int32)
    kernel.launch(20, flag, count, 19, target=target)
    child = os.fork()
    if not child:
        flag[0] = count[0] = 0
        kernel.launch(20, flag, count, 19, target=target)
        os._exit(int(count[0]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 20
