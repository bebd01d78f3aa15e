"""The line of progress: its text, when it is shown, and that nothing stays of it."""

import io
import os
import signal
import sys
from pathlib import Path

import pytest
from cli_programs import COUNTS

from tileir.cli import progress
from tileir.cli.progress import ProgressLine

CLEAR = "\r\x1b[2K"
LOOPS = b"""entry @slow(%n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%a = %zero) -> (tile<i32>) {
    %square = muli %i, %a : tile<i32>
    %next = xori %square, %i : tile<i32>
    continue %next : tile<i32>
  }
  %t = print_tko "%d\\n", %sum : tile<i32> -> token
}
"""


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def line() -> ProgressLine:
    return ProgressLine(io.StringIO(), 80, Clock())


def told(line: ProgressLine, done: int, total: int, seconds: float) -> str:
    """Return the text written when a launch reports its progress `seconds` later."""
    before = line._stream.getvalue()
    line._clock.now += seconds
    line.tell(done, total)
    return line._stream.getvalue().removeprefix(before)


class TestLine:
    def test_it_says_what_is_done_how_fast_and_how_long_it_takes_yet(self, line) -> None:
        line.begin("k")
        assert told(line, 25, 1000, 2.5) == f"{CLEAR}@k: 25 of 1000 tile blocks in 0:02, 10 per second, 1:38 left"
        assert told(line, 50, 1000, 7197.5) == (
            f"{CLEAR}@k: 50 of 1000 tile blocks in 2:00:00, 0.00694 per second, 38:00:00 left"
        )

    def test_nothing_is_said_of_the_rate_before_something_is_done(self, line) -> None:
        assert told(line, 0, 1, 3) == f"{CLEAR}@: 0 of 1 tile block in 0:03"

    def test_a_short_launch_shows_nothing(self, line) -> None:
        assert told(line, 1, 10, 1.9) == ""
        line.clear()
        assert line._stream.getvalue() == ""

    def test_it_is_written_a_few_times_a_second(self, line) -> None:
        assert told(line, 1, 10, 2.1)
        assert not told(line, 2, 10, 0.1)
        assert told(line, 3, 10, 0.2)

    def test_it_is_taken_back_once(self, line) -> None:
        told(line, 1, 10, 3)
        before = line._stream.getvalue()
        line.clear()
        line.clear()
        assert line._stream.getvalue() == before + CLEAR

    def test_each_launch_has_patience_of_its_own(self, line) -> None:
        assert told(line, 9, 10, 3)
        assert not told(line, 1, 10, 1)
        assert told(line, 5, 10, 2).startswith(f"{CLEAR}@: 5 of 10 tile blocks in 0:02, 2.5 per second")

    def test_it_fits_the_terminal_and_does_not_control_it(self) -> None:
        line = ProgressLine(io.StringIO(), 20, Clock())
        line.begin("a\x1b[31m\nb")
        assert told(line, 1, 10, 3) == CLEAR + "@a\\x1b[31m\\nb: 1 of"

    def test_what_a_kernel_prints_stays(self, line, monkeypatch) -> None:
        out = io.StringIO()
        monkeypatch.setattr(out, "isatty", lambda: True)
        monkeypatch.setattr(sys, "stdout", out)
        assert told(line, 1, 10, 3)
        line.print("half a line")
        assert line._stream.getvalue().endswith(CLEAR)
        assert not told(line, 2, 10, 3)
        line.print(", and the rest\n")
        assert told(line, 3, 10, 3)
        assert out.getvalue() == "half a line, and the rest\n"


@pytest.fixture
def impatient(monkeypatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_has_lines", lambda: True)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("target", "steps"), [("cpu", 200_000_000), ("interp", 20_000)])
class TestCommand:
    def test_a_long_launch_shows_progress_and_takes_it_back(self, tileir, target: str, steps: int) -> None:
        ran = tileir("run", "-", "--grid", "3", str(steps), "--target", target, stdin=LOOPS)
        assert ran.status == 0
        assert f"{CLEAR}@slow: 0 of 3 tile blocks in 0:00" in ran.err
        assert ran.err.endswith(CLEAR)
        assert len(ran.out.splitlines()) > 3
        assert CLEAR not in ran.out

    def test_an_interrupt_takes_it_back_too(self, tileir, target: str, steps: int, monkeypatch) -> None:
        tell = ProgressLine.tell

        def interrupted(line: ProgressLine, done: int, total: int) -> None:
            tell(line, done, total)
            os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(ProgressLine, "tell", interrupted)
        ran = tileir("run", "-", "--grid", "1", "1", "--target", target, stdin=COUNTS)
        assert ran.status == 130
        assert "@count: 0 of 1 tile block" in ran.err
        assert ran.err.endswith(CLEAR)
        assert ran.out == ""


def test_nothing_is_shown_where_there_is_no_terminal(tileir, scale: Path, monkeypatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    ran = tileir("run", "-", "--grid", "1", "20000", "--target", "interp", stdin=LOOPS)
    assert (ran.status, ran.err) == (0, "")
