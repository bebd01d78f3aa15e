"""Expressions of the results of operations, from those of the operands: a rule for each operation that has one.

    %block_x                    a symbol; so are parameters, extents of the grid, memories
    muli %block_x, 128          128 * block_x
    exti %small, signed         the signed reading of the operand
    andi %x, 7                  what a quotient by 8 leaves of x
    broadcast, permute          the same expression with other indices in the place of its lanes
    reshape 64 to 8 x 8         8 * lane_0 + lane_1 for lane_0; back: the quotient and what it leaves

A result without a rule is a number that nothing but its type is known of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from tileir.analysis import ranges
from tileir.analysis.expressions import Expression, number, of
from tileir.analysis.forms import (
    Affine,
    Form,
    Forms,
    Reading,
    Rule,
    Tensor,
    Tiles,
    is_integer,
    kept,
    lanes,
    mapped,
    width,
)
from tileir.analysis.ranges import Range, power_in
from tileir.analysis.symbols import (
    BlockId,
    GridExtent,
    Kind,
    NoWrap,
    ScalarParameter,
    Storage,
    StorageKind,
    ceiling,
    function,
    recombined,
)
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements, Rounding, Signedness
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ir.storage import DTYPES
from tileir.ops import conversion, core, division, extension, integer, misc, shapes, views

rules: Rules[Rule] = Rules()

MAX_CONSTANTS = 1 << 14
"""Elements of a constant tile that are looked at."""


def parameter(argument: Value, index: int) -> Affine:
    """Return the form of a parameter that is a scalar integer or pointer."""
    pointer = isinstance(argument.tile.element, t.PointerType)
    symbol = Storage(StorageKind.PARAMETER, index) if pointer else ScalarParameter(index, width(argument))
    return Affine(of(symbol), width(argument))


@rules(core.GetTileBlockId, core.GetNumTileBlocks)
def _of_grid(op: Op, known: Forms) -> tuple[Form, ...]:
    symbol = BlockId if isinstance(op, core.GetTileBlockId) else GridExtent
    return tuple(Affine(of(symbol(axis)), 32) for axis in range(3))


@rules(core.GetGlobal)
def _global(op: core.GetGlobal, known: Forms) -> Form:
    return Affine(of(Storage(StorageKind.GLOBAL, 0, op.symbol)), 64)


@rules(views.MakeTensorView)
def _tensor(op: views.MakeTensorView, known: Forms) -> Form:
    extents = _filled(op.result.type.shape, op.dynamicShape, known)
    return Tensor(op.result.type, known.of(op.base), extents, _filled(op.result.type.strides, op.dynamicStrides, known))


def _filled(static: Sequence[t.Dim], dynamic: Sequence[Value], known: Forms) -> tuple[Reading, ...]:
    """Return the static entries with the operands, read as unsigned, in the places of the dynamic ones."""
    given = iter(dynamic)
    return tuple(known.of(next(given)).unsigned if entry is None else Reading(number(entry)) for entry in static)


@rules(views.MakePartitionView, views.MakeStridedView, views.MakeGatherScatterView)
def _tiles(op: views.MakePartitionView, known: Forms) -> Form:
    return Tiles(op.result.type, known.tensor(op.tensor_view))


@rules(views.GetTensorShape)
def _shape(op: views.GetTensorShape, known: Forms) -> tuple[Form, ...]:
    """Return the low bits of the extents."""
    extents = known.tensor(op.src).extents
    return tuple(Affine(extent.form, width(result), extent.needs) for extent, result in zip(extents, op.results))


@rules(views.GetIndexSpaceShape)
def _index_space(op: views.GetIndexSpaceShape, known: Forms) -> tuple[Form, ...]:
    """Return the low bits of the extents in tiles, rounded up."""
    extents = known.tensor(op.src).extents
    counts = [
        ceiling(extents[dim].form, number(step), extents[dim].needs)
        for dim, step in zip(op.src.tile_view.tensor_dims, op.src.tile_view.tile_steps)
    ]
    return tuple(Affine(count, width(result)) for count, result in zip(counts, op.results))


# ---------------------------------------------------------------- sums and products, modulo 2^width


COMBINED: dict[type[Op], Callable[[Expression, Expression], Expression]] = {
    integer.AddI: Expression.__add__, integer.SubI: Expression.__sub__, integer.MulI: Expression.__mul__,
}  # fmt: skip


@rules(integer.AddI, integer.SubI, integer.MulI)
def _combine(op: integer.AddI | integer.SubI | integer.MulI, known: Forms) -> Affine:
    a, b = known.of(op.lhs), known.of(op.rhs)
    return kept(COMBINED[type(op)](a.form, b.form), a.bits, a, b, overflow=op.overflow)


@rules(integer.NegI)
def _negate(op: integer.NegI, known: Forms) -> Affine:
    a = known.of(op.source)
    return kept(-a.form, a.bits, a, overflow=op.overflow)


@rules(integer.ShlI)
def _shift_left(op: integer.ShlI, known: Forms) -> Affine | None:
    a, amount = known.of(op.lhs), known.of(op.rhs).unsigned
    by = amount.form.range.constant
    if by is None or amount.needs:
        return None
    return kept(a.form * (1 << by), a.bits, a, overflow=op.overflow) if by < a.bits else Affine(number(0), a.bits)


# ---------------------------------------------------------------- readings


@rules(conversion.ExtI)
def _extend(op: conversion.ExtI, known: Forms) -> Affine:
    found = known.of(op.source).read(op.signedness)
    return Affine(found.form, width(op.to), found.needs)


@rules(conversion.TruncI)
def _truncate(op: conversion.TruncI, known: Forms) -> Affine:
    a = known.of(op.source)
    return kept(a.form, width(op.to), a, overflow=op.overflow)


@rules(conversion.IntToPtr, conversion.PtrToInt, conversion.PtrToPtr)
def _same_bits(op: Op, known: Forms) -> Affine:
    return known.of(op.operands[0])


@rules(conversion.Bitcast)
def _bitcast(op: conversion.Bitcast, known: Forms) -> Affine | None:
    return known.of(op.source) if is_integer(op.source.type) and is_integer(op.result.type) else None


@rules(core.Offset)
def _offset(op: core.Offset, known: Forms) -> Affine:
    """Return addresses modulo 2^64, moved by the signed reading of a number of elements, rounded to whole bytes toward
    0."""
    pointer, distance = known.of(op.ptr), known.of(op.offset).signed
    bits = op.ptr.tile.pointer.pointee.memory_bits
    moved = distance.form * (bits // 8) if bits >= 8 else function(Kind.TRUNCATED, distance.form, number(8 // bits))
    return Affine(pointer.form + moved, 64, pointer.needs | distance.needs)


# ---------------------------------------------------------------- functions

_QUOTIENTS = {Rounding.ZERO: Kind.TRUNCATED, Rounding.NEGATIVE_INF: Kind.FLOOR}


def _function(kind: Kind, a: Reading, b: Reading, bits: int, limits: Range | None = None) -> Affine:
    """Return a function of two readings. Its result lies in `limits` whether their conditions hold or not."""
    either = Range(1, -1 << (bits - 1), (1 << bits) - 1)
    return Affine(function(kind, a.form, b.form, a.needs | b.needs, limits or either), bits)


@rules(division.DivI)
def _divide(op: division.DivI, known: Forms) -> Affine:
    a, b = (known.of(operand).read(op.signedness) for operand in (op.lhs, op.rhs))
    if op.rounding is Rounding.POSITIVE_INF:
        positive = NoWrap(b.form, 1, ranges.unsigned(64).high)
        return _function(Kind.FLOOR, Reading(a.form + b.form - 1, a.needs | {positive}), b, width(op.result))
    return _function(_QUOTIENTS[op.rounding], a, b, width(op.result))


@rules(division.RemI)
def _remainder(op: division.RemI, known: Forms) -> Affine:
    a, b = (known.of(operand).read(op.signedness) for operand in (op.lhs, op.rhs))
    found = _function(Kind.REMAINDER, a, b, width(op.result))
    known.note_remainder(op.result, found.form)
    return found


@rules(integer.ShrI)
def _shift_right(op: integer.ShrI, known: Forms) -> Affine | None:
    a, amount = known.of(op.lhs), known.of(op.rhs).unsigned
    by = amount.form.range.constant
    if by is None or amount.needs or by >= a.bits:
        return None
    limits = ranges.unsigned(a.bits - by) if op.signedness is Signedness.UNSIGNED else ranges.signed(a.bits - by)
    return _function(Kind.FLOOR, a.read(op.signedness), Reading(number(1 << by)), a.bits, limits)


@rules(integer.MaxI, integer.MinI)
def _extremum(op: integer.MaxI | integer.MinI, known: Forms) -> Affine:
    a, b = (known.of(operand).read(op.signedness) for operand in (op.lhs, op.rhs))
    return _function(Kind.LARGEST if isinstance(op, integer.MaxI) else Kind.SMALLEST, a, b, width(op.result))


@rules(integer.AbsI)
def _absolute(op: integer.AbsI, known: Forms) -> Affine:
    found = known.of(op.source).signed
    return _function(Kind.LARGEST, found, Reading(-found.form, found.needs), width(op.result))


# ---------------------------------------------------------------- bits


@rules(integer.AndI)
def _and(op: integer.AndI, known: Forms) -> Affine:
    a, b = known.of(op.lhs), known.of(op.rhs)
    if a.form.is_constant:
        a, b = b, a
    mask = b.form.constant if b.form.is_constant else 0
    if mask > 0 and mask + 1 == power_in(mask + 1) and mask < 1 << (a.bits - 1):
        # The low bits are those of what the element is congruent to.
        return Affine(function(Kind.MODULO, a.form, number(mask + 1)), a.bits, a.needs)
    if mask < 0 and -mask == power_in(mask):
        return Affine(a.form - function(Kind.MODULO, a.form, number(-mask)), a.bits, a.needs)
    return _bitwise(Kind.AND, a, b)


@rules(integer.OrI, integer.XOrI)
def _or(op: integer.OrI | integer.XOrI, known: Forms) -> Affine:
    """Return a sum where no bit is set in both operands."""
    a, b = known.of(op.lhs), known.of(op.rhs)
    if _apart(a, b) or _apart(b, a):
        return kept(a.form + b.form, a.bits, a, b)
    return _bitwise(Kind.OR if isinstance(op, integer.OrI) else Kind.XOR, a, b)


def _apart(high: Affine, low: Affine) -> bool:
    """Return whether no bit is set in both: one is a multiple of a power of two that exceeds the other."""
    small = low.form.range
    return not (high.needs or low.needs) and small.low >= 0 and small.high < high.form.range.divisor


def _bitwise(kind: Kind, a: Affine, b: Affine) -> Affine:
    return _function(kind, a.signed, b.signed, a.bits, ranges.signed(a.bits))


Index = tuple[Expression, ...]


# ---------------------------------------------------------------- tiles out of nothing


@rules(core.Constant)
def _constant(op: core.Constant, known: Forms) -> Affine | None:
    """Return a constant's expression: one number, or numbers that grow evenly along each dimension."""
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
    """Return the integers of a constant, read as signed, in Python's integers; None for floats and for very many."""
    element = value.element
    if element.is_float or element not in DTYPES or (value.type.count > MAX_CONSTANTS and not value.is_splat):
        return None
    data = np.frombuffer(value.data, DTYPES[element]).astype(object)
    if element is t.I1:
        data = -data
    shape = tuple(1 for _ in value.type.shape) if value.is_splat else value.type.shape
    return data.reshape(shape)


