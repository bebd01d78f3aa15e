"""Products of few rows: a word of the right factor is used so rarely that it goes from memory into a register.

Knows: how a row is multiplied by a few columns as they lie in memory. Does not know: how words are loaded and widened
(`cpu.matmul.panels`), nor what a step does (`cpu.matmul.products`).

Where columns lie side by side, each lane sums one of them. Where K does, each column has a vector of partial sums that
are added at last, as turning the words would take longer than reading them: in which order the terms of an element are
summed is open (spec: matmul#mmaf). Sums of zeros keep their sign. Such a product takes the time of reading memory, so
each load asks for its like in the next tile along K, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llvmlite import ir

from tileir.cpu.emit.elements import I32, I64, memory_type
from tileir.cpu.emit.emitter import Emitter, prefetch
from tileir.cpu.emit.vectors import broadcast, interleaved
from tileir.cpu.matmul.accumulators import Sums
from tileir.cpu.matmul.microkernel import LONG, Panel
from tileir.cpu.matmul.panels import LINES_AT_A_TIME, Packer, Strided, flipped
from tileir.cpu.matmul.products import Product

FLIPPED = 0x80808080
"""A word of bytes, each 128 unsigned and -128 signed: what flipping the sign bits of a factor adds to each."""
FEW = 4
"""Rows up to which a product is made so."""
COLUMNS = 8
"""Columns that are summed together where K lies side by side: their cache lines stay where they fall into one set."""
LONG_COLUMNS = 4
"""The same of long columns: more are not read faster, and make more code."""
LEAST_WORDS = 4
"""The smallest vector of words that instructions for dot products take."""
Factor = Callable[[ir.IRBuilder, ir.Value], ir.Value]
"""(builder, step) -> vector of words of a row of the left factor, for the vector of the right one at that step."""


@dataclass(frozen=True)
class Rows:
    """The left factor: elements from row to row, and words from step to step."""

    base: ir.Value
    by_row: ir.Value
    by_step: int

    @staticmethod
    def of(panel: Panel, product: Product) -> Rows:
        """Those of a panel."""
        assert isinstance(panel.by_line, int) and isinstance(panel.by_step, int), "a panel that is packed"
        return Rows(panel.base, I64(panel.by_line * product.group), panel.by_step)


@dataclass(frozen=True)
class Direct:
    """The code for `lanes` of `columns` columns: rows of the left panel by what `right` loads from `memory`."""

    right: Packer
    memory: Strided
    columns: int
    lanes: int
    words: int
    """Words of the right factor that one load gives."""
    vectors: int
    """Vectors of `lanes` sums that are made together."""
    left: Rows
    flips: bool
    """Whether sign bits of the left factor are inverted where it is read, not in its panel."""
    acc: Sums
    steps: ir.Value | None = None
    """Steps along K, if they are not those of one tile."""

    def along(self, steps: ir.Value) -> Direct:
        """The code for so many steps along K, on longer lines, of which fewer are read together."""
        return replace(self, steps=steps, lanes=min(self.lanes, LONG_COLUMNS))

    def multiply(self, emit: Emitter, rows: ir.Value, bases: Sequence[ir.Value]) -> None:
        """Accumulate so many rows, at least 1, of the needed columns, by default all."""
        needed = self.right.source.needed
        columns = I64(self.columns) if needed is None else needed
        if self.columns * self.right.source.depth <= LONG:
            self._call(emit, rows, I64(0), columns, bases)
            return
        with emit.counted(I64(0), columns, self.lanes * self.vectors) as column:
            emit.safepoint()
            self._call(emit, rows, column, I64(1), bases)

    def _call(
        self, emit: Emitter, rows: ir.Value, column: ir.Value, columns: ir.Value, bases: Sequence[ir.Value]
    ) -> None:
        """Have a function accumulate so many columns from one on."""
        builder = emit.builder
        strides = self.memory.by_line, self.memory.by_k
        known = tuple(stride.constant if isinstance(stride, ir.Constant) else None for stride in strides)
        given = [stride for stride, number in zip(strides, known) if number is None]
        (place,) = self.acc.block(builder, bases, I64(0), column)
        origin = self.memory.moved(builder, column, I64(0)).base

        def body(emit: Emitter, arguments: Sequence[ir.Value]) -> None:
            rows, columns, left, by_row, origin, place, *given = arguments
            by_line, by_k = (given.pop(0) if stride is None else I64(stride) for stride in known)
            memory = Strided(self.memory.element, origin, by_line, by_k)
            left_rows = replace(self.left, base=left, by_row=by_row)
            steps = given.pop(0) if given else None
            inner = replace(self, right=replace(self.right, emit=emit), memory=memory, left=left_rows, steps=steps)
            inner._columns(emit, rows, columns, place)

        arguments = [rows, columns, self.left.base, self.left.by_row, origin, place, *given]
        source, steps = self.right.source, [] if self.steps is None else [self.steps]
        kind = (
            self.right.product,
            self.memory.element,
            source.depth,
            source.ahead is None,
            len(steps),
            self.left.by_step,
        )
        key = *kind, self.lanes, self.words, self.vectors, *known, self.flips, self.acc
        emit.shared(key, [*arguments, *steps], body)

    def _columns(self, emit: Emitter, rows: ir.Value, columns: ir.Value, place: ir.Value) -> None:
        with emit.counted(I64(0), columns, self.lanes * self.vectors) as column:
            origin = self.memory.moved(emit.builder, column, I64(0)).base
            (here,) = self.acc.block(emit.builder, [place], I64(0), column)
            replace(self, memory=replace(self.memory, base=origin))._rows(emit, rows, here)

    def _rows(self, emit: Emitter, rows: ir.Value, place: ir.Value) -> None:
        """Each row in turn: the right factor's words stay in the first-level cache."""
        builder, product = emit.builder, self.right.product
        zero = ir.Constant(ir.VectorType(product.total, self.lanes), None)
        places = [vector * self.lanes for vector in range(self.vectors)]
        extras = self._summed(emit, [zero] * len(places), self._constant(FLIPPED)) if product.flip_left else None
        with emit.counted(I64(0), rows) as row:
            (here,) = self.acc.block(builder, [place], row, I64(0))
            start = [self.acc.start(builder, [here], 0, column, self.lanes) for column in places]
            totals = self._summed(emit, start, self._row(row))
            if extras is not None:
                totals = [builder.sub(total, extra) for total, extra in zip(totals, extras)]
            for column, total in zip(places, totals):
                self.acc.finish(builder, [here], 0, column, total)

    # ------------------------------------------------------------ the left factor

    def _constant(self, word: int) -> Factor:
        return lambda builder, step: ir.Constant(ir.VectorType(I32, self.words), [word] * self.words)

    def _row(self, row: ir.Value) -> Factor:
        product, left = self.right.product, self.left

        def factor(builder: ir.IRBuilder, step: ir.Value) -> ir.Value:
            k = builder.mul(step, I64(left.by_step * product.group))
            element = builder.add(builder.mul(row, left.by_row), k)
            address = builder.gep(left.base, [element], source_etype=memory_type(product.element))
            kind = product.word if self.memory.along_lines else ir.VectorType(product.word, self.words)
            loaded = builder.load(address, typ=kind, align=product.element.byte_size)
            if self.flips:
                loaded = flipped(builder, loaded)
            return broadcast(builder, loaded, self.lanes) if self.memory.along_lines else loaded

        return factor

    # ------------------------------------------------------------ sums along K

    def _summed(self, emit: Emitter, start: Sequence[ir.Value], factor: Factor) -> list[ir.Value]:
        """`start` and the products of one row."""
        builder = emit.builder
        if not self.memory.along_lines:
            return [self._partly_summed(emit, start[0], factor)]
        columns = [I64(vector * self.lanes) for vector in range(self.vectors)]

        def words(step: ir.Value) -> tuple[ir.Value, list[ir.Value]]:
            return factor(builder, step), [self._side_by_side(emit, column, step) for column in columns]

        return self._along_k(emit, start, 1, words)

    def _partly_summed(self, emit: Emitter, start: ir.Value, factor: Factor) -> ir.Value:
        """Likewise, by partial sums of each column."""
        builder = emit.builder
        total = start.type.element
        zero = None if isinstance(total, ir.IntType) else [-0.0] * self.words
        nothing = ir.Constant(ir.VectorType(total, self.words), zero)
        columns = [I64(column) for column in range(self.lanes)]
        sums = self._along_k(
            emit,
            [nothing] * self.lanes,
            self.words,
            lambda step: (factor(builder, step), [self._loaded(emit, column, step) for column in columns]),
        )
        return _sum(builder, start, _sums_of_rows(builder, sums))

    def _along_k(
        self,
        emit: Emitter,
        start: Sequence[ir.Value],
        by_step: int,
        words: Callable[[ir.Value], tuple[ir.Value, Sequence[ir.Value]]],
    ) -> list[ir.Value]:
        """The loop along K; `words` are those of the left factor and, for each of the sums, of the right one."""
        builder, product = emit.builder, self.right.product
        cells = [emit.stack(one.type) for one in start]
        for cell, one in zip(cells, start):
            builder.store(one, cell)
        with emit.counted(I64(0), I64(self.right.steps) if self.steps is None else self.steps, by_step) as step:
            left, right = words(step)
            for cell, word in zip(cells, right):
                builder.store(product.step(builder, left, word, builder.load(cell, typ=start[0].type)), cell)
        return [builder.load(cell, typ=start[0].type) for cell in cells]

    def _side_by_side(self, emit: Emitter, column: ir.Value, step: ir.Value) -> ir.Value:
        """The words of neighbouring columns at a step."""
        builder, product = emit.builder, self.right.product
        first = builder.mul(step, I64(product.group))
        rows = [self._load(emit, column, builder.add(first, I64(i)), self.lanes) for i in range(product.group)]
        return builder.bitcast(interleaved(builder, rows), ir.VectorType(product.word, self.lanes))

    def _loaded(self, emit: Emitter, column: ir.Value, step: ir.Value) -> ir.Value:
        """The words of a column at as many steps as there are lanes."""
        product = self.right.product
        k = emit.builder.mul(step, I64(product.group))
        loaded = self._load(emit, column, k, self.words * product.group)
        return emit.builder.bitcast(loaded, ir.VectorType(product.word, self.words))

    def _load(self, emit: Emitter, column: ir.Value, k: ir.Value, count: int) -> ir.Value:
        """Neighbours in memory; asks for those of the next tile."""
        builder, memory, source = emit.builder, self.memory, self.right.source
        if source.ahead is not None:
            prefetch(builder, memory.moved(builder, column, builder.add(k, I64(source.depth))).base)
        return self.right.load(memory, column, k, count)


