"""Reading only what an edit has changed: the entry, function or global around it.

Knows: when the rest of a program stays what it was, and how the places behind an edit move. Where that is not clear,
all of it is to be read: the result is always that of `tools.lsp.reading.read`.
Does not know: grammar, nor what is made of a reading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from tileir.ir.core import Module, Op
from tileir.ir.diagnostics import Diagnostic
from tileir.ir.loc import Location, Source, SourceLoc
from tileir.text.reading.reader import MAX_FAULTS, GiveUp
from tileir.tools.lsp.reading import NamingParser, TextReading, fault_offset, read_item, take_apart

T = TypeVar("T")


@dataclass(frozen=True)
class Edit:
    """The text from `begin` up to `end` became one that ends at `new_end`."""

    begin: int
    end: int
    new_end: int

    def moved(self, offset: int) -> int:
        """The new place of what stood at or behind the end of the edit, or in front of it."""
        return offset + self.new_end - self.end if offset >= self.end else offset


def edit_between(old: str, new: str) -> Edit:
    """The smallest edit that makes one text of another."""
    shortest = min(len(old), len(new))
    begin = _largest(shortest, lambda size: old[:size] == new[:size])
    end = _largest(shortest - begin, lambda size: old[len(old) - size :] == new[len(new) - size :])
    return Edit(begin, len(old) - end, len(new) - end)


def _largest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `most` for which a condition holds, as it does for all smaller ones."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def patched(old: TextReading, source: Source) -> TextReading | None:
    """The reading of a text that differs a little from the one that was read; None if all of it has to be read.

    The old reading is used up where there is a new one: they share what has not changed.
    """
    edit = edit_between(old.source.text, source.text)
    begin = next((at for at, end in old.items.items() if at < edit.begin and edit.end < end), None)
    if begin is None or len(old.faults) >= MAX_FAULTS:
        return None
    end = old.items[begin]
    try:
        listener, reached = read_item(old, source, begin)
    except GiveUp:
        return None
    op = listener.reading.statements.get(begin)
    item = old.statements[begin]
    whole = item.parent is old.module.op.regions[0]
    if not whole or op is None or reached != edit.moved(end) or type(op) is not type(item):
        return None
    return _Patch(old, source, edit, begin, end).made(listener, item, op)


@dataclass(frozen=True)
class _Patch:
    """A new item in the place of the one from `begin` up to `end`."""

    old: TextReading
    source: Source
    edit: Edit
    begin: int
    end: int

    def made(self, listener: NamingParser, item: Op, op: Op) -> TextReading:
        old, new = self.old, listener.reading
        faults = [self._moved_fault(fault) for fault in old.faults if not self._is_inside(fault)]
        self._replace(item, op)
        gone = {name for at, name in old.definitions.items() if self.begin <= at < self.end}
        for name in old.definitions.values():
            name.begin, name.since, name.until = map(self.edit.moved, (name.begin, name.since, name.until))
        return replace(
            old,
            source=self.source,
            module=Module(old.module.op, self.source),
            faults=sorted([*faults, *listener.faults], key=fault_offset),
            uses=self._shifted(old.uses) | new.uses,
            named={value: name for value, name in old.named.items() if name not in gone} | new.named,
            definitions=self._shifted(old.definitions) | new.definitions,
            symbols=self._shifted(old.symbols) | new.symbols,
            statements=self._shifted(old.statements) | new.statements,
            items={self.edit.moved(at): self.edit.moved(end) for at, end in old.items.items()},
            alias_places={name: self._moved_place(place) for name, place in old.alias_places.items()},
            moved=self._moved_ids() | listener.moved(),
            _begins=[],
        )

    def _replace(self, item: Op, op: Op) -> None:
        """Put the new operation where the old one was, and let all others know their new places."""
        block = item.parent
        assert block is not None, "an item stands in a module"
        for other in self.old.module.walk():
            self._move(other)
        block.ops[block.ops.index(item)] = op
        op.parent = block
        take_apart(item)

    def _move(self, op: Op) -> None:
        if type(op.loc) is SourceLoc:
            op.loc = self._moved_place(op.loc)
        for region in op.regions:
            if region is not None and region.arg_locs:
                region.arg_locs = tuple(self._moved_loc(loc) for loc in region.arg_locs)

    def _shifted(self, table: Mapping[int, T]) -> dict[int, T]:
        """What stands outside of the item, at its new place."""
        return {self.edit.moved(at): one for at, one in table.items() if not self.begin <= at < self.end}

    def _moved_ids(self) -> dict[int, int]:
        return {key: self.edit.moved(at) for key, at in self.old.moved.items() if not self.begin <= at < self.end}

    def _moved_place(self, loc: SourceLoc) -> SourceLoc:
        return SourceLoc(self.source, self.edit.moved(loc.offset), self.edit.moved(loc.end))

    def _moved_loc(self, loc: Location) -> Location:
        return self._moved_place(loc) if isinstance(loc, SourceLoc) else loc

    def _is_inside(self, fault: Diagnostic) -> bool:
        """Whether a fault is one of the item; one at its first word belongs to what stands in front of it."""
        return isinstance(fault.loc, SourceLoc) and self.begin < fault.loc.offset < self.end

    def _moved_fault(self, fault: Diagnostic) -> Diagnostic:
        notes = tuple(replace(note, loc=self._moved_loc(note.loc)) for note in fault.notes)
        return replace(fault, loc=self._moved_loc(fault.loc), notes=notes)
