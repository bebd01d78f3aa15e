"""The cache of packed tiles: panels of a factor that stay for later loops, each tile known by its tag.

Panels have room for the tiles of a loop along K, and for several of those in as many ways. A tag is where its tile was
read from. Whoever writes there empties the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I64
from tileir.cpu.emit.emitter import Emitter, at_least_one, clear_bytes
from tileir.cpu.matmul.panels import TAG_BYTES, Factor, PanelPlace
from tileir.cpu.matmul.policy import PanelRoom

_STAY, _FIRST, _BEHIND, _OWN_FIRST, _OWN_BEHIND, _WAY, _BEFORE, _AGAIN, _WORDS = range(9)
"""Words in front of the tags: 1 if tiles may stay, the addresses from which and up to which the tensors lie whose tiles
have stayed, and those of the last one; of the last loop its way, the address of its first tile, and 1 if that was the
one of the loop before."""
_NOWHERE = -1, 0


@dataclass
class Panels:
    """The panels of one factor.

    Their tiles stay until memory is written where one of the tensors lies that they were read from. If it is the one
    that is read at present, tiles of the tile blocks to come do not stay.
    """

    room: PanelRoom
    memory: ir.Value
    which: ir.Value
    """The stack cell of the number of the present panel, which is chosen for the first tile in it."""
    way: ir.Value
    """The stack cell of the way of the loop, which is chosen for its first tile."""
    tags: ir.Value | None
    """None if there is one panel, in which nothing stays."""
    kept: ir.Value
    """An i1 that is set if panels stay; otherwise only the first one is used."""

    def begin(self, builder: ir.IRBuilder) -> None:
        """Begin with no tiles."""
        if self.tags is not None:
            _clear(builder, self.tags, self._tag_bytes)
            for word, number in enumerate((1, *_NOWHERE, *_NOWHERE, 0, 0, 0)):
                _put(builder, self.tags, word, I64(number))

    def keep(self, emit: Emitter, first: ir.Value, behind: ir.Value, is_right: ir.Value) -> None:
        """Keep tiles of a tensor that lies between two addresses, if that `is_right`, and none was written before."""
        if self.tags is None:
            return
        builder, tags = emit.builder, self.tags
        may_stay = builder.icmp_unsigned("!=", _word(builder, tags, _STAY), I64(0))
        self.kept = builder.and_(is_right, may_stay)
        with emit.when(self.kept):
            for word, address, relation in ((_FIRST, first, "<"), (_BEHIND, behind, ">")):
                known = _word(builder, tags, word)
                is_further = builder.icmp_unsigned(relation, address, known)
                _put(builder, tags, word, builder.select(is_further, address, known))
            _put(builder, tags, _OWN_FIRST, first)
            _put(builder, tags, _OWN_BEHIND, behind)

    def write(self, emit: Emitter, first: ir.Value, behind: ir.Value) -> None:
        """Forget the tiles if memory between two addresses, which is written, may be where they were read from."""
        if self.tags is None:
            return
        size = self._tag_bytes
        with emit.when(_overlaps(emit.builder, self.tags, _FIRST, first, behind), likely=False):
            key, arguments = ("forget", size), [self.tags, first, behind]
            emit.shared(key, arguments, lambda emit, given: _forget(emit.builder, given, size))

    @property
    def _tag_bytes(self) -> int:
        return self.room.ways * self.room.numbers * self.room.tiles * TAG_BYTES

    def place(self, emit: Emitter, source: Factor, number: ir.Value, tile: ir.Value, steps: int) -> PanelPlace:
        """Return the place of a tile of so many `steps`: `tile` of the panel `number` along K."""
        builder = emit.builder
        which = self._which(emit, source, number, tile)
        panel = builder.gep(self.memory, [builder.mul(which, I64(self.room.size))], source_etype=I8)
        tag = None
        if self.tags is not None and source.address is not None:
            tag = self._tag(builder, builder.add(builder.mul(which, I64(self.room.tiles)), tile))
        return PanelPlace(panel, self.room.tiles * steps, builder.mul(tile, I64(steps)), tag, self.kept)

    def _tag(self, builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
        """Return the address of the tag of a tile, by its number in all panels."""
        place = builder.add(builder.mul(number, I64(TAG_BYTES)), I64(8 * _WORDS))
        return builder.gep(self.tags, [place], source_etype=I8)

    def _which(self, emit: Emitter, source: Factor, number: ir.Value, tile: ir.Value) -> ir.Value:
        """Return the panel of a tile."""
        if self.tags is None or source.address is None or self.room.ways * self.room.numbers == 1:
            return I64(0)
        builder = emit.builder
        is_first = builder.icmp_unsigned("==", tile, I64(0))
        if self.room.ways > 1:
            begins = builder.and_(is_first, builder.icmp_unsigned("==", number, I64(0)))
            with emit.when(builder.and_(begins, self.kept)):
                builder.store(self._chosen_way(builder, source), self.way)
        inside = builder.icmp_unsigned("<", number, I64(self.room.numbers))
        number = builder.select(inside, number, I64(self.room.numbers - 1))
        way = builder.load(self.way, typ=I64) if self.room.ways > 1 else I64(0)
        mine = builder.add(builder.mul(way, I64(self.room.numbers)), number)
        which = builder.select(is_first, mine, builder.load(self.which, typ=I64))
        builder.store(which, self.which)
        return builder.select(self.kept, which, I64(0))

    def _chosen_way(self, builder: ir.IRBuilder, source: Factor) -> ir.Value:
        """Return the way of a loop with this first tile: that of the last loop if it has the tile, or if several loops
        took the same one, which is then done with. Its panels are in the cache."""
        assert source.address is not None
        own = self._way(builder, source)
        last, before, again = (_word(builder, self.tags, word) for word in (_WAY, _BEFORE, _AGAIN))
        is_there, is_own = (self._begins_with(builder, way, source.address) for way in (last, own))
        is_done = builder.and_(builder.icmp_unsigned("!=", again, I64(0)), builder.not_(is_own))
        way = builder.select(builder.or_(is_there, is_done), last, own)
        again = builder.zext(builder.icmp_unsigned("==", before, source.address), I64)
        for word, number in ((_WAY, way), (_BEFORE, source.address), (_AGAIN, again)):
            _put(builder, self.tags, word, number)
        return way

    def _begins_with(self, builder: ir.IRBuilder, way: ir.Value, address: ir.Value) -> ir.Value:
        """Emit a test of whether the first panel of a way begins with the tile at an address."""
        number = builder.mul(way, I64(self.room.numbers * self.room.tiles))
        return builder.icmp_unsigned("==", builder.load(self._tag(builder, number), typ=I64), address)

    def _way(self, builder: ir.IRBuilder, source: Factor) -> ir.Value:
        """Return the way of a tile: neighbours across K, whose addresses differ by the size of a tile across K, have
        different ways."""
        assert source.origin is not None and source.address is not None
        distance = builder.mul(source.origin.by_line, I64(source.lines * source.origin.element.byte_size))
        tile = builder.udiv(source.address, at_least_one(builder, distance))
        return builder.urem(tile, I64(self.room.ways))


def new_panels(emit: Emitter, room: PanelRoom) -> Panels:
    """Take memory for panels; those that stay have to begin when a thread begins with a launch (`Panels.begin`)."""
    count = room.ways * room.numbers
    tags = emit.buffer(8 * _WORDS + count * room.tiles * TAG_BYTES) if room.is_tagged else None
    return Panels(room, emit.buffer(count * room.size), emit.stack(I64), emit.stack(I64), tags, I1(0))


def _forget(builder: ir.IRBuilder, given: Sequence[ir.Value], size: int) -> None:
    """Clear so many bytes of tags, for memory that is written between two addresses: `given` are these three."""
    tags, first, behind = given
    _clear(builder, tags, size)
    is_read = _overlaps(builder, tags, _OWN_FIRST, first, behind)
    stay = builder.select(is_read, I64(0), _word(builder, tags, _STAY))
    own = [_word(builder, tags, word) for word in (_OWN_FIRST, _OWN_BEHIND)]
    for word, number in zip((_STAY, _FIRST, _BEHIND), (stay, *own)):
        _put(builder, tags, word, number)


def _clear(builder: ir.IRBuilder, tags: ir.Value, size: int) -> None:
    clear_bytes(builder, builder.gep(tags, [I64(_WORDS)], source_etype=I64), I64(size))


def _overlaps(builder: ir.IRBuilder, tags: ir.Value, word: int, first: ir.Value, behind: ir.Value) -> ir.Value:
    """Emit a test of whether memory lies between the two addresses from a word on, and two others."""
    begins = builder.icmp_unsigned("<", first, _word(builder, tags, word + 1))
    ends = builder.icmp_unsigned("<", _word(builder, tags, word), behind)
    return builder.and_(begins, ends)


def _word(builder: ir.IRBuilder, tags: ir.Value, word: int) -> ir.Value:
    return builder.load(builder.gep(tags, [I64(word)], source_etype=I64), typ=I64)


def _put(builder: ir.IRBuilder, tags: ir.Value, word: int, number: ir.Value) -> None:
    builder.store(number, builder.gep(tags, [I64(word)], source_etype=I64))
