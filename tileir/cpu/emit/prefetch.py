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


def prefetch(builder: ir.IRBuilder, address: ir.Value, level: int = SECOND_LEVEL) -> None:
    """Ask for the cache line at an address, which need not be memory."""
    name = "llvm.prefetch.p0"
    function = builder.module.globals.get(name)
    if function is None:
        type = ir.FunctionType(ir.VoidType(), [PTR, I32, I32, I32])
        function = ir.Function(builder.module, type, name)
    reading, data = I32(0), I32(1)
    builder.call(function, [address, reading, I32(level), data])
