"""Deferred products: tiles of several iterations of a loop are packed side by side along K, then multiplied at once.

Sums go from memory into registers and back for each multiplication, so that they do so a fraction as often. For each
element terms are added in the same order. Sums that saturate are clamped each time: tiles are put together as long as
none can leave its type, whatever the factors hold, and multiplied one by one from then on.

Knows: the panels that a loop fills, and when they are multiplied: as soon as they are full, and in its last iteration.
Does not know: which products are deferred (`cpu.analysis.deferred`), how panels are filled and read, nor which of them
stay from tile block to tile block (`cpu.matmul.kept_panels`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR
from tileir.cpu.emit.emitter import CACHE_LINE, Emitter
from tileir.cpu.emit.tiles import Window
from tileir.cpu.matmul.accumulators import SaturatingSums, StoredSums, Sums
from tileir.cpu.matmul.kept_panels import WAYS, KeptPlace, Panels, new_panels
from tileir.cpu.matmul.microkernel import Blocking, Shape, blocking
from tileir.cpu.matmul.panels import ROW_PADDING, Factor
from tileir.cpu.matmul.products import Product
from tileir.cpu.matmul.runs import Run, new_run
from tileir.cpu.matmul.turned import TurnedRun, new_turned

DEEPEST = 1024
"""Bytes along K of a panel: more save little, and do not stay in a first-level cache."""

Multiply = Callable[[Sums, list[ir.Value], tuple[ir.Value, int]], None]
"""(sums, their bases, how many steps and a number that divides it) multiplies what is in panels."""
MultiplyTiles = Callable[[Sums, list[ir.Value], ir.Value, ir.Value], None]
"""(sums, their bases, first tile, how many) multiplies tiles of a run."""


@dataclass(frozen=True)
class Deferral:
    """The panels of a product, what is in the present ones, and when they are multiplied.

    Stack cells: `filled`, the number of tiles in a panel, at most `tiles`, and `number`, that of panels before it.
    """

    product: Product
    shape: Shape
    """Of the multiplication of all tiles."""
    size: Blocking
    tiles: int
    left: Panels
    right: Panels
    filled: ir.Value
    number: ir.Value
    from_zero: bool
    """Whether sums start from 0, which their memory need not hold before the first multiplication."""
    together: ir.Value | None
    """An i64: for so many panels tiles are put together, as no sum can saturate. None if none ever does."""
    last: ir.Value
    """An i1: whether the iteration that code is emitted for is the last one of the loop."""
    run: Run | None
    """The tiles that wait where rows are few; None if the loop does not allow that."""
    turned: TurnedRun | None
    """The same where a matrix unit multiplies them."""

    @property
    def panels(self) -> list[Panels]:
        """All that may stay."""
        return [self.left, self.right, *([] if self.turned is None else [self.turned.panels])]

    @property
    def steps(self) -> int:
        """Steps of a full panel."""
        return self.shape.k // self.product.group

    @property
    def tile_steps(self) -> int:
        return self.steps // self.tiles

    def begin(self, builder: ir.IRBuilder) -> None:
        """Nothing is packed where the loop begins."""
        for cell in (self.filled, self.number):
            builder.store(I64(0), cell)
        for run in (self.run, self.turned):
            if run is not None:
                run.begin(builder)

    def place(self, emit: Emitter, panels: Panels, source: Factor) -> KeptPlace:
        """The place of the next tile of a factor."""
        number, tile = (emit.builder.load(cell, typ=I64) for cell in (self.number, self.filled))
        return panels.place(emit, source, number, tile, self.tile_steps)

    def is_alone(self, builder: ir.IRBuilder) -> ir.Value:
        """An i1: whether the next tile is the only one of a panel."""
        is_first = builder.icmp_unsigned("==", builder.load(self.filled, typ=I64), I64(0))
        return builder.and_(self.last, is_first)

    @property
    def flips(self) -> bool:
        """Whether the left factor's sign bits are inverted in its panels."""
        return self.product.flips(self.size.uses_matrix_unit)

    def _bases(self, emit: Emitter, acc: Window) -> list[ir.Value]:
        """The bases of the sums (`StoredSums`): at first they start from a row of zeros, if they start from 0."""
        if not self.from_zero:
            return [acc.base]
        builder, columns = emit.builder, acc.type.shape[-1]
        zeros = _zeros(emit.module, columns * acc.element.byte_size)
        is_first = builder.icmp_unsigned("==", builder.load(self.number, typ=I64), I64(0))
        start, pitch = builder.select(is_first, zeros, acc.base), builder.select(is_first, I64(0), I64(columns))
        return [acc.base, start, pitch]

    def advance(self, emit: Emitter, acc: Window, steps: ir.Value | None, multiply: Multiply) -> None:
        """Count a tile that has been packed, of which so many steps are made, if not all, and `multiply` what is in the
        panels if it is time to."""
        builder = emit.builder
        number = builder.load(self.number, typ=I64)
        filled = builder.add(builder.load(self.filled, typ=I64), I64(1))
        builder.store(filled, self.filled)
        is_full = builder.icmp_unsigned("==", filled, I64(self.tiles))
        is_alone = builder.not_(self._stays_in_range(builder))
        with emit.when(builder.or_(self.last, builder.or_(is_full, is_alone))):
            made = builder.mul(filled, I64(self.tile_steps))
            if steps is not None:
                made = builder.sub(made, builder.sub(I64(self.tile_steps), steps))
            self._multiply(emit, acc, (made, self.tile_steps), multiply)
            builder.store(I64(0), self.filled)
            builder.store(builder.add(number, I64(1)), self.number)

    def _multiply(self, emit: Emitter, acc: Window, some: tuple[ir.Value, int], multiply: Multiply) -> None:
        """Sums that are known not to saturate are taken from memory and stored as they are."""
        stored, saturating = self._sums(acc)
        if self.together is None:
            multiply(stored, self._bases(emit, acc), some)
        elif self.flips:
            multiply(saturating, [acc.base], some)
        else:
            in_range = self._stays_in_range(emit.builder)
            with emit.one_way(), emit.builder.if_else(in_range, likely=True) as (then, otherwise):
                with then:
                    multiply(stored, self._bases(emit, acc), some)
                with otherwise:
                    multiply(saturating, [acc.base], some)

    def multiply_turned(self, emit: Emitter, acc: Window, tiles: ir.Value, multiply: MultiplyTiles) -> None:
        """`multiply` a run of so many tiles at once, unless a sum may saturate in between."""
        assert self.turned is not None
        builder, (stored, saturating) = emit.builder, self._sums(acc)
        if self.together is None:
            multiply(stored, self._bases(emit, acc), I64(0), tiles)
        else:
            in_range = self._stays_in_range(builder, self.turned.tiles // self.tiles)
            with emit.one_way(), builder.if_else(in_range, likely=True) as (then, otherwise):
                with then:
                    multiply(stored, self._bases(emit, acc), I64(0), tiles)
                with otherwise, emit.counted(I64(0), tiles) as tile:
                    multiply(saturating, [acc.base], tile, I64(1))
        builder.store(builder.add(builder.load(self.number, typ=I64), I64(1)), self.number)

    def _sums(self, acc: Window) -> tuple[StoredSums, SaturatingSums]:
        """Sums that are known not to saturate, and others."""
        columns, total = self.shape.n, self.product.total
        return StoredSums(columns, acc.type.number, total), SaturatingSums(columns, total)

    def _stays_in_range(self, builder: ir.IRBuilder, each: int = 1) -> ir.Value:
        """An i1: whether no sum of the present panels can saturate; `each` counts for so many."""
        if self.together is None:
            return I1(1)
        together = builder.sdiv(self.together, I64(each))
        return builder.icmp_signed("<", builder.load(self.number, typ=I64), together)


def _zeros(module: ir.Module, size: int) -> ir.Value:
    """So many bytes of zeros."""
    name = f"tileir.zeros.{size}"
    if name not in module.globals:
        made = ir.GlobalVariable(module, ir.ArrayType(I8, size), name)
        made.global_constant, made.linkage, made.align = True, "internal", CACHE_LINE
        made.initializer = ir.Constant(made.value_type, None)
    found: ir.Value = module.globals[name].bitcast(PTR)
    return found


def deferral(
    emit: Emitter, product: Product, tile: Shape, vector_bits: int, keeps: bool, from_zero: bool, waits: bool
) -> Deferral | None:
    """Panels for several tiles of a shape, and for more of them if it `keeps` panels; None if one tile is deep enough,
    or another unit would multiply several. Whether a tile `waits` where rows are few."""
    word = product.group * product.element.byte_size
    tiles = max(DEEPEST // word // max(1, tile.k // product.group), 1)
    shape = Shape(tile.m, tile.n, tiles * tile.k)
    size = blocking(shape, product, vector_bits)
    if tiles == 1 or size.uses_matrix_unit is not blocking(tile, product, vector_bits).uses_matrix_unit:
        return None
    line = shape.k // product.group * word
    left = new_panels(emit, tile.m * (line + ROW_PADDING), tiles, 1 if keeps else 0)
    right = new_panels(emit, tile.n * line, tiles, WAYS if keeps else 0)
    cells = emit.stack(I64), emit.stack(I64)
    from_zero = from_zero and not product.flips(size.uses_matrix_unit)
    run = new_run(emit, 2) if waits and product.total is not I32 else None
    turned = new_turned(emit, product, tile.k, keeps) if waits and size.uses_matrix_unit else None
    return Deferral(product, shape, size, tiles, left, right, *cells, from_zero, None, I1(1), run, turned)
