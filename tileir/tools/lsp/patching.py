"""Reading only what an edit has changed: the statement around it, or else the entry, function or global.

Knows: how the places behind an edit move, and what goes with what is read again. Where it is not clear that the rest
of a program stays what it was, all of it is to be read: the result is always that of `tools.lsp.reading.read`.
Does not know: grammar, nor what is made of a reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from tileir.ir.core import Module, Op
from tileir.ir.diagnostics import Diagnostic
from tileir.ir.loc import Location, Source, SourceLoc, SourcePart
from tileir.text.reading.reader import MAX_FAULTS, GiveUp
from tileir.tools.lsp.edits import Edit, edit_between
from tileir.tools.lsp.reading import TextReading, fault_offset, read_item, take_apart
from tileir.tools.lsp.rereading import Replacement, adopt, reread

K = TypeVar("K")
T = TypeVar("T")


def patched(old: TextReading, source: Source) -> TextReading | None:
    """The reading of a text that differs a little from the one that was read; None if all of it has to be read.

    The old reading is used up where there is a new one: they share what has not changed.
    """
    if len(old.faults) >= MAX_FAULTS or None in old.aliases.values():
        return None
    edit = edit_between(old.source.text, source.text)
    statements = reread(old, source, edit)
    parts = statements or _item(old, source, edit)
    if not parts or _is_repeated(old, parts):
        return None
    if statements:
        adopt(old, statements, edit)
    return _Patch(old, source, edit, parts).made()


def _item(old: TextReading, source: Source, edit: Edit) -> list[Replacement]:
    """The item around the edit, read again; nothing if there is none, or it does not stay one."""
    begin = next((at for at, end in old.items.items() if at < edit.begin and edit.end < end), None)
    if begin is None:
        return []
    try:
        listener, reached = read_item(old, source, begin)
    except GiveUp:
        return []
    op, item, end = listener.reading.statements.get(begin), old.statements[begin], old.items[begin]
    whole = item.parent is old.module.op.regions[0]
    if not whole or op is None or reached != edit.moved(end) or type(op) is not type(item):
        return []
    return [Replacement(begin, end, item, op, listener)]


def _is_repeated(old: TextReading, parts: list[Replacement]) -> bool:
    """Whether a fault comes or goes of those that are reported only where they are found first."""
    gone = {(fault.code, fault.message) for fault in old.faults if any(is_inside(fault, part) for part in parts)}
    come = {key for part in parts for key in part.listener.repeats}
    return bool((gone | come) & old.repeats)


def is_inside(fault: Diagnostic, part: Replacement) -> bool:
    """Whether a fault is one of a part; one at its first word belongs to what stands in front of it."""
    return isinstance(fault.loc, SourceLoc) and part.begin < fault.loc.offset < part.end


@dataclass(frozen=True)
class _Patch:
    """New statements in the places of old ones."""

    old: TextReading
    source: Source
    edit: Edit
    parts: list[Replacement]

    def made(self) -> TextReading:
        old, edit = self.old, self.edit
        new = [part.listener.reading for part in self.parts]
        faults = [self._moved_fault(fault) for fault in old.faults if not self._is_gone(fault)]
        faults += [fault for part in self.parts for fault in part.listener.faults]
        self._replace()
        gone = {name for at, name in old.definitions.items() if self._is_read(at)}
        for name in old.definitions.values():
            name.begin, name.since, name.until = map(edit.moved, (name.begin, name.since, name.until))
        return replace(
            old,
            source=self.source,
            module=Module(old.module.op, self.source),
            faults=sorted(faults, key=fault_offset),
            uses=self._shifted(old.uses, [reading.uses for reading in new]),
            named=_merged(
                {value: name for value, name in old.named.items() if name not in gone},
                [reading.named for reading in new],
            ),
            definitions=self._shifted(old.definitions, [reading.definitions for reading in new]),
            symbols=self._shifted(old.symbols, [reading.symbols for reading in new]),
            statements=self._shifted(old.statements, [reading.statements for reading in new]),
            ends=self._shifted_ends(),
            items={edit.moved(at): edit.moved(end) for at, end in old.items.items()},
            repeats=old.repeats.union(*(part.listener.repeats for part in self.parts)),
            alias_places={name: self._moved_place(place) for name, place in old.alias_places.items()},
            moved=_merged(self._moved_ids(), [part.listener.moved() for part in self.parts]),
            _begins=[],
        )

    def _replace(self) -> None:
        """Put the new operations where the old ones were, and let all others know their new places."""
        others = {*self.old.module.walk(), *self.old.statements.values()}  # what is in a faulty one is not in it
        for places in {other.origin for other in others if isinstance(other.origin, SourcePart)}:
            places.move(self.source, self.edit.moved)
        for other in others:
            self._move(other)
        for part in self.parts:
            block = part.old.parent
            assert block is not None, "a statement stands in a block"
            block.ops[block.ops.index(part.old)] = part.new
            part.new.parent = block
            take_apart(part.old)

    def _move(self, op: Op) -> None:
        if type(op.origin) is SourceLoc:
            op.loc = self._moved_place(op.origin)
        for region in op.regions:
            if region is not None and region.arg_locs:
                region.arg_locs = tuple(self._moved_loc(loc) for loc in region.arg_locs)

    def _is_read(self, at: int) -> bool:
        """Whether what stood at `at` was read again."""
        return any(part.begin <= at < part.end for part in self.parts)

    def _shifted(self, table: Mapping[int, T], new: list[dict[int, T]]) -> dict[int, T]:
        """What was not read again, at its new place, and what was."""
        first, last = self.parts[0].begin, self.parts[-1].end
        moved = self.edit.moved
        kept = {moved(at): one for at, one in table.items() if not first <= at < last or not self._is_read(at)}
        return _merged(kept, new)

    def _shifted_ends(self) -> dict[int, int]:
        moved = {at: self.edit.moved(end) for at, end in self.old.ends.items()}
        return self._shifted(moved, [part.listener.reading.ends for part in self.parts])

    def _moved_ids(self) -> dict[int, int]:
        return {key: self.edit.moved(at) for key, at in self.old.moved.items() if not self._is_read(at)}

    def _moved_place(self, loc: SourceLoc) -> SourceLoc:
        return SourceLoc(self.source, self.edit.moved(loc.offset), self.edit.moved(loc.end))

    def _moved_loc(self, loc: Location) -> Location:
        return self._moved_place(loc) if isinstance(loc, SourceLoc) else loc

    def _is_gone(self, fault: Diagnostic) -> bool:
        return any(is_inside(fault, part) for part in self.parts)

    def _moved_fault(self, fault: Diagnostic) -> Diagnostic:
        notes = tuple(replace(note, loc=self._moved_loc(note.loc)) for note in fault.notes)
        return replace(fault, loc=self._moved_loc(fault.loc), notes=notes)


def _merged(table: dict[K, T], others: list[dict[K, T]]) -> dict[K, T]:
    for other in others:
        table |= other
    return table
