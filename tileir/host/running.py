"""Launches that run in this process, on whatever target of it: one may end what another waits for.

Knows: which they are. Does not know: what they do.
"""

from __future__ import annotations

import os

_running: set[object] = set()
begin, end = _running.add, _running.discard
"""Of a launch, which is told from others by what it is, not by what is in it."""


def launches() -> list[object]:
    return list(_running)


def only_one() -> bool:
    """Whether one launch runs, which no other can help on."""
    return len(_running) == 1


if hasattr(os, "register_at_fork"):
    # A child has none of the threads that its parent's launches run on.
    os.register_at_fork(after_in_child=_running.clear)
