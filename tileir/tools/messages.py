"""JSON messages behind a header that says how long each is, as editors exchange them."""

from __future__ import annotations

import itertools
import json
import sys
from typing import Any, BinaryIO

MOST_BYTES = 1 << 28
"""The longest message, and the longest line of a header."""
_MOST_DIGITS = len(str(MOST_BYTES))
Message = dict[str, Any]


def read_content(reader: BinaryIO) -> bytes | None:
    """Return the content of the next message; None at the end, or where no message of a possible length begins.

    The names of headers may be in any case, and their lines may end without a carriage return.
    """
    length = None
    while line := reader.readline(MOST_BYTES):
        name, _, value = (part.strip() for part in line.partition(b":"))
        if not name:
            break
        if name.lower() == b"content-length":
            length = int(value) if value.isdigit() and len(value) <= _MOST_DIGITS else -1
    else:
        return None
    if length is None or not 0 < length <= MOST_BYTES:
        print(f"tileir: expected a header 'Content-Length: N' of at most {MOST_BYTES} bytes", file=sys.stderr)
        return None
    return reader.read(length)


class MessageStream:
    """Both directions of a conversation."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)

    def receive(self) -> Message | None:
        """Return the next message; None at the end, or of what is none."""
        try:
            message = json.loads(read_content(self._reader) or b"")
        except (ValueError, RecursionError):
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
