"""Keeping the memory of freed arrays in the process.

Knows: a habit of one C library. Does not know: what the arrays hold.
"""

from __future__ import annotations

from functools import cache

import numpy as np

_LARGEST_RAISED = 1 << 24


@cache
def keep_freed_memory() -> None:
    """Let arrays of up to 16 MiB reuse freed memory instead of asking the system for zeroed pages each time.

    Done once in a process. glibc raises its thresholds for mapping and for trimming to the largest mapped chunk freed
    so far (mallopt(3)), so one untouched array does it; without, the intermediate arrays of an exact multiply-add cost
    six times the arithmetic. Elsewhere this does nothing.
    """
    np.empty(_LARGEST_RAISED, np.uint8)
