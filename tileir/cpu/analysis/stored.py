"""Loads that one store alone reads, each element for the one at the same place in what it stores.

Where the stored tile sticks out of its tensor, elements of the loaded one that belong to what is left out are never
read, so that they need not be there: no padded copy is made for them.

Knows: which store it is. Does not know: LLVM, nor how much of a tile is stored (`cpu.memory.needed`).
"""

from __future__ import annotations

from tileir.analysis.effects import MemoryAccess, access_of
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.analysis.loads import LoadPlacement, Loads, is_box
from tileir.ir.core import Op, Value
from tileir.ir.traits import ELEMENTWISE
from tileir.ops import shapes, views


def store_of_load(fusion: Fusion, loads: Loads, loaded: Value) -> MemoryAccess | None:
    """The store that alone reads a loaded tile, in what it computes element by element; None if there is none."""
    uses = loads.readers.uses(loaded)
    stores = {op for op, _ in uses}
    if len(stores) != 1 or loads.placement(loaded) is LoadPlacement.AT_ONCE:
        return None
    access = access_of(stores.pop())
    if access is None or not isinstance(access.op, views.StoreView) or not is_box(access) or access.value is None:
        return None
    is_computed = access.value.op is not None and ELEMENTWISE in access.value.op.spec.traits
    if not is_computed or any(operand is not access.value for _, operand in uses):
        return None
    return access if _keeps_places(fusion, loaded, access.op) else None


def _keeps_places(fusion: Fusion, value: Value, store: Op) -> bool:
    """Whether each element of `value` serves only the element at the same place, dimensions of one element aside."""
    for user in fusion.users(value):
        if user is not store and not (_keeps_place(user) and _keeps_places(fusion, user.results[0], store)):
            return False
    return True


def _keeps_place(op: Op) -> bool:
    if isinstance(op, shapes.Reshape):
        before, after = ([extent for extent in tile.tile.shape if extent != 1] for tile in (op.source, op.result))
        return before == after
    return ELEMENTWISE in op.spec.traits
