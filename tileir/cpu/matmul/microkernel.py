"""The inner loop of matrix multiplication: a block of the result held in vector registers.

Knows: how a block of rows x columns accumulates along K from panels. Does not know: tiles, element types, how a panel
is filled (`cpu.matmul.panels`) nor what a step does (`cpu.matmul.products`).

Per step along K a block loads one vector per `lanes` columns of the right panel, broadcasts one word per row of the
left panel, and issues rows x vectors multiply-adds, enough of them in flight to hide their latency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from llvmlite import ir

from tileir.cpu.emit.elements import I32, I64
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.matmul.products import Product

LONG = 1 << 22
"""Multiplications of a product that has safepoints."""


@dataclass(frozen=True)
class Shape:
    """Extents of one multiplication: the result is m x n, the sum runs over k."""

    m: int
    n: int
    k: int


@dataclass(frozen=True)
class Blocking:
    """A register block: `rows` rows by `vectors` vectors of `lanes` columns."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


@dataclass(frozen=True)
class Panel:
    """Words of one factor: line `block + i` of a block and step k at ``base[block*by_block + i*by_line + k*by_step]``.

    A line is a row of the left factor or a column of the right one, where `by_line` is 1.
    """

    base: ir.Value
    by_block: int
    by_line: int
    by_step: int


class Accumulator(Protocol):
    """The beginning and end of sums; a place is (row, column) of the first of the `lanes` neighbours of a vector."""

    def start(self, builder: ir.IRBuilder, row: ir.Value, column: ir.Value, lanes: int) -> ir.Value: ...

    def finish(self, builder: ir.IRBuilder, row: ir.Value, column: ir.Value, total: ir.Value) -> None: ...


STRIP_BYTES = 1 << 14
"""As much of a right panel as may be read again and again: half of a small first-level cache."""


def blocking(shape: Shape, product: Product, vector_bits: int) -> Blocking:
    """Half of the vector registers hold sums: four vectors wide if the strip stays in cache, else two.

    Where the result has few rows it is wider.
    """
    word_bytes = product.element.memory_bits * product.group // 8
    lanes = min(vector_bits // 8 // word_bytes, shape.n)
    across, budget = shape.n // lanes, 16 if vector_bits == 512 else 8
    strip = shape.k // product.group * lanes * word_bytes
    vectors = min(4 if budget == 16 and 4 * strip <= STRIP_BYTES else 2, across)
    rows = min(budget // vectors, shape.m)
    return Blocking(rows, min(budget // rows, across), lanes)


@dataclass
class RegisterBlock:
    """One register block while it is emitted."""

    emit: Emitter
    product: Product
    size: Blocking
    left: Panel
    right: Panel
    row: ir.Value
    column: ir.Value

    def places(self) -> list[tuple[ir.Value, ir.Value]]:
        builder = self.emit.builder
        return [
            (builder.add(self.row, I64(i)), builder.add(self.column, I64(j * self.size.lanes)))
            for i in range(self.size.rows)
            for j in range(self.size.vectors)
        ]

    def step(self, k: ir.Value, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """One step along K: the outer product of a column of the left panel and a row of the right one."""
        builder, word, lanes = self.emit.builder, self.product.word, self.size.lanes
        vector = ir.VectorType(word, lanes)
        factors = [
            builder.load(self._address(self.right, self.column, j * lanes, k), typ=vector, align=4)
            for j in range(self.size.vectors)
        ]
        totals = []
        for i in range(self.size.rows):
            address = self._address(self.left, self.row, i, k)
            number = builder.load(address, typ=word, align=self.product.element.byte_size)
            repeated = broadcast(builder, number, lanes)
            for j, factor in enumerate(factors):
                totals.append(self.product.step(builder, repeated, factor, sums[i * self.size.vectors + j]))
        return totals

    def _address(self, panel: Panel, block: ir.Value, line: int, k: ir.Value) -> ir.Value:
        builder = self.emit.builder
        first = builder.add(builder.mul(block, I64(panel.by_block)), I64(line * panel.by_line))
        offset = builder.add(first, builder.mul(k, I64(panel.by_step)))
        return builder.gep(panel.base, [offset], source_etype=self.product.word)


def multiply(
    emit: Emitter,
    product: Product,
    shape: Shape,
    size: Blocking,
    factors: tuple[Panel, Panel],
    acc: Accumulator,
    between: Callable[[ir.Value, ir.Value], None],
) -> None:
    """``acc += left @ right``; `between` is told the row and column of each block before it begins."""
    columns, rows = emit.counted(I64(0), I64(shape.n), size.columns), emit.counted(I64(0), I64(shape.m), size.rows)
    with columns as column:
        if shape.m * shape.n * shape.k > LONG:
            emit.safepoint()
        with rows as row:
            between(row, column)
            block = RegisterBlock(emit, product, size, *factors, row, column)
            places = block.places()
            start = [acc.start(emit.builder, *place, size.lanes) for place in places]
            totals = accumulate(block, shape.k // product.group, start)
            for place, total in zip(places, totals):
                acc.finish(emit.builder, *place, total)


def accumulate(block: RegisterBlock, steps: int, start: Sequence[ir.Value]) -> Sequence[ir.Value]:
    """The loop along K: the sums stay in registers."""
    builder = block.emit.builder
    unroll = min(4, steps)
    before = builder.block
    body, after = builder.append_basic_block("k"), builder.append_basic_block("k.end")
    builder.branch(body)
    builder.position_at_end(body)
    step = builder.phi(I64)
    sums = [builder.phi(first.type) for first in start]
    totals: Sequence[ir.Value] = sums
    for inner in range(unroll):
        totals = block.step(builder.add(step, I64(inner)), totals)
    following = builder.add(step, I64(unroll))
    for phi, first, later in zip([step, *sums], [I64(0), *start], [following, *totals]):
        phi.add_incoming(first, before)
        phi.add_incoming(later, body)
    builder.cbranch(builder.icmp_unsigned("<", following, I64(steps)), body, after)
    builder.position_at_end(after)
    return totals


def broadcast(builder: ir.IRBuilder, number: ir.Value, lanes: int) -> ir.Value:
    """A vector whose lanes all hold `number`."""
    vector = ir.VectorType(number.type, lanes)
    undefined = ir.Constant(vector, ir.Undefined)
    single = builder.insert_element(undefined, number, I32(0))
    return builder.shuffle_vector(single, undefined, ir.Constant(ir.VectorType(I32, lanes), [0] * lanes))
