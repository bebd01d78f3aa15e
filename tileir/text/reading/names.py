"""SSA names while reading: which are visible, where they were defined, and which are used before their definition.

Knows: visibility of names in nested regions, packs of results, forward references.
Does not know: dominance (`verify`), nor types beyond keeping those that uses of a later value state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tileir.ir.core import Block, Op, Value
from tileir.ir.loc import SourceLoc
from tileir.ir.types import Type


class PendingType(Type):
    """The type of a value that is used before its definition while no use has stated a type."""

    __slots__ = ()


PENDING = PendingType()


@dataclass
class Forward:
    """A value used before its definition, first at the offset `begin`."""

    value: Value
    begin: int
    end: int


class ClosedRegion(NamedTuple):
    """A region of the operation called `op` that has been read: its opening brace, and the offsets of all of it."""

    op: str
    opening: SourceLoc
    begin: int
    end: int


class NameScope:
    """The names of one isolated body: `values` holds what is visible now, also ``%p#1`` of a pack."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.places: dict[str, int] = {}
        self.packs: dict[str, int] = {}
        self.defined: list[str] = []
        self.forward: dict[str, Forward] = {}
        self.closed: list[ClosedRegion] = []

    def close(self, mark: int, region: ClosedRegion) -> None:
        """Leave a region: forget the names defined since `defined` had `mark` entries."""
        self.closed.append(region)
        for name in self.defined[mark:]:
            del self.values[name]
            self.packs.pop(name, None)
        del self.defined[mark:]

    def region_of(self, name: str) -> ClosedRegion | None:
        """The innermost region, read before, in which `name` was defined last."""
        place = self.places.get(name, -1)
        return next((region for region in self.closed if region.begin <= place < region.end), None)

    def define(self, name: str, value: Value, begin: int) -> None:
        self.values[name] = value
        self.places[name] = begin
        self.defined.append(name)

    def later(self, name: str, owner: Block, begin: int, end: int) -> Value:
        """The stand-in for a value that is defined later; it becomes the value itself then."""
        found = self.forward.get(name)
        if found is None:
            found = self.forward[name] = Forward(Value(PENDING, owner, 0), begin, end)
        return found.value


def settle(forward: Value, real: Value) -> None:
    """Let the stand-in `forward` take the place of `real`, which was just defined."""
    owner = real.owner
    if isinstance(owner, Op):
        owner.set_result(real.index, forward)
    else:
        owner.args[real.index] = forward
    forward.type, forward.owner, forward.index = real.type, owner, real.index
