"""Ctrl-C ends a launch, whatever it is at, on both targets; the next one is like any other."""

import cProfile
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from growing_programs import accesses, branches
from long_programs import BUSY, CIRCLE, LARGE_TILES, LOOP, PATIENT, SPIN, WAIT_FOR_LAST

import tileir
from tileir.cpu.llvm import engine
from tileir.host import background, limits

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


# ---------------------------------------------------------------- while a kernel is compiled


@pytest.mark.parametrize("moment", range(1, 7))
def test_it_ends_a_compilation_whatever_stage_it_is_in(moment):
    """Almost nothing is called after it. The first time, all modules are imported.

    Python ignores an exception in a weak reference's callback, so the signal comes again.
    """
    tileir.parse(branches(4))["k"].launch(1, *arguments())
    text, handled, profile = branches(33 + moment), [], cProfile.Profile()

    def calls():
        return sum(each.callcount for each in profile.getstats())

    def handler(number, frame):
        profile.disable()
        handled.append(calls())
        profile.enable()
        raise KeyboardInterrupt

    def compile_until_then():
        while True:
            tileir.parse(text)["k"].launch(1, *arguments())

    before = signal.signal(signal.SIGVTALRM, handler)
    try:
        profile.enable()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.05 * moment, 1.0)
        with pytest.raises(KeyboardInterrupt):
            compile_until_then()
    finally:
        profile.disable()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert calls() - handled[-1] < 100
    tileir.parse(text)["k"].launch(1, *arguments())


def arguments():
    return np.zeros(1, np.int32), np.zeros(1, np.float32), 3, 2, 1.0, True


def test_it_ends_the_process_that_compiles_a_large_kernel(monkeypatch):
    """LLVM cannot be stopped: it works on a large module in a process of its own."""
    children, popen = [], subprocess.Popen

    def started(*arguments, **options):
        children.append(popen(*arguments, **options))
        return children[-1]

    def interrupt():
        while not children or not children[0].stdin.closed:
            time.sleep(1e-3)
        os.kill(os.getpid(), signal.SIGINT)

    kernel, arrays = tileir.parse(accesses(12))["k"], [np.ones((8, 32), np.float32) for _ in range(12)]
    monkeypatch.setattr(engine, "LARGE", 1 << 12)
    monkeypatch.setattr(engine.subprocess, "Popen", started)
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        kernel.launch(1, *arrays, 1)
    assert [child.returncode for child in children] == [-signal.SIGKILL]
    assert not background.is_busy()
    kernel.launch(1, *arrays, 0)
    assert [child.returncode for child in children] == [-signal.SIGKILL, 0]
    np.testing.assert_array_equal(arrays, 1)


@pytest.mark.parametrize("executable", ["", "/nowhere/python", "/bin/false"])
def test_a_large_kernel_is_compiled_here_where_no_process_can_be_made_for_it(executable, monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "LARGE", 1 << 12)
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path))
    arrays = [np.ones((8, 32), np.float32) for _ in range(12)]
    tileir.parse(accesses(12))["k"].launch(1, *arrays, 0)
    np.testing.assert_array_equal(arrays, 1)


def test_the_death_of_llvm_on_a_large_kernel_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "LARGE", 1 << 12)
    monkeypatch.setattr(engine, "_START", "import os; os.abort()  # {path}")
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path))
    with pytest.raises(tileir.UnsupportedError, match="LLVM does not compile the kernel: it was ended by SIGABRT"):
        tileir.parse(accesses(12))["k"].launch(1, *(np.ones((8, 32), np.float32) for _ in range(12)), 0)
