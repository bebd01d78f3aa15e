"""Rectangles of arrays: what arrays that are in pieces can give and take.

A rectangle is a range of indexes along each dimension.

Knows: the least rectangle around bytes, which rectangles meet, and how an array is put together from some. Does not
know: where pieces are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tileir.distributed.boxes import ByteBox

Rectangle = tuple[tuple[int, int], ...]


def rectangle_around(box: ByteBox, shape: Sequence[int], size: int) -> Rectangle:
    """The least rectangle around a box of bytes, in a dense array of elements of `size` bytes.

    Along each dimension the offsets of a box are numbers in a system of mixed radix: where the sum of the digits may
    carry, all indexes of the dimension occur.
    """
    found: list[tuple[int, int]] = []
    at, carry = box.start // size, 0
    terms = [((box.start % size + box.run - 1) // size, 1), *((count - 1, step // size) for count, step in box.dims)]
    for extent in reversed(shape[1:]):
        most = carry + sum(times * (step % extent) for times, step in terms)
        terms = [(times, step // extent) for times, step in terms]
        at, first = divmod(at, extent)
        carry = (first + most) // extent
        found.append((0, extent) if carry else (first, first + most + 1))
    most = carry + sum(times * step for times, step in terms)
    return ((at, min(at + most + 1, shape[0])), *reversed(found))


def hull_of(rectangles: Iterable[Rectangle]) -> Rectangle | None:
    """The least rectangle around some; None around none."""
    ranges = [*zip(*rectangles)]
    return tuple((min(first for first, _ in one), max(last for _, last in one)) for one in ranges) or None


def bytes_of(rectangle: Rectangle, shape: Sequence[int], size: int) -> ByteBox:
    """The bytes of a rectangle."""
    strides = [size * prod(shape[at + 1 :]) for at in range(len(shape))]
    start = sum(first * stride for (first, _), stride in zip(rectangle, strides))
    run, dims = size, list[tuple[int, int]]()
    for (first, last), stride in reversed([*zip(rectangle, strides)]):
        if not dims and stride == run:
            run *= last - first
        elif last - first > 1:
            dims.append((last - first, stride))
    return ByteBox(start, tuple(reversed(dims)), run)


def meet(one: Rectangle, other: Rectangle) -> bool:
    return all(max(a[0], b[0]) < min(a[1], b[1]) for a, b in zip(one, other))


def any_meet(rectangles: Iterable[Rectangle]) -> bool:
    """Whether two of them meet."""
    active: list[Rectangle] = []
    for rectangle in sorted(rectangles):
        active = [one for one in active if one[0][1] > rectangle[0][0]]
        if any(meet(one, rectangle) for one in active):
            return True
        active.append(rectangle)
    return False


def slices(rectangle: Rectangle) -> tuple[slice, ...]:
    return tuple(slice(first, last) for first, last in rectangle)


def shape_of(rectangle: Rectangle) -> tuple[int, ...]:
    return tuple(last - first for first, last in rectangle)


def put_together(shape: Sequence[int], parts: Sequence[tuple[Rectangle, Any]], otherwise: Any) -> list[Any]:
    """Nested lists of the parts of an array, one for each dimension: of `parts`, which do not meet, and of `otherwise`
    where there is none."""
    edges = [sorted({0, extent}.union(*(rectangle[at] for rectangle, _ in parts))) for at, extent in enumerate(shape)]
    cells = np.empty([len(each) - 1 for each in edges], object)
    for rectangle, part in parts:
        within = [range(each.index(first), each.index(last)) for each, (first, last) in zip(edges, rectangle)]
        for index in product(*within):
            cells[index] = _cell(edges, index, part, [first for first, _ in rectangle])
    for index in product(*map(range, cells.shape)):
        if cells[index] is None:
            cells[index] = _cell(edges, index, otherwise, [0] * len(edges))
    nested: list[Any] = cells.tolist()
    return nested


def _cell(edges: Sequence[Sequence[int]], index: Sequence[int], part: Any, origin: Sequence[int]) -> Any:
    ranges = [(each[at], each[at + 1]) for each, at in zip(edges, index)]
    within = tuple((first - zero, last - zero) for (first, last), zero in zip(ranges, origin))
    return part if shape_of(within) == part.shape else part[slices(within)]
