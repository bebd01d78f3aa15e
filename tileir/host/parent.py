"""The end of a process with the one that it works for, however that one ended.

Knows: what the system does about that, and a thread where it does nothing. Does not know: what the processes do.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from functools import cache

WATCH_SECONDS = 0.5
"""How often a process looks whether the one that it works for is still there."""
_PR_SET_PDEATHSIG = 1


def watch_parent(parent: int) -> None:
    """End this process soon after the process `parent`, which made it, has ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="tileir: watches for the end of the parent", daemon=True).start()


def end_with_parent(parent: int) -> None:
    """The same at once and without a thread, where the system can do that, for a process that was just made.

    Linux ends it with the thread of `parent` that made it: that thread must stay for as long as the process is needed.
    """
    if not sys.platform.startswith("linux"):
        watch_parent(parent)
        return
    _library().prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)
