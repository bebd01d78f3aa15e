"""Messages of the Debug Adapter Protocol: JSON behind a header that says how long it is.

Knows: how messages are read and written, one at a time. Does not know: what they say (`tools.debug.adapter`).
"""

from __future__ import annotations

import itertools
import json
from typing import Any, BinaryIO

MOST_BYTES = 1 << 24
Message = dict[str, Any]


class MessageStream:
    """Both directions of a conversation."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)

    def receive(self) -> Message | None:
        """The next message; None at the end, or of what is none."""
        length = 0
        while line := self._reader.readline(MOST_BYTES):
            name, _, value = line.strip().partition(b":")
            if not name:
                break
            if name.lower() == b"content-length" and value.strip().isdigit():
                length = int(value)
        if not 0 < length <= MOST_BYTES:
            return None
        try:
            message = json.loads(self._reader.read(length))
        except ValueError:
            return None
        return message if isinstance(message, dict) else None

    def respond(self, request: Message, body: object = None, error: str | None = None) -> None:
        answer: Message = {
            "type": "response",
            "request_seq": request.get("seq", 0),
            "command": request.get("command", ""),
            "success": error is None,
        }
        if error is not None:
            answer |= {"message": error, "body": {"error": {"id": 1, "format": error.replace("{", "(")}}}
        elif body is not None:
            answer["body"] = body
        self._send(answer)

    def tell(self, event: str, body: object = None) -> None:
        self._send({"type": "event", "event": event, **({} if body is None else {"body": body})})

    def _send(self, message: Message) -> None:
        content = json.dumps({"seq": next(self._numbers), **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self._writer.flush()
