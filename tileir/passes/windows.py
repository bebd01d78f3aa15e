"""Tensors in the place of tiles of pointers: what a view must be told to go to the same elements.

Knows: the tensor whose only tile is that of an access, and what must be proved for it. Does not know: how tiles of
pointers and masks are understood (`passes.linear`, `passes.inequalities`), nor how views are made (`raising`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from tileir.analysis.effects import MemoryAccess
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.core import Value
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.passes.facts import constant_of
from tileir.passes.inequalities import Inequality, Prover, inequalities
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
    """A tensor whose only tile is that of an access: the address of its first element, its extents and strides.

    `padding` is what the rest of the tile reads as.
    """

    base: ScalarFormula
    extents: tuple[ScalarFormula, ...]
    strides: tuple[ScalarFormula, ...]
    padding: t.PaddingValue | None


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
    counts = _counts(access.mask, shape, tiles, prover)
    if counts is None:
        return None
    padding = padding_of(constant_of(access.padding)) if any(counts) and access.padding is not None else None
    if any(counts) and access.padding is not None and padding is None:
        return None
    extents = tuple(
        number(extent, WIDEST) if not found else reduce(_smaller, found) for extent, found in zip(shape, counts)
    )
    strides = tuple(number(1, WIDEST) if extent == 1 else step for extent, step in zip(shape, pointers.steps))
    return TileWindow(pointers.base, extents, strides, padding)


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
