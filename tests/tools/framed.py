"""A client of a protocol of framed JSON messages on the standard input and output of a child process."""

from __future__ import annotations

import json
import queue
import threading
from typing import Any

from tests.processes import Conversation

SECONDS = 60


class FramedProcess:
    """A child that is spoken to in messages with ``Content-Length`` headers."""

    def __init__(self, arguments: list[str]) -> None:
        self.child = Conversation("-m", "tileir", *arguments)
        self.messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._later: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def write(self, content: bytes) -> None:
        """Send bytes as they are."""
        self.child.input.write(content)
        self.child.input.flush()

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
        self.child.input.close()
        self._reader.join(10)
        if self._reader.is_alive():
            self.child.kill()
        said = self.child.errors.read().decode("utf-8", "replace")
        self._reader.join(5)
        self.child.errors.close()
        self.child.output.close()
        return said

    def _read(self) -> None:
        stream = self.child.output
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                return
            self.messages.put(json.loads(stream.read(length)))
