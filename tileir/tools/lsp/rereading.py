"""Reading single statements again: the one around an edit, and those that use its results where these have changed.

Knows: which names a statement sees, and when all else stays what it was. Where that is not clear, there is no answer.
Does not know: how the places behind an edit move in the rest of a reading (`tools.lsp.patching`), nor grammar.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tileir.ir.core import Op, Value
from tileir.ir.loc import Source
from tileir.ir.types import Type
from tileir.ir.unread import Unread
from tileir.ops.module import Global
from tileir.text.reading.reader import GiveUp
from tileir.tools.lsp.edits import Edit
from tileir.tools.lsp.reading import NamingParser, TextReading, ValueName, fault_offset, parser_at

MOST_STATEMENTS = 16
"""Statements read again beyond which the whole item is read."""


@dataclass(frozen=True)
class Replacement:
    """What stood from `begin` up to `end` in the old text, and who has read what stands there now."""

    begin: int
    end: int
    old: Op
    new: Op
    listener: NamingParser


def reread(old: TextReading, source: Source, edit: Edit) -> list[Replacement] | None:
    """The statement around the edit and those that follow from it, read again; None if more has to be read.

    The old reading stays as it is.
    """
    found = old.statement_at(edit.begin - 1)
    if found is None or edit.end >= old.ends[found[0]] or found[0] in _unclear(old):
        return None
    try:
        return _Rereading(old, source, edit).parts(found[0])
    except GiveUp:
        return None


def _unclear(old: TextReading) -> set[int]:
    """Where what follows a faulty statement begins: what stands there tells where that ends."""
    return {old.ends[at] for at, op in old.statements.items() if isinstance(op, Unread)}


class _Rereading:
    """The statements of one edit, from the first to the last."""

    def __init__(self, old: TextReading, source: Source, edit: Edit) -> None:
        self._old, self._source, self._edit = old, source, edit
        self._members = _members(old)
        self._places = sorted(old.uses)
        self._uses: defaultdict[ValueName | None, list[int]] = defaultdict(list)
        for at in self._places:
            self._uses[old.named.get(old.uses[at])].append(at)
        self._faults = {fault_offset(fault) for fault in old.faults}
        self._now: dict[ValueName, list[Value]] = {}

    def parts(self, begin: int) -> list[Replacement] | None:
        waiting, parts = [begin], list[Replacement]()
        while waiting:
            part = self._part(waiting.pop(0))
            if part is None or len(parts) == MOST_STATEMENTS:
                return None
            parts.append(part)
            for user in self._users(part):
                if user not in waiting:
                    insort(waiting, user)
        return parts

    def _part(self, begin: int) -> Replacement | None:
        """A statement read again; None if that may change more than its results."""
        end, old = self._old.ends[begin], self._old.statements[begin]
        around = _around(old)
        if old.regions or len(around) < 2 or around[-1] is not self._old.module.op or not self._sees_all(begin, end):
            return None
        if self._faults & {begin, end}:
            return None
        listener = parser_at(self._old, self._source, self._edit.moved(begin), len(around))
        for name in reversed(self._old.visible(begin)):
            listener.show(name, self._edit.moved(name.begin), self._now.get(name, self._members[name]))
        new = listener.statement_alone()
        if new is None or listener.offset != self._edit.moved(end) or not self._is_named(begin, end, listener):
            return None
        return (
            Replacement(begin, end, old, new, listener) if _is_alike(old, new) and not listener.scope.forward else None
        )

    def _sees_all(self, begin: int, end: int) -> bool:
        """Whether the statement used only what was defined in front of it."""
        low, high = bisect_left(self._places, begin), bisect_left(self._places, end)
        names = (self._old.named.get(self._old.uses[at]) for at in self._places[low:high])
        return all(name is not None and name.begin < begin for name in names)

    def _is_named(self, begin: int, end: int, listener: NamingParser) -> bool:
        """Whether the statement defines the names that it did, and nothing in front of it uses one of them."""
        names = defined(self._old, begin, end)
        if [name.name for name in names] != [name.name for name in listener.reading.definitions.values()]:
            return False
        return all(at >= end for name in names for at in self._uses[name])

    def _users(self, part: Replacement) -> Iterator[int]:
        """Where the statements begin whose operands are of other types than before."""
        for name in defined(self._old, part.begin, part.end):
            now = part.listener.members(name.name)
            if _types(self._members[name]) != _types(now):
                self._now[name] = now
                for at in self._uses[name]:
                    user = self._old.statement_at(at)
                    assert user is not None, "a use stands in a statement"
                    yield user[0]


def _is_alike(old: Op, new: Op) -> bool:
    """Whether a block goes on and ends with a new operation as it did with the old one."""
    return not new.regions and not isinstance(new, Global) and new.spec.terminator == old.spec.terminator


def adopt(old: TextReading, parts: list[Replacement], edit: Edit) -> None:
    """Let values of the types that they had go on as results of the new operations, and names end where they did."""
    members = _members(old)
    for part in parts:
        for before, name in zip(defined(old, part.begin, part.end), [*part.listener.reading.definitions.values()]):
            name.until = edit.moved(before.until)
            now = part.listener.members(name.name)
            if _types(members[before]) == _types(now):
                _go_on(part.listener.reading, name, members[before], now)


def _go_on(reading: TextReading, name: ValueName, values: list[Value], now: list[Value]) -> None:
    """Put the values that a name had before in the places of those that it has now."""
    for value, new in zip(values, now):
        if isinstance(new.owner, Op):
            new.owner.set_result(new.index, value)
        value.owner, value.index = new.owner, new.index
        del reading.named[new]
        reading.named[value] = name
    name.value = values[0]


def defined(old: TextReading, begin: int, end: int) -> list[ValueName]:
    """The names that are defined in a part of the text, in order."""
    return [old.definitions[at] for at in sorted(at for at in old.definitions if begin <= at < end)]


def _members(old: TextReading) -> dict[ValueName, list[Value]]:
    """The value, or the values in order, of each name."""
    found: defaultdict[ValueName, list[Value]] = defaultdict(list)
    for value, name in old.named.items():
        found[name].append(value)
    for values in found.values():
        values.sort(key=lambda value: value.index)
    return found


def _types(values: list[Value]) -> list[Type]:
    return [value.type for value in values]


def _around(op: Op) -> list[Op]:
    """The operations around one, from the inside to the outside."""
    found: list[Op] = []
    while (outer := op.parent_op) is not None:
        found.append(outer)
        op = outer
    return found
