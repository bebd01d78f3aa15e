"""Native code for gather/scatter views (operations 5.4): each element is tested and addressed by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.constants import padding
from tileir.cpu.elements import I1, I64, Num, memory_type
from tileir.cpu.emitter import Emitter, Index
from tileir.cpu.lowering import Lowering
from tileir.cpu.tensors import TensorView, unsigned
from tileir.cpu.tiles import Expression, Tile, from_memory, materialized, to_memory, wide
from tileir.ir import types as t
from tileir.ir.core import Value
from tileir.ir.types import PaddingValue


@dataclass
class Positions:
    """Where the elements of a tile lie: `rows` has the coordinates along `dim`, `begin` the first along the others."""

    tensor: TensorView
    dim: int
    rows: Tile
    begin: list[ir.Value]

    def place(self, emit: Emitter, index: Index) -> tuple[ir.Value, ir.Value]:
        """The linear offset of an element, in elements, and whether it lies in the tensor."""
        builder = emit.builder
        offset: ir.Value = I64(0)
        inside: ir.Value = I1(1)
        for dim, position in enumerate(index):
            at = self._coordinate(emit, dim, position)
            inside = builder.and_(inside, builder.icmp_unsigned("<", at, self.tensor.extents[dim]))
            offset = builder.add(offset, builder.mul(at, self.tensor.strides[dim]))
        return offset, inside

    def _coordinate(self, emit: Emitter, dim: int, position: ir.Value) -> ir.Value:
        """Wrapping around would take 2^64 elements, so a sum that is not below the extent is outside."""
        if dim != self.dim:
            return emit.builder.add(self.begin[dim], position)
        row = wide(emit.builder, self.rows.at(emit, (position,)))
        return row if row.type == I64 else emit.builder.zext(row, I64)


def positions(lowering: Lowering, tensor: TensorView, dim: int, index: Sequence[Value]) -> Positions:
    """From the index operands of a view operation: one per dimension, a tile of rows at `dim`."""
    rows = materialized(lowering.emit, lowering.tile(index[dim]))
    begin = [I64(0) if at == dim else unsigned(lowering, value) for at, value in enumerate(index)]
    return Positions(tensor, dim, rows, begin)


def gathered(lowering: Lowering, type: t.TileType, where: Positions, outside: PaddingValue | None) -> Tile:
    """The tile read now, element by element; what lies outside the tensor reads as the padding."""
    element = type.element
    assert isinstance(element, t.ElementType)
    other = padding(element, outside)

    def compute(emit: Emitter, index: Index) -> Num:
        builder = emit.builder
        offset, inside = where.place(emit, index)
        otherwise = to_memory(builder, other)
        before = builder.block
        with builder.if_then(inside):
            address = builder.gep(where.tensor.base, [offset], source_etype=memory_type(element))
            loaded = emit.independent(builder.load(address, typ=memory_type(element)))
            reading = builder.block
        chosen = builder.phi(memory_type(element))
        chosen.add_incoming(otherwise, before)
        chosen.add_incoming(loaded, reading)
        return from_memory(builder, element, chosen)

    return materialized(lowering.emit, Expression(type, compute))


def scatter(lowering: Lowering, tile: Tile, where: Positions) -> None:
    """Write the elements that lie in the tensor."""
    emit = lowering.emit
    source = materialized(emit, tile)

    def body(index: Index) -> None:
        offset, inside = where.place(emit, index)
        with emit.when(inside):
            address = emit.builder.gep(where.tensor.base, [offset], source_etype=memory_type(tile.element))
            emit.independent(emit.builder.store(to_memory(emit.builder, source.at(emit, index)), address))

    emit.loop_nest(tile.type.shape, body)
