"""Expressions of tiles whose elements are those of others in other places.

Element (i, j) of a broadcast column is element (i, 0) of the column: the expression is that of the column with other
indices in the place of its lanes. A reshape of 64 elements to 8 x 8 puts ``8 * lane_0 + lane_1`` for ``lane_0``; one
back puts the quotient and what it leaves.

Knows: one rule per operation that makes tiles, or moves elements. Does not know: arithmetic (`analysis.arithmetic`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from tileir.analysis.expressions import Expression, number
from tileir.analysis.forms import Affine, Form, Forms, Reading, Rule, lanes, mapped, width
from tileir.analysis.symbols import Kind, function, recombined
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ir.storage import DTYPES
from tileir.ops import core, extension, misc, shapes

rules: Rules[Rule] = Rules()

MAX_CONSTANTS = 1 << 14
"""Elements of a constant tile that are looked at."""

Index = tuple[Expression, ...]


# ---------------------------------------------------------------- tiles out of nothing


@rules(core.Constant)
def _constant(op: core.Constant, known: Forms) -> Affine | None:
    """One number, or numbers that grow by the same along each dimension."""
    elements = numbers(op.value)
    if elements is None:
        return None
    origin = (0,) * elements.ndim
    form = number(elements[origin])
    for dim, (lane, extent) in enumerate(zip(lanes(elements.shape), elements.shape)):
        if extent > 1:
            neighbour = (*origin[:dim], 1, *origin[dim + 1 :])
            form += lane * (elements[neighbour] - elements[origin])
    return Affine(form, width(op.result)) if op.value.is_splat or _is(elements, form) else None


def numbers(value: DenseElements) -> np.ndarray | None:
    """The integers of a constant, read as signed, in Python's integers; None for floats and for very many."""
    element = value.element
    if element.is_float or element not in DTYPES or (value.type.count > MAX_CONSTANTS and not value.is_splat):
        return None
    data = np.frombuffer(value.data, DTYPES[element]).astype(object)
    if element is t.I1:
        data = -data
    shape = tuple(1 for _ in value.type.shape) if value.is_splat else value.type.shape
    return data.reshape(shape)


def _is(elements: np.ndarray, form: Expression) -> bool:
    """Whether the elements are those of a sum of multiples of lanes."""
    steps = [form.terms.get(tuple(lane.symbols()), 0) for lane in lanes(elements.shape)]
    grids = np.ogrid[tuple(slice(extent) for extent in elements.shape)]
    expected = form.constant + sum(step * grid.astype(object) for step, grid in zip(steps, grids))
    return bool((elements == expected).all())


@rules(core.Iota)
def _iota(op: core.Iota, known: Forms) -> Affine:
    return Affine(lanes(op.result.tile.shape)[0], width(op.result))


# ---------------------------------------------------------------- the same elements elsewhere


@rules(misc.Assume, extension.OptimizationBarrier)
def _same(op: Op, known: Forms) -> Form | None:
    """Also of a view."""
    return known.form(op.operands[0])


@rules(shapes.Broadcast)
def _broadcast(op: shapes.Broadcast, known: Forms) -> Affine:
    """No expression has a lane of a dimension of one element, and the others stay as they are."""
    return known.of(op.source)


@rules(shapes.Permute)
def _permute(op: shapes.Permute, known: Forms) -> Affine | None:
    return mapped(known.of(op.source), permuted(op.result.tile.shape, op.permutation))


def permuted(shape: tuple[int, ...], permutation: Sequence[int]) -> Index:
    """The index in the source, of which dimension ``permutation[k]`` is dimension k of a result of `shape`."""
    result = lanes(shape)
    return tuple(result[permutation.index(dim)] for dim in range(len(shape)))


@rules(shapes.Extract)
def _extract(op: shapes.Extract, known: Forms) -> Affine | None:
    """The indices count subtiles."""
    sizes = op.result.tile.shape
    firsts = [Reading(number(size)) * known.of(index).signed for size, index in zip(sizes, op.indices)]
    found = mapped(known.of(op.source), tuple(first.form + lane for first, lane in zip(firsts, lanes(sizes))))
    if found is None:
        return None
    needs = found.needs.union(*(first.needs for first in firsts))
    return Affine(found.form, found.bits, needs, found.promised)


@rules(shapes.Reshape)
def _reshape(op: shapes.Reshape, known: Forms) -> Affine | None:
    before, after = op.source.tile.shape, op.result.tile.shape
    source = known.of(op.source)
    if not source.form.terms and not source.needs:
        return source
    found = mapped(source, reshaped(before, after))
    return None if found is None else replace(found, form=recombined(found.form))


def reshaped(before: tuple[int, ...], after: tuple[int, ...]) -> Index:
    """The index in a tile of shape `before` of the element that is at the lanes of one of shape `after`."""
    index: list[Expression] = []
    rest, result = list(before), list(zip(after, lanes(after)))
    while rest:
        # The fewest dimensions on both sides with the same number of elements.
        taken = [rest.pop(0)]
        extents: list[int] = []
        given: list[Expression] = []
        while prod(extents) != prod(taken):
            if prod(extents) < prod(taken):
                extent, lane = result.pop(0)
                extents.append(extent)
                given.append(lane)
            else:
                taken.append(rest.pop(0))
        position = sum((lane * prod(extents[at + 1 :]) for at, lane in enumerate(given)), number(0))
        index += [_digit(position, prod(taken[at + 1 :]), extent) for at, extent in enumerate(taken)]
    return tuple(index)


def _digit(position: Expression, weight: int, extent: int) -> Expression:
    """The coordinate along one dimension of an element, from its number in row-major order."""
    return function(Kind.MODULO, function(Kind.FLOOR, position, number(weight)), number(extent))
