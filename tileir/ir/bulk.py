"""Making very many objects at once.

Knows: that Python searches all of them for cycles again and again as they become more, which takes up to half of the
time of reading a program or of importing modules, and finds nothing.
Does not know: the objects.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Put off the search for cycles, where it is on."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
