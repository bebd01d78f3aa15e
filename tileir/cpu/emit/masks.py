"""Vectors of which only some lanes are read or written.

Does not know: which processors have instructions for that (`cpu.llvm.engine`), nor what lies in memory.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.algebra import call_named, type_suffix
from tileir.cpu.emit.elements import I32
from tileir.cpu.emit.vectors import Splat, broadcast


def lanes_below(builder: ir.IRBuilder, count: ir.Value, lanes: int) -> ir.Value:
    """The mask of as many lanes, from the first one on, as `count`, an i64, says; it may be negative or too many."""
    counts = broadcast(builder, builder.trunc(count, I32), lanes)
    return builder.icmp_signed("<", ir.Constant(counts.type, list(range(lanes))), counts)


def load_masked(
    builder: ir.IRBuilder, address: ir.Value, mask: ir.Value, vector: ir.VectorType, align: int
) -> ir.Value:
    """Elements where the mask is 1, and zeros elsewhere, where nothing is read."""
    name, zeros = f"llvm.masked.load.{type_suffix(vector)}.p0", Splat(ir.Constant(vector.element, None), vector.count)
    return call_named(builder, name, vector, [address, I32(align), mask, zeros])


def gather_masked(
    builder: ir.IRBuilder, addresses: ir.Value, mask: ir.Value, vector: ir.VectorType, align: int
) -> ir.Value:
    """The same from an address for each lane."""
    name = f"llvm.masked.gather.{type_suffix(vector)}.v{vector.count}p0"
    zeros = Splat(ir.Constant(vector.element, None), vector.count)
    return call_named(builder, name, vector, [addresses, I32(align), mask, zeros])


def store_masked(builder: ir.IRBuilder, value: ir.Value, address: ir.Value, mask: ir.Value, align: int) -> ir.Value:
    """Write the elements where the mask is 1."""
    name = f"llvm.masked.store.{type_suffix(value.type)}.p0"
    return call_named(builder, name, ir.VoidType(), [value, address, I32(align), mask])
