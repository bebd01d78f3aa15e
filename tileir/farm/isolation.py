"""Attempts at jobs, in another process: what one does there costs only itself.

A process that did a job well and says so (`WorkResult.reusable`) does the next one of its thread, with the programs
that it has read and compiled; after any other end it is killed, with all that it has started, and another one goes on.
It is given several jobs at a time, and answers after each.
"""

from __future__ import annotations

import contextlib
import gc
import json
import mmap
import os
import pickle
import platform
import select
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from io import FileIO
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from typing import NoReturn

from tileir.farm.job import Attempt, Ending, JobLimits, WorkResult, work_of
from tileir.host.child import POSSIBLE, end_with_parent, ending, forked
from tileir.ir.diagnostics import DiagnosticError, Trap, UnsupportedError
from tileir.ir.usage import UsageError

if sys.platform != "win32":
    import resource

LOG_BYTES = 1 << 16
"""Bytes kept from the end of an attempt's output."""
ANSWERS = (DiagnosticError, Trap, UnsupportedError, UsageError, TypeError, ValueError, KeyError, ImportError)
"""Errors that another attempt would raise again."""
MOST_JOBS = 1000
"""Jobs after which a process gets no more, whatever they leave behind."""
_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in the unit of `ru_maxrss`."""
_own = threading.local()
"""The idle `child` of a thread, if it has one: it ends with its thread."""

Given = tuple[str, str, bytes]
"""A job: kind, the text of its spec, content."""


def attempts(jobs: Sequence[Given], limits: JobLimits) -> list[Attempt]:
    """Do the work of jobs, one after another. Raises UnsupportedError where processes cannot be copied."""
    if not POSSIBLE:
        raise UnsupportedError("a farm: this system cannot copy a process, which keeps jobs apart", "farm")
    found: list[Attempt] = []
    while len(found) < len(jobs):
        child: _Child | None = getattr(_own, "child", None)
        _own.child = None
        if child is None or not child.is_ready():
            child = _Child()
        found += child.attempts(jobs[len(found) :], limits)
        if child.is_reusable:
            _own.child = child
    return found


def attempt(kind: str, spec: str, content: bytes, limits: JobLimits) -> Attempt:
    """Do the work of one job."""
    return attempts([(kind, spec, content)], limits)[0]


# ---------------------------------------------------------------- the process that waits


class _Child:
    """A process that does jobs, as its worker sees it."""

    def __init__(self) -> None:
        self.is_reusable = False
        self._jobs = 0
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._connection, there = Pipe()
        worker = os.getpid()
        self._worker = f"{platform.node()}/{worker}"
        self._number = forked()
        if not self._number:
            _serve(there, self._log.fileno(), worker)
        there.close()
        self._poll = select.poll()
        self._poll.register(self._connection.fileno(), select.POLLIN)
        # Of this process alone, and at the end of workers of multiprocessing too.
        self._end = Finalize(self, _ended, (self._number,), exitpriority=1)

    def is_ready(self) -> bool:
        """Return whether it may be given more jobs, and nobody has ended it while it was idle."""
        ended = os.waitid(os.P_PID, self._number, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return ended is None and self._jobs < MOST_JOBS

    def attempts(self, jobs: Sequence[Given], limits: JobLimits) -> list[Attempt]:
        """Hand jobs over and return what comes of them, up to the first after which there may be no next one: then
        nothing is left of the process."""
        self.is_reusable, begin, printed, found = False, time.monotonic(), 0, list[Attempt]()
        self._log.seek(0)
        self._log.truncate()
        try:
            with contextlib.suppress(OSError):  # it has ended, as its status says
                self._connection.send_bytes(pickle.dumps((jobs, limits.memory)))
            for _ in jobs:
                attempt, peak, size = self._answer(begin, limits)
                now = time.monotonic()
                log = self._said(printed, size)
                found.append(replace(attempt, seconds=now - begin, peak=peak, log=log, worker=self._worker))
                self._jobs, begin, printed = self._jobs + 1, now, size
                if attempt.result is None or not attempt.result.reusable:
                    break
            else:
                self.is_reusable = True
        finally:
            if not self.is_reusable:
                self._end()
        return found

    def _answer(self, begin: float, limits: JobLimits) -> tuple[Attempt, int, int]:
        """Return how a job that began then ended, its peak, and the bytes printed by now; the process may have ended
        with it."""
        hung = False
        with contextlib.suppress(EOFError, OSError):
            if self._poll.poll(max(0.0, begin + limits.seconds - time.monotonic()) * 1000):
                answer: tuple[Attempt, int, int] = pickle.loads(self._connection.recv_bytes())
                return answer
            hung = True
        ended = self._end()
        assert ended is not None
        status, peak = ended
        if hung:
            attempt = Attempt(Ending.HUNG, f"no end after {limits.seconds:g} s")
        else:
            attempt = Attempt(Ending.CRASHED, ending(os.waitstatus_to_exitcode(status)))
        return attempt, peak, os.fstat(self._log.fileno()).st_size

    def _said(self, begin: int, end: int) -> str:
        """Return the output between two places, or the last part of it."""
        begin = max(begin, end - LOG_BYTES)
        return os.pread(self._log.fileno(), end - begin, begin).decode("utf-8", "replace") if begin < end else ""


def _ended(child: int) -> tuple[int, int]:
    """End a child of this process and what it has started; gives its exit status, and the most memory that it had."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return status, usage.ru_maxrss * _UNIT


