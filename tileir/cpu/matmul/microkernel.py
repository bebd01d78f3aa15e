"""The inner loops of matrix multiplication: a block of the result held in vector registers, or in a matrix unit (AMX).

Per step along K a block loads one vector per `lanes` columns of the right panel, broadcasts one word per row of the
left panel, and issues rows x vectors multiply-adds, enough of them in flight to hide their latency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from llvmlite import ir

from tileir.cpu.emit.algebra import call_named
from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.emit.vectors import broadcast, prefetch
from tileir.cpu.matmul.accumulators import StoredSums, Sums
from tileir.cpu.matmul.policy import Blocking, Shape
from tileir.cpu.matmul.products import SIDE, Product

# ---------------------------------------------------------------- the matrix unit


WORD_BYTES = 4
LEFT, RIGHT = 4, 6
"""The first registers of the factors; those of the sums are 0 to 3."""
MOST_UNROLLED = 4
"""Squares along K that are multiplied by straight-line code."""


def configure(emit: Emitter) -> None:
    """Have all registers of the unit of 16 rows of 64 bytes."""
    instruct(emit.builder, "ldtilecfg", [_configuration(emit.module)])


def release(emit: Emitter) -> None:
    """Leave the unit: a thread that is not in it is switched away from faster."""
    instruct(emit.builder, "tilerelease", [])


def _configuration(module: ir.Module) -> ir.Value:
    name = "tileir.matrix_unit"
    if name not in module.globals:
        palette, rows, row_bytes = 1, [SIDE] * 8, [SIDE * WORD_BYTES, 0] * 8
        content = bytearray([palette, *[0] * 15, *row_bytes, *[0] * 16, *rows, *[0] * 8])
        constant = ir.GlobalVariable(module, ir.ArrayType(I8, len(content)), name)
        constant.global_constant, constant.linkage, constant.align = True, "internal", 64
        constant.initializer = ir.Constant(constant.value_type, content)
    found: ir.Value = module.globals[name]
    return found


@dataclass(frozen=True)
class SquareColumn:
    """The code for blocks of `down` x `across` squares below each other, `rows` rows in all."""

    product: Product
    down: int
    across: int
    rows: int
    divisor: int
    """Divides the number of steps."""
    left_line: int
    """Words from line to line of the left panel, whose steps lie side by side."""
    right_step: int
    acc: Sums
    ahead: int = 0
    """Words of the next strip of the right panel that a block fetches at each step, if any."""
    is_alone: bool = False
    """True if no other block takes this strip of the right panel."""

    def emit(self, emit: Emitter, arguments: Sequence[ir.Value]) -> None:
        """Accumulate; `arguments` are the first words of the column in both panels, those to fetch, the number of
        steps, and its place in the accumulator."""
        left, right, following, steps, *place = arguments
        builder = emit.builder
        with emit.counted(I64(0), I64(self.rows), self.down * SIDE) as row:
            words = self._word(builder, left, builder.mul(row, I64(self.left_line)))
            block = builder.udiv(row, I64(self.down * SIDE))
            share = self._word(builder, following, builder.mul(builder.mul(block, steps), I64(self.ahead)))
            self._block(emit, (words, right, share, steps), self.acc.block(builder, place, row, I64(0)))

    def _block(self, emit: Emitter, factors: tuple[ir.Value, ...], place: Sequence[ir.Value]) -> None:
        left, right, fetched, steps = factors
        squares = [(i, j) for i in range(self.down) for j in range(self.across)]
        for i, j in squares:
            self._start(emit, place, i, j)
        unrolled = min(self.divisor, MOST_UNROLLED * SIDE)
        with emit.counted(I64(0), steps, unrolled) as position:
            for step in range(0, unrolled, SIDE):
                here = emit.builder.add(position, I64(step))
                self._multiply(emit.builder, left, right, here)
                self._fetch(emit.builder, fetched, here)
        for i, j in squares:
            self._finish(emit, place, i, j)

    def _multiply(self, builder: ir.IRBuilder, left: ir.Value, right: ir.Value, step: ir.Value) -> None:
        """Multiply the squares at 16 steps along K."""
        for i in range(self.down):
            address = self._word(builder, left, builder.add(step, I64(i * SIDE * self.left_line)))
            load(builder, LEFT + i, address, I64(self.left_line * WORD_BYTES), stays=self.is_alone)
        for j in range(self.across):
            address = self._word(builder, right, builder.add(builder.mul(step, I64(self.right_step)), I64(j * SIDE)))
            load(builder, RIGHT + j, address, I64(self.right_step * WORD_BYTES), stays=not self.is_alone)
            for i in range(self.down):
                instruct(builder, self.product.square, [I8(self._sums(i, j)), I8(LEFT + i), I8(RIGHT + j)])

    def _fetch(self, builder: ir.IRBuilder, fetched: ir.Value, step: ir.Value) -> None:
        """Ask for what 16 steps fetch, one cache line for each word of `ahead`."""
        first = builder.mul(step, I64(self.ahead))
        for line in range(self.ahead):
            prefetch(builder, self._word(builder, fetched, builder.add(first, I64(line * SIDE))))

    # ------------------------------------------------------------ sums

    def _sums(self, i: int, j: int) -> int:
        return 2 * i + j

    def _start(self, emit: Emitter, place: Sequence[ir.Value], i: int, j: int) -> None:
        builder, number = emit.builder, self._sums(i, j)
        if self.acc.from_zero:
            instruct(builder, "tilezero", [I8(number)])
            return
        direct = self._in_memory(builder, place, i, j)
        if direct is not None:
            load(builder, number, *direct)
            return
        buffer = self._buffer(emit)
        for row in range(SIDE):
            start = self.acc.start(builder, place, i * SIDE + row, j * SIDE, SIDE)
            builder.store(start, builder.gep(buffer, [I64(row)]), align=WORD_BYTES)
        load(builder, number, buffer, I64(SIDE * WORD_BYTES))

    def _finish(self, emit: Emitter, place: Sequence[ir.Value], i: int, j: int) -> None:
        builder, number = emit.builder, self._sums(i, j)
        direct = self._in_memory(builder, place, i, j)
        if direct is not None:
            instruct(builder, "tilestored64", [I8(number), *direct])
            return
        buffer = self._buffer(emit)
        instruct(builder, "tilestored64", [I8(number), buffer, I64(SIDE * WORD_BYTES)])
        for row in range(SIDE):
            total = builder.load(builder.gep(buffer, [I64(row)]), align=WORD_BYTES)
            self.acc.finish(builder, place, i * SIDE + row, j * SIDE, total)

    def _in_memory(
        self, builder: ir.IRBuilder, place: Sequence[ir.Value], i: int, j: int
    ) -> tuple[ir.Value, ir.Value] | None:
        """Return the first of the sums of a square, and the bytes from row to row, if memory holds them as they are."""
        if not isinstance(self.acc, StoredSums) or not self.acc.total_is_stored:
            return None
        return self.acc.place(builder, place, i * SIDE, j * SIDE), I64(self.acc.columns * WORD_BYTES)

    def _buffer(self, emit: Emitter) -> ir.Value:
        """Return memory for the rows of a register."""
        return emit.stack(ir.VectorType(self.product.total, SIDE), SIDE)

    def _word(self, builder: ir.IRBuilder, base: ir.Value, number: ir.Value) -> ir.Value:
        return builder.gep(base, [number], source_etype=self.product.word)


def load(builder: ir.IRBuilder, register: int, address: ir.Value, row_bytes: ir.Value, stays: bool = True) -> None:
    """Load a register; `stays`: the memory comes into the first-level cache."""
    instruct(builder, "tileloadd64" if stays else "tileloaddt164", [I8(register), address, row_bytes])


def instruct(builder: ir.IRBuilder, instruction: str, operands: Sequence[ir.Value]) -> None:
    """Have the unit do one of its instructions."""
    call_named(builder, f"llvm.x86.{instruction}", ir.VoidType(), operands)


def column_at(builder: ir.IRBuilder, place: ir.Value, kind: ir.Type) -> ir.Value:
    """Load a column of a square in memory, starting at a place, as a vector of `kind`."""
    operands = [ir.Constant(_WORDS, None), place, _PLACES, _ALL, I32(WORD_BYTES)]
    words = call_named(builder, "llvm.x86.avx512.mask.gather.dpi.512", _WORDS, operands)
    return builder.bitcast(words, ir.VectorType(kind, SIDE))


def put_column(builder: ir.IRBuilder, place: ir.Value, column: ir.Value) -> None:
    """Store the words of a column of a square."""
    operands = [place, _ALL, _PLACES, builder.bitcast(column, _WORDS), I32(WORD_BYTES)]
    call_named(builder, "llvm.x86.avx512.mask.scatter.dpi.512", ir.VoidType(), operands)


_WORDS = ir.VectorType(I32, SIDE)
_PLACES = ir.Constant(_WORDS, [row * SIDE for row in range(SIDE)])
_ALL = ir.Constant(ir.VectorType(I1, SIDE), [1] * SIDE)


# ---------------------------------------------------------------- vectors


UNROLLED = 4
"""Steps that are written out at most."""
LONG = 1 << 22
"""Multiplications of a product that has safepoints."""


@dataclass(frozen=True)
class Panel:
    """Words of one factor: line `block + i` of a block and step k at ``base[block*by_block + i*by_line + k*by_step]``.

    A line is a row of the left factor or a column of the right one, where `by_line` is 1.
    """

    base: ir.Value
    by_block: int
    by_line: int
    by_step: int

    def block(self, builder: ir.IRBuilder, product: Product, line: ir.Value) -> ir.Value:
        """Return the first word of the block that begins with a line."""
        return builder.gep(self.base, [builder.mul(line, I64(self.by_block))], source_etype=product.word)


@dataclass(frozen=True)
class BlockColumn:
    """The code for register blocks below each other, `rows` rows in all: columns of equal kind share it."""

    product: Product
    size: Blocking
    rows: int
    unrolled: int
    """Steps that are written out; it divides their number."""
    left_block: int
    left_line: int
    left_step: int
    right_step: int
    """Words from block to block of the left panel, from line to line, from step to step, and from step to step of the
    right one."""
    acc: Sums

    def emit(self, emit: Emitter, arguments: Sequence[ir.Value]) -> None:
        """Accumulate; `arguments` are the first words of the column in both panels, the number of steps, and its place
        in the accumulator."""
        left, right, steps, *rest = arguments
        builder = emit.builder
        with emit.counted(I64(0), I64(self.rows), self.size.rows) as row:
            words = self._word(builder, left, builder.mul(row, I64(self.left_block)))
            self._emit_block(builder, (words, right, steps), self.acc.block(builder, rest, row, I64(0)))

    def _emit_block(self, builder: ir.IRBuilder, factors: tuple[ir.Value, ...], place: Sequence[ir.Value]) -> None:
        size = self.size
        vectors = [(i, j * size.lanes) for i in range(size.rows) for j in range(size.vectors)]
        start = [self.acc.start(builder, place, *vector, size.lanes) for vector in vectors]
        for vector, total in zip(vectors, self._accumulated(builder, factors, start)):
            self.acc.finish(builder, place, *vector, total)

    def _accumulated(
        self, builder: ir.IRBuilder, factors: tuple[ir.Value, ...], start: Sequence[ir.Value]
    ) -> Sequence[ir.Value]:
        """Emit the loop along K: the sums stay in registers."""
        *starts, steps = factors
        advances = [I64(self.unrolled * stride) for stride in (self.left_step, self.right_step)]
        before = builder.block
        body, after = builder.append_basic_block("k"), builder.append_basic_block("k.end")
        builder.branch(body)
        builder.position_at_end(body)
        step = builder.phi(I64)
        places = [builder.phi(PTR) for _ in starts]
        sums = [builder.phi(first.type) for first in start]
        totals: Sequence[ir.Value] = sums
        for inner in range(self.unrolled):
            totals = self._step(builder, places, inner, totals)
        following = builder.add(step, I64(self.unrolled))
        nexts = [self._word(builder, *walk) for walk in zip(places, advances)]
        entering, coming = (I64(0), *starts, *start), (following, *nexts, *totals)
        for phi, first, later in zip((step, *places, *sums), entering, coming):
            phi.add_incoming(first, before)
            phi.add_incoming(later, body)
        builder.cbranch(builder.icmp_unsigned("<", following, steps), body, after)
        builder.position_at_end(after)
        return totals

    def _step(
        self, builder: ir.IRBuilder, factors: Sequence[ir.Value], step: int, sums: Sequence[ir.Value]
    ) -> list[ir.Value]:
        """Emit one step along K: the outer product of a column of the left panel and a row of the right one."""
        word, lanes, across = self.product.word, self.size.lanes, self.size.vectors
        left, right = factors
        vectors = []
        for j in range(across):
            address = self._word(builder, right, I64(step * self.right_step + j * lanes))
            vectors.append(builder.load(address, typ=ir.VectorType(word, lanes), align=4))
        totals = []
        for i in range(self.size.rows):
            address = self._word(builder, left, I64(i * self.left_line + step * self.left_step))
            number = builder.load(address, typ=word, align=self.product.element.byte_size)
            repeated = broadcast(builder, number, lanes)
            for j, vector in enumerate(vectors):
                totals.append(self.product.step(builder, repeated, vector, sums[i * across + j]))
        return totals

    def _word(self, builder: ir.IRBuilder, base: ir.Value, number: ir.Value) -> ir.Value:
        return builder.gep(base, [number], source_etype=self.product.word)


def multiply(
    emit: Emitter,
    product: Product,
    shape: Shape,
    size: Blocking,
    factors: tuple[Panel, Panel],
    acc: Sums,
    bases: Sequence[ir.Value],
    needed: tuple[ir.Value | None, ir.Value | None] = (None, None),
    some: tuple[ir.Value, int] | None = None,
    ahead: bool = False,
) -> None:
    """Accumulate ``acc += left @ right``.

    Blocks without any of the `needed` rows and columns, by default all, are left out. `some`: how many of the steps
    are made, if not all, and a number: it, or as many of it as are written out, divides them. `ahead`: the right panel
    is likely to be far away in memory, and a matrix unit fetches the next strip of it.
    """
    left, right = factors
    assert right.by_line == 1
    needed_rows, needed_columns = (I64(all) if part is None else part for part, all in zip(needed, (shape.m, shape.n)))
    rows = shape.m if needed[0] is None else size.rows
    steps, divisor = some or (I64(shape.k // product.group), shape.k // product.group)
    strides = left.by_block, left.by_line, left.by_step, right.by_step
    share = max(1, size.rows * size.columns // shape.m) if ahead else 0
    blocks: BlockColumn | SquareColumn = BlockColumn(product, size, rows, min(UNROLLED, divisor), *strides, acc)
    if size.uses_matrix_unit:
        down, across = size.rows // SIDE, size.vectors
        is_alone = shape.m <= size.rows
        blocks = SquareColumn(product, down, across, rows, divisor, left.by_line, right.by_step, acc, share, is_alone)
        configure(emit)
    with emit.counted(I64(0), needed_columns, size.columns) as column:
        if shape.m * shape.n * divisor * product.group > LONG:
            _safepoint(emit, size)
        with emit.counted(I64(0), needed_rows, rows) as row:
            panels = [panel.block(emit.builder, product, first) for panel, first in ((left, row), (right, column))]
            place = acc.block(emit.builder, bases, row, column)
            if isinstance(blocks, BlockColumn):
                emit.shared((blocks, len(place)), [*panels, steps, *place], blocks.emit)
            else:
                following = _following(emit.builder, product, right, column, size, share, row)
                rest = None if needed[0] is None else emit.builder.sub(needed_rows, row)
                _emit_squares(emit, blocks, [*panels, following, steps, *place], rest)
    if size.uses_matrix_unit:
        release(emit)


def _emit_squares(emit: Emitter, blocks: SquareColumn, arguments: Sequence[ir.Value], rows: ir.Value | None) -> None:
    """Emit a block for `rows` rows, by default all; if one square is enough, only that one is computed."""
    if blocks.down == 1 or rows is None:
        emit.shared((blocks, len(arguments)), arguments, blocks.emit)
        return
    low = replace(blocks, down=1, rows=SIDE)
    is_low = emit.builder.icmp_unsigned("<=", rows, I64(SIDE))
    with emit.one_way(), emit.builder.if_else(is_low) as ways:
        for way, kind in zip(ways, (low, blocks)):
            with way:
                emit.shared((kind, len(arguments)), arguments, kind.emit)


def _following(
    builder: ir.IRBuilder, product: Product, right: Panel, column: ir.Value, size: Blocking, share: int, row: ir.Value
) -> ir.Value:
    """Return the words of the next strip that the block at a row fetches."""
    word = builder.mul(builder.add(column, I64(size.columns)), I64(right.by_block))
    block = builder.udiv(row, I64(size.rows))
    word = builder.add(word, builder.mul(block, I64(share * right.by_block)))
    return builder.gep(right.base, [word], source_etype=product.word)


def _safepoint(emit: Emitter, size: Blocking) -> None:
    if size.uses_matrix_unit:
        release(emit)
    emit.safepoint()
    if size.uses_matrix_unit:
        configure(emit)
