"""Hostile requests for the page of ``tileir serve``, and what must hold for each.

    python -m tests.fuzz.serving --count 1000

Requests are huge, slow, broken off, malformed, from other origins, or ask for work without an end.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tileir.tools.serve.limits import ServeLimits
from tileir.tools.serve.panes import page
from tileir.tools.serve.server import ADDRESS, PageServer

PATIENCE = 120.0
"""Seconds that any answer may take."""
LIMITS = ServeLimits(request=1 << 16, reading=1.0, connections=24, seconds=6.0, memory=3 << 30, launch=0.5)
HONEST = "cuda_tile.module @m { entry @k(%x: tile<ptr<f32>>) { %n = constant <i32: 1> : tile<i32> } }"
ENDLESS = "cuda_tile.module @m { entry @k() { loop { } } }"
WAITING = ENDLESS.replace("loop { }", "for %i in (%a to %b, step %c) : tile<i32> { }").replace(
    "entry @k() {",
    "entry @k() { %a = constant <i32: 0> : tile<i32> %b = constant <i32: 2147483647> : tile<i32> "
    "%c = constant <i32: 1> : tile<i32>",
)
HUGE = 'cuda_tile.module @m { entry @k() { %a = constant <f64: 1.0> : tile<16777216xf64> print_tko "%f", %a } }'
ELSEWHERE = HONEST.replace(": tile<i32> }", ': tile<i32> loc("/etc/passwd":1:1) }')
NESTED = "cuda_tile.module @m { entry @k() { " + "loop { " * 4000 + "} " * 4000 + "} }"

Refused = (400, 403, 404, 408, 411, 413, 414, 415, 421, 431, 501, 503, 505)


class Attacker:
    """Sends requests to a server, and says what is wrong with its answers."""

    def __init__(self, server: PageServer) -> None:
        self.server = server
        self.host = f"{ADDRESS}:{server.server_port}"
        self.path = f"/{server.token}/"

    def post(self, body: bytes, **changed: str) -> bytes:
        """A request for work; `changed` are headers, an empty one is left out."""
        headers = {
            "Host": self.host,
            "Origin": f"http://{self.host}",
            "Content_Type": "application/json",
            "Content_Length": str(len(body)),
            **changed,
        }
        path = headers.pop("path", f"{self.path}work")
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items() if value]
        return "\r\n".join([f"POST {path} HTTP/1.1", *lines, "", ""]).encode("utf-8", "replace") + body

    def ask(self, **fields: object) -> bytes:
        return self.post(json.dumps(fields).encode())

    def send(self, content: bytes, slow: float = 0.0, read: bool = True) -> bytes:
        """The answer, as bytes; empty if the connection was cut off."""
        answer = b""
        try:
            with socket.create_connection((ADDRESS, self.server.server_port), timeout=PATIENCE) as connection:
                if slow:
                    half = len(content) // 2
                    connection.sendall(content[:half])
                    time.sleep(slow)
                    content = content[half:]
                connection.sendall(content)
                while read and (part := connection.recv(1 << 16)):
                    answer += part
        except TimeoutError:
            raise AssertionError("no answer in time") from None
        except OSError:
            pass
        return answer


Request = Callable[[Attacker, random.Random], tuple[bytes, "tuple[int, ...]"]]
"""Sends a request; gives the answer and the statuses that it may have (an empty answer always may come)."""


def _noise(attacker: Attacker, random: random.Random) -> tuple[bytes, tuple[int, ...]]:
    return attacker.send(random.randbytes(random.randrange(1, 4000)) + b"\r\n\r\n"), Refused


def _damaged(attacker: Attacker, random: random.Random) -> tuple[bytes, tuple[int, ...]]:
    """A good request with some bytes of its head changed."""
    content = bytearray(attacker.ask(pane="check", text="x"))
    for _ in range(random.randrange(1, 6)):
        content[random.randrange(len(content) - 30)] = random.randrange(256)
    return attacker.send(bytes(content) + b"\r\n\r\n"), (200, *Refused)


def _stranger(attacker: Attacker, random: random.Random) -> tuple[bytes, tuple[int, ...]]:
    """Another host, origin, address or kind of content."""
    changed = random.choice(
        (
            {"Host": "evil.example"},
            {"Host": f"{ADDRESS}.evil.example:{attacker.server.server_port}"},
            {"Host": ""},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": ""},
            {"Origin": f"https://{attacker.host}"},
            {"path": "/work"},
            {"path": f"/{'x' * 32}/work"},
            {"path": f"{attacker.path}../etc/passwd"},
            {"path": f"{attacker.path}work?x=1"},
            {"path": f"//{attacker.host}{attacker.path}"},
            {"Content_Type": "text/plain"},
            {"Content_Type": "application/x-www-form-urlencoded"},
        )
    )
    return attacker.send(attacker.post(b'{"pane": "check", "text": ""}', **changed)), (403, 404, 415, 421)


def _wrong_page(attacker: Attacker, random: random.Random) -> tuple[bytes, tuple[int, ...]]:
    path = random.choice(("/", "/favicon.ico", f"/{attacker.server.token[:-1]}/", "/../../etc/passwd", "/%2e%2e/"))
    method = random.choice(("GET", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT", "X" * 100))
    return attacker.send(f"{method} {path} HTTP/1.1\r\nHost: {attacker.host}\r\n\r\n".encode()), Refused


def _large(attacker: Attacker, random: random.Random) -> tuple[bytes, tuple[int, ...]]:
    """A body, a length or a head that is too large, or no number."""
    length = random.choice(("1e9", "-1", "99999999999999999999", str(LIMITS.request + 1), "0x10", "5, 5", "\u0661"))
    if random.random() < 0.5:
        return attacker.send(attacker.post(b"{}" * random.randrange(1, 9999), Content_Length=length)), (400, 411, 413)
    head = attacker.ask(text="").replace(b"\r\n\r\n", b"\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 1)
    many = attacker.ask(text="").replace(b"\r\n\r\n", b"\r\nX: y" * 300 + b"\r\n\r\n", 1)
    return attacker.send(random.choice((head, many))), (400, 431)


def _slow(attacker: Attacker, random: random.Random) -> tuple[bytes, tuple[int, ...]]:
    return attacker.send(attacker.ask(pane="check", text="x" * 400), slow=LIMITS.reading + 0.5), ()


def _left(attacker: Attacker, random: random.Random) -> tuple[bytes, tuple[int, ...]]:
    content = attacker.ask(pane="Tile IR", text=HONEST)
    return attacker.send(content[: random.randrange(len(content))], read=False), ()


def _shapeless(attacker: Attacker, random: random.Random) -> tuple[bytes, tuple[int, ...]]:
    """JSON that is no request, or nearly one."""
    fields = random.choice(
        (
            {"text": 1},
            {"text": HONEST, "pane": "etc"},
            {"text": HONEST, "pane": "passes", "level": 99},
            {"text": HONEST, "pane": "passes", "passes": "rm -rf /"},
            {"text": HONEST, "pane": "run", "grid": "1;ls", "arguments": "x=f32[4]"},
            {"text": HONEST, "pane": "run", "grid": "1", "arguments": "x=@/etc/passwd"},
            {"text": HONEST, "pane": "run", "grid": "1", "arguments": "x=f32[99999999999]"},
            {"text": HONEST, "pane": "run", "grid": "1", "arguments": "x=f32[4]", "target": "cuda"},
            {"text": "\ud800", "pane": "check"},
        )
    )
    raw = random.choice((b"[" * 50_000, b"null", b"{", b"\xff\xfe", b'{"text": NaN}', b"1" * 9000))
    content = attacker.ask(**fields) if random.random() < 0.6 else attacker.post(raw)
    return attacker.send(content), (200, 503)


def _hard(attacker: Attacker, random: random.Random) -> tuple[bytes, tuple[int, ...]]:
    """Programs without an end, too large, too deep, or that name files."""
    text = random.choice((ENDLESS, WAITING, HUGE, ELSEWHERE, NESTED, "(" * 60_000, HONEST[: random.randrange(90)]))
    pane = random.choice(("run", "sanitize", "check", "Tile IR", "passes", "LLVM IR", "bytecode"))
    words = "x=f32[4]" if "%x" in text else ""
    target = random.choice(("cpu", "interp"))
    content = attacker.ask(text=text, pane=pane, grid="3", arguments=words, target=target, level=3)
    return attacker.send(content), (200, 503)


CHEAP: tuple[Request, ...] = (_noise, _damaged, _stranger, _wrong_page, _large, _left)
WORK: tuple[Request, ...] = (_shapeless, _hard)


def attacked(server: PageServer, count: int, share: float, seed: int) -> Counter[str]:
    """Send so many requests, `share` of them for work; gives how often each kind was. Raises AssertionError."""
    attacker = Attacker(server)

    def one(number: int) -> str:
        chance = random.Random(f"{seed} {number}")
        kinds = WORK if chance.random() < share else (_slow,) if chance.random() < 0.03 else CHEAP
        kind = chance.choice(kinds)
        answer, allowed = kind(attacker, chance)
        check(answer, allowed, kind.__name__, server.token)
        return kind.__name__

    with ThreadPoolExecutor(16) as pool:
        return Counter(pool.map(one, range(count), timeout=20 * PATIENCE))


def check(answer: bytes, allowed: tuple[int, ...], kind: str, token: str) -> None:
    """An answer has an allowed status, and tells nothing."""
    assert b"root:" not in answer, f"{kind}: the content of a file"
    assert b"Traceback" not in answer, f"{kind}: a traceback"
    assert token.encode() not in answer, f"{kind}: the secret of the address"
    if not answer or (not answer.startswith(b"HTTP/") and kind in ("_noise", "_damaged")):
        return
    status = int(answer.split(b" ", 2)[1])
    assert not allowed or status in allowed, f"{kind}: {answer[:200]!r}"


def answers(server: PageServer) -> None:
    """Raise AssertionError unless the server answers who may ask."""
    attacker = Attacker(server)
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = attacker.send(attacker.ask(text=HONEST, pane="Tile IR"))
        if b'"parts": [{' in answer:
            break
        assert time.monotonic() < deadline, answer[:300]
        time.sleep(0.2)
    shown = attacker.send(f"GET {attacker.path} HTTP/1.1\r\nHost: {attacker.host}\r\n\r\n".encode())
    assert shown.startswith(b"HTTP/1.0 200") and b'<div id="paper"' in shown, shown[:300]


def served(limits: ServeLimits = LIMITS) -> PageServer:
    """A server that runs on a thread of its own."""
    server = PageServer(page(HONEST), limits=limits)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    server = served()
    try:
        print(dict(attacked(server, options.count, 0.15, options.seed)))
        answers(server)
    finally:
        server.shutdown()
        server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
