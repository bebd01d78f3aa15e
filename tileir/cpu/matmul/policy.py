"""Policy of matrix products: how each is computed, and which tiles are collected, packed once, and kept.

A product is made of the steps that its elements allow (`cpu.matmul.products`), in register blocks. Where the result has
too few columns to fill a vector, the transposed product is made.

A `for` loop that never looks at its sums may *defer* a product: only the product reads the sums that the loop carries,
and its result is only carried on. Tiles of several iterations are then packed side by side along K, and multiplied at
once, so that sums go from memory into registers and back a fraction as often. Factors are read where the product
stands, so that all other operations keep their order.

Neighbouring tile blocks read the same tiles. Panels of what the launch leaves as it is are *kept* for them: of both
factors of a deferred product, and of the right factor of others whose loop takes other tiles in each iteration, like
the keys and values of attention.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod

from tileir.analysis.effects import access_of, effects_of, reachable
from tileir.analysis.structure import carried_arguments, enclosing_loop, home_of, is_visible
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.analysis.loads import Loads
from tileir.cpu.emit.elements import I32, memory_type
from tileir.cpu.emit.record import COLUMNS
from tileir.cpu.llvm.engine import Host
from tileir.cpu.matmul.products import SIDE, Product, float_product, integer_product
from tileir.ir import types as t
from tileir.ir.attributes import Signedness
from tileir.ir.core import Op, Value
from tileir.ir.effects import Effect
from tileir.ops import control, conversion, core, matmul, pointers, shapes, views
from tileir.ops.module import Entry

ProductOp = matmul.MmaF | matmul.MmaI | matmul.MmaFScaled
DeferrableOp = matmul.MmaF | matmul.MmaI

FEW = 4
"""Rows up to which a product reads its right factor from memory into registers (`cpu.matmul.few_rows`)."""
STRIP_BYTES = 1 << 14
"""Bytes of a right panel that may be read again and again: half of a small first-level cache."""
DEEPEST = 1024
"""Bytes along K of a panel: more save little, and do not stay in a first-level cache."""
ROW_PADDING = 64
"""Bytes between long rows, so that the same step of neighbouring rows does not fall into the same cache set."""
WAYS = 8
"""Tiles side by side across K that have kept panels: as many as a band of tile blocks is wide (`cpu.emit.record`), or a
group of rows is high where a kernel numbers its tiles itself."""
MOST_NUMBERS, MOST_ITERATIONS, MOST_TRANSPOSED = 16, 64, 2
"""Kept panels along K of a deferred product, of one whose right factor is kept, and of rows on a matrix unit; those of
later steps take turns in the last one."""
MOST_BYTES = 16 << 20
"""Size of all kept panels of a factor."""
LONGEST_REREAD, LONGEST_RUN = 1 << 11, 1 << 16
"""Bytes of a line of waiting tiles where rows are few: of one read again for each row, several of which stay in a
first-level cache, and of any other."""
LONGEST_TRANSPOSED = 1 << 13
"""Bytes of a line of tiles that wait for a matrix unit: panels of 16 rows of that stay in a second-level cache."""
ALL_COLUMNS = 1 << 20
"""Columns of a band of tile blocks as wide as the grid, or nearly so."""


# ---------------------------------------------------------------- shapes


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

    uses_matrix_unit: bool = False
    """Then rows and columns come in sixteens."""

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


def blocking(shape: Shape, product: Product, vector_bits: int) -> Blocking:
    """Choose a register block: half of the vector registers hold sums, four vectors wide if the strip stays in cache,
    else two. Where the result has few rows it is wider."""
    steps = shape.k // product.group
    if product.square and min(shape.m, shape.n, steps) >= SIDE:
        return Blocking(min(2 * SIDE, shape.m), min(2, shape.n // SIDE), SIDE, uses_matrix_unit=True)
    word_bytes = product.element.memory_bits * product.group // 8
    lanes = min(vector_bits // 8 // word_bytes, shape.n)
    across, budget = shape.n // lanes, 16 if vector_bits == 512 else 8
    strip = shape.k // product.group * lanes * word_bytes
    vectors = min(4 if budget == 16 and 4 * strip <= STRIP_BYTES else 2, across)
    rows = min(budget // vectors, shape.m)
    return Blocking(rows, min(budget // rows, across), lanes)


def is_swapped(rows: int, columns: int, host: Host) -> bool:
    """Return whether to compute the transposed product: the result has too few columns to fill a vector, and more
    rows."""
    return columns < min(rows, host.vector_bits // 32)


@dataclass(frozen=True)
class PanelRoom:
    """Room for `ways` x `numbers` panels of `size` bytes for one factor, each for `tiles` tiles.

    Only where there is a tag for each tile (`is_tagged`) does a tile stay in its panel.
    """

    size: int
    tiles: int
    ways: int = 1
    numbers: int = 1
    is_tagged: bool = False


def panel_room(size: int, tiles: int, ways: int, most: int) -> PanelRoom:
    """Return room for panels of `size` bytes, rounded up to lines of the cache: one, or `most` along K in so many
    ways."""
    size = -(-size // 64) * 64
    numbers = min(most, MOST_BYTES // size // ways) if ways else 0
    return PanelRoom(size, tiles, ways, numbers, is_tagged=True) if numbers else PanelRoom(size, tiles)


# ---------------------------------------------------------------- plans


@dataclass(frozen=True)
class RunPlan:
    """The number of tiles that may wait for those of later iterations, for products of one row and of a few rows."""

    of_one_row: int
    of_several: int


@dataclass(frozen=True)
class PanelPlan:
    """Panels that outlive an iteration, each for `tiles` tiles along K; `shape` and `size` are those of all of them.

    A deferred product multiplies tiles of several iterations at once. One tile stays for other tile blocks only.
    """

    shape: Shape
    size: Blocking
    tiles: int
    right: PanelRoom
    left: PanelRoom | None = None
    """None if the left factor is packed in each iteration."""
    first: Value | None = None
    """The sums of a deferred product in front of the loop."""
    largest: int | None = None
    """The magnitude of the largest product of two elements, if sums may saturate."""
    run: RunPlan | None = None
    """Set if tiles may wait for those of later iterations where rows are few."""
    transposed: PanelRoom | None = None
    """Panels of few rows, if a matrix unit makes the transposed product with them."""

    skips_zeros: bool = False
    """True if blocks of rows behind the last number other than 0 are looked for, and left out."""

    @property
    def is_deferred(self) -> bool:
        return self.tiles > 1


@dataclass(frozen=True)
class ProductPlan:
    """The way a product is computed: `shape` and `size` are those of one multiplication, of the transposed product if
    it is `swapped`."""

    product: Product
    swapped: bool
    shape: Shape
    size: Blocking
    panels: PanelPlan | None = None
    reads_few_rows: bool = True
    """True if the right factor is read from memory into registers where rows are few."""


Products = Mapping[Op, ProductPlan]


@dataclass(frozen=True)
class ProductPolicy:
    """The conditions of a decision besides the product: the processor, whether code is `strict`, and the strategies
    switched off (`without`)."""

    target: Host
    strict: bool = False
    without: frozenset[str] = field(default_factory=frozenset)

    def plans(self, fusion: Fusion, loads: Loads, keeps: bool) -> tuple[dict[Op, ProductPlan], int]:
        """Plan the products of a function; return the columns of a band of tile blocks as well. `keeps`: the function
        is an entry that may keep panels."""
        found: dict[Op, ProductPlan] = {op: self.plan(op) for op in fusion.operations if isinstance(op, ProductOp)}
        loops, axes = [op for op in fusion.operations if isinstance(op, control.For)], _axes(fusion.operations)
        for loop in loops if "deferred products" not in self.without else ():
            for op in deferrable(fusion, loop):
                ways = 1 if _runs_in_bands(op, axes) else WAYS
                panels = self._deferral(loop, op, found[op], keeps, ways)
                if panels is not None and self._skips_zeros(op, loads, panels):
                    panels = replace(panels, skips_zeros=True)
                found[op] = replace(found[op], panels=panels)
        return found, self._keep_right_factors(fusion, found) if keeps else COLUMNS

    def plan(self, op: ProductOp) -> ProductPlan:
        """Plan a product that stands alone."""
        (rows, columns), depth = op.acc.tile.shape[-2:], op.lhs.tile.shape[-1]
        swapped = is_swapped(rows, columns, self.target)
        shape = Shape(columns, rows, depth) if swapped else Shape(rows, columns, depth)
        product = self._product(op, shape)
        size = blocking(shape, product, self.target.vector_bits)
        return ProductPlan(product, swapped, shape, size, reads_few_rows="few rows" not in self.without)

    def _product(self, op: ProductOp, shape: Shape) -> Product:
        lanes = min(self.target.vector_bits // 32, shape.n)
        if isinstance(op, matmul.MmaFScaled):
            return float_product(t.F64, t.F64, shape.k, 1, self.target)
        if isinstance(op, matmul.MmaF):
            return float_product(op.lhs.tile.number, op.acc.tile.number, shape.k, lanes, self.target)
        left, right = op.signedness_lhs, op.signedness_rhs
        if shape.m != op.acc.tile.shape[-2]:
            left, right = right, left
        return integer_product(left, right, shape.k, lanes, self.target)

    # ------------------------------------------------------------ deferred products

    def _deferral(
        self, loop: control.For, op: DeferrableOp, found: ProductPlan, keeps: bool, ways: int
    ) -> PanelPlan | None:
        """Plan panels for several tiles, those of the left factor in so many ways; None if one is deep enough, if
        another unit would multiply several, if rows are few, or where sums are rounded or looked at in between."""
        product, tile = found.product, found.shape
        if not _is_matrix(op, found) or memory_type(op.acc.type.number) != product.total:
            return None
        if isinstance(op, matmul.MmaI) and self.strict:
            return None
        word = product.group * product.element.byte_size
        tiles = max(DEEPEST // word // max(1, tile.k // product.group), 1)
        shape = Shape(tile.m, tile.n, tiles * tile.k)
        size = blocking(shape, product, self.target.vector_bits)
        if tiles == 1 or size.uses_matrix_unit is not found.size.uses_matrix_unit:
            return None
        line = shape.k // product.group * word
        first = dict(zip(carried_arguments(loop), loop.initial))[op.acc]
        waits = _only_reads(loop) and "runs of few rows" not in self.without
        longest = LONGEST_TRANSPOSED // (tile.k * product.element.byte_size)
        rows = SIDE * longest * tile.k * product.element.byte_size
        return PanelPlan(
            shape,
            size,
            tiles,
            left=panel_room(tile.m * (line + ROW_PADDING), tiles, ways if keeps else 0, MOST_NUMBERS),
            right=panel_room(tile.n * line, tiles, WAYS if keeps else 0, MOST_NUMBERS),
            first=first,
            largest=largest_product(op) if isinstance(op, matmul.MmaI) else None,
            run=_run(op, tile.k) if waits and product.total is not I32 else None,
            transposed=panel_room(rows, longest, 1 if keeps else 0, MOST_TRANSPOSED)
            if waits and size.uses_matrix_unit
            else None,
        )

    def _skips_zeros(self, op: DeferrableOp, loads: Loads, panels: PanelPlan) -> bool:
        """Return whether the left factor is likely to end in rows of zeros, which add nothing to sums that start from
        0: it is gathered under a mask."""
        load = op.lhs.op
        is_gathered = isinstance(load, pointers.LoadPtr) and load.mask is not None and not loads.regions[load].is_box
        starts_from_zero = isinstance(op, matmul.MmaF) and panels.first is not None and is_zero(panels.first)
        is_allowed = "rows of zeros" not in self.without and not self.strict
        return is_allowed and is_gathered and starts_from_zero and not panels.size.uses_matrix_unit

    # ------------------------------------------------------------ right factors that stay

    def _keep_right_factors(self, fusion: Fusion, found: dict[Op, ProductPlan]) -> int:
        """Plan panels for the right factors that other tile blocks read again, if tile blocks that read the same ones
        can follow one another; return the columns of the band in which they do."""
        loads = dict(_repeated_loads(fusion, found))
        band = band_of(fusion.operations, (index for load in loads.values() for index in fixed_indices(load)))
        if not loads or band is None:
            return COLUMNS
        for op in loads:
            product, shape = found[op].product, found[op].shape
            size = shape.n * shape.k * product.element.byte_size
            room = panel_room(size, 1, 1, MOST_ITERATIONS)
            found[op] = replace(found[op], panels=PanelPlan(shape, found[op].size, 1, room))
        return band


def _run(op: DeferrableOp, depth: int) -> RunPlan:
    line = depth * op.rhs.tile.number.byte_size
    return RunPlan(*(max(1, longest // line) for longest in (LONGEST_RUN, LONGEST_REREAD)))


# ---------------------------------------------------------------- which products may be deferred


def deferrable(fusion: Fusion, loop: control.For) -> list[DeferrableOp]:
    """Return the products in the body of a loop that may be deferred."""
    *operations, end = loop.body.ops
    if not isinstance(end, control.Continue) or any(_continues(loop, op) for op in operations):
        return []
    return [op for op in operations if isinstance(op, DeferrableOp) and _is_only_carried(fusion, loop, op, end)]


def is_zero(value: Value) -> bool:
    """Return whether a value is a constant 0 in all elements; for floats, +0."""
    return isinstance(value.op, core.Constant) and value.op.value.is_zero


def _is_only_carried(fusion: Fusion, loop: control.For, product: DeferrableOp, end: control.Continue) -> bool:
    """Return whether the sums come from the last iteration and go to the next one, unread."""
    if not (fusion.used_once(product.acc) and fusion.used_once(product.result)):
        return False
    return any(
        given is product.result and carried is product.acc
        for given, carried in zip(end.operands, carried_arguments(loop))
    )


def _continues(loop: control.For, op: Op) -> bool:
    """Return whether an operation of the body may begin the next iteration."""
    return any(isinstance(inner, control.Continue) and enclosing_loop(inner) is loop for inner in op.walk())


def _only_reads(loop: control.For) -> bool:
    """Return whether what a loop reads can also be read in a later iteration."""
    accesses = [access_of(op) for op in reachable(loop)]
    is_weak = not any(access is not None and access.is_strong for access in accesses)
    return is_weak and not effects_of(loop) & ~(Effect.READ | Effect.PROMISE)


def _is_matrix(op: ProductOp, found: ProductPlan) -> bool:
    """Return whether the result is one matrix of many rows."""
    *batch, rows, _ = op.acc.tile.shape
    return prod(batch) == 1 and rows > FEW and not found.swapped


def largest_product(op: matmul.MmaI) -> int:
    """Return a bound on the magnitude of a product of two elements."""
    return prod(128 if sign is Signedness.SIGNED else 255 for sign in (op.signedness_lhs, op.signedness_rhs))


# ---------------------------------------------------------------- which right factors other tile blocks read again


def load_of(factor: Value) -> views.LoadView | None:
    """Return the load whose tile a factor is, or is converted from; None if it is not just that."""
    while isinstance(factor.op, shapes.Reshape | conversion.FToF):
        (factor,) = factor.op.operands
    return factor.op if isinstance(factor.op, views.LoadView) else None


def _repeated_loads(fusion: Fusion, found: Products) -> Iterator[tuple[matmul.MmaF, views.LoadView]]:
    """Yield the products of loops that are not deferred and load their right factor there, with that load."""
    for op in fusion.operations:
        if isinstance(op, matmul.MmaF) and found[op].panels is None and _is_matrix(op, found[op]):
            loop, load = op.parent_op, load_of(op.rhs)
            if isinstance(loop, control.For) and load is not None and load.parent is loop.body:
                yield op, load


def fixed_dimensions(load: views.LoadView) -> list[int]:
    """Return the dimensions of a view along which all iterations of the loop around take the same tile."""
    loop = load.parent_op
    assert loop is not None, "it stands in a loop"
    return [position for position, index in enumerate(load.index) if is_visible(index, loop)]


def fixed_indices(load: views.LoadView) -> list[Value]:
    return [load.index[dim] for dim in fixed_dimensions(load)]


_ANYWHERE = frozenset(range(3))


def band_of(operations: Iterable[Op], indices: Iterable[Value]) -> int | None:
    """Return the columns of a band in which tile blocks that follow one another mostly have the same `indices`.

    `operations` are those of an entry in program order. None if the indices change along both x and y.
    """
    known = _axes(operations)
    axes = frozenset[int]().union(*(known.get(index, _ANYWHERE) for index in indices))
    if {0, 1} <= axes:
        return None
    return 1 if 1 in axes else ALL_COLUMNS if 0 in axes else COLUMNS


def _runs_in_bands(op: DeferrableOp, axes: Mapping[Value, frozenset[int]]) -> bool:
    """Return whether the factors of a product follow different axes of the grid: bands then keep the left one for a
    row. Other kernels number their tiles themselves, mostly in groups of so many rows."""
    sides = [
        frozenset[int]().union(*(axes.get(index, _ANYWHERE) for index in fixed_indices(load)))
        for load in map(load_of, (op.lhs, op.rhs))
        if load is not None and isinstance(load.parent_op, control.For)
    ]
    return len(sides) < 2 or not sides[0] & sides[1] & {0, 1}


def _axes(operations: Iterable[Op]) -> dict[Value, frozenset[int]]:
    """Return the axes of the grid along which values change; arguments and results of regions may change along any."""
    known: dict[Value, frozenset[int]] = {}
    for op in operations:
        if isinstance(op, core.GetTileBlockId):
            known.update((result, frozenset([axis])) for axis, result in enumerate(op.results))
        elif not op.regions:
            given = frozenset[int]().union(*(known.get(value, _axes_of_outside(value)) for value in op.operands))
            known.update((result, given) for result in op.results)
    return known


def _axes_of_outside(value: Value) -> frozenset[int]:
    """Return the axes of a value that no such operation makes: a parameter is the same for all tile blocks."""
    home = home_of(value)
    return frozenset() if home is not None and isinstance(home.parent, Entry) else _ANYWHERE
