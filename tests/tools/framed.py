"""A client of a protocol of framed JSON messages on the standard input and output of a child process."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SECONDS = 60


class FramedProcess:
    """A child that is spoken to in messages with ``Content-Length`` headers."""

    def __init__(self, arguments: list[str]) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.child = subprocess.Popen(
            [sys.executable, "-m", "tileir", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        self.messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._later: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self.child.stdin is not None
        self.child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.child.stdin.flush()

    def wait_for(self, wanted: Any) -> dict[str, Any]:
        """The next message for which `wanted` holds; the others are kept."""
        for position, message in enumerate(self._later):
            if wanted(message):
                return self._later.pop(position)
        while True:
            message = self.messages.get(timeout=SECONDS)
            if wanted(message):
                return message
            self._later.append(message)

    def close(self) -> str:
        """End the child; what it has said on standard error."""
        assert self.child.stdin is not None and self.child.stderr is not None and self.child.stdout is not None
        self.child.stdin.close()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        said = self.child.stderr.read().decode("utf-8", "replace")
        self._reader.join(5)
        self.child.stderr.close()
        self.child.stdout.close()
        return said

    def _read(self) -> None:
        stream = self.child.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                return
            self.messages.put(json.loads(stream.read(length)))
