"""Python's collector of cycles, kept from work that makes many objects and drops most of them soon.

Knows: how it is held off. Does not know: what for. It would go through all objects of the process, which take longer to
look at than a kernel to compile where libraries like torch are loaded.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No collections begin within the block, unless another thread asks for them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
