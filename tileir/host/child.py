"""A function in a child process: what it gives, what it raises, or how it died; and children that end with us."""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import NoReturn, TypeVar

import numpy as np

T = TypeVar("T")

POSSIBLE = hasattr(os, "fork")
"""True if this system can copy a process."""


class ChildDied(Exception):
    """A child process that has neither given a result nor raised an error; `how` says what ended it."""

    def __init__(self, how: str) -> None:
        self.how = how
        super().__init__(how)


def in_child(function: Callable[[], T]) -> T:
    """Return the result of `function`, called in a copy of this process.

    Of what it changes only memory made by `shared` changes here. Raises what it raises, and `ChildDied`. An interrupt
    ends the child too.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = forked()
    if not child:
        os.close(reading)
        _report(function, writing)
    try:
        os.close(writing)
        with open(reading, "rb") as pipe:
            content = pipe.read()
    except KeyboardInterrupt:
        _interrupt(child)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    try:
        result, error = pickle.loads(content)
    except (EOFError, pickle.UnpicklingError):
        raise ChildDied(ending(os.waitstatus_to_exitcode(status))) from None
    if error is not None:
        raise error
    return result


def go_on_in_child() -> int | None:
    """Fork: return None in the child, which goes on, and the child's exit status here. Raises `ChildDied`."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = forked()
    if not child:
        return None
    status = os.waitstatus_to_exitcode(_waited(child))
    if status < 0:
        raise ChildDied(ending(status))
    return status


def shared(array: np.ndarray) -> np.ndarray:
    """Return a copy of a dense array, in memory that children share with this process."""
    if not array.nbytes:
        return array
    memory = mmap.mmap(-1, array.nbytes)
    copy: np.ndarray = np.ndarray(array.shape, array.dtype, memory, 0, array.strides)
    copy[...] = array
    return copy


class SharedText:
    """A short text that a child leaves for this process."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)

    def write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")[: mmap.PAGESIZE - 1] + b"\0"
        self._memory[: len(data)] = data

    @property
    def text(self) -> str:
        return self._memory[:].split(b"\0", 1)[0].decode("utf-8", "replace")


def forked() -> int:
    """Copy this process: 0 in the copy, its number here."""
    with warnings.catch_warnings():
        # That threads are not copied is known: those that launches need are made anew.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _report(function: Callable[[], object], writing: int) -> NoReturn:
    """Run in the child: write the result or the error to a pipe, and end without destroying what the parent still
    has."""
    try:
        outcome = _outcome(function)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stdout.flush()
        sys.stderr.flush()
        with open(writing, "wb") as pipe:
            pickle.dump(outcome, pipe)
    finally:
        os._exit(0)


def _outcome(function: Callable[[], object]) -> tuple[object, BaseException | None]:
    try:
        return function(), None
    except BaseException as error:
        return None, error


def _waited(child: int) -> int:
    """Return the status of the child, when it has ended. An interrupt is the child's; a second one ends it."""
    try:
        return os.waitpid(child, 0)[1]
    except KeyboardInterrupt:
        _interrupt(child)
        return os.waitpid(child, 0)[1]


def _interrupt(child: int) -> None:
    """Hand an interrupt on to the child and wait for its end; a second one ends it at once."""
    try:
        os.kill(child, signal.SIGINT)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    except KeyboardInterrupt:
        os.kill(child, signal.SIGKILL)


def ending(status: int) -> str:
    """Return how a child ended, in words, from its exit status."""
    if status >= 0:
        return f"it left with status {status}"
    number = signal.Signals(-status)
    return f"it was ended by {number.name} ({(signal.strsignal(number) or '').lower()})"


# ---------------------------------------------------------------- the end of a parent


WATCH_SECONDS = 0.5
"""Seconds between checks that the parent process still exists."""
_PR_SET_PDEATHSIG = 1


def watch_parent(parent: int) -> None:
    """End this process soon after the process `parent`, which made it, has ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="tileir: watches for the end of the parent", daemon=True).start()


def end_with_parent(parent: int) -> None:
    """End a new process with its parent at once and without a thread, where the system can do that.

    Linux ends it with the thread of `parent` that made it: that thread must stay for as long as the process is needed.
    """
    if not sys.platform.startswith("linux"):
        watch_parent(parent)
        return
    _library().prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)
