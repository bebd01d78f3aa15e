"""Tiles of f4E2M1FN in memory: two elements to a byte, the even one in the low half (spec: views#index-mapping).

If the elements of each byte are known to be neighbours in the tile, bytes are read and written. Otherwise each element
reads its byte; and it is written by a change of its bits in a 32-bit word in one step, so that it does not matter who
writes the others meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.gpu.ttir.ir.builder import RELAXED, WEAK, MemoryOrder
from tileir.gpu.ttir.ir.code import I64, TtirValue
from tileir.gpu.ttir.lib import scalars
from tileir.gpu.ttir.lib.subtiles import halves, joined
from tileir.gpu.ttir.lib.tiling import TileAxis, inside, offsets, pointers, squeezed, surely_inside
from tileir.gpu.ttir.lib.words import Word
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir.attributes import AtomicMode

BOTH = 0x11
"""Times the bits of an element: a byte of two such."""


@dataclass(frozen=True)
class Bytes:
    """A tile accessed by bytes: its dimensions, where the one at `pairs` in `kept` counts pairs of elements."""

    axes: list[TileAxis]
    kept: list[TileAxis]
    pairs: int


def load_nibbles(
    lowering: TtirLowering, base: TtirValue, axes: Sequence[TileAxis], outside: int, order: MemoryOrder
) -> TtirValue:
    """Return the bits of the elements, in the dimensions of more than one; `outside` are those of elements outside."""
    build, packed = lowering.build, _by_bytes(lowering, axes)
    if packed is not None:
        places, mask = pointers(lowering, base, packed.axes, packed.kept), inside(lowering, packed.axes, packed.kept)
    else:
        kept = squeezed(axes)
        numbers = Word(build, offsets(lowering, axes, kept))
        places = build.op("tt.addptr", build.splat(base, *numbers.value.type.shape), (numbers >> 1).value)
        mask = inside(lowering, axes, kept)
    found = Word(build, build.load(places, mask, build.bits(places.type.of("i8"), outside * BOTH), order))
    if packed is not None:
        return joined(build, (found & 15).value, (found >> 4).value, packed.pairs, by_turns=True)
    return numbers.resized("i1").choose(found >> 4, found & 15).value


def store_nibbles(
    lowering: TtirLowering, base: TtirValue, axes: Sequence[TileAxis], tile: TtirValue, order: MemoryOrder
) -> None:
    """Write the elements, given by their bits in the dimensions of more than one."""
    build, packed = lowering.build, _by_bytes(lowering, axes)
    if packed is None:
        _store_each(lowering, base, axes, tile, order)
        return
    low, high = (Word(build, half) for half in halves(build, tile, packed.pairs, by_turns=True))
    both = low | (high << 4)
    places = pointers(lowering, base, packed.axes, packed.kept)
    build.store(places, both.value, inside(lowering, packed.axes, packed.kept), order)


# ---------------------------------------------------------------- byte by byte


def _by_bytes(lowering: TtirLowering, axes: Sequence[TileAxis]) -> Bytes | None:
    """Return the tile with two elements of a byte for one, if it is known that no byte has others than its elements."""
    kept = squeezed(axes)
    for position, paired in enumerate(kept):
        rest = [axis for axis in axes if axis is not paired]
        if _is_paired(lowering, paired) and all(_moves_by_bytes(lowering, axis) for axis in rest):
            packed = [_by_pairs(lowering, axis, axis is paired) for axis in axes]
            return Bytes(packed, [found for found, axis in zip(packed, axes) if axis.count > 1], position)
    return None


def _is_paired(lowering: TtirLowering, axis: TileAxis) -> bool:
    """Return whether the elements along a dimension fill bytes that the edge of the tensor does not split."""
    known = lowering.known
    if axis.rows is not None or known.constant(axis.stride) != 1 or known.divisor(axis.start) < 2:
        return False
    return known.divisor(axis.extent) >= 2 or axis.promised or surely_inside(lowering, axis)


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


def _store_each(
    lowering: TtirLowering, base: TtirValue, axes: Sequence[TileAxis], tile: TtirValue, order: MemoryOrder
) -> None:
    """Flip the bits that differ."""
    build, kept = lowering.build, squeezed(axes)
    numbers, mask = offsets(lowering, axes, kept), inside(lowering, axes, kept)
    words, shift = _words(lowering, base, Word(build, numbers))
    before = Word(build, build.load(words, mask)) >> shift
    flips = ((before ^ Word(build, build.resized(tile, "i32", signed=False))) & 15) << shift
    build.atomic(AtomicMode.XOR, words, flips.value, mask, RELAXED if order == WEAK else order)


def _words(lowering: TtirLowering, base: TtirValue, numbers: Word) -> tuple[TtirValue, Word]:
    """Return the address of the word that each element lies in, and how far up it stands there, as i32."""
    build = lowering.build
    first = build.like(build.op("tt.ptr_to_int", base, type=I64), numbers.value)
    address = Word(build, first) + (numbers >> 1)
    words, odd = address & -4, numbers & 1
    place = ((address + address + odd) & 7).resized("i32")
    return build.op("tt.int_to_ptr", words.value, type=words.value.type.of("!tt.ptr<i32>")), place << 2