def _is(elements: np.ndarray, form: Expression) -> bool:
    """Return whether the elements are those of a sum of multiples of lanes."""
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
    """Return the operand's form, which may be a view."""
    return known.form(op.operands[0])


@rules(shapes.Broadcast)
def _broadcast(op: shapes.Broadcast, known: Forms) -> Affine:
    """Return the operand's expression: no expression has a lane of a dimension of one element, and the others stay as
    they are."""
    return known.of(op.source)


@rules(shapes.Permute)
def _permute(op: shapes.Permute, known: Forms) -> Affine | None:
    return mapped(known.of(op.source), permuted(op.result.tile.shape, op.permutation))


def permuted(shape: tuple[int, ...], permutation: Sequence[int]) -> Index:
    """Return the index in the source: its dimension ``permutation[k]`` is dimension k of a result of `shape`."""
    result = lanes(shape)
    return tuple(result[permutation.index(dim)] for dim in range(len(shape)))


@rules(shapes.Extract)
def _extract(op: shapes.Extract, known: Forms) -> Affine | None:
    """Return the subtile; the indices count subtiles."""
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
    """Return the index in a tile of shape `before` of the element that is at the lanes of one of shape `after`."""
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
    """Return the coordinate along one dimension of an element, from its number in row-major order."""
    return function(Kind.MODULO, function(Kind.FLOOR, position, number(weight)), number(extent))
