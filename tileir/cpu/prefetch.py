"""Fetching the next tile of a factor while this one is multiplied.

A loop along K reads, at its next step, what lies behind this tile along K. Its rows are far apart, so that the
processor does not foresee them; each register block asks for a few of their cache lines. Asking is free to be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.elements import I8, I32, I64, PTR, memory_bytes
from tileir.cpu.emitter import Emitter
from tileir.cpu.panels import Strided

CACHE_LINE = 64
SECOND_LEVEL = 2
"""Which cache to fetch into, as ``llvm.prefetch`` counts."""


@dataclass(frozen=True)
class Prefetch:
    """The cache lines of the tile behind `memory`, spread over `blocks` register blocks."""

    memory: Strided
    lines: int
    depth: int
    blocks: int

    def fetch(self, emit: Emitter, block: ir.Value) -> None:
        """Ask for the share of block number `block`."""
        builder, size = emit.builder, memory_bytes(self.memory.element)
        along, across = (self.lines, self.depth) if self.memory.along_lines else (self.depth, self.lines)
        stride = self.memory.by_k if self.memory.along_lines else self.memory.by_line
        in_run = max(1, along * size // CACHE_LINE)
        share = -(-in_run * across // self.blocks)
        following = builder.mul(self.memory.by_k, I64(self.depth * size))
        base = builder.gep(self.memory.base, [following], source_etype=I8)
        for part in range(share):
            number = builder.add(builder.mul(block, I64(share)), I64(part))
            run = builder.mul(builder.udiv(number, I64(in_run)), builder.mul(stride, I64(size)))
            within = builder.mul(builder.urem(number, I64(in_run)), I64(CACHE_LINE))
            _prefetch(builder, builder.gep(base, [builder.add(run, within)], source_etype=I8))


def _prefetch(builder: ir.IRBuilder, address: ir.Value) -> None:
    name = "llvm.prefetch.p0"
    function = builder.module.globals.get(name)
    if function is None:
        type = ir.FunctionType(ir.VoidType(), [PTR, I32, I32, I32])
        function = ir.Function(builder.module, type, name)
    reading, data = I32(0), I32(1)
    builder.call(function, [address, reading, I32(SECOND_LEVEL), data])
