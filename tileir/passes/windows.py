"""Tensors in the place of tiles of pointers: what a view must be told to go to the same elements.

Knows: the tensor whose only tile is that of an access, and what must be proved for it. Does not know: how tiles of
pointers and masks are understood (`passes.linear`, `passes.inequalities`), nor how views are made (`raising`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from tileir.analysis.effects import MemoryAccess
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.passes.anchoring import Border, anchored
from tileir.passes.facts import constant_of
from tileir.passes.inequalities import Inequalities, Inequality, Prover, inequalities
from tileir.passes.linear import LinearTiles
from tileir.passes.scalars import (
    WIDEST,
    KnownScalar,
    ScalarFormula,
    added,
    bits_of,
    extended,
    known_number,
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
        """Those that must be positive."""
        return (*self.extents, *self.strides)


class IndexBound(NamedTuple):
    """The elements whose index `i` along a dimension keeps ``less + i + gap <= more``."""

    less: ScalarFormula
    more: ScalarFormula
    gap: int


def padding_of(content: DenseElements | None) -> t.PaddingValue | None:
    """The padding value that a constant is, in all elements; None if it is none."""
    if content is None or not content.is_splat:
        return None
    bits = int.from_bytes(content.data, "little")
    values = [t.PaddingValue.ZERO] if content.element.is_int else list(t.PaddingValue)
    return next((value for value in values if content.element.padding_bits(value) == bits), None)


# ---------------------------------------------------------------- the window of an access


def window(op: LoadPtr | StorePtr, tiles: LinearTiles, prover: Prover) -> TileWindow | None:
    """The tensor that consists of the elements that an access touches; None if that is not proved."""
    access = MemoryAccess.of(op)
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
        found = anchored(access.address, pointers.base, strides, [one for one in borders if one is not None], prover)
    if found is not None:
        return TileWindow(found.base, found.extents, strides, found.indices, padding)
    extents = _extents(shape, bounds, prover)
    zeros = (number(0, 32),) * len(shape)
    return None if extents is None else TileWindow(pointers.base, extents, strides, zeros, padding)


def _border(extent: int, bounds: Sequence[IndexBound]) -> Border | None:
    """The border of the tensor along a dimension with at most one bound; None if it is no element's place."""
    if not bounds:
        return Border(number(0, 32), number(extent, WIDEST))
    (bound, *others) = bounds
    return None if others or bound.gap != 1 else Border(bound.less, bound.more)


def _extents(
    shape: Sequence[int], bounds: Sequence[Sequence[IndexBound]], prover: Prover
) -> tuple[ScalarFormula, ...] | None:
    """How many elements bounds leave along each dimension; None if the numbers may not fit into 64 bits."""
    found = []
    for extent, some in zip(shape, bounds):
        counts = [_distance(one.less, one.more, 1 - one.gap, prover) for one in some]
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            return None
        found.append(reduce(_smaller, known) if known else number(extent, WIDEST))
    return tuple(found)


def extents_of(parts: Sequence[Inequality], shape: Sequence[int], prover: Prover) -> tuple[ScalarFormula, ...] | None:
    """The extents of the tensor that bounds leave of a tile; None if that is not proved to have elements."""
    bounds = _bounds(parts, shape, prover)
    return None if bounds is None else _extents(shape, bounds, prover)


def _bounds(parts: Sequence[Inequality], shape: Sequence[int], prover: Prover) -> list[list[IndexBound]] | None:
    """The bounds of each dimension, all of which leave an element, without those that leave the whole tile; None if
    some parts of a mask say anything else."""
    bounds: list[list[IndexBound]] = [[] for _ in shape]
    for part in parts:
        if not _always(part, shape, prover):
            dim = _bounded(part, prover)
            if dim is None:
                return None
            bounds[dim].append(IndexBound(part.less.base, part.more.base, part.gap))
    return bounds


def _always(part: Inequality, shape: Sequence[int], prover: Prover) -> bool:
    """Whether an inequality holds for all elements of the tile."""
    farthest = 0
    for extent, less, more in zip(shape, part.less.steps, part.more.steps):
        steps = (known_number(less), known_number(more))
        if less != more and (steps[0] is None or steps[1] is None):
            return False
        farthest += 0 if less == more else max(0, (steps[0] or 0) - (steps[1] or 0)) * (extent - 1)
    return prover.proves(part.less.base, part.more.base, part.gap + farthest)


def _bounded(part: Inequality, prover: Prover) -> int | None:
    """The dimension along which an inequality leaves the first elements, at least one."""
    dims = [dim for dim, step in enumerate(part.less.steps) if known_number(step) != 0]
    if len(dims) != 1 or known_number(part.less.steps[dims[0]]) != 1 or not part.more.is_uniform:
        return None
    return dims[0] if prover.proves(part.less.base, part.more.base, part.gap) else None


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
