"""Asking for cache lines before they are read.

Does not know: what is worth asking for.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.elements import I32, PTR

CACHE_LINE = 64
"""Bytes of a line of the cache."""
FIRST_LEVEL, SECOND_LEVEL = 3, 2
"""The cache to fetch into, as ``llvm.prefetch`` counts."""

_DATA = 1


def prefetch(builder: ir.IRBuilder, address: ir.Value, level: int = SECOND_LEVEL, writes: bool = False) -> None:
    """Ask for the cache line at an address, which need not be memory; `writes`: to write it."""
    name = "llvm.prefetch.p0"
    function = builder.module.globals.get(name)
    if function is None:
        type = ir.FunctionType(ir.VoidType(), [PTR, I32, I32, I32])
        function = ir.Function(builder.module, type, name)
    builder.call(function, [address, I32(int(writes)), I32(level), I32(_DATA)])
