"""The pass ``raise-gathers``: rows that an index tile names are loaded and stored through gather views.

    %at = offset %base, (%rows * %width + %columns)           %tensor = make_tensor_view %base, strides = [%width, 1]
    %v, %t = load_ptr_tko weak %at, %mask               =>    %tiles = make_gather_scatter_view %tensor, sparse_dim = 0
                                                              %v, %t = load_view_tko weak %tiles[%rows, %zero]

A row that is masked off gets an index beyond the tensor, which such views skip.

`raising` handles all other addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from tileir.analysis.effects import MemoryAccess
from tileir.analysis.region import MaskPart, parts_of
from tileir.ir import types as t
from tileir.ir.attributes import Overflow
from tileir.ir.core import Op, Value
from tileir.ir.loc import Location
from tileir.ops.conversion import ExtI
from tileir.ops.core import Constant, Offset, Select
from tileir.ops.integer import AddI, AndI, MulI
from tileir.ops.module import Entry
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.shapes import Broadcast, Permute, Reshape
from tileir.ops.views import MakeGatherScatterView
from tileir.passes.facts import constant_of, splat
from tileir.passes.inequalities import Proofs, Prover, inequalities
from tileir.passes.linear import PROMISED, Linear, LinearTiles, TableRows, rules
from tileir.passes.raising import may_be_raised
from tileir.passes.rebuilding import ChangeLog, Exactness, Rebuilding, Row
from tileir.passes.scalars import (
    WIDEST,
    KnownScalar,
    ScalarFormula,
    bits_of,
    known_number,
    number,
)
from tileir.passes.windows import access_through, extents_of, made_tensor, padding_of

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


class RowTiles(LinearTiles):
    """The tiles of one entry that are rows of tables, beside those that grow evenly."""

    def __init__(self, tiles: LinearTiles) -> None:
        super().__init__(tiles.known)
        self._tiles = tiles

    def of(self, value: Value) -> Linear | None:
        """Return the form of a tile of integers or pointers, with rows if it does not grow evenly; None if none is
        proved."""
        return self._tiles.of(value) or super().of(value)

    def _of(self, value: Value) -> Linear | None:
        if isinstance(value.op, _MOVED_ROWS):
            found = rules[type(value.op)](value.op, self)
            return found if found is not None and found.is_small else None
        wide = [dim for dim, extent in enumerate(value.tile.shape) if extent > 1]
        if len(wide) != 1 or not isinstance(value.tile.element, t.ElementType):
            return None
        zero = number(0, value.tile.number.bits)
        return Linear(zero, (number(0, WIDEST),) * value.tile.rank, TableRows(value, wide[0], number(1, WIDEST)))

    def exact(self, value: Value, overflow: Overflow, found: Linear) -> Linear | None:
        """Return the form of a sum, or of a product of rows alone, if no element wraps around."""
        op = value.op
        assert isinstance(op, AddI | MulI), "rows are in no other operation"
        is_alone = all(known_number(one) == 0 for one in (found.base, *found.steps))
        if found.rows is None or not (is_alone or isinstance(op, AddI)):
            return None
        return found if overflow in PROMISED or self.known.fits(op) else None


_MOVED_ROWS = (Broadcast, Reshape, Permute, AddI, MulI, ExtI, Offset)
"""Operations whose results are rows if their operands are."""


# ---------------------------------------------------------------- the table of an access


@dataclass(frozen=True)
class RowTable:
    """The tensor of an access, and the masks of its rows: tiles of i1 of the shape of the rows."""

    base: ScalarFormula
    rows: TableRows
    extents: tuple[ScalarFormula, ...]
    strides: tuple[ScalarFormula, ...]
    masks: tuple[Value, ...]
    padding: t.PaddingValue | None


def table_of(op: LoadPtr | StorePtr, prover: Prover) -> RowTable | None:
    """Return the table whose rows an access goes to; None if it is not proved that there is one."""
    access, tiles = MemoryAccess.of(op), prover.tiles
    shape, found = access.address.tile.shape, RowTiles(tiles).of(access.address)
    rows = None if found is None else found.rows
    if found is None or rows is None or known_number(found.steps[rows.dim]) != 0:
        return None
    if not tiles.is_at_least(rows.value, 0):
        return None
    strides = tuple(
        rows.width if dim == rows.dim else number(1, WIDEST) if extent == 1 else step
        for dim, (extent, step) in enumerate(zip(shape, found.steps))
    )
    along = [known_number(one) for dim, one in enumerate(strides) if dim != rows.dim and shape[dim] > 1]
    if 1 not in along or not all(prover.proves(KnownScalar(0, bits_of(one)), one, 1) for one in strides):
        return None
    parts = [] if access.mask is None else parts_of(access.mask)
    of_rows = [part for part in parts if _is_of_rows(part, rows.dim)]
    masks = tuple(dict.fromkeys(part.value for part in of_rows))
    padding = None if access.padding is None else padding_of(constant_of(access.padding))
    if padding is None and access.padding is not None and access.mask is not None:
        return None
    extents = _extents([part for part in parts if part.value not in masks], rows, shape, prover)
    return None if extents is None else RowTable(found.base, rows, extents, strides, masks, padding)


def _extents(
    parts: Sequence[MaskPart], rows: TableRows, shape: Sequence[int], prover: Prover
) -> tuple[ScalarFormula, ...] | None:
    """Return the extents of a table, as the parts of a mask that are not of its rows bound them; None if they may do
    something else."""
    seen = [(inequalities(part.value, prover.tiles), part.dims) for part in parts]
    bounds = [one.at(dims) for some, dims in seen for one in some.parts]
    extents = extents_of(bounds, shape, prover) if all(some.complete for some, _ in seen) else None
    last = prover.tiles.known.range(rows.value).high
    if extents is None or last >= 1 << 62:
        return None
    return tuple(number(last + 1, WIDEST) if dim == rows.dim else one for dim, one in enumerate(extents))


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
        accesses = [op for op in entry.walk() if isinstance(op, LoadPtr | StorePtr) and may_be_raised(op)]
        proofs = Proofs(entry) if accesses else None
        for op in accesses:
            if proofs is not None and op in proofs and proofs.tiles.of(MemoryAccess.of(op).address) is None:
                found = table_of(op, proofs.prover(op))
                if found is not None:
                    self.tables[op] = found

    # ------------------------------------------------------------ operations

    def _accessed(self, op: LoadPtr | StorePtr, table: RowTable) -> Op:
        tile, loc = MemoryAccess.of(op).address.tile, self.place(op.loc)
        tensor = made_tensor(tile, table.base, table.extents, table.strides, self, loc)
        type = t.GatherScatterViewType(tile.shape, tensor.tensor_view, table.rows.dim, table.padding)
        (view,) = self.emit(MakeGatherScatterView.build([type], loc, tensor_view=tensor))
        (zero,) = self.emit(Constant.build([t.tile(t.I32)], loc, value=splat(t.tile(t.I32), 0)))
        index = [zero] * len(table.extents)
        index[table.rows.dim] = self._rows(table, loc)
        return access_through(view, index, op, self, loc)

    def _rows(self, table: RowTable, loc: Location) -> Value:
        """Return the index of each row, beyond all tensors where it is masked off."""
        rows = self._flat(self.values[table.rows.value], loc)
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
