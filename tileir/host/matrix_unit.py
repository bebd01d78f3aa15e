"""Leave to use the matrix unit of the processor (AMX), which Linux gives to a process that asks for it.

Does not know: which processors have one.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache

ARCH_PRCTL = 158
"""The number of the system call on x86-64."""
ARCH_REQ_XCOMP_PERM, TILE_DATA = 0x1023, 18
"""To ask for a component of the processor's state, and that one's number (linux/arch/x86/include/uapi/asm/prctl.h)."""


@cache
def may_use_matrix_unit() -> bool:
    """Ask, once in a process; its threads and forks share the answer. False where the system knows no such call."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    return int(ctypes.CDLL(None).syscall(ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, TILE_DATA)) == 0
