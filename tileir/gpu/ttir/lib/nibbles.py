"""Tiles of f4E2M1FN in memory: two elements to a byte, the even one in the low half (spec: views#index-mapping).

If the elements of each byte are known to be neighbours in the tile, bytes are read and written. Otherwise each element
reads its byte; and it is written by a change of its bits in a 32-bit word in one step, so that it does not matter who
writes the others meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I64, TtirValue
from tileir.gpu.ttir.lib import scalars, transfers
from tileir.gpu.ttir.lib.tiling import TileAxis, inside, offsets, pointers, squeezed, surely_inside
from tileir.gpu.ttir.lib.transfers import SCOPES, SEMANTICS
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir.attributes import MemoryOrdering, MemoryScope

XOR = 3
"""Triton's number of an atomic exclusive or."""

BOTH = 0x11
"""Times the bits of an element: a byte of two such."""


@dataclass(frozen=True)
class Bytes:
    """A tile accessed by bytes: its dimensions, where the one at `pairs` in `kept` counts pairs of elements."""

    axes: list[TileAxis]
    kept: list[TileAxis]
    pairs: int


def load_nibbles(
    lowering: TtirLowering,
    base: TtirValue,
    axes: Sequence[TileAxis],
    outside: int,
    ordering: MemoryOrdering,
    scope: MemoryScope | None,
) -> TtirValue:
    """Return the bits of the elements, in the dimensions of more than one; `outside` are those of elements outside."""
    build, packed = lowering.build, _by_bytes(lowering, axes)
    if packed is not None:
        places = pointers(lowering, base, packed.axes, packed.kept)
        mask = inside(lowering, packed.axes, packed.kept)
        found = _load_bytes(lowering, places, mask, outside, ordering, scope)
        return _interleaved(build, _low(build, found), _high(build, found), packed.pairs)
    kept = squeezed(axes)
    numbers = offsets(lowering, axes, kept)
    places = build.op("tt.addptr", build.splat(base, *numbers.type.shape), _byte(build, numbers))
    found = _load_bytes(lowering, places, inside(lowering, axes, kept), outside, ordering, scope)
    return build.select(_is_odd(build, numbers), _high(build, found), _low(build, found))


def _load_bytes(
    lowering: TtirLowering,
    places: TtirValue,
    mask: TtirValue | None,
    outside: int,
    ordering: MemoryOrdering,
    scope: MemoryScope | None,
) -> TtirValue:
    other = lowering.build.bits(places.type.of("i8"), outside * BOTH)
    return transfers.load(lowering, places, mask, other, ordering, scope)


def store_nibbles(
    lowering: TtirLowering,
    base: TtirValue,
    axes: Sequence[TileAxis],
    tile: TtirValue,
    ordering: MemoryOrdering,
    scope: MemoryScope | None,
) -> None:
    """Write the elements, given by their bits in the dimensions of more than one."""
    build, packed = lowering.build, _by_bytes(lowering, axes)
    if packed is None:
        _store_each(lowering, base, axes, tile, ordering, scope)
        return
    low, high = _parted(build, tile, packed.pairs)
    both = build.op("arith.ori", low, build.op("arith.shli", high, build.integer(high.type, 4)))
    places = pointers(lowering, base, packed.axes, packed.kept)
    transfers.store(lowering, places, both, inside(lowering, packed.axes, packed.kept), ordering, scope)


def _low(build: Builder, found: TtirValue) -> TtirValue:
    return build.op("arith.andi", found, build.integer(found.type, 15))


def _high(build: Builder, found: TtirValue) -> TtirValue:
    return build.op("arith.shrui", found, build.integer(found.type, 4))


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


def _interleaved(build: Builder, first: TtirValue, second: TtirValue, axis: int) -> TtirValue:
    """Return the elements of two tensors by turns along `axis`."""
    shape = list(first.type.shape)
    rank = len(shape)
    pairs = build.op("tt.join", first, second, type=first.type.shaped(*shape, 2))
    shape[axis] *= 2
    return build.reshape(build.transpose(pairs, *range(axis + 1), rank, *range(axis + 1, rank)), *shape)


def _parted(build: Builder, tile: TtirValue, axis: int) -> tuple[TtirValue, TtirValue]:
    """Return the even and the odd elements along `axis`."""
    shape = list(tile.type.shape)
    shape[axis : axis + 1] = [shape[axis] // 2, 2]
    rank = len(shape)
    pairs = build.transpose(build.reshape(tile, *shape), *(i for i in range(rank) if i != axis + 1), axis + 1)
    half = tile.type.shaped(*pairs.type.shape[:-1])
    even, odd = build.insert("tt.split", [pairs], [half, half])
    return even, odd


# ---------------------------------------------------------------- element by element


def _byte(build: Builder, numbers: TtirValue) -> TtirValue:
    """Return the number of the byte that holds an element, counted from the first."""
    return build.op("arith.shrui", numbers, build.integer(numbers.type, 1))


def _is_odd(build: Builder, numbers: TtirValue) -> TtirValue:
    return build.cast("arith.trunci", numbers, "i1")


def _store_each(
    lowering: TtirLowering,
    base: TtirValue,
    axes: Sequence[TileAxis],
    tile: TtirValue,
    ordering: MemoryOrdering,
    scope: MemoryScope | None,
) -> None:
    """Flip the bits that differ."""
    build, kept = lowering.build, squeezed(axes)
    numbers, mask = offsets(lowering, axes, kept), inside(lowering, axes, kept)
    words, shift = _words(lowering, base, numbers)
    before = build.op("arith.shrui", transfers.load(lowering, words, mask), shift)
    different = build.op("arith.xori", before, build.resized(tile, "i32", signed=False))
    flips = build.op("arith.shli", build.op("arith.andi", different, build.integer(different.type, 15)), shift)
    build.op(
        "tt.atomic_rmw",
        words,
        flips,
        build.truth(True, flips.type.shape) if mask is None else mask,
        type=flips.type,
        atomic_rmw_op=XOR,
        sem=SEMANTICS[MemoryOrdering.RELAXED if scope is None else ordering],
        scope=SCOPES[scope or MemoryScope.DEVICE],
    )


def _words(lowering: TtirLowering, base: TtirValue, numbers: TtirValue) -> tuple[TtirValue, TtirValue]:
    """Return the address of the word that each element lies in, and how far up it stands there, as i32."""
    build = lowering.build
    first = build.like(build.op("tt.ptr_to_int", base, type=I64), numbers)
    address = build.op("arith.addi", first, _byte(build, numbers))
    words = build.op("arith.andi", address, build.integer(address.type, -4))
    odd = build.op("arith.andi", numbers, build.integer(numbers.type, 1))
    halves = build.op("arith.addi", build.op("arith.addi", address, address), odd)
    place = build.resized(build.op("arith.andi", halves, build.integer(halves.type, 7)), "i32", signed=False)
    shift = build.op("arith.shli", place, build.integer(place.type, 2))
    return build.op("tt.int_to_ptr", words, type=words.type.of("!tt.ptr<i32>")), shift
