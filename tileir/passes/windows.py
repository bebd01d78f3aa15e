"""Tensors in the place of tiles of pointers: what a view must be told to go to the same elements.

The tensor may stay where it is while tiles move over it, so that it can be made once, and copied by the engines that
GPUs have for that:

    window at  p + (128 * block_x * stride + 64 * turn)        tensor at p, rows x columns, strides = [stride, 1]
    rows - 128 * block_x  by  columns - 64 * turn         =>   tile [block_x, turn]

Otherwise it is the tensor whose only tile is that of the access.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import NamedTuple

from tileir.analysis.effects import MemoryAccess
from tileir.analysis.expressions import ZERO, Expression, TooLarge
from tileir.analysis.forms import relaned
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.core import Op, Value
from tileir.ir.loc import Location
from tileir.ops.core import Offset
from tileir.ops.integer import MulI, SubI
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.views import LoadView, MakeTensorView, StoreView
from tileir.passes.facts import constant_of
from tileir.passes.inequalities import Inequalities, Inequality, Prover, inequalities
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.scalars import (
    WIDEST,
    ComputedScalar,
    GivenScalar,
    KnownScalar,
    ScalarFormula,
    added,
    affine,
    bits_of,
    divided,
    emitted,
    extended,
    given,
    known_number,
    multiplied,
    number,
    smaller,
    subtracted,
)


@dataclass(frozen=True)
class TileWindow:
    """A tensor, and the tile of it that has the elements of an access: the address of its first element, its extents
    and strides, the index of the tile.

    `padding` is what the rest of the tile reads as.
    """

    base: ScalarFormula
    extents: tuple[ScalarFormula, ...]
    strides: tuple[ScalarFormula, ...]
    indices: tuple[ScalarFormula, ...]
    padding: t.PaddingValue | None

    @property
    def numbers(self) -> tuple[ScalarFormula, ...]:
        """Return the numbers that must be positive."""
        return (*self.extents, *self.strides)


class IndexBound(NamedTuple):
    """The elements whose index `i` along a dimension keeps ``less + i + gap <= more``."""

    less: ScalarFormula
    more: ScalarFormula
    gap: int


def padding_of(content: DenseElements | None) -> t.PaddingValue | None:
    """Return the padding value that a constant is, in all elements; None if it is none."""
    if content is None or not content.is_splat:
        return None
    bits = int.from_bytes(content.data, "little")
    values = [t.PaddingValue.ZERO] if content.element.is_int else list(t.PaddingValue)
    return next((value for value in values if content.element.padding_bits(value) == bits), None)


# ---------------------------------------------------------------- the window of an access


def window(op: LoadPtr | StorePtr, prover: Prover) -> TileWindow | None:
    """Return the tensor that consists of the elements that an access touches; None if that is not proved."""
    access, tiles = MemoryAccess.of(op), prover.tiles
    pointers, shape = tiles.of(access.address), access.address.tile.shape
    if pointers is None or not all(
        extent == 1 or prover.proves(KnownScalar(0, WIDEST), step, 1) for extent, step in zip(shape, pointers.steps)
    ):
        return None
    mask = Inequalities() if access.mask is None else inequalities(access.mask, tiles)
    bounds = _bounds(mask.parts, shape, prover) if mask.complete else None
    if bounds is None:
        return None
    padding = padding_of(constant_of(access.padding)) if any(bounds) and access.padding is not None else None
    if any(bounds) and access.padding is not None and padding is None:
        return None
    strides = tuple(number(1, WIDEST) if extent == 1 else step for extent, step in zip(shape, pointers.steps))
    borders = [_border(extent, found) for extent, found in zip(shape, bounds)]
    found = None
    if all(borders):
        placed = [one for one in borders if one is not None]
        found = anchored(access.address, pointers.base, strides, placed, padding, prover)
    if found is not None:
        return found
    extents = _extents(shape, bounds, prover)
    zeros = (number(0, 32),) * len(shape)
    return None if extents is None else TileWindow(pointers.base, extents, strides, zeros, padding)


def _border(extent: int, bounds: Sequence[IndexBound]) -> IndexBound | None:
    """Return the border of the tensor along a dimension with at most one bound; None if it is no element's place."""
    if not bounds:
        return IndexBound(number(0, 32), number(extent, WIDEST), 1)
    (bound, *others) = bounds
    return None if others or bound.gap != 1 else bound


