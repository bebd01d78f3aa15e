"""Tile blocks and threads of a launch in the trace format of Chrome, which Perfetto and ``chrome://tracing`` show.

Knows: the format ("Trace Event Format", complete and metadata events). Does not know: how times were taken.
"""

from __future__ import annotations

import json
import os
from typing import Any

from tileir.ir.diagnostics import UnsupportedError
from tileir.tools.profile.report import ProfileReport


def trace(profile: ProfileReport) -> str:
    """The document. Raises UnsupportedError if the launch was not traced."""
    if not profile.blocks:
        raise UnsupportedError("no trace: expected a profile that was asked for one", "cpu")
    process = os.getpid()
    start = min(one.begin for one in profile.blocks)
    events: list[dict[str, Any]] = [_name("process_name", process, 0, f"@{profile.kernel}")]
    for thread in sorted({one.thread for one in profile.blocks}):
        events.append(_name("thread_name", process, thread, f"thread {thread}"))
    for one in sorted(profile.blocks, key=lambda one: one.begin):
        events.append(
            {
                "name": ",".join(map(str, one.block)),
                "cat": "tile block",
                "ph": "X",
                "ts": (one.begin - start) / 1e3,
                "dur": (one.end - one.begin) / 1e3,
                "pid": process,
                "tid": thread_of(one.thread),
            }
        )
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, separators=(",", ":"))


def thread_of(number: int) -> int:
    """The number of a thread in a trace: some viewers do not show thread 0."""
    return number + 1


def _name(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    tid = thread_of(thread) if what == "thread_name" else 0
    return {"name": what, "ph": "M", "pid": process, "tid": tid, "args": {"name": name}}
