"""Memory and code on a device, kept as long as an object here is.

Knows: that memory and code on a device are given up when nothing here refers to them any more, but not at the end of
the process, which gives up everything. Does not know: what they are for.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from tileir.gpu.driver import Driver


class DeviceMemory:
    """Memory on the thread's device with a copy of `content`, at a multiple of `alignment`."""

    def __init__(self, driver: Driver, content: bytes, alignment: int = 1) -> None:
        allocated = driver.allocate(len(content) + alignment - 1)
        _at_end(self, driver, driver.free, allocated)
        self.address = -(-allocated // alignment) * alignment
        driver.upload(self.address, content)


class Library:
    """A cubin loaded on the thread's device; `what` names it if it is refused."""

    def __init__(self, driver: Driver, cubin: bytes, what: str) -> None:
        self.handle = driver.load(cubin, what)
        _at_end(self, driver, driver.unload, self.handle)


def _at_end(owner: object, driver: Driver, give_up: Callable[[Any], None], what: Any) -> None:
    weakref.finalize(owner, _give_up, driver, driver.device().ordinal, give_up, what).atexit = False


def _give_up(driver: Driver, ordinal: int, give_up: Callable[[Any], None], what: Any) -> None:
    with driver.on(ordinal):
        driver.drain()  # kernels may run that use it
        give_up(what)
