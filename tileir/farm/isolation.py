"""One attempt at a job, in another process: what it does there costs only itself.

A process that did a job well and says so (`WorkResult.reusable`) does the next one of its thread, with the programs
that it has read and compiled; after any other end it is killed, with all that it has started.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import pickle
import platform
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import weakref
from dataclasses import replace
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
"""Jobs that one process does, whatever they leave behind."""
_CHUNK = 1 << 20
_SIZE = struct.Struct("<q")
_own = threading.local()
"""The idle `child` of a thread, if it has one: it ends with its thread."""


def attempt(kind: str, spec: str, content: bytes, limits: JobLimits) -> Attempt:
    """Do the work of a job whose spec is the text `spec`. Raises UnsupportedError where processes cannot be copied."""
    if not POSSIBLE:
        raise UnsupportedError("a farm: this system cannot copy a process, which keeps jobs apart", "farm")
    begin = time.monotonic()
    child: _Child | None = getattr(_own, "child", None)
    _own.child = None
    if child is None or not child.is_ready():
        child = _Child()
    found = child.attempt(pickle.dumps((kind, spec, content, limits.memory)), begin + limits.seconds, limits)
    if child.is_reusable:
        _own.child = child
    return replace(found, seconds=time.monotonic() - begin, worker=f"{platform.node()}/{os.getpid()}")


# ---------------------------------------------------------------- the process that waits


class _Child:
    """A process that does jobs, as its worker sees it."""

    def __init__(self) -> None:
        self.is_reusable = False
        self._jobs = 0
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._socket, there = socket.socketpair()
        worker = os.getpid()
        self._number = forked()
        if not self._number:
            _serve(there, self._log.fileno(), worker)
        there.close()
        self._end = weakref.finalize(self, _ended, self._number, worker)

    def is_ready(self) -> bool:
        """Return whether it may be given one more job, and nobody has ended it while it was idle."""
        ended = os.waitid(os.P_PID, self._number, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return ended is None and self._jobs < MOST_JOBS

    def attempt(self, message: bytes, deadline: float, limits: JobLimits) -> Attempt:
        """Hand over a job and read what comes of it; then see that nothing is left, unless there may be a next one."""
        self._jobs, self.is_reusable, end = self._jobs + 1, False, None
        self._log.seek(0)
        self._log.truncate()
        try:
            with contextlib.suppress(OSError):  # it has ended, as its status says
                self._socket.sendall(_SIZE.pack(len(message)) + message)
            found = self._answer(deadline)
            self.is_reusable = found is not None and found[-1:] == _REUSABLE
        finally:
            if not self.is_reusable:
                end = self._end()
        if found is None:
            attempt = Attempt(Ending.HUNG, f"no end after {limits.seconds:g} s")
        elif found:
            attempt = pickle.loads(found)
        else:
            assert end is not None
            attempt = Attempt(Ending.CRASHED, ending(os.waitstatus_to_exitcode(end[0])))
        peak = attempt.peak if end is None else end[1]
        return replace(attempt, log=self._said(), peak=peak * (1 if sys.platform == "darwin" else 1024))

    def _answer(self, deadline: float) -> bytes | None:
        """Return the answer; nothing if the child ends without one, None if there is none before the deadline."""
        found = bytearray()
        poll = select.poll()
        poll.register(self._socket, select.POLLIN | select.POLLHUP)
        while len(found) < _SIZE.size or len(found) < _SIZE.size + _SIZE.unpack_from(found)[0]:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            if poll.poll(left * 1000):
                try:
                    part = self._socket.recv(_CHUNK)
                except ConnectionError:
                    part = b""
                if not part:
                    return b""
                found += part
        return bytes(found[_SIZE.size :])

    def _said(self) -> str:
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - LOG_BYTES))
        return self._log.read().decode("utf-8", "replace")


def _ended(child: int, worker: int) -> tuple[int, int] | None:
    """End a child of this process and what it has started; gives its exit status, and the most memory that it had in
    the system's units."""
    if os.getpid() != worker:
        return None
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return status, usage.ru_maxrss


# ---------------------------------------------------------------- the process that works

_REUSABLE, _SPENT = b"+", b"-"
"""The last byte of an answer, behind what is pickled."""


def _serve(connection: socket.socket, log: int, worker: int) -> NoReturn:
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
        while message := _received(connection):
            kind, spec, content, memory = pickle.loads(message)
            _limit_memory(memory)
            found = _done(kind, spec, content)
            with contextlib.suppress(OSError):  # no room for what was printed
                sys.stdout.flush()
            reusable = found.result is not None and found.result.reusable
            answer = pickle.dumps(replace(found, peak=_peak())) + (_REUSABLE if reusable else _SPENT)
            connection.sendall(_SIZE.pack(len(answer)) + answer)
    finally:
        os._exit(0)


def _close_others(*kept: int) -> None:
    """Close what the worker has open but its standard streams and some files: a connection that it closes has an end
    then, however long this process is there."""
    for file in map(int, os.listdir("/dev/fd")):
        if file > 2 and file not in kept:
            with contextlib.suppress(OSError):  # the folder itself, which is closed by now
                os.close(file)


def _received(connection: socket.socket) -> bytes:
    """Receive a message; empty when the worker has closed the connection."""
    with connection.makefile("rb") as stream:
        head = stream.read(_SIZE.size)
        return stream.read(_SIZE.unpack(head)[0]) if len(head) == _SIZE.size else b""


def _peak() -> int:
    """Return the most memory that this process had since `_limit_memory`, in the system's units."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


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


def _limit_memory(memory: int | None) -> None:
    """Let the address space of this process grow by so many bytes and no further, and forget the peak of the job
    before, where the system can do that."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "wb") as file:
        file.write(b"5")
    if memory is None:
        return
    with contextlib.suppress(OSError, ValueError):
        now = _address_space()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (now + memory, hard))


def _address_space() -> int:
    """Return the number of bytes of address space of this process. Raises OSError where the system does not tell."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
