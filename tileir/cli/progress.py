"""Progress of a launch that takes long, on a line of the terminal that is taken back at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, TextIO

from tileir.ir.escaping import shown
from tileir.runtime.module import DeviceTarget, Target
from tileir.runtime.options import LaunchOptions

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 2.0
"""Seconds of a launch before anything is shown."""
PERIOD = 0.2
_CLEAR = "\r\x1b[2K"


class ProgressLine:
    """The last line of a terminal, for one launch after the other."""

    def __init__(self, stream: TextIO, width: int, clock: Callable[[], float] = perf_counter) -> None:
        self.kernel = ""
        self._stream, self._width, self._clock = stream, width, clock
        self._begin = self._due = 0.0
        self._done = 0
        self._shown = self._open = False
        self.begin()

    def begin(self, kernel: str = "") -> None:
        """Note that a launch of `kernel` begins."""
        self.kernel = shown(kernel)
        self._begin, self._done = self._clock(), 0
        self._due = self._begin + PATIENCE

    def tell(self, done: int, total: int) -> None:
        """Update progress; a smaller count means a new launch."""
        if done < self._done:
            self.begin(self.kernel)
        self._done = done
        now = self._clock()
        if now >= self._due and not self._open:
            self._due = now + PERIOD
            text = f"@{self.kernel}: {_text(done, total, now - self._begin)}"
            self._stream.write(_CLEAR + text[: self._width - 1])
            self._stream.flush()
            self._shown = True

    def clear(self) -> None:
        """Take the line back."""
        if self._shown:
            self._shown = False
            self._stream.write(_CLEAR)
            self._stream.flush()

    def print(self, text: str) -> None:
        """Write to standard output. Where that is a terminal, nothing is shown on a line that is not ended."""
        self.clear()
        sys.stdout.write(text)
        sys.stdout.flush()
        self._open = sys.stdout.isatty() and not text.endswith("\n")


def _text(done: int, total: int, seconds: float) -> str:
    """Return tile blocks done, how many a second, and the time that is left at that rate."""
    text = f"{done} of {total} tile block{'' if total == 1 else 's'} in {_duration(seconds)}"
    if not done:
        return text
    rate = done / seconds
    return f"{text}, {rate:.3g} per second, {_duration((total - done) / rate)} left"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02}"
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def clear_line() -> None:
    """Take back the line of a process that died."""
    if _has_lines():
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()


def _has_lines() -> bool:
    """Return whether standard error is a terminal whose last line can be rewritten."""
    return sys.stderr.isatty() and not _console().is_dumb_terminal


def _console() -> Console:
    """Return a console on standard error; imported only where that is a terminal."""
    from rich.console import Console

    return Console(file=sys.stderr)


@contextmanager
def progress_line(kernel: str, target: Target, settings: LaunchOptions) -> Iterator[ProgressLine | None]:
    """Have launches within the block show their progress, by what it adds to `settings`; only on a terminal.

    Gives None where nothing will be shown. GPUs do not tell of progress.
    """
    if not _has_lines() or isinstance(target, DeviceTarget):
        yield None
        return
    line = ProgressLine(sys.stderr, _console().width)
    line.begin(kernel)
    settings["progress"], settings["output"] = line.tell, line.print
    try:
        yield line
    finally:
        line.clear()
