"""Templates: processes that have made ready what all jobs on one program begin with. A job's process is a copy of one.

To read, check and compile a program takes most of the time of a short job. It is done in a process of its own, so what
happens there costs no worker either.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import struct
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from multiprocessing import util
from typing import NoReturn

from tileir.farm.job import JobLimits
from tileir.host.child import end_with_parent, forked

MOST = 4
"""Templates that a worker has at a time."""
REMEMBERED = 64
"""The number of programs a worker remembers as having had a job done."""
PATIENCE = 30.0
"""Seconds that a template may take for steps that take no time; then it is lost."""
_SIZE = struct.Struct("<q")
_END = struct.Struct("<qq")

Program = tuple[str, bytes]
"""The kind of a job and its content."""
Work = Callable[[str, JobLimits, int, int, int], NoReturn]
"""The work of a copy: the spec, the limits, two open files, and the number of the process that it copies."""


class Copy:
    """The process of a job, as the worker sees it; without a number it was lost, with its template, as it began."""

    def __init__(self, number: int | None, template: Template | None) -> None:
        self.number = number
        self._template = template

    def end(self) -> tuple[int, int]:
        """Return the exit status, and the most memory in the system's units, of a process that has ended or been
        killed.

        Raises OSError if its template is lost.
        """
        if self._template is not None:
            return self._template.end_of_copy()
        if self.number is None:
            raise ConnectionError("there is no process")
        _, status, usage = os.wait4(self.number, 0)
        return status, usage.ru_maxrss


class Template:
    """The worker's side of a template, which prepares at once. Raises OSError if that was not done within `seconds`."""

    def __init__(self, prepare: Callable[[], object], work: Work, seconds: float) -> None:
        self._socket, there = socket.socketpair()
        worker = os.getpid()
        self._number = forked()
        if not self._number:
            self._socket.close()
            _serve(there, prepare, work, worker)
        there.close()
        self._socket.settimeout(seconds)
        try:
            _received(self._socket, _SIZE.size)
        except OSError:
            self.close()
            raise
        self._socket.settimeout(PATIENCE)

    def copy(self, spec: str, limits: JobLimits, *files: int) -> Copy:
        """Return a copy that works. Raises OSError if the template was lost before."""
        message = pickle.dumps((spec, limits))
        socket.send_fds(self._socket, [_SIZE.pack(len(message))], files)
        self._socket.sendall(message)
        try:
            (number,) = _SIZE.unpack(_received(self._socket, _SIZE.size))
        except OSError:
            # The copy may have begun to work, so it is not begun again here.
            return Copy(None, self)
        return Copy(number, self)

    def end_of_copy(self) -> tuple[int, int]:
        self._socket.sendall(b"e")
        status, memory = _END.unpack(_received(self._socket, _END.size))
        return status, memory

    def close(self) -> None:
        """End the template. A copy that works ends with it."""
        self._socket.close()
        os.kill(self._number, signal.SIGKILL)
        os.waitpid(self._number, 0)


def _received(connection: socket.socket, size: int) -> bytes:
    """Receive `size` bytes. Raises OSError where there are no more."""
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            raise ConnectionError("the other process has ended")
        found += part
    return found


def _serve(connection: socket.socket, prepare: Callable[[], object], work: Work, worker: int) -> NoReturn:
    """Run as the template: prepare, then make copies until the worker asks for no more."""
    try:
        end_with_parent(worker)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nothing, stream)
        prepare()
        gc.freeze()
        connection.sendall(_SIZE.pack(0))
        while True:
            _make_copy(connection, work)
    finally:
        os._exit(0)


def _make_copy(connection: socket.socket, work: Work) -> None:
    """Make a copy and wait for its end.

    It keeps its process number until the worker has killed the rest of it. Raises OSError when the worker has closed
    the connection.
    """
    head, files, _, _ = socket.recv_fds(connection, _SIZE.size, 2)
    if len(head) < _SIZE.size or len(files) != 2:
        raise ConnectionError("the worker has ended")
    spec, limits = pickle.loads(_received(connection, _SIZE.unpack(head)[0]))
    template = os.getpid()
    child = forked()
    if not child:
        connection.close()
        work(spec, limits, files[0], files[1], template)
    for file in files:
        os.close(file)
    connection.sendall(_SIZE.pack(child))
    _received(connection, 1)
    _, status, usage = os.wait4(child, 0)
    connection.sendall(_END.pack(status, usage.ru_maxrss))


class Templates:
    """The templates of a worker, for programs on which a job was done."""

    def __init__(self) -> None:
        self._done: OrderedDict[Program, bool] = OrderedDict()
        self._made: OrderedDict[Program, Template] = OrderedDict()

    def note_done(self, program: Program) -> None:
        """Say that a job on a program was done, so that a further one is worth a template."""
        if self._done.setdefault(program, True):
            self._done.move_to_end(program)
        while len(self._done) > REMEMBERED:
            self._done.popitem(last=False)

    def get(self, program: Program, prepare: Callable[[], object], work: Work, seconds: float) -> Template | None:
        """Return the template of a program; None if there is none, nor is one worth it."""
        if program not in self._made and self._done.get(program):
            while len(self._made) >= MOST:
                self._made.popitem(last=False)[1].close()
            try:
                self._made[program] = Template(prepare, work, seconds)
            except OSError:
                self._done[program] = False
        if program in self._made:
            self._made.move_to_end(program)
        return self._made.get(program)

    def drop(self, program: Program) -> None:
        """Give up a template that is lost, if it was not before."""
        if program in self._made:
            self._made.pop(program).close()

    def close(self) -> None:
        for program in list(self._made):
            self.drop(program)


@cache
def templates() -> Templates:
    """Return the templates of this process, which end with it."""
    made = Templates()
    util.Finalize(made, made.close, exitpriority=10)
    return made


if hasattr(os, "register_at_fork"):
    # A copy has no templates: its copies of the connections would keep templates from the end of the worker.
    os.register_at_fork(after_in_child=templates.cache_clear)
