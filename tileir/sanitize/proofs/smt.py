"""The questions that box disjointness leaves open, asked of an SMT solver (the extra ``prove``).

Two tile blocks that both touch one byte, or an access outside its memory, are solutions of equations over numbers that
are known only at run time, with quotients, remainders and bits. Without a solution there is no such fault in any run.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from tileir.analysis.disjoint import Block, Proved, Refuted, shared_byte
from tileir.analysis.expressions import TooLarge
from tileir.analysis.footprint import Footprint
from tileir.analysis.narrowing import specialised
from tileir.analysis.symbols import Function, Turn
from tileir.ir.usage import pip_install
from tileir.sanitize.proofs.launch import KnownLaunch
from tileir.sanitize.proofs.pairs import PROMISES, KnownAccess, PairResult, same_memory

INSTALLED = find_spec("z3") is not None


def missing() -> str:
    """Return a hint for open questions if the solver is not installed."""
    return "" if INSTALLED else f" ({pip_install('prove')} for a solver that may decide it)"


def can_be_asked(one: KnownAccess, other: KnownAccess) -> bool:
    """Return whether enough is known of both accesses for a question."""
    return not (one.footprint.unknown or other.footprint.unknown)


def has_promises(footprint: Footprint) -> bool:
    """Return whether the program makes a promise that concerns an access."""
    needs = [*footprint.needs, *(need for guard in footprint.guards for need in guard.needs)]
    inside = (symbol for symbol in footprint.form.all_symbols() if isinstance(symbol, Function | Turn))
    needs += [need for symbol in inside for need in symbol.needs]
    return any(need.promised for need in needs) or any(guard.promised for guard in footprint.guards)


def apart(one: KnownAccess, other: KnownAccess, launch: KnownLaunch, found: PairResult) -> PairResult:
    """Return the solver's result for a pair that `found` leaves open; else `found`."""
    if not INSTALLED or isinstance(found.verdict, Refuted):
        return found
    pair = same_memory(one, other, launch)
    if pair is None:
        return found
    for trust in (False, True)[: 1 + any(map(has_promises, pair))]:
        verdict = _apart(*pair, launch, trust)
        if verdict is not None:
            assuming = frozenset({PROMISES}) if trust and isinstance(verdict, Proved) else frozenset[str]()
            return PairResult(verdict, assuming)
    return found


def _apart(a: Footprint, b: Footprint, launch: KnownLaunch, trust: bool) -> Proved | Refuted | None:
    from tileir.sanitize.proofs.terms import Question

    try:
        question = Question(launch, trust)
        one, other = (question.instance(specialised(each, launch.numbers, launch.grid)) for each in (a, b))
    except TooLarge:
        return None
    blocks = question.meeting(one, other)
    if blocks is None:
        return None
    if blocks:
        return _witness(a, b, launch, blocks)
    return Proved() if all(map(question.is_sure, (one, other))) else None


def _witness(a: Footprint, b: Footprint, launch: KnownLaunch, blocks: Sequence[Block]) -> Refuted | None:
    """Return the two tile blocks of a solution, if both certainly touch a byte: what is known of an access may be more
    than it touches."""
    first, second = blocks
    x, y, z = (
        max(one, other) + 1 if extent is None else extent for one, other, extent in zip(first, second, launch.grid)
    )
    offset = shared_byte(a, b, launch.numbers, (x, y, z), (first, second))
    return None if offset is None else Refuted(first, second, (x, y, z), offset)


def stays_within(one: Footprint, launch: KnownLaunch, low: int, high: int, trust: bool) -> bool:
    """Return whether the solver shows that an access touches only the bytes from `low` up to `high`."""
    from tileir.sanitize.proofs.terms import Question

    try:
        question = Question(launch, trust)
        instance = question.instance(specialised(one, launch.numbers, launch.grid))
    except TooLarge:
        return False
    return question.is_sure(instance) and question.never_outside(instance, low, high)
