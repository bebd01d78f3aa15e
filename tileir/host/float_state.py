"""The state in which a thread computes with floats: how it rounds, and whether it keeps subnormal numbers.

Libraries change it: `torch.set_flush_denormal`, code that was built with fast math, ``fesetround``.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_ONE, _NORMAL, _SUBNORMAL, _STEP = 1.0, sys.float_info.min, 5e-324, sys.float_info.epsilon
_LONGEST_STATE = 256
_DEFAULT_STATE = ctypes.c_void_p(-1)
"""``FE_DFL_ENV`` of the C libraries of Linux."""


def is_usual() -> bool:
    """Return whether this thread rounds to nearest and keeps subnormal numbers."""
    keeps = _NORMAL * 0.5 != 0.0 and _SUBNORMAL * _ONE != 0.0
    return keeps and _ONE + _STEP * 0.25 == _ONE != _ONE + _STEP * 0.75


@contextmanager
def usual_floats() -> Iterator[None]:
    """Compute as usual on this thread meanwhile. Does nothing on systems other than Linux."""
    if is_usual() or sys.platform != "linux":
        yield
        return
    library, state = ctypes.CDLL(None), ctypes.create_string_buffer(_LONGEST_STATE)
    library.fegetenv(state)
    library.fesetenv(_DEFAULT_STATE)
    try:
        yield
    finally:
        library.fesetenv(state)
