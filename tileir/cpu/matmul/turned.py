"""Products of few rows on a matrix unit: the transposed product, for which the right factor stays where it lies.

Where the right factor's columns lie along K in memory, 16 of them are a register as the unit takes its left factor; the
few rows are the right one, and alone have to be packed. So each byte of the right factor is read once, in long rows,
and tiles wait for those that follow (`cpu.matmul.runs`). For each element terms are added in the order in which the
unit adds those of a product of many rows.

Knows: how a run is multiplied, and the panels of its rows. Does not know: which products wait
(`cpu.lowering.deferred`), nor when sums saturate (`cpu.matmul.deferred`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llvmlite import ir

from tileir.cpu.emit.elements import I8, I64, PTR
from tileir.cpu.emit.emitter import CACHE_LINE, Emitter, prefetch
from tileir.cpu.matmul.accumulators import Sums
from tileir.cpu.matmul.kept_panels import Panels, new_panels
from tileir.cpu.matmul.matrix_unit import (
    LEFT,
    RIGHT,
    SIDE,
    WORD_BYTES,
    column_at,
    configure,
    instruct,
    load,
    put_column,
    release,
)
from tileir.cpu.matmul.panels import Factor, Packer, Strided
from tileir.cpu.matmul.products import Product
from tileir.cpu.matmul.runs import Run, new_run

LONGEST = 1 << 13
"""Bytes of a line in a run: panels of 16 rows of that stay in a second-level cache."""
AHEAD = 4 * CACHE_LINE
"""Bytes along K that are asked for ahead."""
MOST_NUMBERS = 2
"""Panels along K that stay."""

Multiply = Callable[[Strided, ir.Value], None]
"""(right factor, how many tiles) multiplies a run."""


@dataclass(frozen=True)
class TurnedRun:
    """The tiles of the right factor that wait, and the panels of the rows that they are multiplied with."""

    product: Product
    run: Run
    panels: Panels
    panel: ir.Value
    """The stack cell of the present panel."""

    @property
    def tiles(self) -> int:
        """Tiles of a run at most."""
        return self.panels.tiles

    def serves(self, right: Factor) -> bool:
        """Whether a right factor can be multiplied as it lies."""
        memory = right.memory
        if memory is None or right.address is None:
            return False
        return memory.along_k and memory.element is self.product.element

    def begin(self, builder: ir.IRBuilder) -> None:
        """Nothing waits where the loop begins."""
        self.run.begin(builder)

    def add(self, packer: Packer, right: Factor, number: ir.Value, last: ir.Value, multiply: Multiply) -> None:
        """Append tiles, those of the left factor by a packer; `number` is the stack cell of that of the run."""
        emit, left, steps = packer.emit, packer.source, packer.steps

        def pack(tile: ir.Value) -> None:
            place = self.panels.place(emit, left, emit.builder.load(number, typ=I64), tile, steps)
            emit.builder.store(place.place.panel, self.panel)
            with place.unless_packed(emit, left):
                replace(packer, place=place.place).few_lines()

        def multiply_run(memories: Sequence[Strided], tiles: ir.Value) -> None:
            multiply(memories[0], tiles)

        self.run.add(emit, [right], I64(self.tiles), last, multiply_run, pack)


@dataclass(frozen=True)
class TurnedColumns:
    """The code for up to 16 rows by sixteens of columns, over any number of sixteens of steps."""

    product: Product
    acc: Sums
    is_far: bool
    """Whether the right factor is likely to be far away in memory."""

    def multiply(self, emit: Emitter, arguments: Sequence[ir.Value]) -> None:
        """Accumulate; `arguments` are the numbers of rows and of columns, at least 1, the panel of the rows, the right
        factor, bytes from column to column of it, the number of steps, and the bases of the sums.

        Columns are rounded up to 16.
        """
        configure(emit)
        emit.shared((self, len(arguments)), arguments, self._emit)
        release(emit)

    def _emit(self, emit: Emitter, arguments: Sequence[ir.Value]) -> None:
        rows, columns, panel, base, pitch, steps, *bases = arguments
        builder, buffer = emit.builder, emit.stack(ir.VectorType(self.product.total, SIDE), SIDE)
        with emit.counted(I64(0), columns, SIDE) as column:
            lines = builder.gep(base, [builder.mul(column, pitch)], source_etype=I8)
            self._start(emit, buffer, rows, bases, column)
            self._accumulate(emit, panel, lines, pitch, steps)
            instruct(builder, "tilestored64", [I8(0), buffer, I64(SIDE * WORD_BYTES)])
            with emit.counted(I64(0), rows) as row:
                total = column_at(builder, self._column(builder, buffer, row), self.product.total)
                self.acc.finish(builder, self.acc.block(builder, bases, row, column), 0, 0, total)

    def _start(
        self, emit: Emitter, buffer: ir.Value, rows: ir.Value, bases: Sequence[ir.Value], column: ir.Value
    ) -> None:
        """Load the first register with the sums of 16 columns, a row for each; a buffer is there for it."""
        builder = emit.builder
        if self.acc.from_zero:
            instruct(builder, "tilezero", [I8(0)])
            return
        with emit.counted(I64(0), rows) as row:
            start = self.acc.start(builder, self.acc.block(builder, bases, row, column), 0, 0, SIDE)
            put_column(builder, self._column(builder, buffer, row), start)
        load(builder, 0, buffer, I64(SIDE * WORD_BYTES))

    def _accumulate(self, emit: Emitter, panel: ir.Value, lines: ir.Value, pitch: ir.Value, steps: ir.Value) -> None:
        """Add the products of 16 columns to the first register."""
        builder, line_bytes = emit.builder, SIDE * WORD_BYTES
        with emit.counted(I64(0), steps, SIDE) as step:
            here = builder.gep(lines, [builder.mul(step, I64(WORD_BYTES))], source_etype=I8)
            words = builder.gep(panel, [builder.mul(step, I64(line_bytes))], source_etype=I8)
            load(builder, LEFT, here, pitch)
            load(builder, RIGHT, words, I64(line_bytes))
            instruct(builder, self.product.turned_square, [I8(0), I8(LEFT), I8(RIGHT)])
            if self.is_far:
                self._fetch(builder, here, pitch, builder.sub(steps, step))

    def _fetch(self, builder: ir.IRBuilder, here: ir.Value, pitch: ir.Value, left: ir.Value) -> None:
        """Ask for what comes later in 16 columns, or in the next ones, where so many steps are `left`."""
        left_bytes = builder.mul(left, I64(WORD_BYTES))
        next_columns = builder.sub(builder.mul(pitch, I64(SIDE)), left_bytes)
        is_inside = builder.icmp_unsigned("<", I64(AHEAD), left_bytes)
        ahead = builder.add(I64(AHEAD), builder.select(is_inside, I64(0), next_columns))
        for line in range(SIDE):
            offset = builder.add(ahead, builder.mul(pitch, I64(line)))
            prefetch(builder, builder.gep(here, [offset], source_etype=I8))

    def _column(self, builder: ir.IRBuilder, buffer: ir.Value, column: ir.Value) -> ir.Value:
        return builder.gep(buffer, [column], source_etype=self.product.total)


def new_turned(emit: Emitter, product: Product, depth: int, keeps: bool) -> TurnedRun:
    """An empty run of tiles that are so deep along K; whether panels of the rows stay if the launch `keeps` them."""
    element_bytes = product.element.byte_size
    tiles = LONGEST // (depth * element_bytes)
    panels = new_panels(emit, SIDE * tiles * depth * element_bytes, tiles, 1 if keeps else 0, MOST_NUMBERS)
    return TurnedRun(product, new_run(emit, 1), panels, emit.stack(PTR))
