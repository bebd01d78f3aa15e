"""The core operations (spec: core#top): constants, selection, addresses, globals, the grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.host import undefined
from tileir.interp.api import BlockState, EffectRule, PureRule, StrictRule
from tileir.interp.faults import Fault
from tileir.ir.diagnostics import Coordinates
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.numerics.bits import first_index
from tileir.ops.core import Constant, GetGlobal, GetNumTileBlocks, GetTileBlockId, Iota, Offset, Select

pure: Rules[PureRule] = Rules()
effects: Rules[EffectRule] = Rules()
strict: Rules[StrictRule] = Rules()

Array = np.ndarray
Unary = Callable[[Array], Array]


@pure(Constant)
def _constant(op: Constant) -> Callable[[], Array]:
    ty = op.result.tile
    data = np.frombuffer(op.value.data, np.uint8).view(dtype_of(ty.element))
    content = np.broadcast_to(data.reshape(()), ty.shape) if op.value.is_splat else data.reshape(ty.shape)
    value = content[()]
    return lambda: value


@pure(Iota)
def _iota(op: Iota) -> Callable[[], Array]:
    ty = op.result.tile
    content = np.arange(ty.count).astype(dtype_of(ty.element))
    return lambda: content


@pure(Select)
def _select(op: Select) -> Callable[[Array, Array, Array], Array]:
    return np.where


@pure(Offset)
def _offset(op: Offset) -> Callable[[Array, Array], Array]:
    """Compute signed offsets, addresses modulo 2^64 (spec: core#offset)."""
    displacement = _displacement(op)
    return lambda ptr, offset: ptr + displacement(offset).view(np.uint64)


def _displacement(op: Offset) -> Unary:
    """Return offsets as byte displacements (int64, modulo 2^64): toward zero where two elements share a byte."""
    pointer, offset = op.ptr.tile.pointer, op.offset.tile.element
    bits = pointer.pointee.memory_bits
    sign = -1 if offset.bits == 1 else 1
    if bits < 8:
        return lambda offset: _halved(np.multiply(offset, sign, dtype=np.int64))
    size = sign * bits // 8
    return lambda offset: np.multiply(offset, size, dtype=np.int64)


def _halved(numbers: Array) -> Array:
    """Return halves rounded toward zero."""
    return (numbers + (numbers < 0)) >> 1


@strict(Offset)
def _offset_overflow(op: Offset) -> Callable[[Array, Array], None]:
    """Check for an offset or an address beyond 64 bits."""
    displacement = _displacement(op)
    bits, size = op.ptr.tile.pointer.pointee.memory_bits, op.ptr.tile.pointer.pointee.byte_size

    def stays(ptr: Array, offset: Array) -> bool:
        """Return whether all addresses fit, by the least and the greatest operands."""
        low, high = int(offset.min()) * size, int(offset.max()) * size
        return max(-low, high) < 1 << 63 and int(ptr.min()) + low >= 0 and int(ptr.max()) + high < 1 << 64

    def check(ptr: Array, offset: Array) -> None:
        if bits >= 8 and op.offset.tile.element.bits > 1 and stays(ptr, offset):
            return
        distance = displacement(offset)
        moved = ptr + distance.view(np.uint64)
        beyond = np.where(distance < 0, moved > ptr, moved < ptr) | (abs(offset.astype(np.float64)) * size >= 2.0**63)
        if beyond.any():
            raise Fault(undefined.ADDRESS, index=first_index(beyond))

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
