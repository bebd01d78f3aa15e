"""Provenance of pointers: the parameters that a pointer may be computed from, and the writes through each.

Pointers and views are followed through operations, regions and functions. A pointer that was loaded from memory, or
made of an integer, may lead anywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from tileir.analysis.effects import MemoryAccess, access_of, accesses_of, callee_of, own_effect, reachable
from tileir.analysis.structure import EXITS, LOOPS, passed_on
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ir.effects import Effect
from tileir.ops import calls, core
from tileir.ops.control import For, If, Return
from tileir.ops.module import Entry

ANYWHERE = -1
"""Stands among the parameters for a pointer of unknown origin."""
_VIEWS = (t.TensorViewType, t.TileViewType)


@dataclass(frozen=True)
class Writes:
    """The writes of an entry: for each pointer parameter the first write through it, and the first through a pointer
    that may lead anywhere; None where there is none."""

    through: tuple[MemoryAccess | None, ...]
    anywhere: MemoryAccess | None

    def to(self, position: int | None) -> tuple[MemoryAccess, str] | None:
        """Return a write that may go to the memory of a parameter, and how sure that is in words; to memory that is
        reached through others where the position is None."""
        through = None if position is None else self.through[position]
        if through is not None:
            return through, "writes through it"
        return None if self.anywhere is None else (self.anywhere, "may write there, through a pointer of any origin")


def writes_of(entry: Entry) -> Writes:
    """Return the writes of an entry, with those of the functions that it calls."""
    provenance = Provenance(entry)
    found = [(access, provenance.of(access.address)) for access in accesses_of(entry) if access.writes]

    def first(origin: int) -> MemoryAccess | None:
        return next((access for access, origins in found if origin in origins), None)

    return Writes(tuple(map(first, range(len(entry.body.args)))), first(ANYWHERE))


class Provenance:
    """The parameters of an entry from which each pointer and each view in it may have been computed."""

    def __init__(self, entry: Entry) -> None:
        self._origins: dict[Value, set[int]] = defaultdict(set)
        self._flows: dict[Value, list[Value]] = defaultdict(list)
        sources = [(argument, index) for index, argument in enumerate(entry.body.args) if _leads(argument)]
        for op in reachable(entry):
            for source, result in _flows(op):
                self._flows[source].append(result)
            sources += [(result, ANYWHERE) for result in _unknown_results(op)]
        for value, origin in sources:
            self._spread(value, origin)

    def of(self, value: Value) -> frozenset[int]:
        """Return the positions of the parameters, `ANYWHERE` among them if it may lead anywhere."""
        return frozenset(self._origins.get(value, ()))

    def _spread(self, value: Value, origin: int) -> None:
        pending = [value]
        while pending:
            value = pending.pop()
            if origin not in self._origins[value]:
                self._origins[value].add(origin)
                pending += self._flows.get(value, ())


def _leads(value: Value) -> bool:
    """Return whether a value is a pointer or a view."""
    if isinstance(value.type, t.TileType):
        return isinstance(value.type.element, t.PointerType)
    return isinstance(value.type, _VIEWS)


def _flows(op: Op) -> Iterator[tuple[Value, Value]]:
    """Yield pairs of pointers or views where the second may be, or be computed from, the first."""
    for source, result in _all_flows(op):
        if _leads(source) and _leads(result):
            yield source, result


def _all_flows(op: Op) -> Iterator[tuple[Value, Value]]:
    if isinstance(op, calls.Call):
        yield from _through_function(op)
    elif isinstance(op, LOOPS) or type(op) in EXITS:
        yield from passed_on(op)
    elif access_of(op) is None:
        inside = [block.args for block in op.regions if block is not None]
        results = [*op.results, *chain.from_iterable(inside)]
        yield from ((source, result) for source in op.operands for result in results)


def _through_function(op: calls.Call) -> Iterator[tuple[Value, Value]]:
    function = callee_of(op)
    (body,) = function.regions
    assert body is not None
    yield from zip(op.args, body.args)
    for exit in function.walk():
        if isinstance(exit, Return):
            yield from zip(exit.operands, op.outputs)


def _unknown_results(op: Op) -> Sequence[Value]:
    """Return the results of an operation that may lead anywhere: what has no pointer to come from, but memory of its
    own."""
    own = own_effect(op) is Effect.ALLOCATE or isinstance(op, core.GetGlobal | calls.Call) or op.regions
    if own or (access_of(op) is None and any(map(_leads, op.operands))):
        return []
    return [result for result in op.results if _leads(result)]


def deciding_accesses(entry: Entry) -> dict[Op, frozenset[int]]:
    """Return the accesses whose results decide which memory a launch touches, each with the parameters that it may go
    through: addresses, masks, conditions and loop bounds are computed from them."""
    sources: dict[Value, list[Value]] = defaultdict(list)
    work: list[Value] = []
    for op in reachable(entry):
        for source, result in _all_flows(op):
            sources[result].append(source)
        access = access_of(op)
        if access is not None:
            work += [operand for operand in op.operands if operand is not access.value]
        elif isinstance(op, If | For):
            work += op.operands[:3] if isinstance(op, For) else op.operands
    provenance, found, seen = Provenance(entry), dict[Op, frozenset[int]](), set(work)
    while work:
        value = work.pop()
        access = None if value.op is None or isinstance(value.type, t.TokenType) else access_of(value.op)
        if access is not None:
            found[access.op] = provenance.of(access.address)
        more = [source for source in sources[value] if source not in seen]
        seen.update(more)
        work += more
    return found
