"""Fetching the next tile of a factor while this one is multiplied, and what the result will overwrite.

A loop along K reads, at its next step, what lies behind this tile along K. Its rows are far apart, so that the
processor does not foresee them; each register block asks for a few of their cache lines. So do those of a result, which
a block asks for before it makes its last sums. Asking is free to be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.elements import I8, I64
from tileir.cpu.emit.emitter import CACHE_LINE, Emitter, prefetch
from tileir.cpu.matmul.panels import Strided
from tileir.ir import types as t

MOST_LINES = 64
"""A register block that would have to ask for more of them asks for none: the processor could not keep up."""


@dataclass(frozen=True)
class Prefetch:
    """The cache lines of the tile behind `memory`, spread over `blocks` register blocks.

    A *run* is what lies side by side: a line along K, or a step of K along the lines. It rarely begins with a cache
    line, so it touches one more than it fills; along K that one is known already, as the last of this tile.
    """

    memory: Strided
    lines: int
    depth: int
    blocks: int

    def fetch(self, emit: Emitter, block: ir.Value) -> None:
        """Ask for the share of block number `block`: some runs, or a part of one."""
        builder, size = emit.builder, self.memory.element.byte_size
        along_lines = self.memory.along_lines
        extent, runs = (self.lines, self.depth) if along_lines else (self.depth, self.lines)
        stride = self.memory.by_k if along_lines else self.memory.by_line
        wanted = max(1, extent * size // CACHE_LINE) + along_lines
        parts = max(1, self.blocks // runs)
        share = -(-wanted // parts)
        first = 0 if along_lines else CACHE_LINE - 1
        start = builder.mul(builder.urem(block, I64(parts)), I64(share * CACHE_LINE))
        base = builder.gep(self.memory.base, [self._following(builder, size)], source_etype=I8)
        count = max(1, runs // self.blocks)
        if count * share > MOST_LINES:
            return
        for number in range(count):
            run = builder.add(builder.mul(block, I64(count)), I64(number))
            run = builder.mul(builder.udiv(run, I64(parts)), builder.mul(stride, I64(size)))
            for line in range(share):
                offset = builder.add(builder.add(run, start), I64(first + line * CACHE_LINE))
                prefetch(builder, builder.gep(base, [offset], source_etype=I8))

    def _following(self, builder: ir.IRBuilder, size: int) -> ir.Value:
        """The distance of the next tile, in bytes."""
        return builder.mul(self.memory.by_k, I64(self.depth * size))


@dataclass(frozen=True)
class Overwritten:
    """The memory that a result goes to, row by row: its first element, the elements from row to row, and an i1, whether
    asking for it is worth while."""

    element: t.ElementType
    base: ir.Value
    by_row: ir.Value
    is_worth_while: ir.Value

    def fetch(self, emit: Emitter, row: ir.Value, column: ir.Value, rows: int, columns: int) -> None:
        """Ask for so many rows and columns from a place on, to write them."""
        builder, size = emit.builder, self.element.byte_size
        for below in range(rows):
            place = builder.add(builder.mul(builder.add(row, I64(below)), self.by_row), column)
            line = builder.gep(self.base, [builder.mul(place, I64(size))], source_etype=I8)
            for ahead in range(0, columns * size, CACHE_LINE):
                prefetch(builder, builder.gep(line, [I64(ahead)], source_etype=I8), writes=True)
