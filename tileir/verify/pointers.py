"""Rules of memory through pointers (spec: pointers#top)."""

from __future__ import annotations

from tileir.ir.types import ElementType
from tileir.ops.pointers import Alloca, JoinTokens, LoadPtr, StorePtr
from tileir.verify.access import LOAD, STORE, add_ordering, no_multicast_rule, pointee_rule
from tileir.verify.hints import entries_are_dictionaries
from tileir.verify.rule import CheckContext, RuleTable, Violation

rules = RuleTable()


rules.add("E0604", pointee_rule("source", "result"), LoadPtr)
rules.add("E0604", pointee_rule("destination", "value"), StorePtr)
rules.add("E0830", entries_are_dictionaries, LoadPtr, StorePtr)
add_ordering(rules, LOAD, LoadPtr)
add_ordering(rules, STORE, StorePtr)
rules.add("E0609", no_multicast_rule("source"), LoadPtr)
rules.add("E0609", no_multicast_rule("destination"), StorePtr)


@rules("E0205", JoinTokens)
def several_tokens(op: JoinTokens, context: CheckContext) -> Violation | None:
    found = len(op.tokens)
    return None if found >= 2 else Violation("", "two or more tokens", str(found))


# ---------------------------------------------------------------- alloca


@rules("E0606", Alloca)
def not_negative(op: Alloca, context: CheckContext) -> Violation | None:
    for name in ("num_elem", "alignment"):
        if op.attributes[name] < 0:
            return Violation(f"attribute '{name}'", "0 or more", str(op.attributes[name]))
    return None


@rules("E0607", Alloca)
def alignment_power(op: Alloca, context: CheckContext) -> Violation | None:
    found = op.alignment
    return (
        None if found and found & (found - 1) == 0 else Violation("attribute 'alignment'", "a power of two", str(found))
    )


@rules("E0608", Alloca)
def alignment_natural(op: Alloca, context: CheckContext) -> Violation | None:
    element = op.result.type.pointer.pointee
    least = _natural_size(element, context)
    if op.alignment >= least:
        return None
    return Violation("attribute 'alignment'", f"at least {least}, the size of {element!r} in bytes", str(op.alignment))


def _natural_size(element: ElementType, context: CheckContext) -> int:
    """Return the number of bytes of the bit width: rounded down until 13.3, where tf32 has 2, and up since
    (spec: pointers#alloca)."""
    if element.bits == 1:
        return 1
    return element.bits // 8 if context.level < (13, 4) else (element.bits + 7) // 8
