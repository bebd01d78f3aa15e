"""The core operations (specification, operations 3): constants, shapes, packing, selection, pointers, the grid.

Knows: how elements are moved, and addresses computed.
Does not know: `reduce` and `scan` (`reduction`), arithmetic (`numerics`).

Shape operations give views where NumPy can: values are never written to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tileir.interp.api import BlockState, Coordinates, EffectRule, Fault, PureRule, StrictRule
from tileir.interp.failures import first_index
from tileir.interp.packing import pack_bytes, unpack_bytes
from tileir.ir.core import Value
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.ir.types import PointerType, TileType
from tileir.ops.core import (
    Broadcast,
    Cat,
    Constant,
    Extract,
    GetGlobal,
    GetNumTileBlocks,
    GetTileBlockId,
    Insert,
    Iota,
    Offset,
    Pack,
    Permute,
    Reshape,
    Select,
    Unpack,
)

pure: Rules[PureRule] = Rules()
effects: Rules[EffectRule] = Rules()
strict: Rules[StrictRule] = Rules()

Array = np.ndarray
Unary = Callable[[Array], Array]

COPIED_ELEMENTS = 1 << 12
"""Up to this size a broadcast tile is cheaper to copy than to describe as a view."""


def tile_type(value: Value) -> TileType:
    """The type of a value that the specification says is a tile."""
    ty = value.type
    assert isinstance(ty, TileType), f"expected a tile, got {ty!r}"
    return ty


@pure(Constant)
def _constant(op: Constant) -> Callable[[], Array]:
    ty = tile_type(op.result)
    data = np.frombuffer(op.value.data, np.uint8).view(dtype_of(ty.element))
    content = np.broadcast_to(data.reshape(()), ty.shape) if op.value.is_splat else data.reshape(ty.shape)
    value = content[()]
    return lambda: value


@pure(Iota)
def _iota(op: Iota) -> Callable[[], Array]:
    ty = tile_type(op.result)
    content = np.arange(ty.count).astype(dtype_of(ty.element))
    return lambda: content


@pure(Broadcast)
def _broadcast(op: Broadcast) -> Unary:
    ty = tile_type(op.result)
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
    shape = tile_type(op.result).shape
    return lambda source: source.reshape(shape)


@pure(Permute)
def _permute(op: Permute) -> Unary:
    axes = tuple(op.permutation)
    return lambda source: source.transpose(axes)


@pure(Cat)
def _cat(op: Cat) -> Callable[[Array, Array], Array]:
    axis = op.dim
    return lambda lhs, rhs: np.concatenate((lhs, rhs), axis)


@pure(Select)
def _select(op: Select) -> Callable[[Array, Array, Array], Array]:
    return np.where


@pure(Extract)
def _extract(op: Extract) -> Callable[[Array, tuple[Array, ...]], Array]:
    place = _subtile(tile_type(op.source).shape, tile_type(op.result).shape)
    return lambda source, indices: source[place(indices)]


@pure(Insert)
def _insert(op: Insert) -> Callable[[Array, Array, tuple[Array, ...]], Array]:
    place = _subtile(tile_type(op.destination).shape, tile_type(op.source).shape)

    def insert(source: Array, destination: Array, indices: tuple[Array, ...]) -> Array:
        where = place(indices)
        result = np.array(destination)
        result[where] = source
        return result

    return insert


def _subtile(whole: Sequence[int], part: Sequence[int]) -> Callable[[tuple[Array, ...]], tuple[slice, ...]]:
    """Where the subtile with given indices lies; indices are unsigned and count subtiles."""
    counts = tuple(extent // size for extent, size in zip(whole, part))

    def place(indices: tuple[Array, ...]) -> tuple[slice, ...]:
        numbers = tuple(map(int, indices))
        if any(not 0 <= number < count for number, count in zip(numbers, counts)):
            unsigned = [number % (1 << 32) for number in numbers]
            raise Fault(f"subtile index {unsigned} is outside {list(counts)} subtiles", index=tuple(unsigned))
        return tuple(slice(number * size, (number + 1) * size) for number, size in zip(numbers, part))

    return place


@pure(Pack)
def _pack(op: Pack) -> Unary:
    return pack_bytes(tile_type(op.source).element)


@pure(Unpack)
def _unpack(op: Unpack) -> Unary:
    return unpack_bytes(tile_type(op.result).element)


@pure(Offset)
def _offset(op: Offset) -> Callable[[Array, Array], Array]:
    """Signed offsets, addresses modulo 2^64 (specification, operations 3.12)."""
    displacement = _displacement(op)
    return lambda ptr, offset: ptr + displacement(offset).view(np.uint64)


def _displacement(op: Offset) -> Unary:
    """Offsets as byte displacements (int64, modulo 2^64): toward zero where two elements share a byte."""
    pointer, offset = tile_type(op.ptr).element, tile_type(op.offset).element
    assert isinstance(pointer, PointerType)
    bits = pointer.pointee.memory_bits
    sign = -1 if offset.bits == 1 else 1
    if bits < 8:
        return lambda offset: _halved(np.multiply(offset, sign, dtype=np.int64))
    size = sign * bits // 8
    return lambda offset: np.multiply(offset, size, dtype=np.int64)


def _halved(numbers: Array) -> Array:
    """Halves rounded toward zero."""
    return (numbers + (numbers < 0)) >> 1


@strict(Offset)
def _offset_overflow(op: Offset) -> Callable[[Array, Array], None]:
    """An offset or an address beyond 64 bits."""
    displacement = _displacement(op)
    size = max(1, tile_type(op.ptr).element.pointee.memory_bits // 8)  # type: ignore[union-attr]

    def check(ptr: Array, offset: Array) -> None:
        distance = displacement(offset)
        moved = ptr + distance.view(np.uint64)
        beyond = np.where(distance < 0, moved > ptr, moved < ptr) | (abs(offset.astype(np.float64)) * size >= 2.0**63)
        if beyond.any():
            raise Fault("the address is outside 64 bits", index=first_index(beyond))

    return check


@effects(GetTileBlockId)
def _tile_block_id(op: GetTileBlockId) -> Callable[[BlockState], tuple[np.int32, ...]]:
    return lambda block: _scalars(block.id)


@effects(GetNumTileBlocks)
def _num_tile_blocks(op: GetNumTileBlocks) -> Callable[[BlockState], tuple[np.int32, ...]]:
    return lambda block: _scalars(block.grid)


def _scalars(numbers: Coordinates) -> tuple[np.int32, np.int32, np.int32]:
    x, y, z = numbers
    return np.int32(x), np.int32(y), np.int32(z)


@effects(GetGlobal)
def _get_global(op: GetGlobal) -> Callable[[BlockState], np.uint64]:
    name = op.symbol
    return lambda block: np.uint64(block.memory.address_of(name))
