"""The part of a tile that is read: at the border of a tensor, only what a store writes.

The rows and columns of a matrix product that lie outside the tensor are never seen if every reader leads to that store,
row by row and column by column: sums of a loop, arithmetic that cannot trap, and reshapes that only add or drop
dimensions of one element. Then they need not be computed, and neither are whole matrices of a batch. The same holds for
a loaded tile that only one store reads, element by element: where the stored tile sticks out of its tensor, no padded
copy is made of the loaded one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from tileir.analysis.effects import MemoryAccess, access_of
from tileir.analysis.region import is_view_box
from tileir.analysis.structure import home_of
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.analysis.loads import LoadPlacement, Loads
from tileir.cpu.matmul.policy import ProductOp
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ir.effects import Effect
from tileir.ir.traits import ELEMENTWISE
from tileir.ops import control, shapes, views


@dataclass(frozen=True)
class FactorOf:
    """The only reader of a loaded tile: a product, whose factor `side` it is."""

    product: ProductOp
    side: int


LiveExtents = Mapping[Value, MemoryAccess | FactorOf]
"""The reader that decides how much of a tile is live: a store for the result of a product, a store or a product for a
loaded tile. All of other tiles is."""


def live_extents(fusion: Fusion, loads: Loads) -> LiveExtents:
    """Return the readers that decide how much of the tiles of a function is live."""
    found: dict[Value, MemoryAccess | FactorOf] = {}
    for op in fusion.operations:
        access = access_of(op)
        if isinstance(op, ProductOp):
            if store := _store_of_product(fusion, op.result):
                found[op.result] = store
        elif access is not None and access.result is not None:
            loaded = access.result
            if reader := _product_of_load(fusion, loaded) or _store_of_load(fusion, loads, loaded):
                found[loaded] = reader
    return found


def _product_of_load(fusion: Fusion, loaded: Value) -> FactorOf | None:
    """Return the only product that reads a loaded tile."""
    value, users = loaded, fusion.users(loaded)
    while len(users) == 1 and _keeps_matrices(users[0]):
        value = users[0].results[0]
        users = fusion.users(value)
    product = users[0] if len(users) == 1 else None
    if not isinstance(product, ProductOp) or product.operands.count(value) != 1:
        return None
    sides = [side for side, factor in enumerate((product.lhs, product.rhs)) if factor is value]
    return FactorOf(product, sides[0]) if sides else None


def _store_of_product(fusion: Fusion, result: Value) -> MemoryAccess | None:
    """Return the store of a box that everything read of a result leads to; None if there is anything else."""
    stores: set[Op] = set()
    loops: set[control.For] = set()
    seen, rest = {result}, [result]
    while rest:
        value = rest.pop()
        for user in fusion.users(value):
            if _is_store_of(user, value):
                stores.add(user)
                continue
            passed = _passed(user, value)
            if passed is None:
                return None
            if isinstance(user, control.Continue):
                loops.add(cast(control.For, _loop_around(user)))
            rest += [one for one in passed if one not in seen]
            seen.update(passed)
    access = access_of(stores.pop()) if len(stores) == 1 else None
    if access is None:
        return None
    place = (access.address, *access.indices)
    return None if any(_changes_in(loop, value) for loop in loops for value in place) else access


def _changes_in(loop: control.For, value: Value) -> bool:
    """Return whether the value changes with the iteration, so that a later one may store more."""
    block = home_of(value)
    while block is not None:
        if block is loop.body:
            return True
        block = block.parent.parent if isinstance(block.parent, Op) else None
    return False


def _is_store_of(op: Op, value: Value) -> bool:
    access = access_of(op) if isinstance(op, views.StoreView) else None
    return access is not None and is_view_box(access) and access.value is value


def _passed(op: Op, value: Value) -> list[Value] | None:
    """Return the values that hold what `op` makes of each element at the same index; None if it does anything else."""
    if isinstance(op, control.Continue):
        loop = _loop_around(op)
        if not isinstance(loop, control.For):
            return None
        places = [place for place, operand in enumerate(op.operands) if operand is value]
        return [one for place in places for one in (loop.outputs[place], loop.body.args[1 + place])]
    if isinstance(op, ProductOp):
        return [op.result] if op.acc is value and op.operands.count(value) == 1 else None
    if _keeps_matrices(op):
        return list(op.results)
    is_float = all(_is_float(one) for one in (*op.operands, *op.results))
    return list(op.results) if is_float and ELEMENTWISE in op.spec.traits else None


def _keeps_matrices(op: Op) -> bool:
    """Return whether the operation only adds or drops dimensions of one element in front of the last two."""
    if not isinstance(op, shapes.Reshape):
        return False
    before, after = op.source.tile.shape, op.result.tile.shape
    outer = [[extent for extent in shape[:-2] if extent != 1] for shape in (before, after)]
    return min(len(before), len(after)) >= 2 and before[-2:] == after[-2:] and outer[0] == outer[1]


def _is_float(value: Value) -> bool:
    type = value.type
    return isinstance(type, t.TileType) and isinstance(type.element, t.ElementType) and type.element.is_float


def _loop_around(op: Op) -> Op | None:
    around = op.parent_op
    while around is not None and not isinstance(around, control.For | control.Loop):
        around = around.parent_op
    return around


# ---------------------------------------------------------------- loads for one store


def _store_of_load(fusion: Fusion, loads: Loads, loaded: Value) -> MemoryAccess | None:
    """Return the only store that reads a loaded tile, in what it computes element by element; None if there is none."""
    uses = loads.readers.uses(loaded)
    stores = {op for op, _ in uses}
    if len(stores) != 1 or loads.placement(loaded) is LoadPlacement.AT_ONCE:
        return None
    access = access_of(stores.pop())
    if access is None or access.declared.effect is not Effect.WRITE or not loads.is_box(access) or access.value is None:
        return None
    is_computed = access.value.op is not None and ELEMENTWISE in access.value.op.spec.traits
    if not is_computed or any(operand is not access.value for _, operand in uses):
        return None
    return access if _keeps_places(fusion, loaded, access.op) else None


def _keeps_places(fusion: Fusion, value: Value, store: Op) -> bool:
    """Return whether each element of `value` is used only for the element at the same place, ignoring dimensions of one
    element."""
    waiting, seen = [value], {value}
    while waiting:
        for user in fusion.users(waiting.pop()):
            if user is not store and not _keeps_place(user):
                return False
            if user is not store and user.results[0] not in seen:
                waiting.append(user.results[0])
                seen.add(user.results[0])
    return True


def _keeps_place(op: Op) -> bool:
    if isinstance(op, shapes.Reshape):
        before, after = ([extent for extent in tile.tile.shape if extent != 1] for tile in (op.source, op.result))
        return before == after
    return ELEMENTWISE in op.spec.traits
