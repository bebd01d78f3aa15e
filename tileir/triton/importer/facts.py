"""Facts about scalar integers, by which rules choose between forms of an access."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from tileir.ir.attributes import Bounded, DivBy
from tileir.ir.core import Value
from tileir.ops.conversion import ExtI
from tileir.ops.core import Constant, GetNumTileBlocks, GetTileBlockId
from tileir.ops.division import RemI
from tileir.ops.integer import AddI, MaxI, MinI, MulI, SubI
from tileir.ops.misc import Assume
from tileir.ops.shapes import Broadcast, Reshape

MAX_DEPTH = 12
"""Operations behind each other that are looked through."""


@dataclass(frozen=True)
class Fact:
    """A fact about an integer: whether it is nonnegative, and a divisor; 0 divides only 0."""

    nonnegative: bool = False
    divisor: int = 1

    def __add__(self, other: Fact) -> Fact:
        return Fact(self.nonnegative and other.nonnegative, gcd(self.divisor, other.divisor))


def constant(value: Value) -> int | None:
    """Return the integer that all elements of a tile are, if they are constant."""
    owner = value.owner
    while isinstance(owner, Broadcast | Reshape):
        owner = owner.source.owner
    if not isinstance(owner, Constant) or not owner.value.is_splat or not owner.value.element.is_int:
        return None
    return int.from_bytes(owner.value.data, "little", signed=True)


def fact(value: Value, depth: int = 0) -> Fact:
    """Return the known facts about a scalar integer."""
    if depth > MAX_DEPTH:
        return Fact()
    owner = value.owner
    if isinstance(owner, Constant):
        number = constant(value)
        return Fact() if number is None else Fact(number >= 0, abs(number))
    if isinstance(owner, GetTileBlockId | GetNumTileBlocks):
        return Fact(nonnegative=True)
    if isinstance(owner, AddI | SubI | MulI | MinI | MaxI):
        return _combined(owner, fact(owner.lhs, depth + 1), fact(owner.rhs, depth + 1))
    if isinstance(owner, RemI):
        return Fact(fact(owner.lhs, depth + 1).nonnegative)
    if isinstance(owner, ExtI):
        return fact(owner.source, depth + 1)
    if isinstance(owner, Assume):
        return _promised(owner, fact(owner.value, depth + 1))
    return Fact()


def _combined(op: AddI | SubI | MulI | MinI | MaxI, lhs: Fact, rhs: Fact) -> Fact:
    both = lhs + rhs
    if isinstance(op, MulI):
        return Fact(both.nonnegative, lhs.divisor * rhs.divisor)
    if isinstance(op, SubI):
        return Fact(False, both.divisor)
    return Fact(lhs.nonnegative or rhs.nonnegative, both.divisor) if isinstance(op, MaxI) else both


def _promised(op: Assume, before: Fact) -> Fact:
    predicate = op.predicate
    if isinstance(predicate, Bounded):
        return Fact(before.nonnegative or (predicate.lower is not None and predicate.lower >= 0), before.divisor)
    if isinstance(predicate, DivBy):
        return Fact(before.nonnegative, before.divisor * predicate.divisor // gcd(before.divisor, predicate.divisor))
    return before
