"""The pass ``raise``: loads and stores through tiles of pointers that grow evenly go through views.

    %at = offset %base, %index : ...                  %first = offset %base, %start : ...
    %mask = cmpi less_than %lanes, %ns, signed        %tensor = make_tensor_view %first, shape = [%n], strides = [1]
    %v, %t = load_ptr_tko weak %at, %mask       =>    %tiles = make_partition_view %tensor : ...
                                                      %v, %t = load_view_tko weak %tiles[%zero]

The tensor begins at the first element of the tile and ends where the mask does, so that exactly the elements that are
not masked off lie in it. Views may not be without elements, nor step backwards, so that all of this is proved.

Knows: the view of an access, and when there is one. Does not know: how tiles of pointers and masks are understood
(`passes.linear`, `passes.inequalities`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from tileir.analysis.affine import Affines
from tileir.analysis.effects import MemoryAccess
from tileir.analysis.walk import ProgramPoint, Walk
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op, Value
from tileir.ir.loc import Location
from tileir.ops.core import Constant
from tileir.ops.module import Entry
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.views import LoadView, MakePartitionView, MakeTensorView, StoreView
from tileir.passes.facts import constant_of, splat
from tileir.passes.inequalities import Inequality, Prover, inequalities
from tileir.passes.linear import LinearTiles
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.row import Exactness, Row
from tileir.passes.scalars import (
    WIDEST,
    KnownScalar,
    ScalarFormula,
    added,
    bits_of,
    emitted,
    extended,
    known_number,
    number,
    smaller,
    subtracted,
)

_WHY = "the elements not masked off are those of the tensor, at the same addresses"
_WHEN = (
    "addresses grow by the same positive step along each dimension, without overflow; the mask is a bound along "
    "dimensions; it is proved that the first element is not masked off"
)
LOADED = Row(
    "affine-load", "raise", "weak load_ptr_tko p, m, c", "load_view_tko of a view of what m leaves of p",
    Exactness.PROMISED, _WHY, f"{_WHEN}; c is missing or a padding value",
)  # fmt: skip
STORED = Row(
    "affine-store", "raise", "weak store_ptr_tko p, v, m", "store_view_tko to a view of what m leaves of p",
    Exactness.PROMISED, _WHY, _WHEN,
)  # fmt: skip
ROWS = (LOADED, STORED)


@dataclass(frozen=True)
class TileWindow:
    """A tensor whose only tile is that of an access: the address of its first element, its extents and strides.

    ``cut``: along some dimension there may be fewer elements than in the tile.
    """

    base: ScalarFormula
    extents: tuple[ScalarFormula, ...]
    strides: tuple[ScalarFormula, ...]
    cut: bool


class Raising(Rebuilding):
    """The walk that puts views in the place of tiles of pointers."""

    tiles: LinearTiles | None = None
    """Of the entry around."""

    def visit(self, op: Op) -> None:
        if isinstance(op, Entry):
            self._enter(op)
            super().visit(op)
            self.tiles = None  # What is known of the body of a function is that of one call.
        elif not (isinstance(op, LoadPtr | StorePtr) and _may_be_raised(op) and self._raise(op)):
            super().visit(op)

    def _enter(self, op: Entry) -> None:
        self.points: dict[Op, ProgramPoint] = {}

        def note(walk: Walk, inner: Op, point: ProgramPoint) -> None:
            if isinstance(inner, LoadPtr | StorePtr):
                self.points[inner] = point

        self.tiles = LinearTiles(Affines(op.body, note))

    def _raise(self, op: LoadPtr | StorePtr) -> bool:
        access = MemoryAccess.of(op)
        if self.tiles is None or op not in self.points:
            return False
        found = window(access, self.tiles, Prover(op, self.tiles, self.points))
        if found is None:
            return False
        padding = padding_of(access) if found.cut and isinstance(op, LoadPtr) else None
        if isinstance(op, LoadPtr) and found.cut and op.paddingValue is not None and padding is None:
            return False
        view = self._view(access, found, padding, self.place(op.loc))
        results = self.emit(self._accessed(op, view))
        self.log.note(LOADED if isinstance(op, LoadPtr) else STORED, op, results)
        self.bind(op.results, results)
        return True

    # ------------------------------------------------------------ operations

    def _view(self, access: MemoryAccess, found: TileWindow, padding: t.PaddingValue | None, loc: Location) -> Value:
        tile = access.address.tile
        dynamic = [one for one in (*found.extents, *found.strides) if not isinstance(one, KnownScalar)]
        bits = bits_of(dynamic[0]) if len({bits_of(one) for one in dynamic}) == 1 else WIDEST
        shape, strides = (tuple(known_number(one) for one in parts) for parts in (found.extents, found.strides))
        extents, steps = (
            [emitted(extended(one, bits), self, loc) for one in parts if not isinstance(one, KnownScalar)]
            for parts in (found.extents, found.strides)
        )
        tensor = t.TensorViewType(tile.pointer.pointee, shape, strides)
        fields = {"base": emitted(found.base, self, loc), "dynamicShape": extents, "dynamicStrides": steps}
        (made,) = self.emit(MakeTensorView.build([tensor], loc, **fields))
        view = t.PartitionViewType(tile.shape, tensor, padding)
        return self.emit(MakePartitionView.build([view], loc, tensor_view=made))[0]

    def _accessed(self, op: LoadPtr | StorePtr, view: Value) -> Op:
        """The access through a view: that of its only tile."""
        i32, loc = t.tile(t.I32), self.place(op.loc)
        (zero,) = self.emit(Constant.build([i32], loc, value=splat(i32, 0)))
        fields: dict[str, object] = {
            "memory_ordering_semantics": op.memory_ordering_semantics, "optimization_hints": op.optimization_hints,
            "view": view, "index": [zero] * view.type.rank,  # type: ignore[attr-defined]
            "token": None if op.token is None else self.values[op.token],
        }  # fmt: skip
        types = [result.type for result in op.results]
        if isinstance(op, LoadPtr):
            return LoadView.build(types, loc, **fields)
        return StoreView.build(types, loc, tile=self.values[op.value], **fields)


def _may_be_raised(op: LoadPtr | StorePtr) -> bool:
    pointers = (op.source if isinstance(op, LoadPtr) else op.destination).tile
    if op.memory_ordering_semantics is not MemoryOrdering.WEAK or op.discardable or pointers.count == 1:
        return False
    return pointers.pointer.attr is None and pointers.pointer.pointee.memory_bits >= 8


def padding_of(access: MemoryAccess) -> t.PaddingValue | None:
    """The padding value that an operand is, in all elements; None without one."""
    content = None if access.padding is None else constant_of(access.padding)
    if content is None or not content.is_splat:
        return None
    bits = int.from_bytes(content.data, "little")
    values = [t.PaddingValue.ZERO] if content.element.is_int else list(t.PaddingValue)
    return next((value for value in values if content.element.padding_bits(value) == bits), None)


# ---------------------------------------------------------------- the window of an access


def window(access: MemoryAccess, tiles: LinearTiles, prover: Prover) -> TileWindow | None:
    """The tensor that consists of the elements that an access touches; None if that is not proved."""
    pointers, shape = tiles.of(access.address), access.address.tile.shape
    if pointers is None or not all(
        extent == 1 or prover.proves(KnownScalar(0, WIDEST), step, 1) for extent, step in zip(shape, pointers.steps)
    ):
        return None
    counts = _counts(access.mask, shape, tiles, prover)
    if counts is None:
        return None
    extents = tuple(
        number(extent, WIDEST) if not found else reduce(_smaller, found) for extent, found in zip(shape, counts)
    )
    strides = tuple(number(1, WIDEST) if extent == 1 else step for extent, step in zip(shape, pointers.steps))
    return TileWindow(pointers.base, extents, strides, any(counts))


def _counts(
    mask: Value | None, shape: Sequence[int], tiles: LinearTiles, prover: Prover
) -> list[list[ScalarFormula]] | None:
    """For each dimension the numbers of elements that bounds leave, all of them positive, without those that leave the
    whole tile; None if there is more to the mask than that."""
    counts: list[list[ScalarFormula]] = [[] for _ in shape]
    found = None if mask is None else inequalities(mask, tiles)
    if found is None:
        return counts
    for part in found.parts:
        if not _always(part, shape, prover):
            bound = _bound(part, shape, prover)
            if bound is None:
                return None
            counts[bound[0]].append(bound[1])
    return counts if found.complete else None


def _always(part: Inequality, shape: Sequence[int], prover: Prover) -> bool:
    """Whether an inequality holds for all elements of the tile."""
    farthest = 0
    for extent, less, more in zip(shape, part.less.steps, part.more.steps):
        steps = (known_number(less), known_number(more))
        if less != more and (steps[0] is None or steps[1] is None):
            return False
        farthest += 0 if less == more else max(0, (steps[0] or 0) - (steps[1] or 0)) * (extent - 1)
    return prover.proves(part.less.base, part.more.base, part.gap + farthest)


def _bound(part: Inequality, shape: Sequence[int], prover: Prover) -> tuple[int, ScalarFormula] | None:
    """The dimension that an inequality bounds, and how many elements it leaves there: at least one."""
    dims = [dim for dim, step in enumerate(part.less.steps) if known_number(step) != 0]
    if len(dims) != 1 or known_number(part.less.steps[dims[0]]) != 1 or not part.more.is_uniform:
        return None
    less, more = part.less.base, part.more.base
    if not prover.proves(less, more, part.gap):
        return None
    count = _distance(less, more, 1 - part.gap, prover)
    return None if count is None else (dims[0], count)


def _distance(less: ScalarFormula, more: ScalarFormula, more_by: int, prover: Prover) -> ScalarFormula | None:
    """The exact number ``more - less + more_by``, which is positive; None if it may not fit into 64 bits."""
    if known_number(less) == more_by:
        return more
    if max(bits_of(less), bits_of(more)) == WIDEST and not prover.proves(number(more_by, WIDEST), less, 0):
        return None
    wide = subtracted(extended(more, WIDEST), extended(less, WIDEST))
    return added(wide, number(more_by, WIDEST))


def _smaller(a: ScalarFormula, b: ScalarFormula) -> ScalarFormula:
    return a if a == b else smaller(extended(a, WIDEST), extended(b, WIDEST))
