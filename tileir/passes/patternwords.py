"""The words of patterns: conditions, and contents computed from constants and attributes.

Knows: what each word means. Does not know: which pattern uses it.
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.ir.attributes import DenseElements, Ordering, Predicate
from tileir.ir.core import Value
from tileir.ir.types import I1, ElementType
from tileir.passes.facts import constant_of, signed_splat_of, splat

_MIRRORED = {
    Predicate.EQUAL: Predicate.EQUAL,
    Predicate.NOT_EQUAL: Predicate.NOT_EQUAL,
    Predicate.LESS_THAN: Predicate.GREATER_THAN,
    Predicate.LESS_THAN_OR_EQUAL: Predicate.GREATER_THAN_OR_EQUAL,
    Predicate.GREATER_THAN: Predicate.LESS_THAN,
    Predicate.GREATER_THAN_OR_EQUAL: Predicate.LESS_THAN_OR_EQUAL,
}
_NEGATED = {
    Predicate.EQUAL: Predicate.NOT_EQUAL,
    Predicate.NOT_EQUAL: Predicate.EQUAL,
    Predicate.LESS_THAN: Predicate.GREATER_THAN_OR_EQUAL,
    Predicate.LESS_THAN_OR_EQUAL: Predicate.GREATER_THAN,
    Predicate.GREATER_THAN: Predicate.LESS_THAN_OR_EQUAL,
    Predicate.GREATER_THAN_OR_EQUAL: Predicate.LESS_THAN,
}
_REFLEXIVE = (Predicate.EQUAL, Predicate.LESS_THAN_OR_EQUAL, Predicate.GREATER_THAN_OR_EQUAL)


def mirrored(predicate: Predicate) -> Predicate:
    """The predicate that says the same of the operands in the other order."""
    return _MIRRORED[predicate]


def negated(predicate: Predicate) -> Predicate:
    """The predicate that holds where this one does not."""
    return _NEGATED[predicate]


def other(ordering: Ordering) -> Ordering:
    """What a comparison with NaN gives when the result is negated."""
    return Ordering.UNORDERED if ordering is Ordering.ORDERED else Ordering.ORDERED


def reflexive(predicate: Predicate) -> int:
    """1 if a number is in that relation to itself, else 0."""
    return int(predicate in _REFLEXIVE)


def composed(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that does first the one, then the other."""
    return tuple(first[at] for at in second)


def in_order(permutation: tuple[int, ...]) -> bool:
    """Whether a permutation leaves every dimension where it is."""
    return permutation == tuple(range(len(permutation)))


def variable(value: Value) -> bool:
    """Whether a value is not known."""
    return constant_of(value) is None


def wider(value: Value, than: Value) -> bool:
    """Whether the elements of one tile have more bits than those of another."""
    return value.tile.number.bits > than.tile.number.bits


def one_bit(value: Value) -> bool:
    """Whether the elements are i1."""
    return value.tile.element is I1


def wide_integer(value: Value) -> bool:
    """Whether the elements are integers of more than one bit."""
    element = value.tile.element
    return isinstance(element, ElementType) and not element.is_float and element.bits > 1


def narrower(value: Value, than: Value) -> bool:
    """Whether the elements of one tile have fewer bits than those of another."""
    return wider(than, value)


def fits_sum(value: Value, other: Value) -> bool:
    """Whether the sum of two constants, read as signed, fits their common type."""
    return _signed_sum(value, other) is not None


def signed_sum(value: Value, other: Value) -> DenseElements:
    """The sum of two constants, which fits."""
    found = _signed_sum(value, other)
    assert found is not None, "a condition has asked whether the sum fits"
    return splat(value.tile, found)


def _signed_sum(value: Value, other: Value) -> int | None:
    one, two = signed_splat_of(value), signed_splat_of(other)
    if one is None or two is None or value.type is not other.type or value.tile.number.bits == 1:
        return None
    half = 1 << (value.tile.number.bits - 1)
    return one + two if -half <= one + two < half else None


WORDS: dict[str, Callable[..., object]] = {
    word.__name__: word
    for word in (
        composed,
        fits_sum,
        in_order,
        mirrored,
        narrower,
        negated,
        one_bit,
        other,
        reflexive,
        signed_sum,
        variable,
        wide_integer,
        wider,
    )
}