def direct(right: Packer, left: Rows, flips: bool, columns: int, acc: Sums) -> Direct | None:
    """The product of few rows; None where the factors cannot be loaded as vectors of words."""
    memory = right.source.memory
    if memory is None or not right.widens(memory):
        return None
    if memory.along_lines:
        lanes = min(right.lanes, columns)
        return Direct(right, memory, columns, lanes, lanes, min(columns, LINES_AT_A_TIME) // lanes, left, flips, acc)
    words = min(right.lanes, right.steps)
    if not memory.along_k or left.by_step != 1 or words < LEAST_WORDS:
        return None
    return Direct(right, memory, columns, min(COLUMNS, columns, words), words, 1, left, flips, acc)


def _sums_of_rows(builder: ir.IRBuilder, rows: Sequence[ir.Value]) -> ir.Value:
    """The sum of the elements of each vector, by adding halves of ever larger blocks across the diagonal."""
    size, distance = rows[0].type.count, 1
    while len(rows) > 1:
        low = [c - distance + size if c & distance else c for c in range(size)]
        high = [c + size if c & distance else c + distance for c in range(size)]
        masks = [ir.Constant(ir.VectorType(I32, size), order) for order in (low, high)]
        pairs = zip(rows[::2], rows[1::2])
        rows = [_sum(builder, *(builder.shuffle_vector(*pair, mask) for mask in masks)) for pair in pairs]
        distance *= 2
    return _folded(builder, rows[0], distance)


def _folded(builder: ir.IRBuilder, vector: ir.Value, size: int) -> ir.Value:
    """The sum of the parts of a vector that have `size` elements each."""
    while vector.type.count > size:
        half = vector.type.count // 2
        parts = [ir.Constant(ir.VectorType(I32, half), list(range(first, first + half))) for first in (0, half)]
        vector = _sum(builder, *(builder.shuffle_vector(vector, vector, part) for part in parts))
    return vector


def _sum(builder: ir.IRBuilder, left: ir.Value, right: ir.Value) -> ir.Value:
    is_int = isinstance(left.type.element, ir.IntType)
    return builder.add(left, right) if is_int else builder.fadd(left, right)
