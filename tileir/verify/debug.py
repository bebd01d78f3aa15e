"""Debug scopes: what the locations of functions and operations must have in common (spec: debug#verification)."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.loc import (
    BytecodeLoc,
    BytecodePart,
    CallSiteLoc,
    DISubprogram,
    FileLoc,
    Location,
    SourceLoc,
    SourcePart,
    UnknownLoc,
    debug_scope,
    subprogram,
)
from tileir.verify.rule import CheckContext, RuleTable, Violation, noted
from tileir.verify.symbols import symbol_name

PLAIN = frozenset((SourceLoc, SourcePart, UnknownLoc, FileLoc, BytecodeLoc, BytecodePart))
"""Locations that cannot have a debug scope."""


def not_a_call_site(op: Op, context: CheckContext) -> Violation | None:
    """E0821."""
    if not isinstance(op.loc, CallSiteLoc):
        return None
    return Violation("location", "the place of a definition", "a call site")


def scope_is_subprogram(op: Op, context: CheckContext) -> Violation | None:
    """E0822."""
    found = debug_scope(op.loc)
    if found is None or isinstance(found, DISubprogram):
        return None
    return Violation("debug scope", "a di_subprogram", "a di_lexical_block")


def linkage_name(op: Op, context: CheckContext) -> Violation | None:
    """E0823."""
    found = debug_scope(op.loc)
    if not isinstance(found, DISubprogram) or found.linkage_name == symbol_name(op):
        return None
    return Violation("debug scope", f"a di_subprogram with linkageName {symbol_name(op)!r}", repr(found.linkage_name))


def item_without_scope(op: Op, context: CheckContext) -> Violation | None:
    """E0826."""
    return None if debug_scope(op.loc) is None else Violation("location", "none with a debug scope", "one")


def add_function_scope(table: RuleTable, op: type[Op]) -> None:
    """Add the rules of entries and functions."""
    for code, check in (("E0821", not_a_call_site), ("E0822", scope_is_subprogram), ("E0823", linkage_name)):
        table.add(code, check, op, contextual=True)


class FunctionScope:
    """The debug scope of one function, against which the operations in it are checked."""

    def __init__(self, function: Op) -> None:
        self._function = function
        found = debug_scope(function.loc)
        self._subprogram = None if found is None else subprogram(found)
        self._usable = not isinstance(function.loc, CallSiteLoc) and self._subprogram is found

    def violation(self, loc: Location) -> tuple[str, Violation] | None:
        """Return the code and violation of an operation at `loc`; a function without scope is reported only once."""
        if not self._usable:
            return None
        found = debug_scope(loc)
        if found is None:
            return None
        notes = noted("the function is here", self._function.loc)
        if self._subprogram is None:
            self._usable = False
            return "E0824", Violation("location", "no debug scope, as the function has none", "one", notes)
        own = subprogram(found)
        if own is not None and (own is self._subprogram or own == self._subprogram):
            return None
        expected, got = self._subprogram.name, None if own is None else own.name
        return "E0825", Violation(
            "debug scope", f"one in the function's di_subprogram {expected!r}", f"one in {got!r}", notes
        )
