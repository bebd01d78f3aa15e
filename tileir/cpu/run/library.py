"""The library of functions that checked kernels call, compiled once and kept in the cache like a kernel.

Knows: how it is compiled and found. Does not know: what its functions do (`cpu.memory.lookup`).
"""

from __future__ import annotations

from functools import cache as cached

from tileir.cache import Cache, key_of
from tileir.cpu.llvm.engine import Loaded, data_layout, host, object_code, toolchain
from tileir.cpu.memory.lookup import FUNCTIONS, library


class LoadedLibrary:
    """The library in this process; `addresses` are those of its functions, in order."""

    def __init__(self, code: bytes) -> None:
        self._loaded = Loaded(code, host(), FUNCTIONS)
        self.addresses = tuple(self._loaded.addresses[name] for name in FUNCTIONS)


@cached
def loaded_library(cache: Cache) -> LoadedLibrary:
    """The library for this machine, from the cache if it is there."""
    key = key_of(toolchain(), "library")
    found = cache.get(key)
    if found is not None:
        return LoadedLibrary(found[1])
    code = object_code(str(library(host().triple, data_layout(host()))), host())
    cache.put(key, (b"", code))
    return LoadedLibrary(code)
