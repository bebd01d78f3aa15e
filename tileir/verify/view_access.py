"""Rules of every access to a tile of a view: its type and its index (spec: views#index-operands)."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.ir.core import Value
from tileir.ir.types import GatherScatterViewType, TileType, TileViewType
from tileir.ops.atomics import AtomicRedView
from tileir.ops.multimem import MultimemLoadReduceView, MultimemReduceView, MultimemStoreView
from tileir.ops.views import LoadView, StoreView
from tileir.verify.rule import Check, CheckContext, Violation, counted, defined

Access = LoadView | StoreView | AtomicRedView | MultimemLoadReduceView | MultimemReduceView | MultimemStoreView
"""An operation that loads or stores a tile at an index of a view."""


def same_types(values: Sequence[tuple[str, int, Value]]) -> Violation | None:
    """Values of one type; each with the operand that it belongs to and its position there."""
    for name, index, value in values[1:]:
        if value.type is not values[0][2].type:
            what = f"operand '{name}[{index}]'"
            first = f"operand '{values[0][0]}[{values[0][1]}]'"
            return Violation(what, f"{values[0][2].type!r}, as {first}", repr(value.type), defined(value, what))
    return None


def index_count(op: Access, context: CheckContext) -> Violation | None:
    """E0621."""
    view, indices = accessed(op)
    wanted, found = view.rank, len(indices)
    if wanted == found:
        return None
    return Violation("operand 'index'", f"{counted(wanted, 'value')}, as {view!r} has tiles of that rank", str(found))


def tile_rule(name: str) -> Check:
    """E0620: what is loaded or stored, operand or result `name`, is a tile of the view."""

    def check(op: Access, context: CheckContext) -> Violation | None:
        view, found = op.view.type, getattr(op, name)
        if found.type is view.tile:
            return None
        what = f"{'result' if found.owner is op else 'operand'} '{name}'"
        return Violation(what, f"{view.tile!r}, the tile of {view!r}", repr(found.type))

    return check


def scalar_indices(op: Access, context: CheckContext) -> Violation | None:
    """E0622: every index is a scalar, except the rows of a gather/scatter view."""
    view, indices = accessed(op)
    sparse = view.sparse_dim if isinstance(view, GatherScatterViewType) else None
    for position, index in enumerate(indices):
        if len(index.type.shape) != (position == sparse):
            wanted = "a tile of rank 1, as this is the view's sparse_dim" if position == sparse else "a scalar tile"
            what = f"operand 'index[{position}]'"
            return Violation(what, wanted, repr(index.type), defined(index, what))
    return None


def index_types(op: Access, context: CheckContext) -> Violation | None:
    """E0623: scalar indices have one type."""
    view, indices = accessed(op)
    sparse = view.sparse_dim if isinstance(view, GatherScatterViewType) else None
    return same_types([("index", position, value) for position, value in enumerate(indices) if position != sparse])


def inbounds_length(op: Access, context: CheckContext) -> Violation | None:
    """E0625: one boolean per index; absent means false for all."""
    found = op.attributes.get("inbounds")
    wanted = len(accessed(op)[1])
    if found is None or len(found) == wanted:
        return None
    return Violation("attribute 'inbounds'", f"{counted(wanted, 'value')}, one per index", str(len(found)))


def accessed(op: Access) -> tuple[TileViewType, Sequence[Value[TileType]]]:
    """The type of the view, and the index."""
    return op.view.type, op.index
