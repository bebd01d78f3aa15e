"""Tensors that stay where they are while tiles move over them.

    window at  p + (128 * block_x * stride + 64 * turn)        tensor at p, rows x columns, strides = [stride, 1]
    rows - 128 * block_x  by  columns - 64 * turn         =>   tile [block_x, turn]

The addresses are those of the window; but the tensor is the same in all tile blocks and turns, so that it can be made
once, and copied by the engines that GPUs have for that.

Knows: when the first element of a window is that of a tile of a larger tensor. Does not know: windows (`windows`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from tileir.analysis.expressions import Expression, TooLarge, number
from tileir.analysis.forms import relaned
from tileir.ir.core import Value
from tileir.ops.core import Offset
from tileir.ops.integer import MulI, SubI
from tileir.passes.inequalities import Prover
from tileir.passes.scalars import (
    ComputedScalar,
    GivenScalar,
    KnownScalar,
    ScalarFormula,
    affine,
    bits_of,
    divided,
    given,
    known_number,
    multiplied,
)
from tileir.passes.scalars import number as known


@dataclass(frozen=True)
class Border:
    """Along a dimension, elements from `first` on belong to the tile, and those below `end` to the tensor."""

    first: ScalarFormula
    end: ScalarFormula


@dataclass(frozen=True)
class AnchoredTile:
    """The place of a tile in a tensor: the address where the tensor begins, its extents, the index of the tile."""

    base: ScalarFormula
    extents: tuple[ScalarFormula, ...]
    indices: tuple[ScalarFormula, ...]


def anchored(
    address: Value, base: ScalarFormula, strides: Sequence[ScalarFormula], borders: Sequence[Border], prover: Prover
) -> AnchoredTile | None:
    """The tensor in which the tile at `address` has `borders`, one for each dimension; None if there is none.

    Its first element is at `base`, and those of each dimension are `strides` apart.
    """
    root = _root(base)
    try:
        first, start = _first_address(address, prover), affine(root, prover.tiles.known)
        if first is None or not prover.holds(start.needs):
            return None
        for choice in product(*(list(_moved(border, prover)) for border in borders)):
            moved = _moved_by(choice, strides, prover)
            if moved is not None and first - moved * address.tile.pointer.pointee.byte_size == start.form:
                return _placed(root, address.tile.shape, choice, prover)
    except TooLarge:
        return None
    return None


def _placed(
    base: ScalarFormula, shape: Sequence[int], borders: Sequence[Border], prover: Prover
) -> AnchoredTile | None:
    indices = [_quotient(border.first, extent, prover) for border, extent in zip(borders, shape)]
    found = tuple(index for index in indices if index is not None)
    return AnchoredTile(base, tuple(border.end for border in borders), found) if len(found) == len(indices) else None


def _root(pointer: ScalarFormula) -> ScalarFormula:
    """The pointer that others are computed from."""
    while True:
        if isinstance(pointer, ComputedScalar):
            pointer = pointer.operands[0]
        elif isinstance(pointer, GivenScalar) and isinstance(pointer.value.op, Offset):
            pointer = given(pointer.value.op.ptr)
        else:
            return pointer


def _first_address(address: Value, prover: Prover) -> Expression | None:
    """The address of the first element, modulo 2^64; None if it is not known."""
    found = prover.tiles.known.of(address)
    return relaned(found.form, (number(0),) * address.tile.rank) if prover.holds(found.needs) else None


def _moved(border: Border, prover: Prover) -> Iterator[Border]:
    """The border as it is, or with the first element moved by what has been taken from the end: ``first < n - d`` is
    ``first + d < n``."""
    if prover.proves(KnownScalar(0, bits_of(border.first)), border.first, 0):
        yield border
    op = border.end.value.op if isinstance(border.end, GivenScalar) else None
    if isinstance(op, SubI) and known_number(border.first) == 0:
        end, distance = given(op.lhs), given(op.rhs)
        total, parts = prover.number(border.end), (prover.number(end), prover.number(distance))
        exact = total is not None and parts[0] is not None and parts[1] is not None and total == parts[0] - parts[1]
        if exact and prover.proves(KnownScalar(0, bits_of(distance)), distance, 0):
            yield Border(distance, end)


def _moved_by(borders: Sequence[Border], strides: Sequence[ScalarFormula], prover: Prover) -> Expression | None:
    """The elements between the beginning of the tensor and that of the tile."""
    total = number(0)
    for border, stride in zip(borders, strides):
        first, step = prover.number(border.first), prover.number(stride)
        if first is None or step is None:
            return None
        total += first * step
    return total


def _quotient(first: ScalarFormula, extent: int, prover: Prover) -> ScalarFormula | None:
    """The exact quotient of the first element by the extent of the tile; None if it may leave a rest."""
    if isinstance(first, KnownScalar):
        return None if first.number % extent else known(first.number // extent, first.bits)
    op, whole = first.value.op if isinstance(first, GivenScalar) else None, prover.number(first)
    if whole is None:
        return None
    if isinstance(op, MulI):
        for factor, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            by, part = known_number(given(other)), prover.number(given(factor))
            if by is not None and by % extent == 0 and part is not None and part * by == whole:
                return multiplied(given(factor), known(by // extent, bits_of(first)))
    return divided(first, extent) if prover.divides(extent, whole) else None
