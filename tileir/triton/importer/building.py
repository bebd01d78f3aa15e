"""Making Tile IR: operations, constants and what rules need of shapes."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

from tileir.ir import types as t
from tileir.ir.attributes import DenseElements, Ordering, Predicate, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.loc import UNKNOWN, Location
from tileir.ops.conversion import Bitcast, ExtI, FToF, IntToPtr, TruncI
from tileir.ops.core import Constant, Select
from tileir.ops.floating import CmpF
from tileir.ops.integer import CmpI
from tileir.ops.shapes import Broadcast, Reshape

_INTEGERS = {8: t.I8, 16: t.I16, 32: t.I32, 64: t.I64}


class TileBuilder:
    """Appends operations to `block`, each with the location `loc`."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.loc: Location = UNKNOWN

    def insert(self, cls: type[Op], types: Sequence[t.Type] = (), **fields: Any) -> tuple[Value, ...]:
        """Append an operation; returns its results."""
        return self.block.append(cls.build(tuple(types), self.loc, **fields)).results

    def op(self, cls: type[Op], *types: t.Type, **fields: Any) -> Value:
        """Append an operation; returns its first result."""
        return self.insert(cls, types, **fields)[0]

    def same(self, cls: type[Op], *operands: Value, **attributes: Any) -> Value:
        """Append an operation that gives the type of its first operand; operands in the order of the declaration."""
        names = (operand.name for operand in cls.spec.operands)
        return self.op(cls, operands[0].type, **dict(zip(names, operands)), **attributes)

    def cast(self, cls: type[Op], value: Value, element: t.Type, **attributes: Any) -> Value:
        """Append a conversion to another element type."""
        (operand,) = cls.spec.operands
        return self.op(cls, value.tile.with_element(element), **{operand.name: value}, **attributes)

    # ------------------------------------------------------------ constants

    def dense(self, type: t.TileType, data: bytes) -> Value:
        return self.op(Constant, type, value=DenseElements.of(type, data))

    def integer(self, type: t.TileType, value: int) -> Value:
        """Return a constant of integers, `value` taken modulo the width."""
        size = type.number.byte_size
        return self.dense(type, (value & ((1 << type.number.bits) - 1)).to_bytes(size, "little"))

    def zero(self, type: t.TileType) -> Value:
        """Return a constant of zeros; of pointers those to nothing."""
        if isinstance(type.element, t.PointerType):
            return self.cast(IntToPtr, self.integer(type.with_element(t.I64), 0), type.element)
        return self.dense(type, bytes(type.element.byte_size))

    def number(self, type: t.TileType, value: float) -> Value:
        """Return a constant of integers or floats; rounded to nearest."""
        if type.number.is_int:
            return self.integer(type, int(value))
        return self.dense(type, float_bytes(value, type.number))

    # ------------------------------------------------------------ shapes

    def reshaped(self, value: Value, shape: Sequence[int]) -> Value:
        type = t.TileType(shape, value.tile.element)
        return value if type is value.type else self.op(Reshape, type, source=value)

    def broadcast(self, value: Value, shape: Sequence[int]) -> Value:
        """Return the tile repeated along its dimensions of extent 1; a scalar along all."""
        if not value.tile.shape and shape:
            value = self.reshaped(value, (1,) * len(shape))
        type = t.TileType(shape, value.tile.element)
        return value if type is value.type else self.op(Broadcast, type, source=value)

    # ------------------------------------------------------------ elements

    def compare(self, predicate: Predicate, lhs: Value, rhs: Value, signed: bool = True) -> Value:
        """Return a comparison of integers."""
        return self.op(
            CmpI, lhs.tile.with_element(t.I1), comparison_predicate=predicate, signedness=Signedness(signed), lhs=lhs,
            rhs=rhs,
        )  # fmt: skip

    def compare_floats(self, predicate: Predicate, lhs: Value, rhs: Value, ordered: bool = True) -> Value:
        """Return a comparison of floats: false with a NaN if `ordered`, else true."""
        ordering = Ordering.ORDERED if ordered else Ordering.UNORDERED
        return self.op(
            CmpF, lhs.tile.with_element(t.I1), comparison_predicate=predicate, comparison_ordering=ordering, lhs=lhs,
            rhs=rhs,
        )  # fmt: skip

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        condition = self.broadcast(condition, yes.tile.shape)
        return self.op(Select, yes.type, cond=condition, val_if_true=yes, val_if_false=no)

    def resized(self, value: Value, element: t.ElementType, signed: bool) -> Value:
        """Return an integer extended or cut to the width of `element`."""
        bits = value.tile.number.bits
        if bits == element.bits:
            return value
        if bits > element.bits:
            return self.cast(TruncI, value, element)
        return self.cast(ExtI, value, element, signedness=Signedness(signed))

    def bitcast(self, value: Value, element: t.ElementType) -> Value:
        return value if value.tile.element is element else self.cast(Bitcast, value, element)

    def bits(self, value: Value) -> Value:
        """Return the bits of floats as integers."""
        return self.bitcast(value, _INTEGERS[value.tile.number.bits])

    def converted(self, value: Value, element: t.ElementType, **attributes: Any) -> Value:
        """Return a float as another float type."""
        return value if value.tile.element is element else self.cast(FToF, value, element, **attributes)


def float_bytes(value: float, element: t.ElementType) -> bytes:
    """Return the bytes of a float rounded to nearest."""
    if element is t.F32:
        return _f32_bytes(value)
    if element is t.F64:
        return struct.pack("<d", value)
    from tileir.ir.storage import dtype_of  # NumPy is needed for the rarer types only

    return dtype_of(element).type(value).tobytes()


def _f32_bytes(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:  # it rounds beyond the finite numbers
        return struct.pack("<f", math.copysign(math.inf, value))
