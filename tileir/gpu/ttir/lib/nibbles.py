"""Tiles of f4E2M1FN in memory: two elements to a byte, the even one in the low half (spec: views#index-mapping).

If the elements of each byte are known to be neighbours in the tile, bytes are read and written. Otherwise each element
reads its byte; and it is written by a change of its bits in a 32-bit word in one step, so that it does not matter who
writes the others meanwhile.
"""

from __future__ import annotations

from dataclasses import replace

from tileir.gpu.ttir.ir.builder import RELAXED, WEAK, Builder, MemoryOrder
from tileir.gpu.ttir.ir.code import I64, TtirValue
from tileir.gpu.ttir.lib import scalars
from tileir.gpu.ttir.lib.subtiles import halves, joined
from tileir.gpu.ttir.lib.tiling import TileAxis, TileElements
from tileir.gpu.ttir.lib.words import Word
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir.attributes import AtomicMode

BOTH = 0x11
"""Times the bits of an element: a byte of two such."""


def load_nibbles(tile: TileElements, outside: int, order: MemoryOrder) -> TtirValue:
    """Return the bits of the elements; `outside` are those of elements outside."""
    build, (packed, pairs) = tile.lowering.build, _by_bytes(tile)
    if packed is not None:
        places, mask = packed.pointers(), packed.inside()
    else:
        numbers = Word(build, tile.offsets())
        places = build.op("tt.addptr", build.splat(tile.base, *tile.shape), (numbers >> 1).value)
        mask = tile.inside()
    found = Word(build, build.load(places, mask, build.bits(places.type.of("i8"), outside * BOTH), order))
    if packed is not None:
        return joined(build, (found & 15).value, (found >> 4).value, pairs, by_turns=True)
    return numbers.resized("i1").choose(found >> 4, found & 15).value


def store_nibbles(tile: TileElements, elements: TtirValue, order: MemoryOrder) -> None:
    """Write the elements, given by their bits."""
    build, (packed, pairs) = tile.lowering.build, _by_bytes(tile)
    if packed is None:
        _store_each(tile, elements, order)
        return
    low, high = (Word(build, half) for half in halves(build, elements, pairs, by_turns=True))
    both = low | (high << 4)
    places = packed.pointers()
    build.store(places, both.value, packed.inside(), order)


# ---------------------------------------------------------------- byte by byte


def _by_bytes(tile: TileElements) -> tuple[TileElements | None, int]:
    """Return the tile with two elements of a byte for one, and the dimension along which they are neighbours, if it is
    known that no byte has others than its elements."""
    for position, number in enumerate(tile.kept):
        paired = tile.axes[number]
        rest = [axis for axis in tile.axes if axis is not paired]
        if _is_paired(tile, paired) and all(_moves_by_bytes(tile.lowering, axis) for axis in rest):
            axes = [_by_pairs(tile.lowering, axis, axis is paired) for axis in tile.axes]
            return replace(tile, axes=axes), position
    return None, 0


def _is_paired(tile: TileElements, axis: TileAxis) -> bool:
    """Return whether the elements along a dimension fill bytes that the edge of the tensor does not split."""
    known = tile.lowering.known
    if axis.rows is not None or known.constant(axis.stride) != 1 or known.divisor(axis.start) < 2:
        return False
    return known.divisor(axis.extent) >= 2 or tile.is_inside(axis)


def _moves_by_bytes(lowering: TtirLowering, axis: TileAxis) -> bool:
    """Return whether the elements along a dimension lie whole bytes from the first of the tensor."""
    known = lowering.known
    return known.divisor(axis.stride) >= 2 or (axis.count == 1 and known.divisor(axis.start) >= 2)


def _by_pairs(lowering: TtirLowering, axis: TileAxis, paired: bool) -> TileAxis:
    """Return a dimension in bytes: its elements taken in pairs, or moved along by half the stride."""
    if paired:
        start, extent = (scalars.quotient(lowering, value, 2) for value in (axis.start, axis.extent))
        return replace(axis, count=axis.count // 2, start=start, extent=extent)
    if lowering.known.divisor(axis.stride) >= 2:
        return replace(axis, stride=scalars.quotient(lowering, axis.stride, 2))
    above = scalars.total(lowering, axis.extent, scalars.number(lowering, 1))
    start, extent = (scalars.quotient(lowering, value, 2) for value in (axis.start, above))
    return replace(axis, start=start, extent=extent)


# ---------------------------------------------------------------- element by element


def _store_each(tile: TileElements, elements: TtirValue, order: MemoryOrder) -> None:
    """Flip the bits that differ."""
    build = tile.lowering.build
    numbers, mask = tile.offsets(), tile.inside()
    words, shift = _words(build, tile.base, Word(build, numbers))
    before = Word(build, build.load(words, mask)) >> shift
    flips = ((before ^ Word(build, build.resized(elements, "i32", signed=False))) & 15) << shift
    build.atomic(AtomicMode.XOR, words, flips.value, mask, RELAXED if order == WEAK else order)


def _words(build: Builder, base: TtirValue, numbers: Word) -> tuple[TtirValue, Word]:
    """Return the address of the word that each element lies in, and how far up it stands there, as i32."""
    first = build.like(build.op("tt.ptr_to_int", base, type=I64), numbers.value)
    address = Word(build, first) + (numbers >> 1)
    words, odd = address & -4, numbers & 1
    place = ((address + address + odd) & 7).resized("i32")
    return build.op("tt.int_to_ptr", words.value, type=words.value.type.of("!tt.ptr<i32>")), place << 2
