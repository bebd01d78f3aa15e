"""Runs of tiles: products of few rows wait while tiles of later iterations follow in memory along K.

Such a product takes the time of reading its right factor, and memory is read faster in long rows than tile by tile. A
run ends where the next tiles lie elsewhere, in the last iteration, and with a tile that is a copy.

Knows: which tiles make a run, of both factors or of one. Does not know: how a run is multiplied (`cpu.matmul.direct`,
`cpu.matmul.turned`), nor in which loops tiles may be read later (`cpu.lowering.deferred`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from llvmlite import ir

from tileir.cpu.emit.elements import I64, PTR
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.matmul.panels import Factor, Strided

MOST_BYTES = 1 << 11
"""Bytes of a line in a run whose lines are read again for each row: several of them stay in a first-level cache."""
LONGEST = 1 << 16
"""Bytes of a line in any other run."""

Multiply = Callable[[Sequence[Strided], ir.Value], None]
"""(the memory of each side, how many tiles) multiplies a run."""


@dataclass(frozen=True)
class RunSide:
    """The tiles of one factor, in stack cells: the first one, the elements from line to line, and the address of the
    tile that would follow."""

    base: ir.Value
    by_line: ir.Value
    following: ir.Value

    def joins(self, builder: ir.IRBuilder, tile: Factor) -> ir.Value:
        """An i1: whether a tile continues the run."""
        assert tile.memory is not None
        follows = builder.icmp_unsigned("==", tile.address, builder.load(self.following, typ=I64))
        is_alike = builder.icmp_unsigned("==", tile.memory.by_line, builder.load(self.by_line, typ=I64))
        return builder.and_(follows, is_alike)

    def add(self, builder: ir.IRBuilder, tile: Factor, joins: ir.Value) -> None:
        """Append a tile, or begin with it."""
        assert tile.memory is not None
        base = builder.select(joins, builder.load(self.base, typ=PTR), tile.memory.base)
        following = builder.add(tile.address, I64(tile.depth * tile.memory.element.byte_size))
        for word, cell in ((base, self.base), (tile.memory.by_line, self.by_line), (following, self.following)):
            builder.store(word, cell)

    def memory(self, builder: ir.IRBuilder, tile: Factor) -> Strided:
        """The run, whose tiles are of the kind of `tile`."""
        assert tile.memory is not None
        base, by_line = builder.load(self.base, typ=PTR), builder.load(self.by_line, typ=I64)
        return replace(tile.memory, base=base, by_line=by_line)


@dataclass(frozen=True)
class Run:
    """The tiles that wait, of each side as many; `tiles` is the stack cell of their number."""

    sides: tuple[RunSide, ...]
    tiles: ir.Value

    def begin(self, builder: ir.IRBuilder) -> None:
        """Nothing waits where the loop begins."""
        builder.store(I64(0), self.tiles)

    def add(
        self,
        emit: Emitter,
        factors: Sequence[Factor],
        most: ir.Value,
        last: ir.Value,
        multiply: Multiply,
        begin: Callable[[ir.Value], None] | None = None,
    ) -> None:
        """Append a tile of each side, and `multiply` runs that have ended: that hold so many at `most`, or are the
        `last`, an i1. `begin` is told how many tiles precede this one."""
        builder, tiles = emit.builder, emit.builder.load(self.tiles, typ=I64)
        sides = list(zip(self.sides, factors, strict=True))

        def multiply_run() -> None:
            multiply([side.memory(builder, tile) for side, tile in sides], builder.load(self.tiles, typ=I64))

        waits = builder.icmp_unsigned("!=", tiles, I64(0))
        joins = reduce(builder.and_, [side.joins(builder, tile) for side, tile in sides], waits)
        with emit.when(builder.and_(waits, builder.not_(joins))):
            multiply_run()
        before = builder.select(joins, tiles, I64(0))
        if begin is not None:
            begin(before)
        for side, tile in sides:
            side.add(builder, tile, joins)
        tiles = builder.add(before, I64(1))
        builder.store(tiles, self.tiles)
        copies = [builder.icmp_unsigned("==", tile.address, I64(0)) for tile in factors]
        is_full = builder.icmp_unsigned("==", tiles, most)
        with emit.when(reduce(builder.or_, [last, *copies, is_full])):
            multiply_run()
            builder.store(I64(0), self.tiles)


def most_tiles(builder: ir.IRBuilder, tile: Factor, rows: ir.Value) -> ir.Value:
    """Tiles of a run of both factors at most, of so many rows."""
    one, several = (I64(max(1, size // (tile.depth * tile.element.byte_size))) for size in (LONGEST, MOST_BYTES))
    return builder.select(builder.icmp_unsigned("==", rows, I64(1)), one, several)


def new_run(emit: Emitter, sides: int) -> Run:
    """An empty run of tiles in memory, of so many factors."""
    made = (RunSide(emit.stack(PTR), emit.stack(I64), emit.stack(I64)) for _ in range(sides))
    return Run(tuple(made), emit.stack(I64))
