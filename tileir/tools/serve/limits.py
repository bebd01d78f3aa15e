"""Limits of what a request of the page may take."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class ServeLimits:
    """Bytes, seconds and numbers."""

    request: int = 1 << 18
    """Bytes of a request's body."""
    reading: float = 10.0
    """Seconds until a request must have come whole."""
    connections: int = 64
    """Connections at a time; more are closed at once."""
    working: int = 2
    """Requests that are worked on at a time."""
    waiting: int = 16
    """Requests that wait for that; more are refused."""
    ready: int = 4
    """Processes that wait for work: what one change of a program asks for with the panes that are open at first."""
    seconds: float = 30.0
    """Seconds of work for a request."""
    memory: int = 6 << 30
    """Bytes of address space of a process that works for a request."""
    answer: int = 16 << 20
    """Bytes of an answer."""
    array: int = 1 << 26
    """Bytes of the arrays of a launch."""
    launch: float = 8.0
    """Seconds of a launch."""


FILE_BYTES = 1 << 26
"""The largest file that work may write: compilers have some."""


def bound_this_process(memory: int, seconds: float) -> None:
    """Limit memory and processor time, where the system can hold a process to that."""
    if sys.platform == "win32":
        return
    import resource

    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, int(8 * seconds) + 1),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (wanted, wanted))
