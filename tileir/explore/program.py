"""A program as the memory model sees it: its accesses, with the changes that a mend would make."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tileir.analysis.effects import MemoryAccess, access_of, accesses_of, reachable
from tileir.explore.events import ModelAccess
from tileir.explore.names import result_names
from tileir.ir.attributes import AtomicMode, MemoryOrdering, MemoryScope
from tileir.ir.core import Block, Op, Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.types import ElementType, PointerType, TensorViewType, TileType, TileViewType, TokenType
from tileir.ops.calls import Call, Func
from tileir.ops.control import For, If, Loop
from tileir.ops.core import GetGlobal
from tileir.ops.module import Entry
from tileir.ops.pointers import Alloca

TARGET = "explore"
Root = Value | str
"""The origin of memory: a parameter or an `alloca` by its value, a global by its name."""


@dataclass(frozen=True)
class ProgramChanges:
    """Changes of a program, by numbers of its operations: another ordering and scope, tokens from one to another."""

    orderings: Mapping[int, tuple[MemoryOrdering, MemoryScope | None]] = field(default_factory=dict)
    tokens: frozenset[tuple[int, int]] = frozenset()


class Reach(NamedTuple):
    """The range of addresses that memory may have: from `low` up to `high`."""

    low: int
    high: int


COMMUTATIVE = frozenset(AtomicMode) - {AtomicMode.ADDF, AtomicMode.XCHG}
"""Updates that leave the same in any order."""


class ModelProgram:
    """The operations of an entry and of the functions that it calls, by number in program order.

    Raises `UnsupportedError` for an access that the model of one GPU and whole bytes does not cover.
    """

    def __init__(self, entry: Entry, changes: ProgramChanges | None = None) -> None:
        self.entry = entry
        self.ops = tuple(reachable(entry))
        self.changes = ProgramChanges() if changes is None else changes
        self._numbers = {op: number for number, op in enumerate(self.ops)}
        self.sites = {number: self._site(op, number) for op, number in self._numbers.items() if access_of(op)}
        self._needs: dict[Op, frozenset[int]] = {}
        self._roots = {number: _roots(site.access.address) for number, site in self.sites.items()}

    def _site(self, op: Op, number: int) -> ModelAccess:
        access = MemoryAccess.of(op)
        if access.replicated:
            raise UnsupportedError(f"'{op.spec.name}': memory on several GPUs", TARGET, op.loc)
        element = _element(access)
        if element.memory_bits < 8:
            raise UnsupportedError(f"'{op.spec.name}': elements of {element.name}, two to a byte", TARGET, op.loc)
        ordering, scope = self.changes.orderings.get(number, (access.ordering, access.scope))
        return ModelAccess(number, access, ordering, scope, element)

    def number(self, op: Op) -> int:
        return self._numbers[op]

    def site(self, op: Op) -> ModelAccess:
        return self.sites[self._numbers[op]]

    def only_strong_access(self, loop: Op) -> ModelAccess | None:
        """Return the only access in a loop, if it is a strong one."""
        sites = [self.site(access.op) for access in accesses_of(loop)]
        return sites[0] if len(sites) == 1 and sites[0].strong else None

    def extra_tokens(self, number: int) -> list[int]:
        """Return the accesses whose tokens a change hands to this one."""
        return sorted(source for source, target in self.changes.tokens if target == number)

    def roots(self, number: int) -> frozenset[Root] | None:
        """Return the origins of an access's memory; None if it may be anywhere."""
        return self._roots[number]

    def needs(self, op: Op) -> frozenset[int]:
        """Return accesses whose values an operation has to wait for: it is computed from them, or they decide whether
        it runs.

        Values that come through arguments of regions are left out: those differ from iteration to iteration.
        """
        if op not in self._needs:
            work = [op]
            seen = {op}
            for one in work:
                values = [value for part in (one, *_around(one)) for value in _deciding(part)]
                sources = {value.op for value in values if value.op is not None} - seen
                seen |= sources
                work += sources
            numbers = {self._numbers[one] for one in seen - {op} if one in self._numbers}
            self._needs[op] = frozenset(numbers & self.sites.keys())
        return self._needs[op]

    # ------------------------------------------------------------ updates that commute

    def commuting(self, reaches: Mapping[Root, Reach], asked: Iterable[str]) -> frozenset[int]:
        """Return the updates whose order nothing tells: nobody uses their results, no verdict line asks for them, and
        what may touch the same memory commutes with them.

        Their scopes hold all tile blocks. Those that acquire order other accesses, if there are any that conflict.
        """
        labels = {name.partition(":%")[2].partition("[")[0] for name in asked}
        used = {value for op in self.ops for value in op.operands}
        modes = {number: _mode(site, labels, used) for number, site in self.sites.items()}
        meeting = {one: [two for two in self.sites if self._may_meet(one, two, reaches)] for one in self.sites}
        found = {one for one, mode in modes.items() if mode and all(modes[two] == mode for two in meeting[one])}
        quiet = all(
            one in found or not any(self.sites[two].access.writes for two in meeting[one]) for one in self.sites
        )
        return frozenset(one for one in found if quiet or not any(self.sites[two].acquires for two in meeting[one]))

    def _may_meet(self, number: int, other: int, reaches: Mapping[Root, Reach]) -> bool:
        """Return whether two accesses may touch the same memory."""
        one, two = self._extents(number, reaches), self._extents(other, reaches)
        return any(a is None or b is None or (a.low < b.high and b.low < a.high) for a in one for b in two)

    def _extents(self, number: int, reaches: Mapping[Root, Reach]) -> list[Reach | None]:
        roots = self.roots(number)
        return [None] if roots is None else [reaches.get(root) for root in roots]

    # ------------------------------------------------------------ what may follow

    def writers(self, ops: Iterable[Op]) -> Iterator[int]:
        """Yield the numbers of those that write."""
        for op in ops:
            number = self._numbers[op]
            if number in self.sites and self.sites[number].access.writes:
                yield number

    def following(self, op: Op) -> frozenset[int]:
        """Return the operations that may still write when a tile block stands at `op`."""
        return frozenset(self.writers(self._following(op)))

    def _following(self, op: Op) -> Iterator[Op]:
        """Return the operations after `op`, those in it, and those of the loops around it."""
        start, around = self._numbers[op], op
        while around.parent_op is not None and around is not self.entry:
            around = around.parent_op
            if isinstance(around, For | Loop):
                start = min(start, self._numbers[around])
        return iter(self.ops[start:] if around is self.entry else self.ops)


