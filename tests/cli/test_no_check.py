"""``--no-check``: the kernel runs in a process of its own, whose death is reported and spoils nothing."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tests.processes import run_python
from tileir.host import child
from tileir.ir.diagnostics import Diagnostic, DiagnosticError, LaunchTimeout, Trap, UnsupportedError

pytestmark = pytest.mark.skipif(not child.POSSIBLE, reason="this system cannot copy a process")

STORES = """entry @over(%x: tile<ptr<f32>>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %two = constant <f32: 2.0> : tile<f32>
  for %i in (%zero to %n, step %one) : tile<i32> {
    %p = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %t = store_ptr_tko weak %p, %two : tile<ptr<f32>>, tile<f32> -> token
  }
}
"""
FAR = "2000000000"
"""More elements than there is memory behind any array."""
PRINTS = """entry @says(%n: tile<i32>) { %t = print_tko "n = %d\\n", %n : tile<i32> -> token }"""


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    path = tmp_path / "stores.mlir"
    path.write_text(STORES)
    return path


@pytest.mark.parametrize("verb", ["run", "bench"])
def test_a_kernel_that_ends_its_process_is_named_with_the_signal_and_the_way_on(stores, verb) -> None:
    more = ("--save", "x=x.npy") if verb == "run" else ()
    words = (verb, "stores.mlir", "--grid", "1", "f32[4]", FAR, "--no-check", *more)
    ran = run_python("-m", "tileir", *words, cwd=stores.parent)
    assert (ran.returncode, ran.stdout) == (1, "")
    died = "the process that ran the kernel without checks died: it was ended by SIG"
    # The C library may have said something itself before.
    assert ran.stderr.splitlines()[-1].startswith(f"trap: {died}")
    assert ran.stderr.endswith("; --check names the fault [kernel @over]\n")
    assert os.listdir(stores.parent) == ["stores.mlir"]


def test_results_come_back(tileir, stores) -> None:
    ran = tileir("run", "stores.mlir", "--grid", "1", "f32[4]", "3", "--no-check", "--print", "x", "--save", "x=x.npy")
    assert ran.status == 0
    assert "[2. 2. 2. 0.]" in ran.out
    assert np.load("x.npy").tolist() == [2, 2, 2, 0]


@pytest.mark.parametrize("element", ["bf16", "i1", "f8E4M3FN"])
def test_arrays_of_every_kind_are_shared(tileir, tmp_path, element) -> None:
    (tmp_path / "none.mlir").write_text(f"entry @k(%x: tile<ptr<{element}>>, %y: tile<ptr<f32>>) {{ }}")
    np.save(tmp_path / "order.npy", np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)))
    words = (f"{element}[2,3]:ones", "@order.npy", "--print", "x", "--print", "y")
    without, with_checks = (tileir("run", "none.mlir", "--grid", "1", *words, *more) for more in (["--no-check"], []))
    assert without.out.splitlines()[1:] == with_checks.out.splitlines()[1:]


def test_an_empty_array_is_one(tileir, stores) -> None:
    assert tileir("run", "stores.mlir", "--grid", "1", "f32[0]", "0", "--no-check").status == 0


def test_a_timeout_is_told_as_with_checks(tileir, stores) -> None:
    words = ("--grid", "1", "f32[4]", "--no-check", "--timeout", "0.1", "--max-iterations", str(1 << 62))
    (stores.parent / "long.mlir").write_text(STORES.replace("%x, %i", "%x, %zero"))
    ran = tileir("run", "long.mlir", *words, str((1 << 31) - 1))
    assert (ran.status, ran.out) == (1, "")
    assert "the launch took more than 0.1 s [kernel @over]" in ran.err


def test_what_a_kernel_prints_is_there_once_and_in_order(tmp_path) -> None:
    path = tmp_path / "says.mlir"
    path.write_text(PRINTS)
    ran = run_python("-m", "tileir", "run", path, "--grid", "3", "7", "--no-check")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("n = 7\n" * 3 + "@says: 3 tile blocks in")


def test_an_interpreter_needs_no_process(tileir, stores) -> None:
    ran = tileir("run", "stores.mlir", "--grid", "1", "f32[4]", "5", "--no-check", "--target", "interp")
    assert ran.status == 1
    assert "store of f32 at byte offset 16 of 'x'" in ran.err


class TestInChild:
    @pytest.mark.parametrize(
        "error",
        [
            KeyError("a"),
            SystemExit(7),
            KeyboardInterrupt(),
            Trap("fault", kernel="k", block=(1, 2, 3)),
            LaunchTimeout("late", kernel="k"),
            UnsupportedError("no such thing", "cpu"),
            DiagnosticError([Diagnostic("E0001", "wrong")]),
        ],
        ids=lambda error: type(error).__name__,
    )
    def test_errors_are_raised_here(self, error: BaseException) -> None:
        def fail() -> None:
            raise error

        with pytest.raises(type(error)) as caught:
            child.in_child(fail)
        assert str(caught.value) == str(error)

    def test_nothing_is_left_of_a_child(self) -> None:
        process = child.in_child(os.getpid)
        assert process != os.getpid()
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)

    def test_a_child_that_just_leaves_has_died(self) -> None:
        with pytest.raises(child.ChildDied, match="it left with status 3"):
            child.in_child(lambda: os._exit(3))

    def test_a_result_that_cannot_be_sent_is_a_death_and_no_hang(self) -> None:
        with pytest.raises(child.ChildDied):
            child.in_child(lambda: threading.Lock())

    def test_an_interrupt_ends_the_child_too(self) -> None:
        note = child.SharedText()

        def wait() -> None:
            try:
                time.sleep(0.2)  # until the parent reads
                os.kill(os.getppid(), signal.SIGINT)
                time.sleep(60)
            except KeyboardInterrupt:
                note.write("interrupted")
                raise

        with pytest.raises(KeyboardInterrupt):
            child.in_child(wait)
        assert note.text == "interrupted"
