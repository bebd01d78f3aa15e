"""Rules that the memory operations share (spec: pointers#orderings): ordering and scope, what pointers point to."""

from __future__ import annotations

from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op
from tileir.ir.types import PointerAttr, PointerType, TileType, Type
from tileir.verify.rule import Check, CheckContext, RuleTable, Violation, defined, listed

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
    """The three rules of operations whose ordering may be weak."""
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
