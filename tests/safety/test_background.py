"""Calls that an interrupt does not wait for: what they give, what they raise, that they do not pile up."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from tileir.host.background import in_background, is_busy


def test_the_result_is_given_from_another_thread():
    assert in_background(threading.get_ident) != threading.get_ident()


def test_a_helper_thread_calls_itself():
    found = []
    helper = threading.Thread(target=lambda: found.append(in_background(threading.get_ident) == threading.get_ident()))
    helper.start()
    helper.join()
    assert found == [True]


@pytest.mark.parametrize("error", [KeyError("a"), SystemExit(3)])
def test_errors_are_raised_here(error):
    def fail():
        raise error

    with pytest.raises(type(error)):
        in_background(fail)


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no such signals")
def test_an_interrupt_is_raised_while_the_call_goes_on_and_later_calls_wait_their_turn():
    go_on, order = threading.Event(), []

    def first():
        os.kill(os.getpid(), signal.SIGINT)
        order.append("begun")
        go_on.wait(20)
        order.append("ended")

    def second():
        order.append("never wanted")

    with pytest.raises(KeyboardInterrupt):
        in_background(first)
    assert is_busy()
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        in_background(second)
    threading.Timer(0.1, go_on.set).start()
    assert in_background(lambda: order[:]) == ["begun", "ended"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot copy a process")
def test_a_forked_child_waits_for_no_call_of_its_parent():
    go_on = threading.Event()

    def wait():
        os.kill(os.getpid(), signal.SIGINT)
        go_on.wait(20)

    with pytest.raises(KeyboardInterrupt):
        in_background(wait)
    child = os.fork()
    if not child:
        os._exit(in_background(lambda: 7))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    go_on.set()


def test_python_does_not_exit_before_a_call_has_ended():
    code = """
import time
from tileir.host.background import in_background
import os, signal
def call():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.3)
    print("ended", flush=True)
try:
    in_background(call)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "interrupted\nended\n"), done.stderr


COMPILING = """
import signal, sys, threading, time
import tileir
from tests.safety.long_programs import BUSY
import tileir.cpu.llvm.engine as engine
emitted = engine._emitted

def slow(text, host):
    print("compiling", flush=True)
    time.sleep(5)
    return emitted(text, host)

engine._emitted = slow
import numpy as np
from tileir.cli import main
open("k.mlir", "w").write(BUSY)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(["run", "k.mlir", "--grid", "1", "i32[1]"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no such signals")
def test_an_interrupted_command_does_not_wait_for_the_compiler(tmp_path):
    environment = {**os.environ, "TILEIR_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.getcwd()}
    command = subprocess.Popen(
        [sys.executable, "-c", COMPILING], stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
    )
    assert command.stdout.readline() == "compiling\n"
    begin = time.monotonic()
    command.send_signal(signal.SIGINT)
    assert command.wait(timeout=60) == 130
    assert time.monotonic() - begin < 4  # of the five seconds that the compiler takes
