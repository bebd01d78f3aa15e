"""Rules that accesses to memory share: orderings, scopes, pointees, and accesses through views."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op, Value
from tileir.ir.types import GatherScatterViewType, PointerAttr, PointerType, TileType, TileViewType, Type
from tileir.ops.atomics import AtomicRedView
from tileir.ops.multimem import MultimemLoadReduceView, MultimemReduceView, MultimemStoreView
from tileir.ops.views import LoadView, StoreView
from tileir.verify.rule import Check, CheckContext, RuleTable, Violation, counted, defined, listed

LOAD = (MemoryOrdering.WEAK, MemoryOrdering.RELAXED, MemoryOrdering.ACQUIRE)


STORE = (MemoryOrdering.WEAK, MemoryOrdering.RELAXED, MemoryOrdering.RELEASE)


def ordering_rule(*allowed: MemoryOrdering) -> Check:
    """E0601: the orderings that an operation takes."""
    expected = listed([ordering.text for ordering in allowed])

    def check(op: Op, context: CheckContext) -> Violation | None:
        found = op.attributes["memory_ordering_semantics"]
        if found in allowed:
            return None
        return Violation("attribute 'memory_ordering_semantics'", expected, found.text)

    return check


def weak_without_scope(op: Op, context: CheckContext) -> Violation | None:
    """E0602."""
    found = op.attributes.get("memory_scope")
    if op.attributes["memory_ordering_semantics"] is not MemoryOrdering.WEAK or found is None:
        return None
    return Violation("attribute 'memory_scope'", "none, as the ordering is weak", found.text)


def scope_given(op: Op, context: CheckContext) -> Violation | None:
    """E0603."""
    ordering = op.attributes["memory_ordering_semantics"]
    if ordering is MemoryOrdering.WEAK or op.attributes.get("memory_scope") is not None:
        return None
    expected = f"tl_blk, device or sys, as the ordering is {ordering.text}"
    hint = f"write '{op.spec.name} {ordering.text} device ...'"
    return Violation("attribute 'memory_scope'", expected, "none", hint=hint)


def add_ordering(table: RuleTable, allowed: tuple[MemoryOrdering, ...], *ops: type[Op]) -> None:
    """Add the three rules of operations whose ordering may be weak."""
    table.add("E0601", ordering_rule(*allowed), *ops)
    table.add("E0602", weak_without_scope, *ops)
    table.add("E0603", scope_given, *ops)


def pointee_rule(pointers: str, value: str) -> Check:
    """E0604: pointers point to the elements of the value (operand or result) of that name."""

    def check(op: Op, context: CheckContext) -> Violation | None:
        type, wanted = getattr(op, pointers).type, getattr(op, value).type.element
        if type.element.pointee is wanted:
            return None
        what = f"operand '{pointers}'"
        expected = f"pointers to {wanted!r}, the elements of '{value}'"
        return Violation(what, expected, repr(type), defined(getattr(op, pointers), what))

    return check


def no_multicast_rule(pointers: str) -> Check:
    """E0609: only multimem operations access multicast memory (13.5)."""

    def check(op: Op, context: CheckContext) -> Violation | None:
        type: Type = getattr(op, pointers).type
        if context.level < (13, 5) or _pointer_attr(type) is not PointerAttr.MULTICAST:
            return None
        hint = "use the multimem operations for multicast memory"
        return Violation(f"operand '{pointers}'", "memory that is not multicast", repr(type), hint=hint)

    return check


def _pointer_attr(type: Type) -> PointerAttr | None:
    if isinstance(type, TileType) and isinstance(type.element, PointerType):
        return type.element.attr
    view = getattr(type, "tensor_view", None)
    return None if view is None else view.attr


Access = LoadView | StoreView | AtomicRedView | MultimemLoadReduceView | MultimemReduceView | MultimemStoreView
"""An operation that loads or stores a tile at an index of a view."""


def same_types(values: Sequence[tuple[str, int, Value]]) -> Violation | None:
    """Return values of one type; each with the operand that it belongs to and its position there."""
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
    """Return the type of the view, and the index."""
    return op.view.type, op.index
