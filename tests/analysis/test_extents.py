"""Runs of bytes: the fewest dimensions for the same bytes, and whether two sets of them meet."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from tileir.analysis.extents import Term, common, empty, extent, reached

SPAN = 4096


def elements(start: int, dims: list[tuple[int, int]], size: int) -> set[int]:
    """Every byte, one by one."""
    starts = [
        start + sum(place * distance for place, (_, distance) in zip(index, dims))
        for index in itertools.product(*(range(count) for count, _ in dims))
    ]
    return {first + byte for first in starts for byte in range(size)}


def some_dims(choose: random.Random) -> list[tuple[int, int]]:
    distances = (-96, -8, 0, 1, 3, 4, 8, 12, 32, 64, 100, 256)
    return [(choose.choice((1, 2, 3, 8)), choose.choice(distances)) for _ in range(choose.randrange(4))]


def test_the_same_bytes_in_fewer_dimensions() -> None:
    choose = random.Random(3)
    for _ in range(300):
        start, dims, size = choose.randrange(1000, 2000), some_dims(choose), choose.choice((1, 2, 4, 8))
        found = extent(start, dims, size, True)
        touched = elements(start, dims, size)
        assert set(np.flatnonzero(found.mask(0, SPAN)).tolist()) == touched, (start, dims, size, found)
        assert (found.low, found.high) == (min(touched), max(touched) + 1)
        assert len(found.dims) <= len(dims)


@pytest.mark.parametrize(
    ("dims", "size", "run", "kept"),
    [
        ([(64, 2), (128, 384)], 2, 128, ((128, 384),)),
        ([(192, 2), (128, 384)], 2, 128 * 384, ()),
        ([(64, 2), (4, 128), (128, 2048)], 2, 512, ((128, 2048),)),
        ([(16, 8), (4, 128)], 4, 4, ((64, 8),)),
        ([(16, 8), (4, 64)], 4, 4, ((40, 8),)),
    ],
)
def test_rows_and_tiles_that_touch_become_one(dims: list, size: int, run: int, kept: tuple) -> None:
    found = extent(0, dims, size, True)
    assert (found.run, found.dims) == (run, kept)


def test_a_byte_in_common_is_found_if_there_is_one() -> None:
    choose = random.Random(4)
    meeting = 0
    for _ in range(300):
        first, second = ((choose.randrange(1000, 1060), some_dims(choose), choose.choice((1, 4))) for _ in range(2))
        one, other = (extent(*each, True) for each in (first, second))
        both = elements(*first) & elements(*second)
        found = common(one, other)
        assert (found in both) if both else found is None, (one, other)
        meeting += bool(both)
    assert 50 < meeting < 250


def test_nothing_meets_what_is_empty() -> None:
    assert empty().empty and common(empty(), extent(0, [], 4, True)) is None
    assert empty().within(0) and not extent(0, [(4, 8)], 4, True).within(27)


def test_sums_of_multiples_reach_what_they_can() -> None:
    choose = random.Random(5)
    for _ in range(300):
        terms = []
        for _ in range(choose.randrange(1, 4)):
            low = choose.randrange(-4, 3)
            terms.append(Term(choose.choice((-50, -7, 2, 3, 10, 64)), low, low + choose.randrange(5)))
        low = choose.randrange(-300, 300)
        high = low + choose.randrange(6)
        sums = {
            sum(term.distance * number for term, number in zip(terms, numbers))
            for numbers in itertools.product(*(range(term.low, term.high + 1) for term in terms))
        }
        found = reached(low, high, terms)
        if found is None:
            assert not any(low <= total <= high for total in sums)
        else:
            assert low <= sum(term.distance * number for term, number in zip(terms, found)) <= high
