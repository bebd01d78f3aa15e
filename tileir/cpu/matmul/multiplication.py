"""One product of matrices: its factors are packed, and multiplied now or together with those of later iterations.

Knows: when a product is one of few rows, and where its panels are. Does not know: how panels are filled
(`cpu.matmul.panels`), what the inner loop looks like (`cpu.matmul.microkernel`), nor which operations multiply matrices
(`cpu.rules.matmul`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llvmlite import ir

from tileir.cpu.emit.elements import I8, I32, I64, PTR
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.emit.tiles import Window
from tileir.cpu.matmul.accumulators import ColumnStart, Sums, sums_in
from tileir.cpu.matmul.deferred import Deferral
from tileir.cpu.matmul.direct import FEW, FLIPPED, Direct, Rows, direct
from tileir.cpu.matmul.in_place import either, left_serves, right_serves
from tileir.cpu.matmul.kept_panels import Panels
from tileir.cpu.matmul.matrix_unit import SIDE, WORD_BYTES
from tileir.cpu.matmul.microkernel import UNROLLED, Blocking, Panel, Shape, multiply
from tileir.cpu.matmul.panels import Factor, Packer, Strided
from tileir.cpu.matmul.prefetch import Overwritten, Prefetch
from tileir.cpu.matmul.products import Product
from tileir.cpu.matmul.repeated import Repeated
from tileir.cpu.matmul.runs import Run, most_tiles
from tileir.cpu.matmul.turned import TurnedColumns, TurnedRun


@dataclass(frozen=True)
class Multiplication:
    """``acc += left @ right``; `shape` and `size` are those of this product, `panels` those of factors that are not
    packed into new ones each time."""

    emit: Emitter
    product: Product
    shape: Shape
    size: Blocking
    left: Factor
    right: Factor
    acc: Window
    panels: Deferral | Repeated | None
    overwritten: Overwritten | None = None
    depth: ir.Value | None = None
    """How much of K counts, an i64, if not all: both factors are zeros behind it."""

    @property
    def deferral(self) -> Deferral | None:
        return self.panels if isinstance(self.panels, Deferral) else None

    @property
    def sums(self) -> Sums:
        """How sums begin and end."""
        return sums_in(self.acc, self.shape.n, self.product.total)

    @property
    def flips(self) -> bool:
        """Whether the sign bits of the left factor are flipped in its panel."""
        return self.product.flips(self.size.uses_matrix_unit)

    def emit_all(self) -> None:
        """The product of few rows is another one, where that can be done, and where they are found to be few."""
        turned, run = self._turned(), self._run()
        if turned is not None:
            self._if_few(lambda rows: self._multiply_turned(turned, rows), self._multiply_many, SIDE)
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
        """One of two ways, by how many rows are needed; `few` is told that."""
        needed = self.left.lines_needed
        is_few = self.emit.builder.icmp_unsigned("<=", needed, I64(most))
        with self.emit.one_way(), self.emit.builder.if_else(is_few) as (then, otherwise):
            with then:
                few(needed)
            with otherwise:
                many()

    # ------------------------------------------------------------ few rows

    def _few(self, right: Factor, left: Rows) -> Direct | None:
        flips = self.product.flip_left and not self.flips
        return direct(self._packer(right), left, flips, self.shape.n, self.sums)

    def _run(self) -> Run | None:
        """The run of tiles that is multiplied where rows are few; None where tiles do not lie along K as they are
        multiplied."""
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

        assert self.deferral is not None
        most = most_tiles(self.emit.builder, self.right, rows)
        run.add(self.emit, (self.left, self.right), most, self.deferral.last, multiply_run)

    # ------------------------------------------------------------ few rows on a matrix unit

    def _turned(self) -> TurnedRun | None:
        """The run of the right factor's tiles that a matrix unit multiplies where rows are few; None if it cannot, or
        if they never are."""
        turned = self.deferral.turned if self.deferral is not None else None
        is_never = self.left.needed is None and self.shape.m > SIDE
        return turned if turned is not None and turned.serves(self.right) and not is_never else None

    def _multiply_turned(self, turned: TurnedRun, rows: ir.Value) -> None:
        emit, builder, deferral = self.emit, self.emit.builder, self.deferral
        assert deferral is not None
        tile_steps, element_bytes = deferral.tile_steps, self.product.element.byte_size

        def multiply_run(right: Strided, tiles: ir.Value) -> None:
            panel = builder.load(turned.panel, typ=PTR)
            pitch = builder.mul(right.by_line, I64(element_bytes))

            def multiply_tiles(sums: Sums, bases: list[ir.Value], first: ir.Value, count: ir.Value) -> None:
                words = builder.gep(panel, [builder.mul(first, I64(tile_steps * SIDE * WORD_BYTES))], source_etype=I8)
                lines = builder.gep(right.base, [builder.mul(first, I64(tile_steps * WORD_BYTES))], source_etype=I8)
                code = TurnedColumns(self.product, sums, self.right.ahead is not None)
                steps = builder.mul(count, I64(tile_steps))
                code.multiply(emit, [rows, self.right.lines_needed, words, lines, pitch, steps, *bases])

            deferral.multiply_turned(emit, self.acc, tiles, multiply_tiles)

        turned.add(self._packer(self.left), self.right, deferral.number, deferral.last, multiply_run)

    # ------------------------------------------------------------ many rows

    def _multiply_many(self) -> None:
        self._multiply_panels(self._left_panels()[1])

    def _multiply_panels(self, left: Panel) -> None:
        """The product of as many rows as there are: the right factor is packed, then read for each block of rows."""
        emit, product, size, deferral = self.emit, self.product, self.size, self.deferral
        right = self._right_panel()
        if isinstance(self.panels, Repeated):
            self.panels.advance(emit.builder)
        shape = self.shape if deferral is None else deferral.shape
        between = self._prefetching() if deferral is None else self._fetching_overwritten(deferral)
        needed, ahead = (self.left.needed, self.right.needed), deferral is not None
        steps = self._steps()

        def multiply_steps(sums: Sums, bases: list[ir.Value], some: tuple[ir.Value, int] | None) -> None:
            if self.flips:
                bases = [*bases, self._flip_correction(shape, right, some)]
            multiply(emit, product, shape, size, (left, right), sums, bases, between, needed, some, ahead)

        if deferral is None:
            multiply_steps(self.sums, [self.acc.base], None if steps is None else (steps, shape.k))
        else:
            deferral.advance(emit, self.acc, steps, multiply_steps)

    def _steps(self) -> ir.Value | None:
        """How many steps are made, if not all: a multiple of those written out, and at least one of two zeros, as more
        of them change no sum any more."""
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
        """The left factor for few rows and for many: packed; where the product is deferred, at its place among the
        panels, unless it is there, or many rows are multiplied where they lie."""
        packer = self._packer(replace(self.left, flipped=self.flips))
        if self.deferral is None:
            panel = packer.left(self.size.rows, self.size.uses_matrix_unit)
            return panel, panel
        builder, panels = self.emit.builder, self.deferral.left
        place = self.deferral.place(self.emit, panels, packer.source)
        serves = left_serves(builder, self.product, self.size, self.left, self.right, self._most)
        serves = self._at_once(serves, panels)
        with place.unless_packed(self.emit, packer.source, serves):
            panel = replace(packer, place=place.place).left(self.size.rows, self.size.uses_matrix_unit)
        return panel, either(builder, serves, self.left, panel)

    def _right_panel(self) -> Panel:
        """The right factor, packed: at its place among the panels, if there are any, unless it is there, or multiplied
        where it lies."""
        packer = self._packer(self.right)
        if self.panels is None:
            return packer.strips(self.size.columns)
        place = self.panels.place(self.emit, self.panels.right, self.right)
        serves = right_serves(self.emit.builder, self.product, self.size, self.right)
        serves = self._at_once(serves, self.panels.right)
        with place.unless_packed(self.emit, self.right, serves):
            panel = replace(packer, place=place.place).strips(self.size.columns)
        return either(self.emit.builder, serves, self.right, panel)

    def _at_once(self, serves: ir.Value | None, panels: Panels) -> ir.Value | None:
        """An i1: whether a factor `serves`, and is multiplied once, at once and alone; None if that is never so."""
        if serves is None or self.deferral is None:
            return None
        builder = self.emit.builder
        return builder.and_(builder.and_(serves, self.deferral.is_alone(builder)), builder.not_(panels.kept))

    # ------------------------------------------------------------ what comes before register blocks

    def _flip_correction(self, shape: Shape, right: Panel, some: tuple[ir.Value, int] | None) -> ir.Value:
        """For each column what takes back the flipped sign bits of the left factor: a product with them, negated."""
        word, start = self.emit.buffer(4), self.emit.buffer(4 * shape.n)
        self.emit.builder.store(I32(FLIPPED), word)
        one_row, size = Shape(1, shape.n, shape.k), Blocking(1, self.size.vectors, self.size.lanes)
        panels = Panel(word, 0, 0, 0), right
        multiply(self.emit, self.product, one_row, size, panels, ColumnStart(), [start], some=some)
        return start

    def _fetching_overwritten(self, deferral: Deferral) -> Callable[[ir.Value, ir.Value], None] | None:
        """The code before each register block, if any: before the last sums it fetches what they will overwrite, unless
        a matrix unit makes them, which would wait for it."""
        overwritten, size = self.overwritten, self.size
        if overwritten is None or size.uses_matrix_unit:
            return None
        is_wanted = self.emit.builder.and_(deferral.last, overwritten.is_worth_while)

        def between(row: ir.Value, column: ir.Value) -> None:
            with self.emit.when(is_wanted):
                overwritten.fetch(self.emit, row, column, size.rows, size.columns)

        return between

    def _prefetching(self) -> Callable[[ir.Value, ir.Value], None] | None:
        """The code before each register block, if any: it fetches a share of the next tiles of factors."""
        size, builder = self.size, self.emit.builder
        down, across = self.shape.m // size.rows, self.shape.n // size.columns
        sides = [self.left] if isinstance(self.panels, Repeated) else [self.left, self.right]
        wanted = [
            Prefetch(side.ahead, side.lines, side.depth, down * across) for side in sides if side.ahead is not None
        ]

        def between(row: ir.Value, column: ir.Value) -> None:
            number = builder.udiv(row, I64(size.rows))
            number = builder.add(builder.mul(builder.udiv(column, I64(size.columns)), I64(down)), number)
            for tile in wanted:
                tile.fetch(self.emit, number)

        return between if wanted else None


def _rows(memory: Strided) -> Rows:
    """A left factor as it lies in memory, along K."""
    return Rows(memory.base, memory.by_line, 1)
