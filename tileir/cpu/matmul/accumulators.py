"""Accumulators of a matrix product: sums begin and end in memory, converted and rounded on the way.

How sums are computed is described in `cpu.matmul.microkernel` and `cpu.matmul.products`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.algebra import call_intrinsic
from tileir.cpu.emit.elements import HALF, I32, I64, memory_type
from tileir.cpu.emit.tiles import Window
from tileir.ir import types as t

Bases = Sequence[ir.Value]
"""Pointers to the memory of an accumulator."""

I32_MINIMUM, I32_MAXIMUM = -(1 << 31), (1 << 31) - 1


class Zeros(Window):
    """A buffer for sums that start from 0; its contents are not read."""


@dataclass(frozen=True)
class StoredSums:
    """A row-major matrix of `element`: sums of type `total` start from its numbers and are rounded to it once."""

    columns: int
    element: t.ElementType
    total: ir.Type
    from_zero: bool = False
    """They start from 0 instead: the matrix holds nothing yet."""

    def block(self, builder: ir.IRBuilder, bases: Bases, row: ir.Value, column: ir.Value) -> Bases:
        return (_at(builder, self._stored, bases[0], builder.add(builder.mul(row, I64(self.columns)), column)),)

    def start(self, builder: ir.IRBuilder, block: Bases, row: int, column: int, lanes: int) -> ir.Value:
        if self.from_zero:
            return ir.Constant(ir.VectorType(self.total, lanes), None)
        stored, place = self._stored, self.place(builder, block, row, column)
        loaded = builder.load(place, typ=ir.VectorType(stored, lanes), align=self.element.byte_size)
        return loaded if stored == self.total else builder.fpext(loaded, ir.VectorType(self.total, lanes))

    def finish(self, builder: ir.IRBuilder, block: Bases, row: int, column: int, total: ir.Value) -> None:
        stored = self._stored
        if stored != self.total:
            total = builder.fptrunc(total, ir.VectorType(stored, total.type.count))
        builder.store(total, self.place(builder, block, row, column), align=self.element.byte_size)

    @property
    def total_is_stored(self) -> bool:
        """True if memory holds sums in the type in which they are computed."""
        return bool(self._stored == self.total)

    def place(self, builder: ir.IRBuilder, block: Bases, row: int, column: int) -> ir.Value:
        """Return the address of a number of the matrix."""
        return _at(builder, self._stored, block[0], I64(row * self.columns + column))

    @property
    def _stored(self) -> ir.Type:
        return HALF if self.element is t.F16 else memory_type(self.element)


@dataclass(frozen=True)
class SaturatingSums:
    """A row-major matrix of i32, to which sums of type `total` are added saturating.

    They start from 0, or from the negated numbers of a second base, one for each column (not those of a matrix unit).
    """

    columns: int
    total: ir.Type
    from_zero = True

    def block(self, builder: ir.IRBuilder, bases: Bases, row: ir.Value, column: ir.Value) -> Bases:
        matrix, *starts = bases
        here = _at(builder, I32, matrix, builder.add(builder.mul(row, I64(self.columns)), column))
        return (here, *(_at(builder, self.total, start, column) for start in starts))

    def start(self, builder: ir.IRBuilder, block: Bases, row: int, column: int, lanes: int) -> ir.Value:
        vector = ir.VectorType(self.total, lanes)
        if len(block) == 1:
            return ir.Constant(vector, None)
        return builder.neg(builder.load(_at(builder, self.total, block[1], I64(column)), typ=vector, align=4))

    def finish(self, builder: ir.IRBuilder, block: Bases, row: int, column: int, total: ir.Value) -> None:
        vector = ir.VectorType(I32, total.type.count)
        place = _at(builder, I32, block[0], I64(row * self.columns + column))
        before = builder.load(place, typ=vector, align=4)
        builder.store(_saturating(builder, before, total), place, align=4)


Sums = StoredSums | SaturatingSums
"""The beginning and end of sums: of a register block (`block`, given its bases and its place), and of each of its
vectors (`start`, `finish`), named by their first place in it. Equal ones are of one kind; bases tell apart where they
lie."""


def sums_in(acc: Window, columns: int, total: ir.Type) -> Sums:
    """Return how sums of type `total` begin and end in an accumulator with so many columns."""
    element = acc.type.number
    if element.is_float:
        return StoredSums(columns, element, total, from_zero=isinstance(acc, Zeros))
    return SaturatingSums(columns, total)


def _saturating(builder: ir.IRBuilder, before: ir.Value, total: ir.Value) -> ir.Value:
    """Return the sum of a vector of i32 and an exact total (i32 or i64), as i32, at least and at most what that
    holds."""
    if total.type == before.type:
        return call_intrinsic(builder, "llvm.sadd.sat", total.type, [before, total])
    exact = builder.add(builder.sext(before, total.type), total)
    for bound, name in ((I32_MINIMUM, "llvm.smax"), (I32_MAXIMUM, "llvm.smin")):
        limit = ir.Constant(total.type, [bound] * total.type.count)
        exact = call_intrinsic(builder, name, total.type, [exact, limit])
    return builder.trunc(exact, before.type)


def _at(builder: ir.IRBuilder, element: ir.Type, base: ir.Value, offset: ir.Value) -> ir.Value:
    return builder.gep(base, [offset], source_etype=element)
