"""A product of matrices: its factors are packed, and multiplied now or together with those of later iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR
from tileir.cpu.emit.emitter import Emitter, as_register
from tileir.cpu.emit.tiles import Window
from tileir.cpu.matmul.accumulators import ColumnStart, SaturatingSums, StoredSums, Sums, sums_in
from tileir.cpu.matmul.few_rows import (
    FLIPPED,
    Direct,
    Rows,
    Run,
    TransposedColumns,
    TransposedRun,
    direct,
    most_tiles,
    new_run,
    new_transposed,
)
from tileir.cpu.matmul.microkernel import UNROLLED, WORD_BYTES, Panel, multiply
from tileir.cpu.matmul.panels import (
    LINES_AT_A_TIME,
    SMALLEST_SQUARE,
    Factor,
    Packer,
    PanelPlace,
    Panels,
    Strided,
    new_panels,
)
from tileir.cpu.matmul.policy import FEW, Blocking, DeferralPlan, ProductPlan, Shape
from tileir.cpu.matmul.products import SIDE, Product

Multiply = Callable[[Sums, list[ir.Value], tuple[ir.Value, int]], None]
"""(sums, their bases, how many steps and a number that divides it) multiplies what is in panels."""
MultiplyTiles = Callable[[Sums, list[ir.Value], ir.Value, ir.Value], None]
"""(sums, their bases, first tile, how many) multiplies tiles of a run."""


@dataclass(frozen=True)
class Deferral:
    """The panels of a deferred product and their fill state.

    They are multiplied when they are full and in the last iteration of the loop; the terms of each element are added
    in the same order. Sums that saturate are clamped each time, so tiles are collected as long as no sum can leave
    its type, whatever the factors hold, and multiplied one by one from then on. Stack cells: `filled`, the number of
    tiles in a panel, and `number`, the number of earlier panels.
    """

    product: Product
    plan: DeferralPlan
    left: Panels
    right: Panels
    filled: ir.Value
    number: ir.Value
    run: Run | None
    """The tiles that wait where rows are few; None if the loop does not allow that."""
    transposed: TransposedRun | None
    """The same run for a matrix unit."""
    last: ir.Value
    """An i1 that is set in the last iteration of the loop."""
    together: ir.Value | None = None
    """An i64: for so many panels tiles are put together, as no sum can saturate. None if none ever does."""

    @property
    def panels(self) -> list[Panels]:
        """Return all panels that may stay."""
        return [self.left, self.right, *([] if self.transposed is None else [self.transposed.panels])]

    @property
    def tile_steps(self) -> int:
        return self.plan.shape.k // self.product.group // self.plan.tiles

    def begin(self, builder: ir.IRBuilder) -> None:
        """Forget what is packed, where the loop begins."""
        for cell in (self.filled, self.number):
            builder.store(I64(0), cell)
        for run in (self.run, self.transposed):
            if run is not None:
                run.begin(builder)

    def place(self, emit: Emitter, panels: Panels, source: Factor) -> PanelPlace:
        """Return the place of the next tile of a factor."""
        number, tile = (emit.builder.load(cell, typ=I64) for cell in (self.number, self.filled))
        return panels.place(emit, source, number, tile, self.tile_steps)

    def is_alone(self, builder: ir.IRBuilder) -> ir.Value:
        """Return an i1 that is set if the next tile is the only one of a panel."""
        is_first = builder.icmp_unsigned("==", builder.load(self.filled, typ=I64), I64(0))
        return builder.and_(self.last, is_first)

    @property
    def flips(self) -> bool:
        """True if the left factor's sign bits are inverted in its panels."""
        return self.product.flips(self.plan.size.uses_matrix_unit)

    def advance(self, emit: Emitter, acc: Window, steps: ir.Value | None, multiply: Multiply) -> None:
        """Count a packed tile of `steps` steps (all if None), and `multiply` the panels when they are due."""
        builder = emit.builder
        number = builder.load(self.number, typ=I64)
        filled = builder.add(builder.load(self.filled, typ=I64), I64(1))
        builder.store(filled, self.filled)
        is_full = builder.icmp_unsigned("==", filled, I64(self.plan.tiles))
        is_alone = builder.not_(self._stays_in_range(builder))
        with emit.when(builder.or_(self.last, builder.or_(is_full, is_alone))):
            made = builder.mul(filled, I64(self.tile_steps))
            if steps is not None:
                made = builder.sub(made, builder.sub(I64(self.tile_steps), steps))
            self._multiply(emit, acc, (made, self.tile_steps), multiply)
            builder.store(I64(0), self.filled)
            builder.store(builder.add(number, I64(1)), self.number)

    def _multiply(self, emit: Emitter, acc: Window, some: tuple[ir.Value, int], multiply: Multiply) -> None:
        """Multiply; sums that are known not to saturate are taken from memory and stored unchanged."""
        stored, saturating = self._sums(acc)
        if self.together is None:
            multiply(stored, [acc.base], some)
        elif self.flips:
            multiply(saturating, [acc.base], some)
        else:
            in_range = self._stays_in_range(emit.builder)
            with emit.one_way(), emit.builder.if_else(in_range, likely=True) as (then, otherwise):
                with then:
                    multiply(stored, [acc.base], some)
                with otherwise:
                    multiply(saturating, [acc.base], some)

    def multiply_transposed(self, emit: Emitter, acc: Window, tiles: ir.Value, multiply: MultiplyTiles) -> None:
        """Multiply a run of `tiles` tiles at once, unless a sum may saturate in between."""
        assert self.transposed is not None
        builder, (stored, saturating) = emit.builder, self._sums(acc)
        if self.together is None:
            multiply(stored, [acc.base], I64(0), tiles)
        else:
            in_range = self._stays_in_range(builder, self.transposed.tiles // self.plan.tiles)
            with emit.one_way(), builder.if_else(in_range, likely=True) as (then, otherwise):
                with then:
                    multiply(stored, [acc.base], I64(0), tiles)
                with otherwise, emit.counted(I64(0), tiles) as tile:
                    multiply(saturating, [acc.base], tile, I64(1))
        builder.store(builder.add(builder.load(self.number, typ=I64), I64(1)), self.number)

    def _sums(self, acc: Window) -> tuple[StoredSums, SaturatingSums]:
        """Return sums that are known not to saturate, and others."""
        columns, total = self.plan.shape.n, self.product.total
        return StoredSums(columns, acc.type.number, total), SaturatingSums(columns, total)

    def _stays_in_range(self, builder: ir.IRBuilder, each: int = 1) -> ir.Value:
        """Return an i1 that is set if no sum of the present panels can saturate; a panel counts as `each` tiles."""
        if self.together is None:
            return I1(1)
        together = builder.sdiv(self.together, I64(each))
        return builder.icmp_signed("<", builder.load(self.number, typ=I64), together)


def new_deferral(emit: Emitter, found: ProductPlan) -> Deferral:
    """Take memory for the panels of a deferred product."""
    product, plan = found.product, found.deferral
    assert plan is not None
    left, right = new_panels(emit, plan.left), new_panels(emit, plan.right)
    cells = emit.stack(I64), emit.stack(I64)
    run = None if plan.run is None else new_run(emit, 2)
    transposed = None if plan.transposed is None else new_transposed(emit, product, plan.transposed)
    return Deferral(product, plan, left, right, *cells, run, transposed, I1(1))


# ---------------------------------------------------------------- factors that other tile blocks read again


@dataclass(frozen=True)
class Repeated:
    """The panels of a right factor, of `steps` along K each, and the stack cell that counts iterations."""

    right: Panels
    steps: int
    number: ir.Value

    @property
    def panels(self) -> list[Panels]:
        """Return all panels that may stay."""
        return [self.right]

    def begin(self, builder: ir.IRBuilder) -> None:
        """Count from 0 where the loop begins."""
        builder.store(I64(0), self.number)

    def place(self, emit: Emitter, panels: Panels, source: Factor) -> PanelPlace:
        """Return the place of the factor in this iteration."""
        return panels.place(emit, source, emit.builder.load(self.number, typ=I64), I64(0), self.steps)

    def advance(self, builder: ir.IRBuilder) -> None:
        """Count an iteration."""
        builder.store(builder.add(builder.load(self.number, typ=I64), I64(1)), self.number)


def new_repeated(emit: Emitter, found: ProductPlan) -> Repeated:
    """Take memory for the panels of a right factor that stay."""
    assert found.kept is not None
    return Repeated(new_panels(emit, found.kept), found.shape.k // found.product.group, emit.stack(I64))


# ---------------------------------------------------------------- factors that are multiplied where they lie


NEAR = 1 << 10
"""Bytes between lines of a factor that is multiplied where it lies: those of longer ones share few sets of a cache."""


def left_serves(
    builder: ir.IRBuilder, product: Product, size: Blocking, left: Factor, right: Factor, many: int
) -> ir.Value | None:
    """Return an i1 that is set if the rows of a left factor, more than `many`, that register blocks read exist and are
    near; None if that is never so.

    Where both factors lie along their rows LLVM loads the words of several steps at once, more than there are
    registers.
    """
    memory, other = left.memory, right.memory
    if memory is None or other is None or not _is_plain(product, size, left):
        return None
    if size.rows < SMALLEST_SQUARE if memory.along_lines else other.along_lines:
        return None
    found = _is_near(builder, left)
    if left.needed is None:
        return found
    rest = builder.and_(left.needed, I64(size.rows - 1))
    whole = builder.icmp_unsigned("==", rest, I64(0))
    return builder.and_(builder.and_(found, whole), builder.icmp_unsigned(">", left.needed, I64(many)))


def right_serves(builder: ir.IRBuilder, product: Product, size: Blocking, right: Factor) -> ir.Value | None:
    """Return the same i1 for a right factor, whose columns lie side by side."""
    is_wide = right.memory is not None and right.memory.along_lines and size.columns <= LINES_AT_A_TIME
    return _is_near(builder, right) if is_wide and _is_plain(product, size, right) else None


def _is_plain(product: Product, size: Blocking, factor: Factor) -> bool:
    """Return whether words of panels are elements as they lie in memory, next to each other along one dimension."""
    memory = factor.memory
    if memory is None or size.uses_matrix_unit or product.group > 1 or memory.element is not product.element:
        return False
    return memory.along_k or memory.along_lines


def _is_near(builder: ir.IRBuilder, factor: Factor) -> ir.Value:
    assert factor.memory is not None
    stride = factor.memory.by_line if factor.memory.along_k else factor.memory.by_k
    return builder.icmp_unsigned("<=", stride, I64(NEAR // factor.memory.element.byte_size))


def either(builder: ir.IRBuilder, serves: ir.Value | None, factor: Factor, packed: Panel) -> Panel:
    """Return the factor as it lies if it `serves`, else its panel."""
    memory = factor.memory
    if serves is None or memory is None:
        return packed
    by_line, by_step = (memory.by_line, 1) if memory.along_k else (1, memory.by_k)

    def chosen(here: int | ir.Value, other: int | ir.Value) -> int | ir.Value:
        if isinstance(here, int) and here == other:
            return here
        return builder.select(serves, as_register(here), as_register(other))

    base = builder.select(serves, memory.base, packed.base)
    by_block = chosen(by_line, packed.by_block)
    return Panel(base, by_block, chosen(by_line, packed.by_line), chosen(by_step, packed.by_step))


# ---------------------------------------------------------------- one product


@dataclass(frozen=True)
class Multiplication:
    """``acc += left @ right``; `panels` are those of factors that are not packed into new ones each time."""

    emit: Emitter
    plan: ProductPlan
    left: Factor
    right: Factor
    acc: Window
    panels: Deferral | Repeated | None
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
        return self.plan.size if self.deferral is None else self.deferral.plan.size

    @property
    def deferral(self) -> Deferral | None:
        return self.panels if isinstance(self.panels, Deferral) else None

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
        transposed, run = self._transposed(), self._run()
        if transposed is not None:
            self._if_few(lambda rows: self._multiply_transposed(transposed, rows), self._multiply_many, SIDE)
            return
        if run is not None:
            self._if_few(lambda rows: self._multiply_run(run, rows), self._multiply_many, self._most)
            return
        left, chosen = self._left_panels()
        few = self._few(self.right, Rows.of(left, self.product))
        if few is not None and self.shape.m <= self._most:
            few.multiply(self.emit, self.left.lines_needed, [self.acc.base])
        elif few is None or self.left.needed is None:
            self._multiply_panels(chosen)
        else:
            self._if_few(
                lambda rows: few.multiply(self.emit, rows, [self.acc.base]),
                lambda: self._multiply_panels(chosen),
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

    def _run(self) -> Run | None:
        """Return the run of tiles that is multiplied where rows are few; None where tiles do not lie along K as they
        are multiplied."""
        deferral, memory = self.deferral, self.left.memory
        if deferral is None or self.left.needed is None or memory is None or memory.element is not self.product.element:
            return None
        for side in (self.left, self.right):
            if side.memory is None or not side.memory.along_k or side.address is None:
                return None
        return deferral.run if self._few(self.right, _rows(memory)) is not None else None

    def _multiply_run(self, run: Run, rows: ir.Value) -> None:
        def multiply_run(memories: Sequence[Strided], tiles: ir.Value) -> None:
            left, right = memories
            few = self._few(replace(self.right, memory=right), _rows(left))
            assert few is not None
            steps = self.emit.builder.mul(tiles, I64(self.shape.k // self.product.group))
            few.along(steps).multiply(self.emit, rows, [self.acc.base])

        assert self.deferral is not None and self.deferral.plan.run is not None
        most = most_tiles(self.emit.builder, self.deferral.plan.run, rows)
        run.add(self.emit, (self.left, self.right), most, self.deferral.last, multiply_run)

    # ------------------------------------------------------------ few rows on a matrix unit

    def _transposed(self) -> TransposedRun | None:
        """Return the run of the right factor's tiles that a matrix unit multiplies where rows are few; None if it
        cannot, or if they never are."""
        transposed = self.deferral.transposed if self.deferral is not None else None
        is_never = self.left.needed is None and self.shape.m > SIDE
        return transposed if transposed is not None and transposed.serves(self.right) and not is_never else None

    def _multiply_transposed(self, transposed: TransposedRun, rows: ir.Value) -> None:
        emit, builder, deferral = self.emit, self.emit.builder, self.deferral
        assert deferral is not None
        tile_steps, element_bytes = deferral.tile_steps, self.product.element.byte_size

        def multiply_run(right: Strided, tiles: ir.Value) -> None:
            panel = builder.load(transposed.panel, typ=PTR)
            pitch = builder.mul(right.by_line, I64(element_bytes))

            def multiply_tiles(sums: Sums, bases: list[ir.Value], first: ir.Value, count: ir.Value) -> None:
                words = builder.gep(panel, [builder.mul(first, I64(tile_steps * SIDE * WORD_BYTES))], source_etype=I8)
                lines = builder.gep(right.base, [builder.mul(first, I64(tile_steps * WORD_BYTES))], source_etype=I8)
                code = TransposedColumns(self.product, sums, self.right.is_outside)
                steps = builder.mul(count, I64(tile_steps))
                code.multiply(emit, [rows, self.right.lines_needed, words, lines, pitch, steps, *bases])

            deferral.multiply_transposed(emit, self.acc, tiles, multiply_tiles)

        transposed.add(self._packer(self.left), self.right, deferral.number, deferral.last, multiply_run)

    # ------------------------------------------------------------ many rows

    def _multiply_many(self) -> None:
        self._multiply_panels(self._left_panels()[1])

    def _multiply_panels(self, left: Panel) -> None:
        """Emit the product of all rows: the right factor is packed, then read for each block of rows."""
        emit, product, size, deferral = self.emit, self.product, self.size, self.deferral
        right = self._right_panel()
        if isinstance(self.panels, Repeated):
            self.panels.advance(emit.builder)
        shape = self.shape if deferral is None else deferral.plan.shape
        needed, ahead = (self.left.needed, self.right.needed), deferral is not None
        steps = self._steps()

        def multiply_steps(sums: Sums, bases: list[ir.Value], some: tuple[ir.Value, int] | None) -> None:
            if self.flips:
                bases = [*bases, self._flip_correction(shape, right, some)]
            multiply(emit, product, shape, size, (left, right), sums, bases, needed, some, ahead)

        if deferral is None:
            multiply_steps(self.sums, [self.acc.base], None if steps is None else (steps, shape.k))
        else:
            deferral.advance(emit, self.acc, steps, multiply_steps)

    def _steps(self) -> ir.Value | None:
        """Return the number of steps, None for all: a multiple of the unrolled ones and at least one step over zeros,
        which changes no sum."""
        if self.depth is None or self.product.group > 1 or not self.acc.type.number.is_float or self.shape.k < UNROLLED:
            return None
        builder = self.emit.builder
        steps = builder.add(builder.and_(self.depth, I64(-UNROLLED)), I64(UNROLLED))
        is_part = builder.icmp_unsigned("<", self.depth, I64(self.shape.k))
        return builder.select(is_part, steps, I64(self.shape.k))

    # ------------------------------------------------------------ panels

    def _packer(self, source: Factor) -> Packer:
        return Packer(self.emit, self.product, source, self.size.lanes)

    def _left_panels(self) -> tuple[Panel, Panel]:
        """Return the left factor for few rows and for many: packed; where the product is deferred, at its place among
        the panels, unless it is there, or many rows are multiplied where they lie."""
        packer = self._packer(replace(self.left, flipped=self.flips))
        if self.deferral is None:
            panel = packer.left(self.size.rows, self.size.uses_matrix_unit)
            return panel, panel
        builder, panels = self.emit.builder, self.deferral.left
        place = self.deferral.place(self.emit, panels, packer.source)
        serves = left_serves(builder, self.product, self.size, self.left, self.right, self._most)
        serves = self._at_once(serves, panels)
        with place.unless_packed(self.emit, packer.source, serves):
            panel = replace(packer, place=place).left(self.size.rows, self.size.uses_matrix_unit)
        return panel, either(builder, serves, self.left, panel)

    def _right_panel(self) -> Panel:
        """Return the right factor, packed: at its place among the panels, if there are any, unless it is there, or
        multiplied where it lies."""
        packer = self._packer(self.right)
        if self.panels is None:
            return packer.strips(self.size.columns)
        place = self.panels.place(self.emit, self.panels.right, self.right)
        serves = right_serves(self.emit.builder, self.product, self.size, self.right)
        serves = self._at_once(serves, self.panels.right)
        with place.unless_packed(self.emit, self.right, serves):
            panel = replace(packer, place=place).strips(self.size.columns)
        return either(self.emit.builder, serves, self.right, panel)

    def _at_once(self, serves: ir.Value | None, panels: Panels) -> ir.Value | None:
        """Return an i1 that is set if a factor `serves`, and is multiplied once, at once and alone; None if that is
        never so."""
        if serves is None or self.deferral is None or not self.plan.in_place:
            return None
        builder = self.emit.builder
        return builder.and_(builder.and_(serves, self.deferral.is_alone(builder)), builder.not_(panels.kept))

    def _flip_correction(self, shape: Shape, right: Panel, some: tuple[ir.Value, int] | None) -> ir.Value:
        """Return a correction for each column that undoes the flipped sign bits of the left factor: a product with
        them, negated."""
        word, start = self.emit.buffer(4), self.emit.buffer(4 * shape.n)
        self.emit.builder.store(I32(FLIPPED), word)
        one_row, size = Shape(1, shape.n, shape.k), Blocking(1, self.size.vectors, self.size.lanes)
        panels = Panel(word, 0, 0, 0), right
        multiply(self.emit, self.product, one_row, size, panels, ColumnStart(), [start], some=some)
        return start


def _rows(memory: Strided) -> Rows:
    """Return a left factor as it lies in memory, along K."""
    return Rows(memory.base, memory.by_line, 1)