def _extents(
    shape: Sequence[int], bounds: Sequence[Sequence[IndexBound]], prover: Prover
) -> tuple[ScalarFormula, ...] | None:
    """Return how many elements the bounds leave along each dimension; None if the numbers may not fit into 64 bits."""
    found = []
    for extent, some in zip(shape, bounds):
        counts = [_distance(one.less, one.more, 1 - one.gap, prover) for one in some]
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            return None
        found.append(reduce(_smaller, known) if known else number(extent, WIDEST))
    return tuple(found)


def extents_of(parts: Sequence[Inequality], shape: Sequence[int], prover: Prover) -> tuple[ScalarFormula, ...] | None:
    """Return the extents of the tensor that bounds leave of a tile; None if that is not proved to have elements."""
    bounds = _bounds(parts, shape, prover)
    return None if bounds is None else _extents(shape, bounds, prover)


def _bounds(parts: Sequence[Inequality], shape: Sequence[int], prover: Prover) -> list[list[IndexBound]] | None:
    """Return the bounds of each dimension, all of them non-empty, without those that leave the whole tile; None if a
    part of a mask says anything else."""
    bounds: list[list[IndexBound]] = [[] for _ in shape]
    for part in parts:
        if not _always(part, shape, prover):
            dim = _bounded(part, prover)
            if dim is None:
                return None
            bounds[dim].append(IndexBound(part.less.base, part.more.base, part.gap))
    return bounds


def _always(part: Inequality, shape: Sequence[int], prover: Prover) -> bool:
    """Return whether an inequality holds for all elements of the tile."""
    farthest = 0
    for extent, less, more in zip(shape, part.less.steps, part.more.steps):
        steps = (known_number(less), known_number(more))
        if less != more and (steps[0] is None or steps[1] is None):
            return False
        farthest += 0 if less == more else max(0, (steps[0] or 0) - (steps[1] or 0)) * (extent - 1)
    return prover.proves(part.less.base, part.more.base, part.gap + farthest)


def _bounded(part: Inequality, prover: Prover) -> int | None:
    """Return the dimension along which an inequality leaves the first elements, at least one."""
    dims = [dim for dim, step in enumerate(part.less.steps) if known_number(step) != 0]
    if len(dims) != 1 or known_number(part.less.steps[dims[0]]) != 1 or not part.more.is_uniform:
        return None
    return dims[0] if prover.proves(part.less.base, part.more.base, part.gap) else None


def _distance(less: ScalarFormula, more: ScalarFormula, more_by: int, prover: Prover) -> ScalarFormula | None:
    """Return the exact number ``more - less + more_by``, which is positive; None if it may not fit into 64 bits."""
    if known_number(less) == more_by:
        return more
    if max(bits_of(less), bits_of(more)) == WIDEST and not prover.proves(number(more_by, WIDEST), less, 0):
        return None
    wide = subtracted(extended(more, WIDEST), extended(less, WIDEST))
    return added(wide, number(more_by, WIDEST))


def _smaller(a: ScalarFormula, b: ScalarFormula) -> ScalarFormula:
    return a if a == b else smaller(extended(a, WIDEST), extended(b, WIDEST))


# ---------------------------------------------------------------- tensors that stay where they are


def anchored(
    address: Value,
    base: ScalarFormula,
    strides: tuple[ScalarFormula, ...],
    borders: Sequence[IndexBound],
    padding: t.PaddingValue | None,
    prover: Prover,
) -> TileWindow | None:
    """Return the window whose tensor stays where it is, and in which the tile at `address` has `borders`, one for each
    dimension: elements from `less` on belong to the tile, and those below `more` to the tensor. None if there is none.

    The first element of the tile is at `base`, and those of each dimension are `strides` apart.
    """
    root, shape = _root(base), address.tile.shape
    try:
        first, start = _first_address(address, prover), affine(root, prover.tiles.known)
        if first is None or not prover.holds(start.needs):
            return None
        for choice in product(*(list(_moved(border, prover)) for border in borders)):
            moved = _moved_by(choice, strides, prover)
            if moved is not None and first - moved * address.tile.pointer.pointee.byte_size == start.form:
                indices = [_quotient(border.less, extent, prover) for border, extent in zip(choice, shape)]
                found = tuple(index for index in indices if index is not None)
                ends = tuple(border.more for border in choice)
                return TileWindow(root, ends, strides, found, padding) if len(found) == len(indices) else None
    except TooLarge:
        return None
    return None


