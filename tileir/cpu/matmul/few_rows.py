"""Products of few rows: a word of the right factor is used so rarely that it goes from memory into a register.

Such a product takes the time of reading its right factor, and memory is read faster in long rows than tile by tile. So
tiles of a loop wait while those of later iterations follow in memory along K: they make a *run*, which ends where the
next tiles lie elsewhere, in the last iteration, and with a tile that is a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from llvmlite import ir

from tileir.cpu.emit.elements import I8, I32, I64, PTR, memory_type
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.emit.vectors import CACHE_LINE, broadcast, interleaved, prefetch, swaps
from tileir.cpu.matmul.accumulators import Sums
from tileir.cpu.matmul.microkernel import (
    LEFT,
    LONG,
    RIGHT,
    WORD_BYTES,
    Panel,
    column_at,
    configure,
    instruct,
    load,
    put_column,
    release,
)
from tileir.cpu.matmul.panels import LINES_AT_A_TIME, Factor, Packer, Strided, flipped
from tileir.cpu.matmul.policy import RunPlan
from tileir.cpu.matmul.products import SIDE, Product

# ---------------------------------------------------------------- runs


MultiplyRun = Callable[[Sequence[Strided], ir.Value], None]
"""(the memory of each side, how many tiles) multiplies a run."""


@dataclass(frozen=True)
class RunSide:
    """The tiles of one factor, in stack cells: the first one, the elements from line to line, and the address of the
    tile that would follow."""

    base: ir.Value
    by_line: ir.Value
    following: ir.Value

    def joins(self, builder: ir.IRBuilder, tile: Factor) -> ir.Value:
        """Return an i1 that is set if a tile continues the run."""
        assert tile.memory is not None
        follows = builder.icmp_unsigned("==", tile.address, builder.load(self.following, typ=I64))
        is_alike = builder.icmp_unsigned("==", tile.memory.by_line, builder.load(self.by_line, typ=I64))
        return builder.and_(follows, is_alike)

    def add(self, builder: ir.IRBuilder, tile: Factor, joins: ir.Value) -> None:
        """Append a tile, or begin with it."""
        assert tile.memory is not None
        base = builder.select(joins, builder.load(self.base, typ=PTR), tile.memory.base)
        following = builder.add(tile.address, I64(tile.depth * tile.memory.element.byte_size))
        for word, cell in ((base, self.base), (tile.memory.by_line, self.by_line), (following, self.following)):
            builder.store(word, cell)

    def memory(self, builder: ir.IRBuilder, tile: Factor) -> Strided:
        """Return the run, whose tiles are of the kind of `tile`."""
        assert tile.memory is not None
        base, by_line = builder.load(self.base, typ=PTR), builder.load(self.by_line, typ=I64)
        return replace(tile.memory, base=base, by_line=by_line)


@dataclass(frozen=True)
class Run:
    """The waiting tiles of the right factor, and of the left one if those wait too; `tiles` is the stack cell of their
    number."""

    sides: tuple[RunSide, ...]
    tiles: ir.Value

    def begin(self, builder: ir.IRBuilder) -> None:
        """Begin the loop without waiting tiles."""
        builder.store(I64(0), self.tiles)

    def add(
        self,
        emit: Emitter,
        factors: Sequence[Factor],
        most: ir.Value,
        last: ir.Value,
        multiply: MultiplyRun,
        begin: Callable[[ir.Value], None] | None = None,
    ) -> None:
        """Append a tile of each of `factors`, and `multiply` a run that has ended: that has `most` tiles, or in the
        `last` iteration, an i1. `begin` is told how many tiles precede this one."""
        builder, tiles = emit.builder, emit.builder.load(self.tiles, typ=I64)
        sides = list(zip(self.sides, factors))

        def multiply_run() -> None:
            multiply([side.memory(builder, tile) for side, tile in sides], builder.load(self.tiles, typ=I64))

        waits = builder.icmp_unsigned("!=", tiles, I64(0))
        joins = reduce(builder.and_, [side.joins(builder, tile) for side, tile in sides], waits)
        with emit.when(builder.and_(waits, builder.not_(joins))):
            multiply_run()
        before = builder.select(joins, tiles, I64(0))
        if begin is not None:
            begin(before)
        for side, tile in sides:
            side.add(builder, tile, joins)
        tiles = builder.add(before, I64(1))
        builder.store(tiles, self.tiles)
        copies = [builder.icmp_unsigned("==", tile.address, I64(0)) for tile in factors]
        is_full = builder.icmp_unsigned("==", tiles, most)
        with emit.when(reduce(builder.or_, [last, *copies, is_full])):
            multiply_run()
            builder.store(I64(0), self.tiles)


def most_tiles(builder: ir.IRBuilder, plan: RunPlan, rows: ir.Value) -> ir.Value:
    """Return how many tiles a run of both factors has at most, of so many rows."""
    is_one = builder.icmp_unsigned("==", rows, I64(1))
    return builder.select(is_one, I64(plan.of_one_row), I64(plan.of_several))


def new_run(emit: Emitter) -> Run:
    """Return an empty run of tiles of both factors."""
    right, left = (RunSide(emit.stack(PTR), emit.stack(I64), emit.stack(I64)) for _ in range(2))
    return Run((right, left), emit.stack(I64))


# ---------------------------------------------------------------- rows by columns, in vectors


FLIPPED = 0x80808080
"""A word of bytes, each 128 unsigned and -128 signed: what flipping the sign bits of a factor adds to each."""
COLUMNS = 8
"""Columns that are summed together where K lies side by side: their cache lines stay where they fall into one set."""
LONG_COLUMNS = 4
"""The limit for long columns: more are not read faster, and need more code."""
LEAST_WORDS = 4
"""The smallest vector of words that instructions for dot products take."""
LeftWords = Callable[[ir.IRBuilder, ir.Value], ir.Value]
"""(builder, step) -> vector of words of a row of the left factor, for the vector of the right one at that step."""


@dataclass(frozen=True)
class Rows:
    """The left factor: elements from row to row, and words from step to step."""

    base: ir.Value
    by_row: ir.Value
    by_step: int

    @staticmethod
    def of(panel: Panel, product: Product) -> Rows:
        """Return the rows of a panel."""
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
    """True if sign bits of the left factor are inverted where it is read, not in its panel."""
    acc: Sums
    steps: ir.Value | None = None
    """Steps along K, if they are not those of one tile."""

    def along(self, steps: ir.Value) -> Direct:
        """Return the code for `steps` steps along K on longer lines, fewer of them read together."""
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
        kind = self.right.product, self.memory.element, source.depth, source.signed, source.rounded, source.is_outside
        key = *kind, len(steps), self.left.by_step, self.lanes, self.words, self.vectors, *known, self.flips, self.acc
        emit.shared(key, [*arguments, *steps], body)

    def _columns(self, emit: Emitter, rows: ir.Value, columns: ir.Value, place: ir.Value) -> None:
        with emit.counted(I64(0), columns, self.lanes * self.vectors) as column:
            origin = self.memory.moved(emit.builder, column, I64(0)).base
            (here,) = self.acc.block(emit.builder, [place], I64(0), column)
            replace(self, memory=replace(self.memory, base=origin))._rows(emit, rows, here)

    def _rows(self, emit: Emitter, rows: ir.Value, place: ir.Value) -> None:
        """Multiply each row in turn: the right factor's words stay in the first-level cache."""
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

    def _constant(self, word: int) -> LeftWords:
        return lambda builder, step: ir.Constant(ir.VectorType(I32, self.words), [word] * self.words)

    def _row(self, row: ir.Value) -> LeftWords:
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

    def _summed(self, emit: Emitter, start: Sequence[ir.Value], factor: LeftWords) -> list[ir.Value]:
        """Return `start` and the products of one row."""
        builder = emit.builder
        if not self.memory.along_lines:
            return [self._partly_summed(emit, start[0], factor)]
        columns = [I64(vector * self.lanes) for vector in range(self.vectors)]

        def words(step: ir.Value) -> tuple[ir.Value, list[ir.Value]]:
            return factor(builder, step), [self._side_by_side(emit, column, step) for column in columns]

        return self._along_k(emit, start, 1, words)

    def _partly_summed(self, emit: Emitter, start: ir.Value, factor: LeftWords) -> ir.Value:
        """Multiply with partial sums of each column."""
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
        """Emit the loop along K; `words` are those of the left factor and, for each of the sums, of the right one."""
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
        """Return the words of neighbouring columns at a step."""
        builder, product = emit.builder, self.right.product
        first = builder.mul(step, I64(product.group))
        steps = (builder.add(first, I64(i)) for i in range(product.group))
        rows = [self._load(emit, column, step, self.lanes) for step in steps]
        return builder.bitcast(interleaved(builder, rows), ir.VectorType(product.word, self.lanes))

    def _loaded(self, emit: Emitter, column: ir.Value, step: ir.Value) -> ir.Value:
        """Return the words of a column at as many steps as there are lanes."""
        product = self.right.product
        k = emit.builder.mul(step, I64(product.group))
        loaded = self._load(emit, column, k, self.words * product.group)
        return emit.builder.bitcast(loaded, ir.VectorType(product.word, self.words))

    def _load(self, emit: Emitter, column: ir.Value, k: ir.Value, count: int) -> ir.Value:
        """Load neighbours in memory, and prefetch those of the next tile."""
        builder, memory, source = emit.builder, self.memory, self.right.source
        if source.is_outside:
            prefetch(builder, memory.moved(builder, column, builder.add(k, I64(source.depth))).base)
        return self.right.load(memory, column, k, count)


