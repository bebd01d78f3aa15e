"""The inner loop of matrix multiplication on the matrix unit of a processor (AMX): 16 x 16 sums in a register.

Knows: how a block of up to 2 x 2 squares accumulates along K from panels. Does not know: tiles, how a panel is filled
(`cpu.matmul.panels`) nor which step of the unit is meant (`cpu.matmul.products`).

A matrix register has 16 rows of 16 words: of the left factor 16 lines by 16 steps, of the right one 16 steps by 16
columns, so that rows of the left panel and strips of the right one are read as they are. What is read again stays in
the first-level cache, past which the other panel is read: a strip of the right one that several blocks take, or, where
one block takes each strip, the left panel. The unit is configured at the beginning of a multiplication, and again after
code of others has run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.algebra import call_named
from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR
from tileir.cpu.emit.emitter import Emitter, prefetch
from tileir.cpu.matmul.accumulators import Sums
from tileir.cpu.matmul.products import Product

SIDE = 16
"""Rows of a matrix register, and its words in a row."""
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
    """Whether no other block takes this strip of the right panel."""

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
        """The squares at 16 steps along K."""
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
        direct = self.acc.words(builder, place, i * SIDE, j * SIDE)
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
        direct = self.acc.words(builder, place[:1], i * SIDE, j * SIDE) if self.acc.total_is_stored else None
        if direct is not None:
            instruct(builder, "tilestored64", [I8(number), *direct])
            return
        buffer = self._buffer(emit)
        instruct(builder, "tilestored64", [I8(number), buffer, I64(SIDE * WORD_BYTES)])
        for row in range(SIDE):
            total = builder.load(builder.gep(buffer, [I64(row)]), align=WORD_BYTES)
            self.acc.finish(builder, place, i * SIDE + row, j * SIDE, total)

    def _buffer(self, emit: Emitter) -> ir.Value:
        """Memory for the rows of a register."""
        return emit.stack(ir.VectorType(self.product.total, SIDE), SIDE)

    def _word(self, builder: ir.IRBuilder, base: ir.Value, number: ir.Value) -> ir.Value:
        return builder.gep(base, [number], source_etype=self.product.word)


def load(builder: ir.IRBuilder, register: int, address: ir.Value, row_bytes: ir.Value, stays: bool = True) -> None:
    """Load a register; `stays`: the memory comes into the first-level cache."""
    instruct(builder, "tileloadd64" if stays else "tileloaddt164", [I8(register), address, row_bytes])


def instruct(builder: ir.IRBuilder, instruction: str, operands: Sequence[ir.Value]) -> None:
    """Have the unit do one of its instructions."""
    name = f"llvm.x86.{instruction}"
    function = builder.module.globals.get(name)
    if function is None:
        types = [PTR if isinstance(operand.type, ir.PointerType) else operand.type for operand in operands]
        function = ir.Function(builder.module, ir.FunctionType(ir.VoidType(), types), name)
    builder.call(function, operands)


def column_at(builder: ir.IRBuilder, place: ir.Value, kind: ir.Type) -> ir.Value:
    """The words of a column of a square in memory, of which the first lies at a place, as a vector of `kind`."""
    operands = [ir.Constant(_WORDS, None), place, _PLACES, _ALL, I32(WORD_BYTES)]
    words = call_named(builder, "llvm.x86.avx512.mask.gather.dpi.512", _WORDS, operands)
    return builder.bitcast(words, ir.VectorType(kind, SIDE))


def put_column(builder: ir.IRBuilder, place: ir.Value, column: ir.Value) -> None:
    """Store the words of a column of a square likewise."""
    operands = [place, _ALL, _PLACES, builder.bitcast(column, _WORDS), I32(WORD_BYTES)]
    call_named(builder, "llvm.x86.avx512.mask.scatter.dpi.512", ir.VoidType(), operands)


_WORDS = ir.VectorType(I32, SIDE)
_PLACES = ir.Constant(_WORDS, [row * SIDE for row in range(SIDE)])
_ALL = ir.Constant(ir.VectorType(I1, SIDE), [1] * SIDE)
