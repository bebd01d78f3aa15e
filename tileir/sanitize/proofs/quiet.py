"""Accesses of a launch that can be in no conflict, so that the sanitizer need not follow them.

A load of an array that nobody writes is one; so is the only store to an array whose tiles are told apart by tile block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tileir.analysis.disjoint import Proved, disjoint, disjoint_in_turns
from tileir.analysis.footprint import Footprint
from tileir.ir.core import Op
from tileir.sanitize.proofs.launch import KnownLaunch
from tileir.sanitize.proofs.pairs import INSIDE, KnownAccess, apart, same_memory

MOST_ACCESSES = 64
"""The number of accesses above which all of a kernel's are tracked, as the number of pairs grows with the square."""


def quiet_ops(accesses: Sequence[KnownAccess], launch: KnownLaunch) -> frozenset[Op]:
    """Return the operations none of whose accesses conflicts with any other of the launch, nor with itself."""
    if len(accesses) > MOST_ACCESSES:
        return frozenset()
    times = Counter(one.op for one in accesses)
    loud = {one.op for one in accesses if one.access.is_strong or not _is_alone(one, accesses, times, launch)}
    return frozenset(times.keys() - loud)


def _is_alone(one: KnownAccess, accesses: Sequence[KnownAccess], times: Counter[Op], launch: KnownLaunch) -> bool:
    if one.footprint.unknown or (one.access.writes and (times[one.op] > 1 or not _meets_no_turn(one, launch))):
        return False
    others = (other for other in accesses if one.access.writes or other.access.writes)
    return all(_never_meet(one, other, launch) for other in others)


def _meets_no_turn(one: KnownAccess, launch: KnownLaunch) -> bool:
    """Return whether an access touches no byte in two turns of a loop."""
    found = disjoint_in_turns(one.footprint, arguments=launch.numbers, grid=launch.grid, trust=False)
    return found == Proved()


def _never_meet(one: KnownAccess, other: KnownAccess, launch: KnownLaunch) -> bool:
    """Return whether two accesses touch no byte in common, in two tile blocks or in one."""
    found = apart(one, other, launch)
    if found.verdict != Proved() or found.assuming - {INSIDE}:
        return False
    if one is other:
        return True
    memories = same_memory(one, other, launch)
    if memories is None:
        return True
    return _apart_inside(*memories, launch)


def _apart_inside(a: Footprint, b: Footprint, launch: KnownLaunch) -> bool:
    """Return whether two accesses are disjoint within one tile block."""
    found = disjoint(a, b, across_blocks=False, arguments=launch.numbers, grid=launch.grid, trust=False)
    return found == Proved()