def direct(right: Packer, left: Rows, flips: bool, columns: int, acc: Sums) -> Direct | None:
    """Return the product of few rows; None where the factors cannot be loaded as vectors of words."""
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
    """Return the sum of the elements of each vector, by adding halves of ever larger blocks across the diagonal."""
    size, distance = rows[0].type.count, 1
    while len(rows) > 1:
        masks = swaps(size, distance)
        pairs = zip(rows[::2], rows[1::2])
        rows = [_sum(builder, *(builder.shuffle_vector(*pair, mask) for mask in masks)) for pair in pairs]
        distance *= 2
    return _folded(builder, rows[0], distance)


def _folded(builder: ir.IRBuilder, vector: ir.Value, size: int) -> ir.Value:
    """Return the sum of the parts of a vector that have `size` elements each."""
    while vector.type.count > size:
        half = vector.type.count // 2
        parts = [ir.Constant(ir.VectorType(I32, half), list(range(first, first + half))) for first in (0, half)]
        vector = _sum(builder, *(builder.shuffle_vector(vector, vector, part) for part in parts))
    return vector


def _sum(builder: ir.IRBuilder, left: ir.Value, right: ir.Value) -> ir.Value:
    is_int = isinstance(left.type.element, ir.IntType)
    return builder.add(left, right) if is_int else builder.fadd(left, right)


