"""The server of the page: HTTP on 127.0.0.1, for who knows the address.

The address has a random part, without which nothing is answered; a request must name this server as its host, and one
that asks for work must come from its page: pages of other places can send requests here too.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tileir.tools.serve.limits import ServeLimits
from tileir.tools.serve.work import Busy, PageWorkers

ADDRESS = "127.0.0.1"
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageServer(ThreadingHTTPServer):
    """Serves `page` at `url`, and answers its requests."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, page: str, port: int = 0, limits: ServeLimits | None = None) -> None:
        """Open the server. Raises OSError if the port is not free."""
        self.limits = limits or ServeLimits()
        self.workers = PageWorkers(self.limits)
        super().__init__((ADDRESS, port), PageHandler)
        self.token = secrets.token_urlsafe(24)
        self.page = page.encode()
        self.hosts = frozenset(f"{name}:{self.server_port}" for name in (ADDRESS, "localhost"))
        self._lock = threading.Lock()
        self._reading: dict[socket.socket, float] = {}
        self._open = 0
        threading.Thread(target=self._watch, daemon=True).start()
        threading.Thread(target=self.workers.prepare, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"

    def server_close(self) -> None:
        super().server_close()
        self.workers.close()

    # ------------------------------------------------------------ connections

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take a connection, if there are not too many."""
        with self._lock:
            full = self._open >= self.limits.connections
            if not full:
                self._open += 1
                self._reading[request] = time.monotonic() + self.limits.reading
        if full:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            if self._reading.pop(request, None) is not None:
                self._open -= 1
        super().shutdown_request(request)

    def has_read(self, request: socket.socket) -> None:
        """Note that a request has come whole: its connection may stay for the answer."""
        with self._lock:
            if request in self._reading:
                self._reading[request] = float("inf")

    def _watch(self) -> None:
        """Cut off connections whose request does not come."""
        while self.fileno() >= 0:
            time.sleep(0.25)
            now = time.monotonic()
            with self._lock:
                late = [one for one, until in self._reading.items() if until < now]
            for one in late:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a connection that ends in the middle."""


class PageHandler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: PageServer
    server_version, sys_version = "tileir", ""
    timeout = 30

    def log_message(self, format: str, *args: object) -> None:
        """Ignore requests: the address is a secret."""

    def do_GET(self) -> None:
        self._done_reading()
        if self._is_allowed("/", needs_origin=False):
            self._send(200, "text/html; charset=utf-8", self.server.page)

    def do_POST(self) -> None:
        if not self._is_allowed("/work", needs_origin=True):
            return
        body = self._body()
        if body is None:
            return
        self._done_reading()
        try:
            self._send_json(200, self.server.workers.answer(body))
        except Busy:
            self._refuse(503, "too many requests at a time")

    # ------------------------------------------------------------ what is refused

    def _is_allowed(self, path: str, needs_origin: bool) -> bool:
        """Return whether a request comes from a permitted client and names an existing page; answer it otherwise."""
        given = self.path.encode("utf-8", "replace")
        known = hmac.compare_digest(given, f"/{self.server.token}{path}".encode())
        hosts = self.headers.get_all("Host") or []
        origins = self.headers.get_all("Origin") or []
        if len(hosts) != 1 or hosts[0] not in self.server.hosts:
            self._refuse(421, "this server has another name")
        elif any(origin not in self._own_origins() for origin in origins) or len(origins) > 1:
            self._refuse(403, "a page of another origin may ask nothing")
        elif needs_origin and not origins:
            self._refuse(403, "expected the origin of the page")
        elif not known:
            self._refuse(404, "nothing is here")
        else:
            return True
        return False

    def _own_origins(self) -> set[str]:
        return {f"http://{host}" for host in self.server.hosts}

    def _body(self) -> bytes | None:
        """Return the body of a request; None if it was refused, or did not come."""
        if self.headers.get_content_type() != "application/json":
            self._refuse(415, "expected application/json")
            return None
        lengths = self.headers.get_all("Content-Length") or []
        if (
            len(lengths) != 1
            or not (lengths[0].isascii() and lengths[0].isdigit())
            or "Transfer-Encoding" in self.headers
        ):
            self._refuse(411, "expected one Content-Length")
            return None
        if len(lengths[0]) > 12 or int(lengths[0]) > self.server.limits.request:
            self._refuse(413, f"expected {self.server.limits.request} bytes at most")
            return None
        body = self.rfile.read(int(lengths[0]))
        return body if len(body) == int(lengths[0]) else None

    def _done_reading(self) -> None:
        self.server.has_read(self.connection)

    # ------------------------------------------------------------ answers

    def _refuse(self, status: int, why: str) -> None:
        self._done_reading()
        self._send_json(status, {"error": why})

    def _send_json(self, status: int, answer: Mapping[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(answer).encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer requests that the library refuses in our own words, without echoing the request."""
        with suppress(OSError):
            self._refuse(code, "not a request that is answered here")
