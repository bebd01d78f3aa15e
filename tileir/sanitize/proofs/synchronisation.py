"""Critical sections: accesses that a tile block makes while it holds a lock that all tile blocks take.

    %locked = loop : token {
      %before, %tried = atomic_cas_tko acquire device %lock, %free, %held : ...
      %won = cmpi equal %before, %free, signed : ...
      if %won { break %tried : token }
    }
    ...                                                     tokens lead from %locked through the section
    %unlocked = store_ptr_tko release device %lock, %free token=%stored : ...

Whoever leaves the loop has read that the lock is free. It reads so from what memory held before, or from the unlock of
a tile block that had the lock, and as the swap is one step no two read it from the same write. So the holders form a
chain in which each unlock is released to the next swap, which acquires: what stands between, with tokens on both sides,
happens before all that later holders do. Nothing else may write the lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tileir.analysis.disjoint import Proved
from tileir.analysis.effects import MemoryAccess, access_of, accesses_of
from tileir.analysis.expressions import Expression
from tileir.analysis.values import numbers
from tileir.ir.attributes import AtomicMode, MemoryScope, Predicate
from tileir.ir.core import Op, Value
from tileir.ir.types import TokenType
from tileir.ops import control, core, integer, pointers
from tileir.ops.module import Entry
from tileir.sanitize.proofs.launch import KnownLaunch
from tileir.sanitize.proofs.pairs import KnownAccess, PairResult, apart

WIDE = (MemoryScope.DEVICE, MemoryScope.SYS)


@dataclass(frozen=True)
class CriticalSection:
    """The operations of a critical section, and the conditions under which nothing else touches its lock."""

    ops: frozenset[Op]
    assuming: frozenset[str]

    def orders(self, one: KnownAccess, other: KnownAccess) -> PairResult | None:
        """Return the result that two accesses never happen at the same time; None if one is outside."""
        return PairResult(Proved(), self.assuming) if {one.op, other.op} <= self.ops else None


def sections(entry: Entry, accesses: Sequence[KnownAccess], launch: KnownLaunch) -> list[CriticalSection]:
    """Return the critical sections of an entry."""
    loops = [op for op in entry.body.ops if isinstance(op, control.Loop)]
    return [found for loop in loops if (found := _section(entry, loop, accesses, launch)) is not None]


def _section(
    entry: Entry, loop: control.Loop, accesses: Sequence[KnownAccess], launch: KnownLaunch
) -> CriticalSection | None:
    known = {one.op: one for one in accesses}
    taking = _taking(loop)
    if taking is None or len(known) < len(accesses):
        return None
    swap, locked = taking
    lock = known[swap.op]
    ends = [access for access in accesses_of(entry) if access.op.parent is entry.body and _frees(access, swap)]
    same = [one for one in accesses if one.footprint.storage == lock.footprint.storage]
    if len(ends) != 1 or {one.op for one in same} != {swap.op, ends[0].op}:
        return None
    if not all(_is_one_element(one) and _touched(one) == _touched(lock) for one in same):
        return None
    if not _waits_for(ends[0].op, locked):
        return None
    others = [apart(lock, one, launch) for one in accesses if one not in same]
    if not all(found.verdict == Proved() for found in others):
        return None
    before = _before(ends[0].op)
    ops = frozenset(one.op for one in accesses if one.op in before and _waits_for(one.op, locked))
    return CriticalSection(ops, frozenset[str]().union(*(found.assuming for found in others)))


def _taking(loop: control.Loop) -> tuple[MemoryAccess, Value] | None:
    """Return the swap of a loop that is left only if it has found the lock free, and the token of having it."""
    found = list(accesses_of(loop))
    exits = [op for op in loop.walk() if isinstance(op, control.Break | control.Return)]
    if len(found) != 1 or len(exits) != 1:
        return None
    (swap,), (leave,) = found, exits
    around = leave.parent_op
    if not isinstance(leave, control.Break) or not isinstance(around, control.If) or leave.parent is not around.then:
        return None
    free, held = _constant(swap.expected), _constant(swap.value)
    strong = swap.acquires and swap.scope in WIDE and swap.mask is None
    if around.parent is not loop.body or swap.op.parent is not loop.body or not strong or free is None or held is None:
        return None
    if free == held or not _is_equal(around.condition, swap):
        return None
    token = next((value for value in swap.op.results if value is not swap.result), None)
    places = [at for at, value in enumerate(leave.operands) if value is token]
    return (swap, loop.outputs[places[0]]) if token is not None and places else None


def _is_equal(condition: Value, swap: MemoryAccess) -> bool:
    """Return whether a condition says that a swap has found what it expected."""
    op = condition.op
    if not isinstance(op, integer.CmpI) or op.comparison_predicate is not Predicate.EQUAL:
        return False
    one, other = (op.lhs, op.rhs) if op.lhs is swap.result else (op.rhs, op.lhs)
    return one is swap.result and _constant(other) == _constant(swap.expected)


def _frees(access: MemoryAccess, swap: MemoryAccess) -> bool:
    """Return whether an access gives a lock back: it releases, and leaves in memory what the swap expects."""
    if not access.releases or access.scope not in WIDE or access.mask is not None or access.expected is not None:
        return False
    kept = access.op.attributes.get("mode") is AtomicMode.XCHG if access.updates else not access.reads
    return kept and _constant(access.value) == _constant(swap.expected)


def _is_one_element(one: KnownAccess) -> bool:
    footprint = one.footprint
    return not footprint.unknown and not footprint.needs and not footprint.through_view and footprint.form.is_constant


def _touched(one: KnownAccess) -> tuple[Expression, int]:
    return one.footprint.form, one.footprint.size


def _constant(value: Value | None) -> int | None:
    found = numbers(value.op.value) if value is not None and isinstance(value.op, core.Constant) else None
    return None if found is None or found.size != 1 else int(found.flat[0])


# ---------------------------------------------------------------- tokens of the body of an entry


def _waits_for(op: Op, token: Value) -> bool:
    """Return whether an operation comes after a token."""
    return token in _tokens_before(op)


def _before(op: Op) -> set[Op]:
    """Return the accesses that an operation waits for by tokens."""
    return {value.op for value in _tokens_before(op) if value.op is not None and access_of(value.op) is not None}


def _tokens_before(op: Op) -> Mapping[Value, None]:
    """Return the tokens that an operation waits for, through accesses and joined tokens."""
    work = list(_tokens(op))
    seen = dict.fromkeys(work)
    for value in work:
        source = value.op
        if source is not None and (isinstance(source, pointers.JoinTokens) or access_of(source) is not None):
            new = [token for token in _tokens(source) if token not in seen]
            seen |= dict.fromkeys(new)
            work += new
    return seen


def _tokens(op: Op) -> Iterator[Value]:
    yield from (value for value in op.operands if isinstance(value.type, TokenType))
