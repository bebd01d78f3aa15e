"""The pass ``raise-gathers``: rows that an index tile names are loaded and stored through gather views.

    %at = offset %base, (%rows * %width + %columns)           %tensor = make_tensor_view %base, strides = [%width, 1]
    %v, %t = load_ptr_tko weak %at, %mask               =>    %tiles = make_gather_scatter_view %tensor, sparse_dim = 0
                                                              %v, %t = load_view_tko weak %tiles[%rows, %zero]

A row that is masked off gets an index beyond the tensor, which such views skip.

`raising` handles all other addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

from tileir.analysis.affine import Affines
from tileir.analysis.effects import MemoryAccess
from tileir.analysis.region import MaskPart, parts_of, source_dims
from tileir.analysis.walk import ProgramPoint, Walk
from tileir.ir import types as t
from tileir.ir.attributes import Overflow, Signedness
from tileir.ir.core import Op, Value
from tileir.ir.loc import Location
from tileir.ops.control import For
from tileir.ops.conversion import ExtI
from tileir.ops.core import Constant, Offset, Select
from tileir.ops.integer import AddI, AndI, MulI
from tileir.ops.module import Entry
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.shapes import Broadcast, Permute, Reshape
from tileir.ops.views import LoadView, MakeGatherScatterView, MakeTensorView, StoreView
from tileir.passes.facts import constant_of, splat
from tileir.passes.inequalities import Prover, inequalities
from tileir.passes.linear import DEEPEST, MOST_OPERATIONS, Linear, LinearTiles, plus, times
from tileir.passes.raising import may_be_raised
from tileir.passes.rebuilding import ChangeLog, Exactness, Rebuilding, Row
from tileir.passes.scalars import (
    WIDEST,
    KnownScalar,
    ScalarFormula,
    added,
    bits_of,
    emitted,
    extended,
    known_number,
    moved,
    number,
    size_of,
)
from tileir.passes.windows import extents_of, padding_of

_WHY = "the elements not masked off are those of the rows that the indices name; other rows lie outside the tensor"
_WHEN = (
    "p are rows of one width, without overflow, whose indices are not negative; the mask is one of rows and bounds "
    "along other dimensions, which leave an element; needs language 13.3"
)
GATHERED = Row(
    "gathered-rows", "raise-gathers", "weak load_ptr_tko p, m, c", "load_view_tko of a gather view",
    Exactness.PROMISED, _WHY, f"{_WHEN}; c is missing or a padding value",
)  # fmt: skip
SCATTERED = Row(
    "scattered-rows", "raise-gathers", "weak store_ptr_tko p, v, m", "store_view_tko to a gather view",
    Exactness.PROMISED, _WHY, _WHEN,
)  # fmt: skip
ROWS = (GATHERED, SCATTERED)


@dataclass(frozen=True)
class RowTile:
    """The element at an index is that of `rest` plus ``rows[index of dim] * width``, with nothing wrapping around.

    `rows` is a tile of integers, read as signed, with more than one element along one dimension only.
    """

    rest: Linear
    rows: Value
    dim: int
    width: ScalarFormula

    def at(self, dims: Sequence[int | None]) -> RowTile | None:
        """Return the tile whose dimension k is `dims[k]` of this one."""
        return replace(self, rest=self.rest.at(dims), dim=dims.index(self.dim)) if self.dim in dims else None


class RowTiles:
    """The tiles of one entry that are rows of tables."""

    def __init__(self, tiles: LinearTiles) -> None:
        self.tiles = tiles
        self._found: dict[Value, RowTile | None] = {}
        self._depth = 0

    def of(self, value: Value) -> RowTile | None:
        """Return the form of a tile of integers or pointers; None if none is proved."""
        if value not in self._found and self._depth < DEEPEST:
            self._depth += 1
            found = self._of(value)
            self._depth -= 1
            is_small = found is not None and max(map(size_of, (found.width, found.rest.base))) <= MOST_OPERATIONS
            self._found[value] = found if is_small else None
        return self._found.get(value)

    def _of(self, value: Value) -> RowTile | None:
        op = value.op
        if isinstance(op, Broadcast | Reshape | Permute):
            found, dims = self.of(op.source), source_dims(op)
            return None if found is None or dims is None else found.at(dims)
        if isinstance(op, AddI | MulI):
            return self._combined(op)
        if isinstance(op, ExtI):
            return self._extended(op)
        if isinstance(op, Offset):
            return self._offset(op)
        wide = [dim for dim, extent in enumerate(value.tile.shape) if extent > 1]
        if len(wide) != 1 or not isinstance(value.tile.element, t.ElementType):
            return None
        zero = number(0, value.tile.number.bits)
        rest = Linear(zero, (number(0, WIDEST),) * value.tile.rank)
        return RowTile(rest, value, wide[0], number(1, WIDEST))

    def _combined(self, op: AddI | MulI) -> RowTile | None:
        for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            linear = self.tiles.of(other)
            found = None if linear is None or not self._fits(op) else self.of(one)
            if found is not None and linear is not None:
                return _plus(found, linear) if isinstance(op, AddI) else _times(found, linear)
        return None

    def _fits(self, op: AddI | MulI) -> bool:
        """Return whether no element wraps around."""
        if op.overflow in (Overflow.NO_SIGNED_WRAP, Overflow.NO_WRAP):
            return True
        ends = [(found.low, found.high) for found in map(self.tiles.known.range, (op.lhs, op.rhs))]
        compute = int.__add__ if isinstance(op, AddI) else int.__mul__
        found, half = [compute(*pair) for pair in product(*ends)], 1 << (op.result.tile.number.bits - 1)
        return -half <= min(found) and max(found) < half

    def _extended(self, op: ExtI) -> RowTile | None:
        found = self.of(op.source)
        if found is None or (op.signedness is Signedness.UNSIGNED and not self.tiles.is_at_least(op.source, 0)):
            return None
        rest = Linear(extended(found.rest.base, op.to.tile.number.bits), found.rest.steps)
        return replace(found, rest=rest)

    def _offset(self, op: Offset) -> RowTile | None:
        pointers, found = self.tiles.of(op.ptr), self.of(op.offset)
        if pointers is None or found is None:
            return None
        steps = [plus(*pair) for pair in zip(pointers.steps, found.rest.steps)]
        known = tuple(step for step in steps if step is not None)
        base = moved(pointers.base, found.rest.base)
        return replace(found, rest=Linear(base, known)) if len(known) == len(steps) else None


def _plus(found: RowTile, linear: Linear) -> RowTile | None:
    steps = [plus(*pair) for pair in zip(found.rest.steps, linear.steps)]
    known = tuple(step for step in steps if step is not None)
    base = added(found.rest.base, linear.base)
    return replace(found, rest=Linear(base, known)) if len(known) == len(steps) else None


def _times(found: RowTile, linear: Linear) -> RowTile | None:
    """Return the product with a number, of rows alone."""
    width = times(found.width, linear.base) if linear.is_uniform else None
    alone = found.rest.is_uniform and known_number(found.rest.base) == 0
    return replace(found, width=width) if alone and width is not None else None


# ---------------------------------------------------------------- the table of an access


@dataclass(frozen=True)
class RowTable:
    """The tensor of an access, and the masks of its rows: tiles of i1 of the shape of the rows."""

    found: RowTile
    extents: tuple[ScalarFormula, ...]
    strides: tuple[ScalarFormula, ...]
    masks: tuple[Value, ...]
    padding: t.PaddingValue | None


def table_of(op: LoadPtr | StorePtr, tiles: LinearTiles, prover: Prover) -> RowTable | None:
    """Return the table whose rows an access goes to; None if it is not proved that there is one."""
    access = MemoryAccess.of(op)
    shape, found = access.address.tile.shape, RowTiles(tiles).of(access.address)
    if found is None or known_number(found.rest.steps[found.dim]) != 0 or not tiles.is_at_least(found.rows, 0):
        return None
    strides = tuple(
        found.width if dim == found.dim else number(1, WIDEST) if extent == 1 else step
        for dim, (extent, step) in enumerate(zip(shape, found.rest.steps))
    )
    along = [known_number(one) for dim, one in enumerate(strides) if dim != found.dim and shape[dim] > 1]
    if 1 not in along or not all(prover.proves(KnownScalar(0, bits_of(one)), one, 1) for one in strides):
        return None
    parts = [] if access.mask is None else parts_of(access.mask)
    of_rows = [part for part in parts if _is_of_rows(part, found.dim)]
    masks = tuple(dict.fromkeys(part.value for part in of_rows))
    others = [part for part in parts if part.value not in masks]
    return _bounded_table(access, found, strides, masks, others, prover)


def _bounded_table(
    access: MemoryAccess,
    found: RowTile,
    strides: tuple[ScalarFormula, ...],
    masks: tuple[Value, ...],
    others: Sequence[MaskPart],
    prover: Prover,
) -> RowTable | None:
    seen = [(inequalities(part.value, prover.tiles), part.dims) for part in others]
    parts = [one.at(dims) for some, dims in seen for one in some.parts]
    extents = extents_of(parts, access.address.tile.shape, prover) if all(some.complete for some, _ in seen) else None
    last = prover.tiles.known.range(found.rows).high
    if extents is None or last >= 1 << 62:
        return None
    rows = number(last + 1, WIDEST)
    extents = tuple(rows if dim == found.dim else one for dim, one in enumerate(extents))
    padding = None if access.padding is None else padding_of(constant_of(access.padding))
    missing = access.padding is not None and access.mask is not None and padding is None
    return None if missing else RowTable(found, extents, strides, masks, padding)


def _is_of_rows(part: MaskPart, row_dim: int) -> bool:
    """Return whether a part of a mask depends on rows only."""
    wide = [dim for dim, extent in enumerate(part.value.tile.shape) if extent > 1]
    return len(wide) == 1 and part.dims[row_dim] == wide[0]


# ---------------------------------------------------------------- the walk


class RaisingGathers(Rebuilding):
    """The walk that puts gather views in the place of tiles of pointers."""

    def __init__(self, log: ChangeLog) -> None:
        super().__init__(log)
        self.tables: dict[Op, RowTable] = {}

    def visit(self, op: Op) -> None:
        if isinstance(op, Entry):
            self._find_tables(op)
        found = self.tables.get(op)
        if found is None or not isinstance(op, LoadPtr | StorePtr):
            super().visit(op)
            return
        results = self.emit(self._accessed(op, found))
        self.log.note(GATHERED if isinstance(op, LoadPtr) else SCATTERED, op, results)
        self.bind(op.results, results)

    def _find_tables(self, entry: Entry) -> None:
        points: dict[Op, ProgramPoint] = {}

        def note(walk: Walk, op: Op, point: ProgramPoint) -> None:
            if isinstance(op, LoadPtr | StorePtr | For):
                points[op] = point

        accesses = [op for op in entry.walk() if isinstance(op, LoadPtr | StorePtr) and may_be_raised(op)]
        tiles = LinearTiles(Affines(entry.body, note)) if accesses else None
        for op in accesses:
            if tiles is not None and op in points and tiles.of(MemoryAccess.of(op).address) is None:
                found = table_of(op, tiles, Prover(op, tiles, points))
                if found is not None:
                    self.tables[op] = found

    # ------------------------------------------------------------ operations

    def _accessed(self, op: LoadPtr | StorePtr, table: RowTable) -> Op:
        loc, view = self.place(op.loc), self._view(MemoryAccess.of(op).address.tile, table, self.place(op.loc))
        (zero,) = self.emit(Constant.build([t.tile(t.I32)], loc, value=splat(t.tile(t.I32), 0)))
        index = [zero] * len(table.extents)
        index[table.found.dim] = self._rows(table, loc)
        fields: dict[str, object] = {
            "memory_ordering_semantics": op.memory_ordering_semantics, "optimization_hints": op.optimization_hints,
            "view": view, "index": index, "token": None if op.token is None else self.values[op.token],
        }  # fmt: skip
        types = [result.type for result in op.results]
        if isinstance(op, LoadPtr):
            return LoadView.build(types, loc, **fields)
        return StoreView.build(types, loc, tile=self.values[op.value], **fields)

    def _rows(self, table: RowTable, loc: Location) -> Value:
        """Return the index of each row, beyond all tensors where it is masked off."""
        rows = self._flat(self.values[table.found.rows], loc)
        if not table.masks:
            return rows
        masks = [self._flat(self.values[mask], loc) for mask in table.masks]
        kept = reduce(lambda a, b: self.emit(AndI.build([a.type], loc, lhs=a, rhs=b))[0], masks)
        (none,) = self.emit(Constant.build([rows.type], loc, value=splat(rows.tile, -1)))
        return self.emit(Select.build([rows.type], loc, cond=kept, val_if_true=rows, val_if_false=none))[0]

    def _flat(self, value: Value, loc: Location) -> Value:
        """Return a tile without its dimensions of one element."""
        if value.tile.rank == 1:
            return value
        return self.emit(Reshape.build([t.tile(value.tile.element, value.tile.count)], loc, source=value))[0]

    def _view(self, tile: t.TileType, table: RowTable, loc: Location) -> Value:
        sizes = (table.extents, table.strides)
        dynamic = [one for parts in sizes for one in parts if not isinstance(one, KnownScalar)]
        bits = bits_of(dynamic[0]) if len(set(map(bits_of, dynamic))) == 1 else WIDEST
        shape, strides = (tuple(map(known_number, parts)) for parts in sizes)
        extents, steps = (
            [emitted(extended(one, bits), self, loc) for one in parts if not isinstance(one, KnownScalar)]
            for parts in sizes
        )
        tensor = t.TensorViewType(tile.pointer.pointee, shape, strides)
        fields = {"base": emitted(table.found.rest.base, self, loc), "dynamicShape": extents, "dynamicStrides": steps}
        (made,) = self.emit(MakeTensorView.build([tensor], loc, **fields))
        view = t.GatherScatterViewType(tile.shape, tensor, table.found.dim, table.padding)
        return self.emit(MakeGatherScatterView.build([view], loc, tensor_view=made))[0]