# ---------------------------------------------------------------- the transposed product on a matrix unit


_PREFETCH_BYTES = 4 * CACHE_LINE
"""Distance of prefetches along K."""


@dataclass(frozen=True)
class TransposedColumns:
    """The code for up to 16 rows by sixteens of columns, over any number of sixteens of steps."""

    product: Product
    acc: Sums
    is_far: bool
    """True if the right factor is likely to be far away in memory."""

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
            instruct(builder, self.product.transposed_square, [I8(0), I8(LEFT), I8(RIGHT)])
            if self.is_far:
                self._fetch(builder, here, pitch, builder.sub(steps, step))

    def _fetch(self, builder: ir.IRBuilder, here: ir.Value, pitch: ir.Value, left: ir.Value) -> None:
        """Prefetch what comes later in 16 columns, or in the next ones, where so many steps are `left`."""
        left_bytes = builder.mul(left, I64(WORD_BYTES))
        next_columns = builder.sub(builder.mul(pitch, I64(SIDE)), left_bytes)
        is_inside = builder.icmp_unsigned("<", I64(_PREFETCH_BYTES), left_bytes)
        ahead = builder.add(I64(_PREFETCH_BYTES), builder.select(is_inside, I64(0), next_columns))
        for line in range(SIDE):
            offset = builder.add(ahead, builder.mul(pitch, I64(line)))
            prefetch(builder, builder.gep(here, [offset], source_etype=I8))

    def _column(self, builder: ir.IRBuilder, buffer: ir.Value, column: ir.Value) -> ir.Value:
        return builder.gep(buffer, [column], source_etype=self.product.total)
