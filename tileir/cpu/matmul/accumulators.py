"""Accumulators of a matrix product: sums begin and end in memory, converted and rounded on the way.

Does not know: how sums are made (`cpu.matmul.microkernel`, `cpu.matmul.products`).
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.algebra import call_intrinsic
from tileir.cpu.emit.elements import HALF, I32, I64, memory_type
from tileir.ir import types as t

I32_MINIMUM, I32_MAXIMUM = -(1 << 31), (1 << 31) - 1


@dataclass(frozen=True)
class FloatSums:
    """A row-major matrix of `element`: sums of type `total` start from its numbers and are rounded to it once."""

    base: ir.Value
    columns: int
    element: t.ElementType
    total: ir.Type

    def start(self, builder: ir.IRBuilder, row: ir.Value, column: ir.Value, lanes: int) -> ir.Value:
        stored = self._stored
        loaded = builder.load(
            _address(builder, stored, self.base, self.columns, row, column),
            typ=ir.VectorType(stored, lanes),
            align=self.element.byte_size,
        )
        return loaded if stored == self.total else builder.fpext(loaded, ir.VectorType(self.total, lanes))

    def finish(self, builder: ir.IRBuilder, row: ir.Value, column: ir.Value, total: ir.Value) -> None:
        stored = self._stored
        if stored != self.total:
            total = builder.fptrunc(total, ir.VectorType(stored, total.type.count))
        address = _address(builder, stored, self.base, self.columns, row, column)
        builder.store(total, address, align=self.element.byte_size)

    @property
    def _stored(self) -> ir.Type:
        return HALF if self.element is t.F16 else memory_type(self.element)


@dataclass(frozen=True)
class IntegerSums:
    """A row-major matrix of i32: sums start from a number per column, or 0, and are added to it saturating."""

    base: ir.Value
    columns: int
    total: ir.Type
    per_column: ir.Value | None

    def start(self, builder: ir.IRBuilder, row: ir.Value, column: ir.Value, lanes: int) -> ir.Value:
        vector = ir.VectorType(self.total, lanes)
        if self.per_column is None:
            return ir.Constant(vector, None)
        address = builder.gep(self.per_column, [column], source_etype=self.total)
        return builder.load(address, typ=vector, align=4)

    def finish(self, builder: ir.IRBuilder, row: ir.Value, column: ir.Value, total: ir.Value) -> None:
        vector = ir.VectorType(I32, total.type.count)
        address = _address(builder, I32, self.base, self.columns, row, column)
        before = builder.load(address, typ=vector, align=4)
        builder.store(_saturating(builder, before, total), address, align=4)


@dataclass(frozen=True)
class ColumnStart:
    """A row of i32: sums start from 0 and are stored negated."""

    base: ir.Value

    def start(self, builder: ir.IRBuilder, row: ir.Value, column: ir.Value, lanes: int) -> ir.Value:
        return ir.Constant(ir.VectorType(I32, lanes), None)

    def finish(self, builder: ir.IRBuilder, row: ir.Value, column: ir.Value, total: ir.Value) -> None:
        builder.store(builder.neg(total), builder.gep(self.base, [column], source_etype=I32), align=4)


def _saturating(builder: ir.IRBuilder, before: ir.Value, total: ir.Value) -> ir.Value:
    """The sum of a vector of i32 and an exact total (i32 or i64), as i32, at least and at most what that holds."""
    if total.type == before.type:
        return call_intrinsic(builder, "llvm.sadd.sat", total.type, [before, total])
    exact = builder.add(builder.sext(before, total.type), total)
    for bound, name in ((I32_MINIMUM, "llvm.smax"), (I32_MAXIMUM, "llvm.smin")):
        limit = ir.Constant(total.type, [bound] * total.type.count)
        exact = call_intrinsic(builder, name, total.type, [exact, limit])
    return builder.trunc(exact, before.type)


def _address(
    builder: ir.IRBuilder, element: ir.Type, base: ir.Value, columns: int, row: ir.Value, column: ir.Value
) -> ir.Value:
    offset = builder.add(builder.mul(row, I64(columns)), column)
    return builder.gep(base, [offset], source_etype=element)
