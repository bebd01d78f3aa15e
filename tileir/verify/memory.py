"""Rules of memory through pointers (operations-2, 3), and what all memory operations share: ordering and scope."""

from __future__ import annotations

from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op
from tileir.ir.types import ElementType, PointerAttr, PointerType, TileType, Type
from tileir.ops.memory import Alloca, JoinTokens, LoadPtr, StorePtr
from tileir.verify.hints import entries_are_dictionaries
from tileir.verify.rule import Check, Fault, Rules, Scope, defined, listed

rules = Rules()

LOAD = (MemoryOrdering.WEAK, MemoryOrdering.RELAXED, MemoryOrdering.ACQUIRE)
STORE = (MemoryOrdering.WEAK, MemoryOrdering.RELAXED, MemoryOrdering.RELEASE)


# ---------------------------------------------------------------- ordering and scope


def ordering_rule(*allowed: MemoryOrdering) -> Check:
    """E0601: the orderings that an operation takes."""
    expected = listed([ordering.text for ordering in allowed])

    def check(op: Op, scope: Scope) -> Fault | None:
        found = op.attributes["memory_ordering_semantics"]
        if found in allowed:
            return None
        return Fault("attribute 'memory_ordering_semantics'", expected, found.text)

    return check


def weak_without_scope(op: Op, scope: Scope) -> Fault | None:
    """E0602."""
    found = op.attributes.get("memory_scope")
    if op.attributes["memory_ordering_semantics"] is not MemoryOrdering.WEAK or found is None:
        return None
    return Fault("attribute 'memory_scope'", "none, as the ordering is weak", found.text)


def scope_given(op: Op, scope: Scope) -> Fault | None:
    """E0603."""
    ordering = op.attributes["memory_ordering_semantics"]
    if ordering is MemoryOrdering.WEAK or op.attributes.get("memory_scope") is not None:
        return None
    return Fault("attribute 'memory_scope'", f"tl_blk, device or sys, as the ordering is {ordering.text}", "none")


def add_ordering(table: Rules, allowed: tuple[MemoryOrdering, ...], *ops: type[Op]) -> None:
    """The three rules of operations whose ordering may be weak."""
    table.add("E0601", ordering_rule(*allowed), *ops)
    table.add("E0602", weak_without_scope, *ops)
    table.add("E0603", scope_given, *ops)


# ---------------------------------------------------------------- pointers


def pointee_rule(pointers: str, value: str) -> Check:
    """E0604: pointers point to the elements of the value (operand or result) of that name."""

    def check(op: Op, scope: Scope) -> Fault | None:
        type, wanted = getattr(op, pointers).type, getattr(op, value).type.element
        if type.element.pointee is wanted:
            return None
        what = f"operand '{pointers}'"
        expected = f"pointers to {wanted!r}, the elements of '{value}'"
        return Fault(what, expected, repr(type), defined(getattr(op, pointers), what))

    return check


def no_multicast_rule(pointers: str) -> Check:
    """E0609: only multimem operations access multicast memory (13.5)."""

    def check(op: Op, scope: Scope) -> Fault | None:
        type: Type = getattr(op, pointers).type
        if scope.level < (13, 5) or _pointer_attr(type) is not PointerAttr.MULTICAST:
            return None
        hint = "use the multimem operations for multicast memory"
        return Fault(f"operand '{pointers}'", "memory that is not multicast", repr(type), hint=hint)

    return check


def _pointer_attr(type: Type) -> PointerAttr | None:
    if isinstance(type, TileType) and isinstance(type.element, PointerType):
        return type.element.attr
    view = getattr(type, "tensor_view", None)
    return None if view is None else view.attr


rules.add("E0604", pointee_rule("source", "result"), LoadPtr)
rules.add("E0604", pointee_rule("destination", "value"), StorePtr)
rules.add("E0830", entries_are_dictionaries, LoadPtr, StorePtr)
add_ordering(rules, LOAD, LoadPtr)
add_ordering(rules, STORE, StorePtr)
rules.add("E0609", no_multicast_rule("source"), LoadPtr)
rules.add("E0609", no_multicast_rule("destination"), StorePtr)


@rules("E0205", JoinTokens)
def several_tokens(op: JoinTokens, scope: Scope) -> Fault | None:
    found = len(op.tokens)
    return None if found >= 2 else Fault("", "two or more tokens", str(found))


# ---------------------------------------------------------------- alloca


@rules("E0606", Alloca)
def not_negative(op: Alloca, scope: Scope) -> Fault | None:
    for name in ("num_elem", "alignment"):
        if op.attributes[name] < 0:
            return Fault(f"attribute '{name}'", "0 or more", str(op.attributes[name]))
    return None


@rules("E0607", Alloca)
def alignment_power(op: Alloca, scope: Scope) -> Fault | None:
    found = op.alignment
    return None if found and found & (found - 1) == 0 else Fault("attribute 'alignment'", "a power of two", str(found))


@rules("E0608", Alloca)
def alignment_natural(op: Alloca, scope: Scope) -> Fault | None:
    element: ElementType = op.result.type.element.pointee
    least = _natural_size(element, scope)
    if op.alignment >= least:
        return None
    return Fault("attribute 'alignment'", f"at least {least}, the size of {element!r} in bytes", str(op.alignment))


def _natural_size(element: ElementType, scope: Scope) -> int:
    """Bytes of the bit width: rounded down until 13.3, where tf32 has 2, and up since (operations-2, 3.5)."""
    if element.bits == 1:
        return 1
    return element.bits // 8 if scope.level < (13, 4) else (element.bits + 7) // 8
