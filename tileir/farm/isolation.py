"""One attempt at a job, in a process of its own: what it does there costs only itself."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import platform
import select
import signal
import sys
import tempfile
import threading
import time
from dataclasses import replace
from functools import partial
from typing import IO, NoReturn

from tileir.farm.job import Attempt, Ending, JobLimits, WorkResult, preparation_of, work_of
from tileir.farm.templates import Copy, Template, templates
from tileir.host.child import POSSIBLE, end_with_parent, ending, forked
from tileir.ir.diagnostics import DiagnosticError, Trap, UnsupportedError
from tileir.ir.usage import UsageError

if sys.platform != "win32":
    import resource

LOG_BYTES = 1 << 16
"""Bytes kept from the end of an attempt's output."""
ANSWERS = (DiagnosticError, Trap, UnsupportedError, UsageError, TypeError, ValueError, KeyError, ImportError)
"""Errors that another attempt would raise again."""
_CHUNK = 1 << 20
_LOST = Attempt(Ending.LOST, "the process that it was a copy of was lost")


def attempt(kind: str, spec: str, content: bytes, limits: JobLimits) -> Attempt:
    """Do the work of a job whose spec is the text `spec`. Raises UnsupportedError where processes cannot be copied."""
    if not POSSIBLE:
        raise UnsupportedError("a farm: this system cannot copy a process, which keeps jobs apart", "farm")
    # A template has what is open now, so it comes first; the job has its time after that.
    template = _template(kind, spec, content, limits)
    begin = time.monotonic()
    with tempfile.TemporaryFile() as log:
        reading, writing = os.pipe()
        try:
            child = _begun(template, kind, spec, content, limits, writing, log.fileno())
        finally:
            os.close(writing)
        try:
            found = _outcome(child, reading, begin + limits.seconds, limits)
        finally:
            os.close(reading)
        if found.ending is Ending.DONE:
            templates().note_done((kind, content))
        if found.ending is Ending.LOST:
            templates().drop((kind, content))
        seconds = time.monotonic() - begin
        return replace(found, seconds=seconds, log=_tail(log), worker=f"{platform.node()}/{os.getpid()}")


def _template(kind: str, spec: str, content: bytes, limits: JobLimits) -> Template | None:
    """Return the template of the program of a job, if there is one."""
    prepare = preparation_of(kind)
    # It ends with the thread that made it.
    if prepare is None or threading.current_thread() is not threading.main_thread():
        return None
    ready, work = lambda: prepare(json.loads(spec), content), partial(_work, kind, content)
    return templates().get((kind, content), ready, work, limits.seconds)


def _begun(
    template: Template | None, kind: str, spec: str, content: bytes, limits: JobLimits, writing: int, log: int
) -> Copy:
    """Return the process of a job: a copy of the template of its program, or of this process."""
    if template is not None:
        try:
            return template.copy(spec, limits, writing, log)
        except OSError:
            templates().drop((kind, content))
    worker = os.getpid()
    child = forked()
    if not child:
        _work(kind, content, spec, limits, writing, log, worker)
    return Copy(child, None)


# ---------------------------------------------------------------- the process that waits


def _outcome(child: Copy, reading: int, deadline: float, limits: JobLimits) -> Attempt:
    """Read what the child says, until it ends or has had its time; then see that nothing of it is left."""
    if child.number is None:
        return _LOST
    try:
        content = _read(reading, deadline)
    finally:
        _kill_group(child.number)
        end = _end_of(child)
    if end is None:
        return _LOST
    status, memory = end
    peak = memory * (1 if sys.platform == "darwin" else 1024)
    if content is None:
        return Attempt(Ending.HUNG, f"no end after {limits.seconds:g} s", peak=peak)
    try:
        found: Attempt = pickle.loads(content)
    except (EOFError, pickle.UnpicklingError):
        return Attempt(Ending.CRASHED, ending(os.waitstatus_to_exitcode(status)), peak=peak)
    return replace(found, peak=peak)


def _end_of(child: Copy) -> tuple[int, int] | None:
    """Return the status and memory of a child that has ended; None if nobody knows."""
    try:
        return child.end()
    except OSError:
        return None


def _read(reading: int, deadline: float) -> bytes | None:
    """Read everything from a pipe; None if it has no end before the deadline."""
    parts: list[bytes] = []
    poll = select.poll()
    poll.register(reading, select.POLLIN | select.POLLHUP)
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        if poll.poll(left * 1000):
            part = os.read(reading, _CHUNK)
            if not part:
                return b"".join(parts)
            parts.append(part)


def _kill_group(child: int) -> None:
    """End the child and what it has started."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _tail(log: IO[bytes]) -> str:
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - LOG_BYTES))
    return log.read().decode("utf-8", "replace")


# ---------------------------------------------------------------- the process that works


def _work(kind: str, content: bytes, spec: str, limits: JobLimits, writing: int, log: int, parent: int) -> NoReturn:
    """Do the work, write how it ended to a pipe, and leave."""
    try:
        os.setpgid(0, 0)
        for stream in (1, 2):
            os.dup2(log, stream)
        # Line by line: what is said before a crash is kept.
        sys.stdout = sys.stderr = open(1, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
        end_with_parent(parent)
        _limit_memory(limits.memory)
        found = _done(kind, spec, content)
        with contextlib.suppress(OSError):  # no room for what was printed
            sys.stdout.flush()
        with open(writing, "wb") as pipe:
            # The whole message or none of it: a process that ends here has not answered.
            pipe.write(pickle.dumps(found))
    finally:
        os._exit(0)


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
    """Let the address space of this process grow by so many bytes and no further, where the system can do that."""
    if memory is None or sys.platform == "win32":
        return
    with contextlib.suppress(OSError, ValueError):
        now = _address_space()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (now + memory, hard))


def _address_space() -> int:
    """Return the number of bytes of address space of this process. Raises OSError where the system does not tell."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
