"""Operations that move elements within tiles, and `pack` and `unpack` (spec: shapes#top, spec: packing#top)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tileir.host import undefined
from tileir.interp.api import PureRule
from tileir.interp.faults import Fault
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.ir.types import I1, I4, ElementType, PointerType
from tileir.numerics import bits
from tileir.ops.packing import Pack, Unpack
from tileir.ops.shapes import Broadcast, Cat, Extract, Insert, Permute, Reshape

pure: Rules[PureRule] = Rules()

Array = np.ndarray
Unary = Callable[[Array], Array]

COPIED_ELEMENTS = 1 << 12
"""Up to this size a broadcast tile is cheaper to copy than to describe as a view."""


@pure(Broadcast)
def _broadcast(op: Broadcast) -> Unary:
    ty = op.result.tile
    shape, dtype = ty.shape, dtype_of(ty.element)
    if ty.count > COPIED_ELEMENTS:
        return lambda source: np.broadcast_to(source, shape)

    def copied(source: Array) -> Array:
        result = np.empty(shape, dtype)
        result[...] = source
        return result

    return copied


@pure(Reshape)
def _reshape(op: Reshape) -> Unary:
    shape = op.result.tile.shape
    return lambda source: source.reshape(shape)


@pure(Permute)
def _permute(op: Permute) -> Unary:
    axes = tuple(op.permutation)
    return lambda source: source.transpose(axes)


@pure(Cat)
def _cat(op: Cat) -> Callable[[Array, Array], Array]:
    axis = op.dim
    return lambda lhs, rhs: np.concatenate((lhs, rhs), axis)


@pure(Extract)
def _extract(op: Extract) -> Callable[[Array, tuple[Array, ...]], Array]:
    place = _subtile(op.source.tile.shape, op.result.tile.shape)
    return lambda source, indices: source[place(indices)]


@pure(Insert)
def _insert(op: Insert) -> Callable[[Array, Array, tuple[Array, ...]], Array]:
    place = _subtile(op.destination.tile.shape, op.source.tile.shape)

    def insert(source: Array, destination: Array, indices: tuple[Array, ...]) -> Array:
        where = place(indices)
        result = np.array(destination)
        result[where] = source
        return result

    return insert


def _subtile(whole: Sequence[int], part: Sequence[int]) -> Callable[[tuple[Array, ...]], tuple[slice, ...]]:
    """Return the place of the subtile with given indices; they are unsigned and count subtiles."""
    counts = tuple(extent // size for extent, size in zip(whole, part))

    def place(indices: tuple[Array, ...]) -> tuple[slice, ...]:
        numbers = tuple(map(int, indices))
        if any(not 0 <= number < count for number, count in zip(numbers, counts)):
            unsigned = [number % (1 << 32) for number in numbers]
            raise Fault(undefined.no_subtile(unsigned, counts), index=tuple(unsigned))
        return tuple(slice(number * size, (number + 1) * size) for number, size in zip(numbers, part))

    return place


def pack_bytes(element: ElementType | PointerType) -> Callable[[Array], Array]:
    """Return the stream of a rank-1 tile of `element`, as i8."""
    if element is I1:
        return lambda source: np.packbits(source, bitorder="little").view(np.int8)
    if element.bits == 4:
        return lambda source: bits.packed(np.ascontiguousarray(source)).view(np.int8)
    return lambda source: np.ascontiguousarray(source).view(np.int8)


def unpack_bytes(element: ElementType | PointerType) -> Callable[[Array], Array]:
    """Return the rank-1 tile of `element` whose stream the i8 tile is."""
    dtype = dtype_of(element)
    if element is I1:
        return lambda source: np.unpackbits(source.view(np.uint8), bitorder="little").view(dtype)
    if element is I4:
        return lambda source: _sign_extended(bits.unpacked(source))
    if element.bits == 4:
        return lambda source: bits.unpacked(source).view(dtype)
    return lambda source: np.ascontiguousarray(source).view(dtype)


def _sign_extended(patterns: Array) -> Array:
    return ((patterns ^ np.uint8(8)).view(np.int8)) - np.int8(8)


@pure(Pack)
def _pack(op: Pack) -> Unary:
    return pack_bytes(op.source.tile.element)


@pure(Unpack)
def _unpack(op: Unpack) -> Unary:
    return unpack_bytes(op.result.tile.element)
