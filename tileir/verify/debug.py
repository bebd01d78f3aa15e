"""Debug scopes: what the locations of functions and operations must have in common (semantics, chapter 15.3).

Knows: the scope rules of functions, of operations in them, and of other items. Does not know: how a scope is found
(`ir.loc`).
"""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.loc import (
    BytecodeLoc,
    CallSiteLoc,
    DISubprogram,
    FileLoc,
    Location,
    SourceLoc,
    UnknownLoc,
    debug_scope,
    subprogram,
)
from tileir.ops.extension import Func
from tileir.ops.module import Entry, Global
from tileir.verify.rule import Fault, Rules, Scope, shown
from tileir.verify.symbols import symbol_name

PLAIN = frozenset((SourceLoc, UnknownLoc, FileLoc, BytecodeLoc))
"""Locations that cannot have a debug scope."""

rules = Rules()


@rules("E0821", Entry, Func, contextual=True)
def not_a_call_site(op: Op, scope: Scope) -> Fault | None:
    if not isinstance(op.loc, CallSiteLoc):
        return None
    return Fault("location", "the place of a definition", "a call site")


@rules("E0822", Entry, Func, contextual=True)
def scope_is_subprogram(op: Op, scope: Scope) -> Fault | None:
    found = debug_scope(op.loc)
    if found is None or isinstance(found, DISubprogram):
        return None
    return Fault("debug scope", "a di_subprogram", "a di_lexical_block")


@rules("E0823", Entry, Func, contextual=True)
def linkage_name(op: Op, scope: Scope) -> Fault | None:
    found = debug_scope(op.loc)
    if not isinstance(found, DISubprogram) or found.linkage_name == symbol_name(op):
        return None
    return Fault("debug scope", f"a di_subprogram with linkageName {symbol_name(op)!r}", repr(found.linkage_name))


@rules("E0826", Global, contextual=True)
def item_without_scope(op: Op, scope: Scope) -> Fault | None:
    return None if debug_scope(op.loc) is None else Fault("location", "none with a debug scope", "one")


class FunctionScope:
    """The debug scope of one function, against which the operations in it are checked."""

    def __init__(self, function: Op) -> None:
        self._function = function
        found = debug_scope(function.loc)
        self._subprogram = None if found is None else subprogram(found)
        self._usable = not isinstance(function.loc, CallSiteLoc) and self._subprogram is found

    def fault(self, loc: Location) -> tuple[str, Fault] | None:
        """The code and fault of an operation at `loc`; a function without scope is reported only once."""
        if not self._usable:
            return None
        found = debug_scope(loc)
        if found is None:
            return None
        notes = shown("the function is here", self._function.loc)
        if self._subprogram is None:
            self._usable = False
            return "E0824", Fault("location", "no debug scope, as the function has none", "one", notes)
        own = subprogram(found)
        if own is not None and (own is self._subprogram or own == self._subprogram):
            return None
        expected, got = self._subprogram.name, None if own is None else own.name
        return "E0825", Fault(
            "debug scope", f"one in the function's di_subprogram {expected!r}", f"one in {got!r}", notes
        )
