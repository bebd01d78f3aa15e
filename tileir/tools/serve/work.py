"""Work for requests, in processes that end with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from tileir.tools.serve.limits import ServeLimits

_START = "import sys; sys.path[:] = {path!r}; from tileir.tools.serve.worker import main; main()"

LAST_SECONDS = 5.0
"""Seconds in which a process that has closed its answer ends by itself."""


class Busy(Exception):
    """Refusal of a request as too many wait, or the server ends."""


class PageWorkers:
    """Processes that work, a few at a time."""

    def __init__(self, limits: ServeLimits) -> None:
        self._limits = limits
        self._turn = threading.Semaphore(limits.working)
        self._places = threading.Semaphore(limits.working + limits.waiting)
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._spares: list[subprocess.Popen[bytes]] = []
        self._folder = tempfile.TemporaryDirectory(prefix="tileir-serve-")
        self._closed = False

    def answer(self, request: bytes) -> dict[str, Any]:
        """Return the answer to a request. Raises `Busy`."""
        if not self._places.acquire(blocking=False):
            raise Busy
        try:
            with self._turn:
                return self._worked(request)
        finally:
            self._places.release()

    def prepare(self) -> None:
        """Have processes ready, unless all are ended."""
        with suppress(Busy):
            while len(self._spares) < self._limits.ready:
                started = self._started()
                with self._lock:
                    kept = len(self._spares) < self._limits.ready and not self._closed
                    if kept:
                        self._spares.append(started)
                if not kept:
                    _end(started)

    def close(self) -> None:
        """End what waits ready. No process starts from then on: its folder is gone."""
        with self._starting, self._lock:
            self._closed, spares, self._spares = True, self._spares, []
        for spare in spares:
            _end(spare)
        self._folder.cleanup()

    def _worked(self, request: bytes) -> dict[str, Any]:
        with self._lock:
            process = self._spares.pop(0) if self._spares else None
        if process is None or process.poll() is not None:
            process = self._started()
        threading.Thread(target=self.prepare, daemon=True).start()
        return self._handed(process, request)

    def _handed(self, process: subprocess.Popen[bytes], request: bytes) -> dict[str, Any]:
        """Give a process its request, and end it and all that it started when there is an answer, or no time left."""
        over = threading.Event()

        def stop() -> None:
            over.set()
            _kill(process)

        watch = threading.Timer(self._limits.seconds, stop)
        watch.start()
        try:
            content = self._exchanged(process, request)
            with suppress(subprocess.TimeoutExpired):
                process.wait(LAST_SECONDS)
        finally:
            watch.cancel()
            _end(process)
        if len(content) > self._limits.answer:
            return {"error": f"an answer of more than {self._limits.answer >> 20} MiB"}
        try:
            answer: dict[str, Any] = json.loads(content)
            return answer
        except ValueError:
            return {"error": self._ended(process, over.is_set())}

    def _exchanged(self, process: subprocess.Popen[bytes], request: bytes) -> bytes:
        assert process.stdin is not None and process.stdout is not None
        with suppress(OSError):
            process.stdin.write(request)
            process.stdin.close()
        return process.stdout.read(self._limits.answer + 1)

    def _ended(self, process: subprocess.Popen[bytes], over: bool) -> str:
        if over:
            return f"more time than the {self._limits.seconds:g} seconds that a request may take"
        assert process.returncode is not None
        if process.returncode >= 0:
            return f"the process that worked for this request ended with status {process.returncode}"
        try:
            name = signal.Signals(-process.returncode).name
        except ValueError:
            name = f"signal {-process.returncode}"
        why = ", as the system does where memory runs out" if name == "SIGKILL" else ""
        return f"the process that worked for this request was ended by {name}{why}"

    def _started(self) -> subprocess.Popen[bytes]:
        """Return a process that waits for a request. Raises `Busy` once all are ended."""
        pipe = subprocess.PIPE
        with self._starting:
            if self._closed:
                raise Busy
            return subprocess.Popen(
                [sys.executable, "-c", _START.format(path=sys.path), json.dumps(asdict(self._limits))],
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                cwd=self._folder.name,
                start_new_session=True,
            )


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Have a process end, and those that it has started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and wait until it has ended."""
    _kill(process)
    with suppress(OSError, ValueError):
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