def _mode(site: ModelAccess, labels: Collection[str], used: Collection[Value]) -> tuple[AtomicMode, int] | None:
    """Return how an update combines if its order may be left open, and the size of its elements."""
    access, mode = site.access, site.access.op.attributes.get("mode")
    asked = any(name in labels for name in result_names(access.op)[:1]) or access.result in used
    if mode not in COMMUTATIVE or not access.updates or not site.wide or asked:
        return None
    return mode, site.element.byte_size


def _around(op: Op) -> Iterator[Op]:
    """Yield the operations whose regions an operation stands in."""
    around = op.parent_op
    while around is not None:
        yield around
        around = around.parent_op


def _deciding(op: Op) -> list[Value]:
    """Return the values without which an operation gives no results, and its regions are not entered."""
    if isinstance(op, If):
        return [op.condition]
    if isinstance(op, For):
        return [op.lower, op.upper, op.step]
    if isinstance(op, Loop | Call | Entry | Func):
        return []
    return [value for value in op.operands if not isinstance(value.type, TokenType)]


def _element(access: MemoryAccess) -> ElementType:
    type = access.address.type
    if isinstance(type, TileType):
        assert isinstance(type.element, PointerType), "an access through a tile goes through pointers"
        return type.element.pointee
    assert isinstance(type, TileViewType | TensorViewType), "an access goes through pointers or a view"
    return type.element


def _roots(address: Value) -> frozenset[Root] | None:
    """Return the parameters, globals and `alloca` that an address is computed from."""
    found: set[Root] = set()
    work, seen = [address], {address}
    while work:
        value = work.pop()
        sources = _sources(value, found)
        if sources is None:
            return None
        work += [one for one in sources if one not in seen]
        seen |= set(sources)
    return frozenset(found)


def _sources(value: Value, found: set[Root]) -> list[Value] | None:
    """Return the pointers and views that a value is computed from; None if they are not known."""
    op = value.op
    if op is None:
        owner = value.owner
        assert isinstance(owner, Block)
        if not isinstance(owner.parent, Entry):
            return None
        found.add(value)
        return []
    if isinstance(op, GetGlobal):
        found.add(op.symbol)
        return []
    if isinstance(op, Alloca):
        found.add(value)
        return []
    if op.regions or access_of(op) is not None:
        return None
    return [one for one in op.operands if _leads_to_memory(one)] or None


def _leads_to_memory(value: Value) -> bool:
    type = value.type
    if isinstance(type, TileType):
        return isinstance(type.element, PointerType)
    return isinstance(type, TensorViewType | TileViewType)
