"""Native code for matrix multiplication (specification 8.3): panels, then register blocks, accumulated in place.

The operands are written to dense panels in the arena as f32 (f64 for f64), whatever their element type and wherever
they come from: this is where narrow floats are widened and transposed views straightened. The accumulator is updated
where it stands when nothing else reads it, so the accumulator of a loop over K never moves.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.elements import DOUBLE, FLOAT, I64, Num
from tileir.cpu.emitter import Emitter, Index
from tileir.cpu.engine import host
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.microkernel import Panel, Shape, blocking, multiply
from tileir.cpu.tiles import Expression, Tile, Window, fill, new_buffer, wide
from tileir.ir import types as t
from tileir.ir.core import Value
from tileir.ir.rules import Rules
from tileir.ops import matmul

rules: Rules[Lower] = Rules()


@rules(matmul.MmaF)
def lower_mmaf(lowering: Lowering, op: matmul.MmaF) -> None:
    compute = t.F64 if op.acc.type.element is t.F64 else t.F32
    acc = accumulator(lowering, op.acc, compute)
    with lowering.emit.region():
        multiply_into(lowering, lowering.tile(op.lhs), lowering.tile(op.rhs), acc)
    bind_accumulator(lowering, op.result, acc)


def accumulator(lowering: Lowering, value: Value, compute: t.ElementType) -> Window:
    """A dense buffer of `compute` with the elements of `value`: its own buffer if nothing else will read it."""
    tile = lowering.tile(value)
    if isinstance(tile, Window) and not tile.shared and tile.element is compute and lowering.fusion.used_once(value):
        return tile
    buffer = new_buffer(lowering.emit, tile.type.with_element(compute))
    fill(lowering.emit, buffer, converted(tile, compute))
    return buffer


def converted(tile: Tile, compute: t.ElementType) -> Tile:
    """The tile read as `compute`, which holds every number of its element type."""
    if tile.element is compute:
        return tile
    type = tile.type.with_element(compute)
    return Expression(type, lambda emit, index: Num(compute, wide=wide(emit.builder, tile.at(emit, index))))


def bind_accumulator(lowering: Lowering, result: Value, acc: Window) -> None:
    """Bind the sum, rounded once where the result is narrower than what was computed with."""
    assert isinstance(result.type, t.TileType)
    element = result.type.element
    if element is acc.element:
        lowering.values[result] = acc
        return
    narrow = new_buffer(lowering.emit, result.type)

    def rounded(emit: Emitter, index: Index) -> Num:
        return Num(element, wide=wide(emit.builder, acc.at(emit, index)))

    fill(lowering.emit, narrow, Expression(result.type, rounded))
    lowering.values[result] = narrow


def multiply_into(lowering: Lowering, lhs: Tile, rhs: Tile, acc: Window) -> None:
    """``acc += lhs @ rhs``, batch by batch."""
    emit = lowering.emit
    compute = acc.element
    assert isinstance(compute, t.ElementType)
    left, right = packed(emit, lhs, compute), packed(emit, rhs, compute)
    batch, shape = _extents(lhs.type, rhs.type)
    number = DOUBLE if compute is t.F64 else FLOAT
    lanes = host().vector_bits // compute.bits
    with emit.counted(I64(0), I64(batch)) as which:
        multiply(
            emit,
            number,
            shape,
            blocking(shape, lanes),
            _panel(emit, number, left, which, shape.m, shape.k),
            _panel(emit, number, right, which, shape.k, shape.n),
            _panel(emit, number, acc, which, shape.m, shape.n),
        )


def packed(emit: Emitter, tile: Tile, compute: t.ElementType) -> Window:
    """A dense row-major copy of the tile as `compute`."""
    buffer = new_buffer(emit, tile.type.with_element(compute))
    fill(emit, buffer, converted(tile, compute))
    return buffer


def _extents(lhs: t.TileType, rhs: t.TileType) -> tuple[int, Shape]:
    batch = lhs.shape[0] if lhs.rank == 3 else 1
    return batch, Shape(lhs.shape[-2], rhs.shape[-1], lhs.shape[-1])


def _panel(emit: Emitter, number: ir.Type, window: Window, which: ir.Value, rows: int, columns: int) -> Panel:
    base = emit.builder.gep(window.base, [emit.builder.mul(which, I64(rows * columns))], source_etype=number)
    return Panel(base, columns, 1)
