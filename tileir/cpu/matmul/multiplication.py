"""A product of matrices: its factors are packed, and multiplied now or together with those of later iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from llvmlite import ir

from tileir.cpu.emit.algebra import call_intrinsic
from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.emit.tiles import Window
from tileir.cpu.matmul.accumulators import SaturatingSums, StoredSums, Sums, Zeros, sums_in
from tileir.cpu.matmul.few_rows import FLIPPED, Direct, Rows, Run, TransposedColumns, direct, most_tiles, new_run
from tileir.cpu.matmul.microkernel import UNROLLED, WORD_BYTES, Panel, multiply
from tileir.cpu.matmul.panel_cache import Panels, new_panels
from tileir.cpu.matmul.panels import Factor, Packer, Strided
from tileir.cpu.matmul.policy import FEW, Blocking, PanelPlan, ProductPlan, Shape
from tileir.cpu.matmul.products import SIDE, Product
from tileir.ir import types as t

Multiply = Callable[[Sums, tuple[ir.Value, int] | None], None]
"""(sums, how many steps, and a number that divides it, if not all) multiplies what is in panels."""
MultiplyTiles = Callable[[Sums, ir.Value, ir.Value], None]
"""(sums, first tile, how many) multiplies tiles of a run."""


@dataclass
class LoopProduct:
    """A product of a loop: panels that outlive an iteration, and how far they are filled.

    Those of a deferred product are multiplied when they are full and in the last iteration of the loop; the terms of
    each element are added in the same order. Sums that saturate are clamped each time, so tiles are collected as long
    as no sum can leave its type, whatever the factors hold, and multiplied one by one from then on. Stack cells:
    `filled`, the number of tiles in a panel, and `number`, the number of earlier panels.
    """

    product: Product
    plan: PanelPlan
    left: Panels | None
    right: Panels
    transposed: Panels | None
    """Panels of the rows that a matrix unit multiplies a run of right tiles with."""
    run: Run | None
    """The tiles that wait where rows are few; None if the loop does not allow that."""
    filled: ir.Value
    number: ir.Value
    last: ir.Value
    """An i1 that is set in the last iteration of the loop."""
    active: ir.Value | None = None
    """The stack cell of the number of rows in front of those that have been zeros in all panels, if they are looked
    for."""
    together: ir.Value | None = None
    """An i64: for so many panels tiles are put together, as no sum can saturate. None if none ever does."""

    def begin(self, builder: ir.IRBuilder) -> None:
        """Forget what is packed, where the loop begins."""
        for cell in (self.filled, self.number):
            builder.store(I64(0), cell)
        if self.active is not None:
            builder.store(I64(self.plan.size.rows), self.active)
        if self.run is not None:
            self.run.begin(builder)

    def next_panel(self, builder: ir.IRBuilder) -> None:
        builder.store(builder.add(builder.load(self.number, typ=I64), I64(1)), self.number)

    def advance(self, emit: Emitter, acc: Window, tile_steps: int, steps: ir.Value | None, multiply: Multiply) -> None:
        """Count a packed tile, `steps` of whose steps are made (all if None); `multiply` the panels when they are
        due."""
        builder = emit.builder
        filled = builder.add(builder.load(self.filled, typ=I64), I64(1))
        builder.store(filled, self.filled)
        is_full = builder.icmp_unsigned("==", filled, I64(self.plan.tiles))
        is_alone = builder.not_(self._stays_in_range(builder, 1))
        with emit.when(builder.or_(self.last, builder.or_(is_full, is_alone))):
            made = builder.mul(filled, I64(tile_steps))
            if steps is not None:
                made = builder.sub(made, builder.sub(I64(tile_steps), steps))
            self._multiply(emit, acc, lambda sums: multiply(sums, (made, tile_steps)))
            builder.store(I64(0), self.filled)
            self.next_panel(builder)

    def _multiply(self, emit: Emitter, acc: Window, multiply: Callable[[Sums], None]) -> None:
        """Multiply; flipped sign bits are made up for where sums start, which those in memory do not allow."""
        if self.product.flips(self.plan.size.uses_matrix_unit):
            multiply(self._saturating_sums)
        else:
            self._unless_saturated(emit, acc, 1, multiply, multiply)

    def multiply_run(self, emit: Emitter, acc: Window, tiles: ir.Value, multiply: MultiplyTiles) -> None:
        """Multiply a transposed run of `tiles` tiles at once, unless a sum may saturate in between."""
        assert self.transposed is not None

        def at_once(sums: Sums) -> None:
            multiply(sums, I64(0), tiles)

        def one_by_one(sums: Sums) -> None:
            with emit.counted(I64(0), tiles) as tile:
                multiply(sums, tile, I64(1))

        self._unless_saturated(emit, acc, self.transposed.room.tiles // self.plan.tiles, at_once, one_by_one)
        self.next_panel(emit.builder)

    def _unless_saturated(
        self, emit: Emitter, acc: Window, each: int, plain: Callable[[Sums], None], clamped: Callable[[Sums], None]
    ) -> None:
        """Emit `plain` with sums taken from memory and stored unchanged, and `clamped` for where one may saturate; a
        panel counts as `each` tiles."""
        stored = StoredSums(self.plan.shape.n, acc.type.number, self.product.total, isinstance(acc, Zeros))
        if self.together is None:
            plain(stored)
            return
        in_range = self._stays_in_range(emit.builder, each)
        with emit.one_way(), emit.builder.if_else(in_range, likely=True) as (then, otherwise):
            with then:
                plain(stored)
            with otherwise:
                clamped(self._saturating_sums)

    @property
    def _saturating_sums(self) -> SaturatingSums:
        return SaturatingSums(self.plan.shape.n, self.product.total)

    def _stays_in_range(self, builder: ir.IRBuilder, each: int) -> ir.Value:
        """Return an i1 that is set if no sum of the present panels can saturate; a panel counts as `each` tiles."""
        if self.together is None:
            return I1(1)
        together = builder.sdiv(self.together, I64(each))
        return builder.icmp_signed("<", builder.load(self.number, typ=I64), together)


def new_loop_product(emit: Emitter, product: Product, plan: PanelPlan) -> LoopProduct:
    """Take memory for the panels of a product."""
    left, right, transposed = (
        None if room is None else new_panels(emit, room) for room in (plan.left, plan.right, plan.transposed)
    )
    assert right is not None
    run = None if plan.run is None and transposed is None else new_run(emit)
    filled, number, active = emit.stack(I64), emit.stack(I64), emit.stack(I64) if plan.skips_zeros else None
    return LoopProduct(product, plan, left, right, transposed, run, filled, number, I1(1), active)


# ---------------------------------------------------------------- one product


@dataclass(frozen=True)
class Multiplication:
    """``acc += left @ right``; `loop` has the panels of factors that outlive the iteration."""

    emit: Emitter
    plan: ProductPlan
    left: Factor
    right: Factor
    acc: Window
    loop: LoopProduct | None
    depth: ir.Value | None = None
    """The part of K that counts, an i64, if not all: both factors are zeros beyond it."""

    @property
    def product(self) -> Product:
        return self.plan.product

    @property
    def shape(self) -> Shape:
        return self.plan.shape

    @property
    def size(self) -> Blocking:
        return self.plan.size if self.loop is None else self.loop.plan.size

    @property
    def sums(self) -> Sums:
        """Return how sums begin and end."""
        return sums_in(self.acc, self.shape.n, self.product.total)

    @property
    def flips(self) -> bool:
        """True if the sign bits of the left factor are flipped in its panel."""
        return self.product.flips(self.size.uses_matrix_unit)

    def emit_all(self) -> None:
        """Emit the product; few rows take another way, where possible."""
        if self._is_transposed():
            self._if_few(self._multiply_transposed, self._multiply_many, SIDE)
            return
        if self._waits():
            self._if_few(self._multiply_run, self._multiply_many, self._most)
            return
        left = self._left_panel()
        few = self._few(self.right, Rows.of(left, self.product))
        if few is not None and self.shape.m <= self._most:
            few.multiply(self.emit, self.left.lines_needed, [self.acc.base])
        elif few is None or self.left.needed is None:
            self._multiply_panels(left)
        else:
            self._if_few(
                lambda rows: few.multiply(self.emit, rows, [self.acc.base]),
                lambda: self._multiply_panels(left),
                self._most,
            )

    @property
    def _most(self) -> int:
        """Rows that are few."""
        return min(self.size.rows, FEW)

    def _if_few(self, few: Callable[[ir.Value], None], many: Callable[[], None], most: int) -> None:
        """Emit two alternatives for few and for many needed rows; `few` gets their number."""
        needed = self.left.lines_needed
        is_few = self.emit.builder.icmp_unsigned("<=", needed, I64(most))
        with self.emit.one_way(), self.emit.builder.if_else(is_few) as (then, otherwise):
            with then:
                few(needed)
            with otherwise:
                many()

    # ------------------------------------------------------------ few rows

    def _few(self, right: Factor, left: Rows) -> Direct | None:
        if not self.plan.reads_few_rows:
            return None
        flips = self.product.flip_left and not self.flips
        return direct(self._packer(right), left, flips, self.shape.n, self.sums)

    def _waits(self) -> bool:
        """Return whether tiles wait for later ones where rows are few: they lie along K as they are multiplied."""
        memory = self.left.memory
        if self.loop is None or self.loop.plan.run is None or self.left.needed is None or memory is None:
            return False
        lies_along_k = all(_lies_along_k(side) for side in (self.left, self.right))
        is_plain = memory.element is self.product.element and not self.left.rounded
        return lies_along_k and is_plain and self._few(self.right, _rows(memory)) is not None

    def _multiply_run(self, rows: ir.Value) -> None:
        def multiply_run(memories: Sequence[Strided], tiles: ir.Value) -> None:
            right, left = memories
            few = self._few(replace(self.right, memory=right), _rows(left))
            assert few is not None
            steps = self.emit.builder.mul(tiles, I64(self.shape.k // self.product.group))
            few.along(steps).multiply(self.emit, rows, [self.acc.base])

        loop = self.loop
        assert loop is not None and loop.run is not None and loop.plan.run is not None
        most = most_tiles(self.emit.builder, loop.plan.run, rows)
        loop.run.add(self.emit, (self.right, self.left), most, loop.last, multiply_run)

    # ------------------------------------------------------------ few rows on a matrix unit

    def _is_transposed(self) -> bool:
        """Return whether a matrix unit multiplies a run of right tiles where they lie if rows are few."""
        if self.loop is None or self.loop.transposed is None or (self.left.needed is None and self.shape.m > SIDE):
            return False
        memory = self.right.memory
        return memory is not None and _lies_along_k(self.right) and memory.element is self.product.element

    def _multiply_transposed(self, rows: ir.Value) -> None:
        emit, builder, loop = self.emit, self.emit.builder, self.loop
        assert loop is not None and loop.transposed is not None and loop.run is not None
        present, transposed, packer = emit.stack(PTR), loop.transposed, self._packer(self.left)

        def pack(tile: ir.Value) -> None:
            packer.place = transposed.place(emit, self.left, builder.load(loop.number, typ=I64), tile, packer.steps)
            builder.store(packer.place.panel, present)
            with packer.unless_packed():
                packer.few_lines()

        def multiply_run(memories: Sequence[Strided], tiles: ir.Value) -> None:
            (right,), panel = memories, builder.load(present, typ=PTR)
            pitch = builder.mul(right.by_line, I64(self.product.element.byte_size))

            def multiply_tiles(sums: Sums, first: ir.Value, count: ir.Value) -> None:
                step = builder.mul(first, I64(packer.steps * WORD_BYTES))
                words = builder.gep(panel, [builder.mul(step, I64(SIDE))], source_etype=I8)
                lines = builder.gep(right.base, [step], source_etype=I8)
                code = TransposedColumns(self.product, sums, self.right.is_outside)
                steps = builder.mul(count, I64(packer.steps))
                code.multiply(emit, [rows, self.right.lines_needed, words, lines, pitch, steps, self.acc.base])

            loop.multiply_run(emit, self.acc, tiles, multiply_tiles)

        loop.run.add(emit, [self.right], I64(transposed.room.tiles), loop.last, multiply_run, pack)

    # ------------------------------------------------------------ many rows

    def _multiply_many(self) -> None:
        self._multiply_panels(self._left_panel())

    def _multiply_panels(self, left: Panel) -> None:
        """Emit the product of all rows: the right factor is packed, then read for each block of rows."""
        emit, product, size, loop = self.emit, self.product, self.size, self.loop
        right = self._right_panel()
        shape = self.shape if loop is None else loop.plan.shape
        needed, is_deferred = (self.left.needed, self.right.needed), loop is not None and loop.plan.is_deferred
        steps = self._steps()

        def multiply_steps(sums: Sums, some: tuple[ir.Value, int] | None) -> None:
            bases = [self.acc.base]
            if self.flips:
                bases.append(self._flip_correction(shape, right, some))
            rows, columns = needed
            if loop is not None and loop.active is not None and some is not None and left.by_step == 1:
                rows = self._active_rows(loop.active, left, right, some)
            multiply(emit, product, shape, size, (left, right), sums, bases, (rows, columns), some, ahead=is_deferred)

        if loop is not None and is_deferred:
            loop.advance(emit, self.acc, self.shape.k // product.group, steps, multiply_steps)
            return
        multiply_steps(self.sums, None if steps is None else (steps, shape.k))
        if loop is not None:
            loop.next_panel(emit.builder)

    # ------------------------------------------------------------ rows of zeros

    def _active_rows(self, active: ir.Value, left: Panel, right: Panel, some: tuple[ir.Value, int]) -> ir.Value:
        """Return the number of rows, in whole blocks, in front of those that have been zeros in all panels of the loop
        so far: what they add is 0, unless the right factor has an infinity or NaN."""
        emit, builder, rows = self.emit, self.emit.builder, self.size.rows
        whole = builder.and_(builder.add(self.left.lines_needed, I64(rows - 1)), I64(-rows))
        before, found = builder.load(active, typ=I64), emit.stack(I64)
        builder.store(whole, found)
        with emit.when(builder.icmp_unsigned("<", before, whole)):
            with emit.counted(before, whole, rows) as passed:
                end = builder.sub(builder.add(whole, before), passed)
                first = builder.sub(end, I64(rows))
                is_last = builder.icmp_unsigned("==", builder.load(found, typ=I64), end)
                with emit.when(is_last), emit.when(self._is_zero(left, first, some)):
                    builder.store(first, found)
            are_fewer = builder.icmp_unsigned("<", builder.load(found, typ=I64), whole)
            with emit.when(are_fewer), emit.when(builder.not_(self._is_finite(right, some[0]))):
                builder.store(whole, found)
            builder.store(builder.load(found, typ=I64), active)
        return builder.load(active, typ=I64)

    def _is_zero(self, left: Panel, row: ir.Value, some: tuple[ir.Value, int]) -> ir.Value:
        """Return an i1 that is set if a block of rows holds nothing but 0, without a sign."""
        steps, divisor = some
        lanes, builder = min(self.size.lanes, divisor), self.emit.builder
        kind = ir.VectorType(ir.IntType(self.product.element.memory_bits * self.product.group), lanes)
        block, seen = left.block(builder, self.product, row), self.emit.stack(kind)
        builder.store(ir.Constant(kind, None), seen)
        with self.emit.counted(I64(0), steps, lanes) as step:
            for line in range(self.size.rows):
                words = self._words(block, builder.add(step, I64(line * left.by_line)), kind)
                builder.store(builder.or_(builder.load(seen, typ=kind), words), seen)
        bits = call_intrinsic(builder, "llvm.vector.reduce.or", kind.element, [builder.load(seen, typ=kind)])
        return builder.icmp_unsigned("==", bits, kind.element(0))

    def _is_finite(self, right: Panel, steps: ir.Value) -> ir.Value:
        """Return an i1 that is set if all numbers of the needed columns are finite."""
        builder, element, lanes = self.emit.builder, self.product.element, self.size.lanes
        kind = ir.VectorType(ir.IntType(element.memory_bits), lanes * self.product.group)
        flags = ir.VectorType(I1, kind.count)
        exponent = ((1 << element.layout.exponent) - 1) << element.layout.fraction
        largest, seen = ir.Constant(kind, [exponent] * kind.count), self.emit.stack(flags)
        builder.store(ir.Constant(flags, None), seen)
        with self.emit.counted(I64(0), self.right.lines_needed, self.size.columns) as column:
            strip = right.block(builder, self.product, column)
            with self.emit.counted(I64(0), steps) as step:
                for vector in range(self.size.vectors):
                    place = builder.add(builder.mul(step, I64(right.by_step)), I64(vector * lanes))
                    numbers = builder.and_(self._words(strip, place, kind), largest)
                    is_special = builder.icmp_unsigned("==", numbers, largest)
                    builder.store(builder.or_(builder.load(seen, typ=flags), is_special), seen)
        return builder.not_(call_intrinsic(builder, "llvm.vector.reduce.or", I1, [builder.load(seen, typ=flags)]))

    def _words(self, base: ir.Value, place: ir.Value, kind: ir.VectorType) -> ir.Value:
        builder, word = self.emit.builder, self.product.word
        return builder.load(builder.gep(base, [place], source_etype=word), typ=kind, align=4)

    # ------------------------------------------------------------ the depth

    def _steps(self) -> ir.Value | None:
        """Return the number of steps to make, None for all: beyond `depth` to the next multiple of the unrolled ones,
        as the zeros there change no sum."""
        if self.depth is None or self.product.group > 1 or not self.acc.type.number.is_float or self.shape.k < UNROLLED:
            return None
        builder = self.emit.builder
        steps = builder.add(builder.and_(self.depth, I64(-UNROLLED)), I64(UNROLLED))
        is_part = builder.icmp_unsigned("<", self.depth, I64(self.shape.k))
        return builder.select(is_part, steps, I64(self.shape.k))

    # ------------------------------------------------------------ panels

    def _packer(self, source: Factor) -> Packer:
        return Packer(self.emit, self.product, source, self.size.lanes)

    def _left_panel(self) -> Panel:
        packer = replace(self._packer(self.left), flips=self.flips)
        pack = partial(packer.left, self.size.rows, self.size.uses_matrix_unit)
        return self._panel(packer, None if self.loop is None else self.loop.left, pack)

    def _right_panel(self) -> Panel:
        packer = self._packer(self.right)
        pack = partial(packer.strips, self.size.columns)
        return self._panel(packer, None if self.loop is None else self.loop.right, pack)

    def _panel(self, packer: Packer, panels: Panels | None, pack: Callable[[], Panel]) -> Panel:
        """Return a packed factor: at its place among `panels`, if there are any, unless it is there."""
        if self.loop is None or panels is None:
            return pack()
        number, tile = (self.emit.builder.load(cell, typ=I64) for cell in (self.loop.number, self.loop.filled))
        packer.place = panels.place(self.emit, packer.source, number, tile, packer.steps)
        with packer.unless_packed():
            return pack()

    def _flip_correction(self, shape: Shape, right: Panel, some: tuple[ir.Value, int] | None) -> ir.Value:
        """Return what the flipped sign bits of the left factor add to each column: a product with them."""
        word, added = self.emit.buffer(4), self.emit.buffer(4 * shape.n)
        self.emit.builder.store(I32(FLIPPED), word)
        one_row, size = Shape(1, shape.n, shape.k), Blocking(1, self.size.vectors, self.size.lanes)
        panels, sums = (Panel(word, 0, 0, 0), right), StoredSums(shape.n, t.I32, I32, from_zero=True)
        multiply(self.emit, self.product, one_row, size, panels, sums, [added], some=some)
        return added


def _lies_along_k(factor: Factor) -> bool:
    """Return whether the elements of a factor lie in memory, along K, at an address that can be told."""
    return factor.memory is not None and factor.memory.along_k and factor.address is not None


def _rows(memory: Strided) -> Rows:
    """Return a left factor as it lies in memory, along K."""
    return Rows(memory.base, memory.by_line, 1)
