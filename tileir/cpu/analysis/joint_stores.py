"""Joint stores: those that follow one another, written in one loop.

    store %parameters                  one loop loads each element of the parameters, the gradient and the moment,
    store %moments                     computes both results in registers, and writes them

Nothing stands between joint stores that accesses memory or can trap, so that all of them may be written where the last
one stands. Whether an array overlaps another one is checked at run time (`cpu.memory.stores`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tileir.analysis.affine import Affines
from tileir.analysis.effects import access_of
from tileir.analysis.region import Region
from tileir.cpu.analysis.fusion import fusible
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ir.effects import Effect
from tileir.ir.traits import PURE
from tileir.ops import control, core, division, matmul, misc, pointers, shapes, views

JointStores = Mapping[Op, Sequence[Op]]
"""For each store that shares a loop with others, all of them in program order."""
_HARMLESS = (pointers.MakeToken, pointers.JoinTokens, views.MakePartitionView, views.MakeStridedView)
_TRAPPING = (division.DivI, division.RemI, misc.Assume, views.MakeTensorView, shapes.Extract, shapes.Insert)
_MADE_OTHERWISE = (matmul.MmaF, matmul.MmaI, matmul.MmaFScaled, control.For, control.Loop, control.If, shapes.Permute)
"""Operations whose results are stored by themselves: sums of products where they lie, permuted tiles in squares."""


def joint_stores(body: Block, known: Affines) -> JointStores:
    """Return the joint stores of a function."""
    blocks = dict.fromkeys(op.parent for root in body.ops for op in root.walk())
    groups = [group for block in blocks if block is not None for group in _groups(block, known)]
    return {store: group for group in groups if len(group) > 1 for store in group}


def _groups(block: Block, known: Affines) -> Iterator[Sequence[Op]]:
    group: list[Op] = []
    form: object = None
    for op in block.ops:
        found = _form(op, known)
        if found is None and _may_stand_between(op):
            continue
        if found is None or found != form:
            yield group
            group, form = [], found
        group += [op] * (found is not None)
    yield group


def _may_stand_between(op: Op) -> bool:
    return isinstance(op, _HARMLESS) or (PURE in op.spec.traits and not op.regions and not isinstance(op, _TRAPPING))


def _form(op: Op, known: Affines) -> object:
    """Return what the stores of one loop have in common: the shape of the tile, and the dimension along which elements
    lie side by side; None for any other operation."""
    access = access_of(op)
    if access is None or access.declared.effect is not Effect.WRITE or access.value is None:
        return None
    region = Region(access, known.forms)
    if access.tile.count == 1 or not region.is_box or not _is_computed(access.value):
        return None
    units = [dim for dim in range(access.tile.rank) if access.tile.shape[dim] > 1 and _is_unit(region, dim)]
    return (access.tile.shape, units[-1]) if units else None


def _is_unit(region: Region, dim: int) -> bool:
    """Return whether elements of a box lie side by side along a dimension."""
    view = region.access.address.type
    if isinstance(view, t.PartitionViewType | t.StridedViewType):
        return view.tensor_view.strides[view.tensor_dims[dim]] == 1
    return region.static_steps[dim] == region.bytes


def _is_computed(value: Value) -> bool:
    """Return whether elements of a tile are computed from elements of loads, reductions and the like."""
    waiting, seen = [value], {value}
    while waiting:
        one = waiting.pop()
        if isinstance(one.op, _MADE_OTHERWISE) or (one.op is None and one.tile.count > 1):
            return False
        if one.op is not None and fusible(one.op) and not isinstance(one.op, core.Constant):
            waiting += [operand for operand in one.op.operands if operand not in seen]
            seen.update(one.op.operands)
    return True
