"""The library of native code that kernels share, compiled once and kept in the cache like a kernel.

Knows: how it is compiled and found. Does not know: what its functions do (`cpu.memory.lookup`, `cpu.emit.driver`).
"""

from __future__ import annotations

from functools import cache as cached

from tileir.cache import Cache, key_of
from tileir.cpu.emit.record import DRIVER, LIBRARY_FUNCTIONS
from tileir.cpu.llvm.engine import Loaded, data_layout, host, object_code, toolchain


class LoadedLibrary:
    """The library in this process; `addresses` are those of the functions that kernels call, in order."""

    def __init__(self, code: bytes) -> None:
        self._loaded = Loaded(code, host(), (*LIBRARY_FUNCTIONS, DRIVER))
        self.addresses = tuple(self._loaded.addresses[name] for name in LIBRARY_FUNCTIONS)
        self.driver = self._loaded.addresses[DRIVER]


@cached
def loaded_library(cache: Cache) -> LoadedLibrary:
    """The library for this machine, from the cache if it is there; what makes it is imported where it is not."""
    key = key_of(toolchain(), "library")
    found = cache.get(key)
    if found is not None:
        return LoadedLibrary(found[1])
    code = object_code(text(), host())
    cache.put(key, (b"", code))
    return LoadedLibrary(code)


def text() -> str:
    """The library in LLVM's language, for this machine. What makes it is imported only where it is made."""
    from tileir.cpu.emit.driver import add_driver
    from tileir.cpu.memory.lookup import library

    module = library(host().triple, data_layout(host()))
    add_driver(module)
    return str(module)
