"""Accesses that synchronisation orders: those that hold a lock, and those on both sides of a flag.

A *critical section* stands behind a loop that takes a lock, which all tile blocks take:

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

A *handover* has one store that releases a flag, which one tile block makes once, and others that wait for it:

    %told = store_ptr_tko release device %flag, %one token=%written : ...
    %ready = loop : token {                                 or `if %set { ... }`, with tokens from %seen
      %value, %seen = load_ptr_tko acquire device %flag : ...
      %set = cmpi equal %value, %one, signed : ...
      if %set { break %seen : token }
    }

Memory did not hold that value before, and nothing else writes the flag: who has read it has read it from that store.
What the store waits for happens before all that waits for the load.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tileir.analysis.disjoint import Proved
from tileir.analysis.effects import MemoryAccess, access_of, accesses_of, token_results
from tileir.analysis.expressions import Expression
from tileir.analysis.symbols import StorageKind
from tileir.analysis.values import numbers
from tileir.ir.attributes import AtomicMode, MemoryScope, Predicate
from tileir.ir.core import Op, Value
from tileir.ir.types import TokenType
from tileir.ops import control, core, integer, pointers
from tileir.ops.module import Entry
from tileir.sanitize.proofs.launch import KnownArray, KnownLaunch
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

    def role(self, op: Op) -> Hashable:
        return op in self.ops


@dataclass(frozen=True)
class Handover:
    """The operations that happen `before` a flag is set, those `after` it has been seen, and the conditions of it."""

    before: frozenset[Op]
    after: frozenset[Op]
    assuming: frozenset[str]

    def orders(self, one: KnownAccess, other: KnownAccess) -> PairResult | None:
        """Return the result that one access happens before the other; None if that is not so."""
        pairs = ((one.op, other.op), (other.op, one.op))
        ordered = any(first in self.before and last in self.after for first, last in pairs)
        return PairResult(Proved(), self.assuming) if ordered else None

    def role(self, op: Op) -> Hashable:
        return op in self.before, op in self.after


def synchronised(
    entry: Entry, accesses: Sequence[KnownAccess], launch: KnownLaunch
) -> list[CriticalSection | Handover]:
    """Return the critical sections and the handovers of an entry."""
    known = {one.op: one for one in accesses}
    if len(known) < len(accesses):
        return []
    loops = [op for op in entry.body.ops if isinstance(op, control.Loop)]
    found = [_section(entry, loop, known, launch) for loop in loops]
    handovers = [_handover(one, known, launch) for one in accesses if _sets(one.access)]
    return [one for one in (*found, *handovers) if one is not None]


# ---------------------------------------------------------------- critical sections


def _section(
    entry: Entry, loop: control.Loop, known: Mapping[Op, KnownAccess], launch: KnownLaunch
) -> CriticalSection | None:
    taking = _taking(loop)
    if taking is None:
        return None
    swap, locked = taking
    lock = known[swap.op]
    ends = [access for access in accesses_of(entry) if access.op.parent is entry.body and _frees(access, swap)]
    same = _in_memory_of(lock, known)
    if len(ends) != 1 or {one.op for one in same} != {swap.op, ends[0].op}:
        return None
    if not all(map(_is_one_element, same)) or len(set(map(_touched, same))) > 1:
        return None
    assuming = _untouched(lock, known, launch)
    if assuming is None or not _waits_for(ends[0].op, locked):
        return None
    before = _before(ends[0].op)
    return CriticalSection(frozenset(op for op in known if op in before and _waits_for(op, locked)), assuming)


def _taking(loop: control.Loop) -> tuple[MemoryAccess, Value] | None:
    """Return the swap of a loop that is left only if it has found the lock free, and the token of having it."""
    found = _waiting(loop)
    if found is None:
        return None
    swap, sought, locked = found
    free, held = _constant(swap.expected), _constant(swap.value)
    return (swap, locked) if sought == free and held is not None and held != free else None


def _frees(access: MemoryAccess, swap: MemoryAccess) -> bool:
    """Return whether an access gives a lock back: it releases, and leaves in memory what the swap expects."""
    if not access.releases or access.scope not in WIDE or access.mask is not None or access.expected is not None:
        return False
    kept = access.op.attributes.get("mode") is AtomicMode.XCHG if access.updates else not access.reads
    return kept and _constant(access.value) == _constant(swap.expected)


# ---------------------------------------------------------------- handovers


def _sets(access: MemoryAccess) -> bool:
    """Return whether an access is a store that may release a flag."""
    strong = access.releases and access.scope in WIDE and access.mask is None
    return strong and not access.reads and _constant(access.value) is not None


def _handover(flag: KnownAccess, known: Mapping[Op, KnownAccess], launch: KnownLaunch) -> Handover | None:
    """Return the handover by a store; None if others may write its flag, or several tile blocks, or one of them twice,
    or if memory may hold that value before."""
    value, storage = _constant(flag.access.value), flag.footprint.storage
    if value is None or storage is None or storage.kind is not StorageKind.PARAMETER or flag.footprint.loops:
        return None
    if not _is_one_element(flag) or flag.footprint.size < 8:
        return None
    if any(one is not flag and one.access.writes for one in _in_memory_of(flag, known)):
        return None
    assuming, alone = _untouched(flag, known, launch), apart(flag, flag, launch)
    if assuming is None or alone.verdict != Proved() or alone.assuming or _holds_before(flag, value, launch):
        return None
    before = frozenset(op for op in _before(flag.op) if op.parent is flag.op.parent)
    after = frozenset(op for op in known if any(_waits_for(op, token) for token in _seen(flag, value, known, op)))
    unset = f"'{launch.parameters[storage.number]}' does not hold {value} before the launch"
    return Handover(before, after, assuming | {unset}) if before and after else None


def _seen(flag: KnownAccess, value: int, known: Mapping[Op, KnownAccess], op: Op) -> Iterator[Value]:
    """Yield the tokens of having read a value of a flag: of loops that wait for it, and where an operation stands in
    an `if` that tests for it, of the load."""
    for one in _in_memory_of(flag, known):
        if one is flag or not _is_one_element(one) or _touched(one) != _touched(flag):
            continue
        loop = one.op.parent_op
        found = _waiting(loop) if isinstance(loop, control.Loop) else None
        if found is not None and found[:2] == (one.access, value):
            yield found[2]
        elif _is_wide_acquire(one.access) and any(_sought(test, one.access) == value for test in _tests_around(op)):
            yield from token_results(one.op)


def _tests_around(op: Op) -> Iterator[Value]:
    """Yield the conditions that hold where an operation runs."""
    while (around := op.parent_op) is not None:
        if isinstance(around, control.If) and op.parent is around.then:
            yield around.condition
        op = around


def flags_before(accesses: Sequence[KnownAccess], arrays: Mapping[int, KnownArray]) -> dict[Op, bytes]:
    """Return what memory holds, before a launch, where stores may set flags."""
    held = {}
    for one in accesses:
        storage = one.footprint.storage
        array = None if storage is None or storage.kind is not StorageKind.PARAMETER else arrays.get(storage.number)
        if array is not None and _sets(one.access) and _is_one_element(one):
            first = one.footprint.form.constant
            if array.low <= first <= array.high - one.footprint.bytes:
                held[one.op] = array.memory.bytes[first - array.low :][: one.footprint.bytes].tobytes()
    return held


def _holds_before(flag: KnownAccess, value: int, launch: KnownLaunch) -> bool:
    """Return whether a flag may hold a value before a given launch."""
    size = flag.footprint.bytes
    number = (value % (1 << 8 * size)).to_bytes(size, "little")
    return launch.given and launch.flags.get(flag.op, number) == number


# ---------------------------------------------------------------- locks and flags


def _waiting(loop: control.Loop) -> tuple[MemoryAccess, int, Value] | None:
    """Return the access of a loop that is left only once it has found a number, that number, and the token of it."""
    found = list(accesses_of(loop))
    exits = [op for op in loop.walk() if isinstance(op, control.Break | control.Return)]
    if len(found) != 1 or len(exits) != 1:
        return None
    (access,), (leave,) = found, exits
    around = leave.parent_op
    if not isinstance(leave, control.Break) or not isinstance(around, control.If) or leave.parent is not around.then:
        return None
    if around.parent is not loop.body or access.op.parent is not loop.body or not _is_wide_acquire(access):
        return None
    sought = _sought(around.condition, access)
    tokens = [result for value, result in zip(leave.operands, loop.outputs) if value in token_results(access.op)]
    return None if sought is None or not tokens else (access, sought, tokens[0])


def _is_wide_acquire(access: MemoryAccess) -> bool:
    return access.acquires and access.scope in WIDE and access.mask is None


def _sought(condition: Value, access: MemoryAccess) -> int | None:
    """Return the number that a condition says an access has found."""
    op = condition.op
    if not isinstance(op, integer.CmpI) or op.comparison_predicate is not Predicate.EQUAL:
        return None
    one, other = (op.lhs, op.rhs) if op.lhs is access.result else (op.rhs, op.lhs)
    return _constant(other) if one is access.result else None


def _in_memory_of(one: KnownAccess, known: Mapping[Op, KnownAccess]) -> list[KnownAccess]:
    return [other for other in known.values() if other.footprint.storage == one.footprint.storage]


def _untouched(one: KnownAccess, known: Mapping[Op, KnownAccess], launch: KnownLaunch) -> frozenset[str] | None:
    """Return the conditions under which accesses to other memories do not touch that of an access."""
    others = [other for other in known.values() if other.footprint.storage != one.footprint.storage]
    found = [apart(one, other, launch) for other in others]
    if any(result.verdict != Proved() for result in found):
        return None
    return frozenset[str]().union(*(result.assuming for result in found))


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