def _root(pointer: ScalarFormula) -> ScalarFormula:
    """Return the pointer that others are computed from."""
    while True:
        if isinstance(pointer, ComputedScalar):
            pointer = pointer.operands[0]
        elif isinstance(pointer, GivenScalar) and isinstance(pointer.value.op, Offset):
            pointer = given(pointer.value.op.ptr)
        else:
            return pointer


def _first_address(address: Value, prover: Prover) -> Expression | None:
    """Return the address of the first element, modulo 2^64; None if it is not known."""
    found = prover.tiles.known.of(address)
    return relaned(found.form, (ZERO,) * address.tile.rank) if prover.holds(found.needs) else None


def _moved(border: IndexBound, prover: Prover) -> Iterator[IndexBound]:
    """Yield the border as it is, or with the first element moved by what has been taken from the end: ``first < n - d``
    is ``first + d < n``."""
    if prover.proves(KnownScalar(0, bits_of(border.less)), border.less, 0):
        yield border
    op = border.more.value.op if isinstance(border.more, GivenScalar) else None
    if isinstance(op, SubI) and known_number(border.less) == 0:
        end, distance = given(op.lhs), given(op.rhs)
        total, parts = prover.number(border.more), (prover.number(end), prover.number(distance))
        exact = total is not None and parts[0] is not None and parts[1] is not None and total == parts[0] - parts[1]
        if exact and prover.proves(KnownScalar(0, bits_of(distance)), distance, 0):
            yield IndexBound(distance, end, 1)


def _moved_by(borders: Sequence[IndexBound], strides: Sequence[ScalarFormula], prover: Prover) -> Expression | None:
    """Return the elements between the beginning of the tensor and that of the tile."""
    total = ZERO
    for border, stride in zip(borders, strides):
        first, step = prover.number(border.less), prover.number(stride)
        if first is None or step is None:
            return None
        total += first * step
    return total


def _quotient(first: ScalarFormula, extent: int, prover: Prover) -> ScalarFormula | None:
    """Return the exact quotient of the first element by the extent of the tile; None if it may leave a rest."""
    if isinstance(first, KnownScalar):
        return None if first.number % extent else number(first.number // extent, first.bits)
    op, whole = first.value.op if isinstance(first, GivenScalar) else None, prover.number(first)
    if whole is None:
        return None
    if isinstance(op, MulI):
        for factor, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            by, part = known_number(given(other)), prover.number(given(factor))
            if by is not None and by % extent == 0 and part is not None and part * by == whole:
                return multiplied(given(factor), number(by // extent, bits_of(first)))
    return divided(first, extent) if prover.divides(extent, whole) else None


# ---------------------------------------------------------------- operations


def common_bits(numbers: Sequence[ScalarFormula]) -> int:
    """Return the number of bits of numbers, the most there are if they are of different types."""
    bits = set(map(bits_of, numbers))
    return bits.pop() if len(bits) == 1 else WIDEST


def made_tensor(
    tile: t.TileType,
    base: ScalarFormula,
    extents: Sequence[ScalarFormula],
    strides: Sequence[ScalarFormula],
    walk: Rebuilding,
    loc: Location,
) -> Value:
    """Return a tensor of what a tile of pointers leads to, made where `walk` stands."""
    dynamic = [[one for one in parts if not isinstance(one, KnownScalar)] for parts in (extents, strides)]
    bits = common_bits([*dynamic[0], *dynamic[1]])
    sizes, steps = ([emitted(extended(one, bits), walk, loc) for one in parts] for parts in dynamic)
    type = t.TensorViewType(tile.pointer.pointee, map(known_number, extents), map(known_number, strides))
    fields = {"base": emitted(base, walk, loc), "dynamicShape": sizes, "dynamicStrides": steps}
    return walk.emit(MakeTensorView.build([type], loc, **fields))[0]


def access_through(view: Value, index: Sequence[Value], op: LoadPtr | StorePtr, walk: Rebuilding, loc: Location) -> Op:
    """Return the access to one tile of a view that takes the place of `op`."""
    fields: dict[str, object] = {
        "memory_ordering_semantics": op.memory_ordering_semantics, "optimization_hints": op.optimization_hints,
        "view": view, "index": index, "token": None if op.token is None else walk.values[op.token],
    }  # fmt: skip
    types = [result.type for result in op.results]
    if isinstance(op, LoadPtr):
        return LoadView.build(types, loc, **fields)
    return StoreView.build(types, loc, tile=walk.values[op.value], **fields)