# ---------------------------------------------------------------- the process that works


def _serve(connection: Connection, log: int, worker: int) -> NoReturn:
    """Do jobs for as long as the worker asks for some, and leave."""
    try:
        os.setpgid(0, 0)
        end_with_parent(worker)
        _own.child = None
        _close_others(connection.fileno(), log)
        for stream in (1, 2):
            os.dup2(log, stream)
        # Line by line: what is said before a crash is kept.
        sys.stdout = sys.stderr = open(1, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
        gc.freeze()  # what the worker had is looked at no more
        sizes, peaks = _about_this("statm", "r"), _about_this("clear_refs", "w")
        while True:
            jobs, memory = pickle.loads(connection.recv_bytes())
            for kind, spec, content in jobs:
                _limit_memory(memory, sizes, peaks)
                found = _done(kind, spec, content)
                with contextlib.suppress(OSError):  # no room for what was printed
                    sys.stdout.flush()
                size = os.fstat(log).st_size
                connection.send_bytes(pickle.dumps((found, _peak(), size)))
                if found.result is None or not found.result.reusable:
                    break
    except EOFError:  # the worker asks for no more
        pass
    finally:
        os._exit(0)


def _close_others(*kept: int) -> None:
    """Close what the worker has open but its standard streams and some files: a connection that it closes has an end
    then, however long this process is there."""
    for file in map(int, os.listdir("/dev/fd")):
        if file > 2 and file not in kept:
            with contextlib.suppress(OSError):  # the folder itself, which is closed by now
                os.close(file)


def _peak() -> int:
    """Return the most memory that this process had since `_limit_memory`."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _done(kind: str, spec: str, content: bytes) -> Attempt:
    try:
        result: WorkResult = work_of(kind)(json.loads(spec), content)
        return Attempt(Ending.DONE, result=result)
    except MemoryError as error:
        return Attempt(Ending.MEMORY, str(error) or "out of memory")
    except ANSWERS as error:
        return Attempt(Ending.FAILED, _said(error))
    except BaseException as error:
        return Attempt(Ending.CRASHED, f"{type(error).__name__}: {error}")


def _said(error: BaseException) -> str:
    """Return the message, with the kind of error where that is Python's."""
    named = isinstance(error, TypeError | ValueError | KeyError | ImportError)
    return f"{type(error).__name__}: {error}" if named else str(error)


def _about_this(name: str, mode: str) -> FileIO | None:
    """Return a file in which Linux tells of this process; None on other systems."""
    try:
        return FileIO(f"/proc/self/{name}", mode)
    except OSError:
        return None


def _limit_memory(memory: int | None, sizes: FileIO | None, peaks: FileIO | None) -> None:
    """Let the address space of this process grow by so many bytes and no further, and forget the peak of the job
    before, where the system can do that."""
    with contextlib.suppress(OSError, ValueError):
        if peaks is not None:
            peaks.write(b"5")
        if memory is not None and sizes is not None:
            sizes.seek(0)
            now = int(sizes.read().split()[0]) * mmap.PAGESIZE
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (now + memory, hard))
