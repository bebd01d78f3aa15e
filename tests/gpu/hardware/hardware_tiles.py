"""Tiles of any element type in memory that pointers can point to, and back: the code for it, and the arrays.

Elements that pointers cannot point to travel as others: i4 as i8, f4E2M1FN two to an i8, pointers as i64.
"""

from __future__ import annotations

import numpy as np

from tests.observe import addresses
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements, MemoryOrdering, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.storage import dtype_of
from tileir.ops import conversion, core, integer, packing, pointers, shapes


def in_memory(type: t.TileType) -> t.TileType:
    """The tile that lies in memory for one of `type`."""
    if type.element is t.F4E2M1FN:
        return t.tile(t.I8, type.count // 2)
    if isinstance(type.element, t.PointerType):
        return type.with_element(t.I64)
    return type.with_element(t.I8) if type.element is t.I4 else type


def pointer_to(type: t.TileType) -> t.TileType:
    """The type of a parameter for a tile of `type`."""
    return t.tile(t.PointerType(in_memory(type).element))  # type: ignore[arg-type]


def for_block(body: Block, pointer: Value, type: t.TileType, block: Value) -> Value:
    """Place of tile number `block` in an array of tiles of `type`."""
    count = t.tile(t.I32)
    size = np.int32(in_memory(type).count).tobytes()
    many = _made(body, core.Constant.build([count], value=DenseElements(count, size)))
    start = _made(body, integer.MulI.build([count], lhs=block, rhs=many))
    return _made(body, core.Offset.build([pointer.type], ptr=pointer, offset=start))


def load(body: Block, pointer: Value, type: t.TileType) -> Value:
    """The tile at `pointer`."""
    stored = in_memory(type)
    source = addresses(body, pointer, t.PointerType(stored.element), stored)  # type: ignore[arg-type]
    op = pointers.LoadPtr.build([stored, t.TOKEN], memory_ordering_semantics=MemoryOrdering.WEAK, source=source)
    value = body.append(op).results[0]
    if type.element is t.F4E2M1FN:
        flat = _made(body, packing.Unpack.build([t.tile(type.element, type.count)], source=value))
        return flat if type.rank == 1 else _made(body, shapes.Reshape.build([type], source=flat))
    if isinstance(type.element, t.PointerType):
        return _made(body, conversion.IntToPtr.build([type], source=value))
    return value if stored is type else _made(body, conversion.TruncI.build([type], **{"from": value}))


def store(body: Block, pointer: Value, value: Value) -> None:
    """Write a tile to `pointer`."""
    type = value.type
    assert isinstance(type, t.TileType)
    stored = in_memory(type)
    if type.element is t.F4E2M1FN:
        flat = (
            value
            if type.rank == 1
            else _made(body, shapes.Reshape.build([t.tile(type.element, type.count)], source=value))
        )
        value = _made(body, packing.Pack.build([stored], source=flat))
    elif isinstance(type.element, t.PointerType):
        value = _made(body, conversion.PtrToInt.build([stored], source=value))
    elif stored is not type:
        fields = {"from": value, "signedness": Signedness.SIGNED}
        value = _made(body, conversion.ExtI.build([stored], **fields))
    places = addresses(body, pointer, t.PointerType(stored.element), stored)  # type: ignore[arg-type]
    fields = {"memory_ordering_semantics": MemoryOrdering.WEAK, "destination": places, "value": value}
    body.append(pointers.StorePtr.build([t.TOKEN], **fields))


def _made(body: Block, op: Op) -> Value:
    return body.append(op).results[0]


# ---------------------------------------------------------------- arrays


def stored(x: np.ndarray, type: t.TileType) -> np.ndarray:
    """Tiles of `type`, one after the other, as they lie in memory."""
    whole = np.array(x, order="C").reshape(-1)
    if type.element is t.F4E2M1FN:
        bits = whole.view(np.uint8)
        return (bits[0::2] | bits[1::2] << 4).view(np.int8)
    return whole.view(np.int64) if isinstance(type.element, t.PointerType) else whole


def room_for(type: t.TileType, tiles: int = 1) -> np.ndarray:
    """Memory that so many tiles can be stored to."""
    return np.zeros(tiles * in_memory(type).count, dtype_of(in_memory(type).element))


def read(raw: np.ndarray, type: t.TileType) -> np.ndarray:
    """The tile that lies in memory; several are one long one."""
    if type.element is t.F4E2M1FN:
        bits = raw.view(np.uint8)
        raw = np.stack((bits & 15, bits >> 4), -1).reshape(-1).view(dtype_of(type.element))
    if isinstance(type.element, t.PointerType):
        raw = raw.view(np.uint64)
    return raw.reshape(type.shape) if raw.size == type.count else raw
