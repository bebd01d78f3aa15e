"""Arithmetic of ranges: every number that a result can be lies in the range that is found for it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tileir.analysis import ranges
from tileir.analysis.ranges import MAX_DIVISOR, Range, power_in
from tileir.ir.attributes import Rounding

BITS = 6
HALF = 1 << (BITS - 1)
ROUNDINGS = (Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)


def some_range(choose: random.Random) -> Range:
    low, high = sorted(choose.randrange(-HALF, HALF) for _ in range(2))
    divisor = choose.choice((1, 1, 2, 4))
    return Range(divisor, low, high)


def members(known: Range) -> list[int]:
    return [number for number in range(known.low, known.high + 1) if number % known.divisor == 0]


def holds(known: Range, number: int) -> bool:
    return known.low <= number <= known.high and number % known.divisor == 0


def truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def wrap(number: int) -> int:
    return (number + HALF) % (2 * HALF) - HALF


EXACT: dict[str, tuple[Callable[..., Range | None], Callable[[int, int], int]]] = {
    "add": (ranges.add, lambda x, y: x + y),
    "subtract": (ranges.subtract, lambda x, y: x - y),
    "multiply": (ranges.multiply, lambda x, y: x * y),
    "minimum": (ranges.minimum, min),
    "maximum": (ranges.maximum, max),
    "remainder": (ranges.remainder, lambda x, y: x - y * truncated(x, y)),
    "modulo": (ranges.modulo, lambda x, y: x % y),
    "and": (lambda a, b: ranges.bitwise_and(a, b, BITS), lambda x, y: x & y),
    "or": (lambda a, b: ranges.bitwise_or(a, b, BITS), lambda x, y: x | y),
    "xor": (lambda a, b: ranges.bitwise_xor(a, b, BITS), lambda x, y: x ^ y),
    "shift left": (lambda a, b: ranges.shift_left(a, b, BITS), lambda x, y: x << y),
    "shift right": (lambda a, b: ranges.shift_right(a, b, BITS), lambda x, y: x >> y),
    **{
        f"quotient {rounding.text}": (
            lambda a, b, rounding=rounding: ranges.quotient(a, b, rounding),
            lambda x, y, rounding=rounding: ranges.divided(x, y, rounding),
        )
        for rounding in ROUNDINGS
    },
}


@pytest.mark.parametrize("name", EXACT)
def test_results_lie_in_the_range_found(name: str) -> None:
    function, exact = EXACT[name]
    choose, found = random.Random(name), 0
    for _ in range(400):
        a, b = some_range(choose), some_range(choose)
        if name.startswith("shift"):
            b = Range(1, b.low % 3, b.low % 3 + abs(b.high) % 4)
        known = function(a, b)
        if known is None:
            continue
        found += 1
        for x in members(a):
            for y in members(b):
                assert holds(known, exact(x, y)), (a, b, x, y, known)
    assert found > 20


def test_bounds_are_reached_where_nothing_is_lost() -> None:
    assert ranges.multiply(Range(4, -8, 12), Range(1, -3, 2)) == Range(4, -36, 24)
    assert ranges.quotient(Range(16, 0, 64), ranges.constant(4), Rounding.ZERO) == Range(4, 0, 16)
    assert ranges.quotient(Range(1, -7, 7), ranges.constant(2), Rounding.NEGATIVE_INF) == Range(1, -4, 3)
    assert ranges.remainder(Range(8, 0, 1000), ranges.constant(128)) == Range(8, 0, 127)
    assert ranges.remainder(Range(1, -3, 2), ranges.constant(5)) == Range(1, -3, 2)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_roundings_of_a_quotient(rounding: Rounding) -> None:
    rows = {Rounding.ZERO: (-3, 3), Rounding.NEGATIVE_INF: (-4, 3), Rounding.POSITIVE_INF: (-3, 4)}
    assert (ranges.divided(-7, 2, rounding), ranges.divided(7, 2, rounding)) == rows[rounding]


def test_nothing_is_said_of_a_division_by_what_may_be_zero_or_negative() -> None:
    for divisor in (Range(1, 0, 5), Range(1, -2, 5)):
        assert ranges.quotient(Range(1, 0, 9), divisor, Rounding.ZERO) is None
        assert ranges.remainder(Range(1, 0, 9), divisor) is None


def test_wrapped_numbers_and_unsigned_readings() -> None:
    choose = random.Random(5)
    for _ in range(400):
        low, high = sorted(choose.randrange(-5 * HALF, 5 * HALF) for _ in range(2))
        exact = Range(choose.choice((1, 2, 8)), low, high)
        for number in members(exact):
            assert holds(ranges.wrapped(exact, BITS), wrap(number))
        kept = some_range(choose)
        for number in members(kept):
            assert holds(ranges.zero_extended(kept, BITS), number % (2 * HALF))


def test_joining_and_meeting() -> None:
    choose = random.Random(6)
    for _ in range(200):
        a, b = some_range(choose), some_range(choose)
        for number in {*members(a), *members(b)}:
            assert holds(ranges.union(a, b), number)
            assert holds(ranges.intersection(a, b), number) == (holds(a, number) and holds(b, number))


@pytest.mark.parametrize(("number", "power"), [(0, MAX_DIVISOR), (12, 4), (-8, 8), (3 << 40, 1 << 40)])
def test_a_constant_knows_its_power_of_two(number: int, power: int) -> None:
    assert ranges.constant(number) == Range(power, number, number)
    assert power_in(number) == power
