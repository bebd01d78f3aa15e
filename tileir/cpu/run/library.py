"""The library of functions that checked kernels call, compiled once and kept in the cache like a kernel.

Knows: how it is compiled and found. Does not know: what its functions do (`cpu.memory.lookup`).
"""

from __future__ import annotations

from functools import cache as cached

from tileir.cache import Cache, key_of
from tileir.cpu.emit.record import LIBRARY_FUNCTIONS
from tileir.cpu.llvm.engine import Loaded, data_layout, host, object_code, toolchain


class LoadedLibrary:
    """The library in this process; `addresses` are those of its functions, in order."""

    def __init__(self, code: bytes) -> None:
        self._loaded = Loaded(code, host(), LIBRARY_FUNCTIONS)
        self.addresses = tuple(self._loaded.addresses[name] for name in LIBRARY_FUNCTIONS)


@cached
def loaded_library(cache: Cache) -> LoadedLibrary:
    """The library for this machine, from the cache if it is there; what makes it is imported where it is not."""
    key = key_of(toolchain(), "library")
    found = cache.get(key)
    if found is not None:
        return LoadedLibrary(found[1])
    from tileir.cpu.memory.lookup import library

    code = object_code(str(library(host().triple, data_layout(host()))), host())
    cache.put(key, (b"", code))
    return LoadedLibrary(code)
