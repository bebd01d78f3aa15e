"""The inner loop of matrix multiplication: a block of the result held in vector registers.

Knows: how a block of rows x columns accumulates along K from dense panels. Does not know: tiles or element types beyond
the float it is given (`cpu.matmul` prepares the panels).

Per step of K a block loads one vector per `lanes` columns of the right panel, broadcasts one number per row of the left
panel, and issues rows x vectors fused multiply-adds, enough of them in flight to hide their latency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.elements import DOUBLE, I64
from tileir.cpu.emitter import Emitter


@dataclass(frozen=True)
class Panel:
    """A dense matrix in the arena: element (i, j) is at ``base[i * rows + j * columns]``."""

    base: ir.Value
    rows: int
    columns: int


@dataclass(frozen=True)
class Shape:
    """Extents of one multiplication: the result is m x n, the sum runs over k."""

    m: int
    n: int
    k: int


@dataclass(frozen=True)
class Blocking:
    """A register block: `rows` rows by `vectors` vectors of `lanes` columns, `unroll` steps of K at a time."""

    rows: int
    vectors: int
    lanes: int
    unroll: int


def blocking(shape: Shape, lanes: int) -> Blocking:
    """8 rows by 2 full vectors where the shape has them: 16 accumulators cover the latency of two FMA units."""
    lanes = min(lanes, shape.n)
    vectors = min(2, shape.n // lanes)
    rows = min(8 if vectors == 2 else 16, shape.m)
    return Blocking(rows, vectors, lanes, min(4, shape.k))


def multiply(
    emit: Emitter, element: ir.Type, shape: Shape, block: Blocking, left: Panel, right: Panel, acc: Panel
) -> None:
    """``acc += left @ right``, all panels of `element`; right and acc have unit column stride."""
    columns = block.vectors * block.lanes
    with emit.counted(I64(0), I64(shape.n), columns) as column, emit.counted(I64(0), I64(shape.m), block.rows) as row:
        _block(emit, element, shape, block, left, right, acc, row, column)


def _block(
    emit: Emitter,
    element: ir.Type,
    shape: Shape,
    block: Blocking,
    left: Panel,
    right: Panel,
    acc: Panel,
    row: ir.Value,
    column: ir.Value,
) -> None:
    """One register block: load it, accumulate along K, store it."""
    builder = emit.builder
    vector = ir.VectorType(element, block.lanes)
    places = [
        _address(builder, element, acc, builder.add(row, I64(i)), builder.add(column, I64(j * block.lanes)))
        for i in range(block.rows)
        for j in range(block.vectors)
    ]
    start = [builder.load(place, typ=vector, align=4) for place in places]
    before = builder.block
    body, after = builder.append_basic_block("k"), builder.append_basic_block("k.end")
    builder.branch(body)
    builder.position_at_end(body)
    step = builder.phi(I64)
    sums = [builder.phi(vector) for _ in start]
    totals: Sequence[ir.Value] = sums
    for inner in range(block.unroll):
        totals = _step(builder, element, block, left, right, row, column, builder.add(step, I64(inner)), totals)
    following = builder.add(step, I64(block.unroll))
    step.add_incoming(I64(0), before)
    step.add_incoming(following, body)
    for total, sum, first in zip(totals, sums, start):
        sum.add_incoming(first, before)
        sum.add_incoming(total, body)
    builder.cbranch(builder.icmp_unsigned("<", following, I64(shape.k)), body, after)
    builder.position_at_end(after)
    for total, place in zip(totals, places):
        builder.store(total, place, align=4)


def _step(
    builder: ir.IRBuilder,
    element: ir.Type,
    block: Blocking,
    left: Panel,
    right: Panel,
    row: ir.Value,
    column: ir.Value,
    k: ir.Value,
    sums: Sequence[ir.Value],
) -> list[ir.Value]:
    """One step along K: the outer product of a column of the left panel and a row of the right one."""
    vector = ir.VectorType(element, block.lanes)
    factors = [
        builder.load(
            _address(builder, element, right, k, builder.add(column, I64(j * block.lanes))), typ=vector, align=4
        )
        for j in range(block.vectors)
    ]
    totals = []
    for i in range(block.rows):
        number = builder.load(_address(builder, element, left, builder.add(row, I64(i)), k), typ=element)
        repeated = broadcast(builder, number, block.lanes)
        for j, factor in enumerate(factors):
            totals.append(fused(builder, repeated, factor, sums[i * block.vectors + j]))
    return totals


def fused(builder: ir.IRBuilder, lhs: ir.Value, rhs: ir.Value, acc: ir.Value) -> ir.Value:
    """``lhs * rhs + acc`` of vectors of floats, rounded once."""
    vector = acc.type
    name = f"llvm.fma.v{vector.count}{'f64' if vector.element == DOUBLE else 'f32'}"
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(vector, [vector] * 3), name)
    return builder.call(function, [lhs, rhs, acc])


def broadcast(builder: ir.IRBuilder, number: ir.Value, lanes: int) -> ir.Value:
    """A vector whose lanes all hold `number`."""
    vector = ir.VectorType(number.type, lanes)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(single, ir.Constant(vector, ir.Undefined), mask)


def _address(
    builder: ir.IRBuilder, element: ir.Type, panel: Panel, row: ir.Value, column: ir.Value
) -> ir.Value:
    offset = builder.add(builder.mul(row, I64(panel.rows)), builder.mul(column, I64(panel.columns)))
    return builder.gep(panel.base, [offset], source_etype=element)
