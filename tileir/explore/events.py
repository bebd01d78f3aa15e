"""Events of the memory model (spec: memory-model#events): what one element of one access does to memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tileir.analysis.effects import MemoryAccess
from tileir.ir.attributes import MemoryOrdering, MemoryScope
from tileir.ir.types import ElementType


class ExecutedOp(NamedTuple):
    """One execution of an operation by a tile block: its number, and the `path` to it.

    The path has the numbers of the operation and the iteration for each enclosing loop, and of the call for each call.
    So it has the same name in every execution of the program in which it happens.
    """

    block: int
    op: int
    path: tuple[int, ...]

    @property
    def position(self) -> tuple[int, ...]:
        """The place in program order among the operations of the tile block: they compare as they follow."""
        return (*self.path, self.op)


Tokens = frozenset[ExecutedOp]
"""The meaning of a token: the instructions before it."""


class MemoryCell(NamedTuple):
    """An element of memory: address and size in bytes."""

    address: int
    size: int

    @property
    def end(self) -> int:
        return self.address + self.size

    def overlaps(self, other: MemoryCell) -> bool:
        return self.address < other.end and other.address < self.end


class ElementKey(NamedTuple):
    """An element of an access, by the position of its lane among those that access memory."""

    instance: ExecutedOp
    lane: int


@dataclass(frozen=True)
class ModelAccess:
    """An operation of the program with the ordering and scope that the model sees."""

    number: int
    access: MemoryAccess
    ordering: MemoryOrdering
    scope: MemoryScope | None
    element: ElementType

    @property
    def strong(self) -> bool:
        return self.ordering is not MemoryOrdering.WEAK

    @property
    def wide(self) -> bool:
        """True if it is morally strong with all that are so and access the same cell."""
        return self.strong and self.scope in (MemoryScope.DEVICE, MemoryScope.SYS)

    @property
    def acquires(self) -> bool:
        return self.ordering in (MemoryOrdering.ACQUIRE, MemoryOrdering.ACQ_REL)

    @property
    def releases(self) -> bool:
        return self.ordering in (MemoryOrdering.RELEASE, MemoryOrdering.ACQ_REL)


@dataclass(frozen=True)
class AccessInstruction:
    """An access that a tile block makes: the cells of its lanes, what it waits for.

    `written` are the values that lanes write, None where that is nothing or not known yet. An instruction that `awaits`
    stands in a `loop` whose iteration has written nothing so far.
    """

    instance: ExecutedOp
    site: ModelAccess
    before: Tokens
    cells: tuple[MemoryCell, ...]
    written: tuple[int | None, ...]
    awaits: bool


class PromisedStore(NamedTuple):
    """A write that a tile block will make: only its value depends on a read without answer. `before` may be unknown."""

    op: int
    cells: frozenset[MemoryCell]
    before: Tokens


@dataclass(frozen=True)
class ElementEvent:
    """One element of an instruction: a read, a write, or both as one step. Values are bits, unsigned."""

    key: ElementKey
    site: ModelAccess
    cell: MemoryCell
    before: Tokens
    read: int | None
    written: int | None

    @property
    def block(self) -> int:
        return self.key.instance.block

    @property
    def position(self) -> tuple[int, ...]:
        return self.key.instance.position

    @property
    def strong(self) -> bool:
        return self.site.strong

    @property
    def scope(self) -> MemoryScope | None:
        return self.site.scope

    @property
    def size(self) -> int:
        return self.cell.size

    @property
    def reads(self) -> bool:
        return self.read is not None

    @property
    def writes(self) -> bool:
        return self.written is not None

    @property
    def updates(self) -> bool:
        return self.reads and self.writes

    @property
    def acquires(self) -> bool:
        return self.reads and self.site.acquires

    @property
    def releases(self) -> bool:
        return self.writes and self.site.releases
