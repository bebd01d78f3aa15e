"""Comparison of modules: the same program or not.

Canonical text does not write, and so nothing here depends on: names of values, attribute dictionaries of arguments and
results, the integer types of optimization hints, empty hints, and whether an attribute equal to its default was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileir.ir.attributes import Attribute, DictAttr, IntegerAttr
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.fields import REQUIRED, Attr, AttrKind
from tileir.ir.loc import UNKNOWN, BytecodeLoc, Location, SourceLoc
from tileir.ir.traits import TerminatedBy
from tileir.ir.types import I1, I64

_UNWRITTEN = frozenset(("arg_attrs", "res_attrs"))


def identical(a: Module, b: Module, *, locations: bool = False) -> bool:
    """Return whether both modules are the same program; with `locations`, also whether their operations lie at the same
    places.

    A parsed place is compared with a written location as a file location; two parsed places are never compared, nor are
    those of terminators that canonical text leaves out.
    """
    return _Comparison(locations).operations([a.op], [b.op])


def is_implied(op: Op, parent: Op) -> bool:
    """Return whether canonical text leaves out `op`, the last operation of a region of `parent`; the parser puts it
    back."""
    rule: TerminatedBy | None = parent.spec.trait(TerminatedBy)
    if rule is None or not rule.hidden or op.spec.name != rule.terminator:
        return False
    return not op.operands and not op.discardable


class _Comparison:
    def __init__(self, locations: bool) -> None:
        self.locations = locations
        self.counterpart: dict[Value, Value] = {}

    def operations(self, left: list[Op], right: list[Op]) -> bool:
        """Compare operations. Definitions are matched block by block before the uses inside, so a use may come before
        its definition."""
        waiting = [(left, right)]
        pairs: list[tuple[Op, Op]] = []
        while waiting:
            left, right = waiting.pop()
            if len(left) != len(right):
                return False
            for a, b in zip(left, right):
                if not self._same_shape(a, b):
                    return False
                pairs.append((a, b))
                waiting += [(x.ops, y.ops) for x, y in zip(a.regions, b.regions) if x is not None and y is not None]
        return all(self._same_operands(a, b) for a, b in pairs)

    def _same_shape(self, a: Op, b: Op) -> bool:
        """Compare everything about an operation except the values it uses and the contents of its regions."""
        return (
            type(a) is type(b)
            and a.segments == b.segments
            and self._match(a.results, b.results)
            and _attributes(a) == _attributes(b)
            and (a.discardable or {}) == (b.discardable or {})
            and self._same_place(a, b)
            and len(a.regions) == len(b.regions)
            and all(map(self._same_arguments, a.regions, b.regions))
        )

    def _same_arguments(self, a: Block | None, b: Block | None) -> bool:
        if a is None or b is None:
            return a is b
        return self._match(a.args, b.args)

    def _match(self, left: Sequence[Value], right: Sequence[Value]) -> bool:
        self.counterpart.update(zip(left, right))
        return [value.type for value in left] == [value.type for value in right]

    def _same_operands(self, a: Op, b: Op) -> bool:
        return tuple([self.counterpart.get(value) for value in a.operands]) == b.operands

    def _same_place(self, a: Op, b: Op) -> bool:
        if not self.locations or (isinstance(a.loc, SourceLoc) and isinstance(b.loc, SourceLoc)):
            return True
        return _place(a.loc) == _place(b.loc) or (a.parent_op is not None and is_implied(a, a.parent_op))


def _place(loc: Location) -> Location:
    if isinstance(loc, SourceLoc):
        return loc.file_loc
    return UNKNOWN if isinstance(loc, BytecodeLoc) else loc


def _attributes(op: Op) -> list[object]:
    return [_effective(attr, op.attributes.get(attr.name)) for attr in op.spec.attrs if attr.name not in _UNWRITTEN]


def _effective(attr: Attr, value: Any) -> object:
    """Return the value that an attribute stands for, given or not."""
    if value is None:
        value = None if attr.default is REQUIRED else attr.default
    if attr.kind is AttrKind.HINTS:
        return [(target, _hints(entries)) for target, entries in value.targets.entries] if value else None
    if attr.kind is AttrKind.BOOL_ARRAY:
        return tuple(value or ()) if any(value or ()) else ()
    return value


def _hints(entries: Attribute) -> object:
    """Return the hints for one target, with their integers taken as i64."""
    if not isinstance(entries, DictAttr):
        return entries
    return [(key, _wide(value) if isinstance(value, IntegerAttr) else value) for key, value in entries.entries]


def _wide(value: IntegerAttr) -> IntegerAttr:
    return value if value.type is I1 else IntegerAttr(value.value, I64)
