"""Accesses through pointers to a box of memory, of which a mask may leave out the end of each dimension.

    %inside = cmpi less_than %lanes, %columns, signed       the first `columns - lanes[0]` elements are active
    %both = andi %rows_inside, %inside                      the same along two dimensions

Knows: which masks are made of such comparisons, and which tiles of pointers have neighbours in memory. Does not know:
LLVM, nor how many elements are active (`cpu.lowering.cuts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tileir.analysis import affine
from tileir.analysis.affine import Affines
from tileir.analysis.effects import MemoryAccess
from tileir.ir import types as t
from tileir.ir.attributes import Predicate
from tileir.ir.core import Op, Value
from tileir.ops import integer, shapes

DEEPEST = 16
"""Operations between a mask and the comparisons that it is made of."""
_LESS = {
    Predicate.LESS_THAN: True,
    Predicate.LESS_THAN_OR_EQUAL: True,
    Predicate.GREATER_THAN: False,
    Predicate.GREATER_THAN_OR_EQUAL: False,
}
"""Whether the left side of a comparison is the one that is less."""


@dataclass(frozen=True)
class CutTerm:
    """A comparison that decides how many elements of a mask are active along `dim`; None: all of them or none."""

    comparison: integer.CmpI
    dim: int | None


Cut = frozenset[CutTerm]
"""The comparisons that all have to hold."""
WHOLE: Cut = frozenset()


class Cuts:
    """The accesses of one function that are boxes of memory, with the cuts of their masks."""

    def __init__(self, known: Affines, accesses: Iterable[MemoryAccess]) -> None:
        """`accesses` go through pointers that step evenly."""
        self._known = known
        self._masks: dict[Value, Cut | None] = {}
        self._accesses: dict[Op, Cut] = {}
        self.compared: dict[Op, int | None] = {}
        """The comparisons that are needed, with the dimensions along which they rise."""
        for access in accesses:
            cut = WHOLE if access.mask is None else self.of_mask(access.mask)
            if cut is not None and self._has_neighbours(access.address):
                self._accesses[access.op] = cut
                self.compare(cut)

    def of(self, access: Op) -> Cut | None:
        """The cut of an access to a box of memory; None if it is no such access."""
        return self._accesses.get(access)

    def of_mask(self, mask: Value) -> Cut | None:
        """The comparisons that a mask is made of; None if it is no cut."""
        return self._of(mask, DEEPEST)

    def compare(self, cut: Cut) -> None:
        """Take the comparisons of a cut among those that are needed."""
        for term in cut:
            self.compared[term.comparison] = self._rises(term.comparison)

    def static_steps(self, pointers: Value) -> list[int | None]:
        """The bytes between neighbours along each dimension, where they are known."""
        found = affine.lane_steps(self._known.of(pointers).form, pointers.tile.shape)
        return [step.constant if step is not None and step.is_constant else None for step in found]

    def _has_neighbours(self, pointers: Value) -> bool:
        """Whether elements lie side by side along a dimension, and none in front of another of a lower index."""
        size = pointers.tile.pointer.pointee.byte_size
        steps = [step for step, extent in zip(self.static_steps(pointers), pointers.tile.shape) if extent > 1]
        return size in steps and all(step is None or (step >= 0 and step % size == 0) for step in steps)

    # ------------------------------------------------------------ masks

    def _of(self, mask: Value, depth: int) -> Cut | None:
        if mask not in self._masks:
            self._masks[mask] = self._found(mask, depth) if depth else None
        return self._masks[mask]

    def _found(self, mask: Value, depth: int) -> Cut | None:
        op = mask.op
        if isinstance(op, integer.CmpI):
            return self._compared(op)
        if isinstance(op, integer.AndI):
            sides = [self._of(side, depth - 1) for side in (op.lhs, op.rhs)]
            return None if sides[0] is None or sides[1] is None else sides[0] | sides[1]
        if isinstance(op, shapes.Broadcast):
            return self._of(op.source, depth - 1)
        if isinstance(op, shapes.Reshape):
            found = self._of(op.source, depth - 1)
            return None if found is None else _reshaped(found, op.source.tile.shape, op.result.tile.shape)
        return None

    def _compared(self, op: integer.CmpI) -> Cut | None:
        if op.comparison_predicate not in _LESS or op.lhs.tile.number.bits < 8:
            return None
        left, right = sides_of(op)
        extents, found = left.tile.shape, self._known.of(left)
        if not affine.is_uniform(self._known.of(right)):
            return None
        if affine.is_uniform(found):
            return frozenset([CutTerm(op, None)])
        dim = self._rises(op)
        if dim is None or not affine.is_even(found, extents) or extents[dim] > 1 << (left.tile.number.bits - 1):
            return None
        if not all(affine.is_uniform_along(found, other, extents) for other in range(len(extents)) if other != dim):
            return None
        return frozenset([CutTerm(op, dim)])

    def _rises(self, op: integer.CmpI) -> int | None:
        """The only dimension along which the lesser side changes: by 1."""
        left, _ = sides_of(op)
        steps = affine.lane_steps(self._known.of(left).form, left.tile.shape)
        constants = [step.constant if step is not None and step.is_constant else None for step in steps]
        moving = [dim for dim, extent in enumerate(left.tile.shape) if extent > 1 and constants[dim] != 0]
        return moving[0] if len(moving) == 1 and constants[moving[0]] == 1 else None


def sides_of(op: integer.CmpI) -> tuple[Value, Value]:
    """The side of a comparison that is less where it holds, and the other one."""
    return (op.lhs, op.rhs) if _LESS[op.comparison_predicate] else (op.rhs, op.lhs)


def is_strict(op: integer.CmpI) -> bool:
    """Whether a comparison does not hold for equal numbers."""
    return op.comparison_predicate in (Predicate.LESS_THAN, Predicate.GREATER_THAN)


def _reshaped(cut: Cut, before: Sequence[int], after: Sequence[int]) -> Cut | None:
    """The same terms where only dimensions of extent 1 come and go."""
    places = [[dim for dim, extent in enumerate(shape) if extent > 1] for shape in (before, after)]
    if [before[dim] for dim in places[0]] != [after[dim] for dim in places[1]]:
        return None if any(term.dim is not None for term in cut) else cut
    moved = dict(zip(*places))
    return frozenset(term if term.dim is None else replace(term, dim=moved[term.dim]) for term in cut)


def unit_last(pointers: t.TileType, steps: Sequence[int | None]) -> list[int]:
    """The dimensions of a tile of pointers, the one along which elements lie side by side last."""
    size = pointers.pointer.pointee.byte_size
    fast = max(dim for dim, extent in enumerate(pointers.shape) if extent > 1 and steps[dim] == size)
    return [*(dim for dim in range(pointers.rank) if dim != fast), fast]
