"""Panels that stay from tile block to tile block: neighbours read the same tiles, which are packed already.

Tile blocks of a band share rows of the left factor, and meet the columns of the right one again with the next rows. A
thread has panels for some of them, and for the first steps along K; a tag for each tile in them says from which memory
it was packed. That is right as long as the launch does not change that memory.

Knows: where a tile has its place among the panels, and whether it is there. Does not know: how panels are filled, nor
for which products it is right and worth while (`cpu.lowering.deferred`, `cpu.lowering.repeated`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I64, PTR
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.matmul.panels import Factor, PanelPlace

WAYS = 8
"""Tiles side by side across K that have panels: as many as a band of tile blocks is wide (`cpu.emit.record`)."""
MOST_NUMBERS = 16
"""Panels along K that stay; those of later steps take turns in the last one."""
MOST_BYTES = 16 << 20
"""Size of all panels of a factor."""
_TAG = 4 * 8
"""Bytes of a tag: an address, 0 for none, the distances of lines and of steps along K, and the number of lines."""


@dataclass(frozen=True)
class Panels:
    """`ways` x `numbers` panels of `size` bytes for one factor, each for `tiles` tiles."""

    memory: ir.Value
    size: int
    tiles: int
    ways: int
    numbers: int
    which: ir.Value
    """The stack cell of the present panel: the first tile in it decides, the others follow."""
    tags: ir.Value | None
    """None if there is one panel, in which nothing stays."""
    kept: ir.Value
    """An i1: whether panels stay; only the first one is used if not."""

    def forget(self, builder: ir.IRBuilder) -> None:
        """Clear the tags."""
        if self.tags is None:
            return
        name, size = "llvm.memset.p0.i64", self.ways * self.numbers * self.tiles * _TAG
        if name not in builder.module.globals:
            ir.Function(builder.module, ir.FunctionType(ir.VoidType(), [PTR, I8, I64, I1]), name)
        builder.call(builder.module.globals[name], [self.tags, I8(0), I64(size), I1(0)])

    def place(self, emit: Emitter, source: Factor, number: ir.Value, tile: ir.Value, steps: int) -> KeptPlace:
        """The place of a tile of so many `steps`: `tile` of the panel `number` along K."""
        builder = emit.builder
        which = self._which(builder, source, number, tile)
        panel = builder.gep(self.memory, [builder.mul(which, I64(self.size))], source_etype=I8)
        place = PanelPlace(panel, self.tiles * steps, builder.mul(tile, I64(steps)))
        if self.tags is None or source.address is None:
            return KeptPlace(place, None, I1(0))
        tag = builder.add(builder.mul(which, I64(self.tiles)), tile)
        found = builder.gep(self.tags, [builder.mul(tag, I64(_TAG))], source_etype=I8)
        return KeptPlace(place, found, self.kept)

    def _which(self, builder: ir.IRBuilder, source: Factor, number: ir.Value, tile: ir.Value) -> ir.Value:
        """The panel of a tile."""
        if self.tags is None or source.address is None or self.ways * self.numbers == 1:
            return I64(0)
        inside = builder.icmp_unsigned("<", number, I64(self.numbers))
        number = builder.select(inside, number, I64(self.numbers - 1))
        mine = builder.add(builder.mul(self._way(builder, source), I64(self.numbers)), number)
        is_first = builder.icmp_unsigned("==", tile, I64(0))
        which = builder.select(is_first, mine, builder.load(self.which, typ=I64))
        builder.store(which, self.which)
        return builder.select(self.kept, which, I64(0))

    def _way(self, builder: ir.IRBuilder, source: Factor) -> ir.Value:
        """Neighbours across K, whose addresses differ by the size of a tile across K, have different ways."""
        if self.ways == 1:
            return I64(0)
        assert source.memory is not None
        distance = builder.mul(source.memory.by_line, I64(source.lines * source.element.byte_size))
        distance = builder.select(builder.icmp_unsigned("==", distance, I64(0)), I64(1), distance)
        return builder.urem(builder.udiv(source.address, distance), I64(self.ways))


@dataclass(frozen=True)
class KeptPlace:
    """The place of a tile in a panel, and the tag there, if there are any."""

    place: PanelPlace
    tag: ir.Value | None
    kept: ir.Value

    @contextmanager
    def unless_packed(self, emit: Emitter, source: Factor, serves: ir.Value | None = None) -> Iterator[None]:
        """Code to pack the tile with, which runs if the panel does not hold it; from then on it does. Nor does it run
        if the tile `serves` as it lies, an i1, where no panel stays.
        """
        if self.tag is None:
            with nullcontext() if serves is None else emit.when(emit.builder.not_(serves)):
                yield
            return
        assert source.memory is not None
        builder = emit.builder
        cells = [builder.gep(self.tag, [I64(8 * word)], source_etype=I8) for word in range(_TAG // 8)]
        valid = builder.and_(self.kept, builder.icmp_unsigned("!=", source.address, I64(0)))
        address = builder.select(valid, source.address, I64(0))
        words = [address, source.memory.by_line, source.memory.by_k, source.lines_needed]
        packed = valid
        for cell, word in zip(cells, words):
            packed = builder.and_(packed, builder.icmp_unsigned("==", builder.load(cell, typ=I64), word))
        if serves is not None:
            packed = builder.or_(packed, serves)
        with emit.when(builder.not_(packed)):
            for cell, word in zip(cells, words):
                builder.store(word, cell)
            yield


def new_panels(emit: Emitter, size: int, tiles: int, ways: int, most: int = MOST_NUMBERS) -> Panels:
    """Panels of `size` bytes, rounded up to lines of the cache: one, or as many as are kept in so many `ways`.

    At most so many along K.

    The tags of kept ones have to be cleared when a thread begins with a launch (`Panels.forget`).
    """
    size = -(-size // 64) * 64
    numbers = min(most, MOST_BYTES // size // ways) if ways else 0
    if not numbers:
        return Panels(emit.buffer(size), size, tiles, 1, 1, emit.stack(I64), None, I1(0))
    tags = emit.buffer(ways * numbers * tiles * _TAG)
    return Panels(emit.buffer(ways * numbers * size), size, tiles, ways, numbers, emit.stack(I64), tags, I1(0))
