"""Cuts of a grid: along one axis or two, so that the least travels, within the memory of workers."""

from __future__ import annotations

import itertools
import random
import re
from math import prod

import numpy as np
import pytest

import tileir
from tileir.analysis.extents import extent
from tileir.analysis.footprint import op_footprints
from tileir.distributed.boxes import (
    ByteBox,
    any_meet,
    bytes_of,
    hull_of,
    meet,
    put_together,
    rectangle_around,
    shape_of,
    slices,
)
from tileir.distributed.footprints import GridFootprints, bands_of, cuts_of
from tileir.distributed.plan import BandPlan, PlaceRules, _Touch, planned
from tileir.examples.checks import EXAMPLES
from tileir.ir.attributes import AtomicMode

N = 1024
GRID = (8, 8, 1)


def product_of_matrices() -> tileir.Kernel:
    return tileir.load(next(one for one in EXAMPLES if one.name == "gemm_views").path)["gemm_views"]


def plan_of_product(count: int, rules: PlaceRules | None = None, m: int = N) -> BandPlan:
    """Of matrices m x 1024 (f16) and 1024 x 1024 (f16) into m x 1024 (f32); tiles of 128 x 128."""
    numbers = [None, None, None, m, N, N, N, N, N]
    sizes = [2 * m * N, 2 * N * N, 4 * m * N, *[0] * 6]
    grid = (-(-m // 128), 8, 1)
    return planned(product_of_matrices().entry, numbers, sizes, grid, count, rules or PlaceRules())


def test_a_product_is_cut_into_squares() -> None:
    plan = plan_of_product(16)
    assert plan.axes == (0, 1) and len(plan.bands) == 16
    assert {shape_of(band.blocks) for band in plan.bands} == {(2, 2, 1)}
    for band in plan.bands:
        assert [sum(box.size for box in band.reads[at]) for at in (0, 1)] == [256 * N * 2] * 2
        assert sum(box.size for box in band.writes[2]) == 256 * 256 * 4 and 2 not in band.reads
    along_one = 16 * (64 * N * 2 + N * N * 2)
    assert sum(box.size for band in plan.bands for at in (0, 1) for box in band.reads[at]) == 8 * N * N * 2 < along_one


def test_of_all_cuts_with_as_many_bands_the_one_with_the_least_bytes_is_taken() -> None:
    kernel, shapes = product_of_matrices(), []
    for m, count in itertools.product((130, 500, 1024), (2, 3, 6, 7, 8, 12, 24, 60)):
        plan, grid = plan_of_product(count, m=m), (-(-m // 128), 8, 1)
        sizes = [2 * m * N, 2 * N * N, 4 * m * N, *[0] * 6]
        numbers = [None, None, None, m, N, N, N, N, N]
        footprints = GridFootprints(op_footprints(kernel.entry), {}, numbers, sizes, grid)
        cuts = [(x, y, 1) for x in range(1, grid[0] + 1) for y in range(1, 9) if x * y <= count]
        most = max(map(prod, cuts))
        travel = [sum(footprints.band(one).size for one in bands_of(grid, cut)) for cut in cuts if prod(cut) == most]
        assert (len(plan.bands), sum(band.size for band in plan.bands)) == (most, min(travel)), (m, count)
        assert plan == plan_of_product(count, m=m)
        shapes.append(plan.axes)
    assert len({*shapes}) == 3, "along the first axis, the second, and both"


def test_bands_are_all_tile_blocks_once() -> None:
    for grid, count in itertools.product([(1, 1, 1), (7, 1, 1), (5, 4, 3), (1, 2, 9)], (1, 2, 5, 6, 12, 100)):
        for cut in cuts_of(grid, count):
            bands = [*bands_of(grid, cut)]
            blocks = [block for band in bands for block in itertools.product(*(range(*one) for one in band))]
            assert sorted(blocks) == sorted(itertools.product(*map(range, grid))), (grid, cut)
            assert len(bands) == prod(cut) <= count and sum(number > 1 for number in cut) <= 2
    assert cuts_of((5, 4, 1), 7) == [(3, 2, 1), (2, 3, 1), (5, 1, 1), (1, 4, 1)]


def test_boundaries_are_moved_to_where_they_are_allowed() -> None:
    allowed = lambda axis, at: at % (5, 4, 1)[axis] == 0  # noqa: E731
    assert [band[0] for band in bands_of((23, 1, 1), (4, 1, 1), allowed)] == [(0, 5), (5, 10), (10, 15), (15, 23)]
    assert [*bands_of((4, 3, 1), (2, 2, 1), allowed)] == [((0, 4), (0, 3), (0, 1))]


def test_there_are_more_bands_where_memory_is_short() -> None:
    whole = plan_of_product(4)
    most = max(band.memory() for band in whole.bands)
    assert len(plan_of_product(4, PlaceRules(memory=most)).bands) == 4
    smaller = plan_of_product(4, PlaceRules(memory=most - 1))
    assert len(smaller.bands) == 8 and max(band.memory() for band in smaller.bands) < most
    mapped = plan_of_product(4, PlaceRules(memory=most, mapped=(0, 1, 2)))
    assert all(band.memory((0, 1, 2)) <= most for band in mapped.bands), "pages of files are in memory"
    with pytest.raises(tileir.UnsupportedError, match=r"a band takes \d+ bytes of a worker's memory or more, and may"):
        plan_of_product(4, PlaceRules(memory=100_000))


def test_memory_is_counted_in_pages() -> None:
    box = ByteBox(4000, ((64, 8192),), 200)
    pages = np.unique(_bytes(box) // 4096)
    assert len(pages) * 4096 == box.pages() == 64 * 2 * 4096
    assert ByteBox(0, (), 100 * 4096).pages() == 102 * 4096


COLUMNS = """cuda_tile.module @m {{ entry @columns(%x: tile<ptr<i32>>, %m: tile<ptr<i32>>, %n: tile<i32>) {{
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %rows = iota : tile<8xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %n8 = broadcast %n1 : tile<1xi32> -> tile<8xi32>
  %down = muli %rows, %n8 : tile<8xi32>
  %b1 = reshape %bx : tile<i32> -> tile<1xi32>
  %b8 = broadcast %b1 : tile<1xi32> -> tile<8xi32>
  %at = addi %down, %b8 : tile<8xi32>
  %x1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
  %x8 = broadcast %x1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %p = offset %x8, %at : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %v, %t = load_ptr_tko weak %m : tile<ptr<i32>> -> tile<i32>, token
  %v1 = reshape %v : tile<i32> -> tile<1xi32>
  %v8 = broadcast %v1 : tile<1xi32> -> tile<8xi32>
  %mask = cmpi less_than %rows, %v8, signed : tile<8xi32> -> tile<8xi1>
  %u = store_ptr_tko weak %p, %rows{masked} : tile<8xptr<i32>>, tile<8xi32>{types} -> token
}} }}"""


def test_columns_that_stick_out_of_the_array_are_not_given_back_over_those_of_others() -> None:
    """The band may then have written anything from its first to its last byte, in between which others write."""
    kernel = tileir.parse(COLUMNS.format(masked=", %mask", types=", tile<8xi1>"), "k.mlir")["columns"]
    numbers, sizes = [None, None, 12], [4 * 12 * 8, 4, 0]
    assert len(planned(kernel.entry, numbers, sizes, (12, 1, 1), 3).bands) == 3
    with pytest.raises(tileir.UnsupportedError, match=r"may write byte \d+ of an array that itself touches") as caught:
        planned(kernel.entry, numbers, [4 * 12 * 7, 4, 0], (12, 1, 1), 3)
    assert re.match(r"k.mlir:\d+:\d+", str(caught.value))


def test_columns_and_tiles_that_meet_are_found_among_many_that_do_not() -> None:
    """The short way for bands in other columns against the bytes themselves."""
    choose, meeting = random.Random(10), 0
    for _ in range(2000):
        touches = []
        for band in range(2):
            dims = [(choose.randrange(1, 5), choose.choice((12, 24))) for _ in range(choose.randrange(3))]
            found = extent(choose.randrange(60), dims, choose.randrange(1, 14), True)
            touches.append(_Touch.of(band, 0, found, found, True))
        one, other = touches
        low, high = 0, max(one.extent.high, other.extent.high)
        both = (one.extent.mask(low, high) & other.extent.mask(low, high)).any()
        assert not (one.is_beside(other) and both), (one, other)
        meeting += one.is_beside(other)
    assert meeting > 50


def test_what_is_merged_counts_as_memory() -> None:
    footprints = GridFootprints([], {1: AtomicMode.ADD}, [None, None], [1000, 300], (4, 1, 1))
    assert footprints.merged_memory() == 600


# ---------------------------------------------------------------- rectangles


def some_box(choose: random.Random, shape: tuple[int, ...], size: int) -> ByteBox:
    elements = prod(shape)
    while True:
        start = choose.randrange(elements)
        dims = tuple(
            (choose.randrange(2, 5), choose.randrange(1, elements + 1) * size) for _ in range(choose.randrange(3))
        )
        box = ByteBox(start * size, dims, choose.randrange(1, 6) * size)
        if box.end <= elements * size:
            return box


def test_the_rectangle_around_a_box_has_all_its_bytes() -> None:
    choose, tight = random.Random(6), 0
    for _ in range(500):
        shape = tuple(choose.randrange(1, 7) for _ in range(choose.randrange(1, 5)))
        size = choose.choice((1, 4))
        found = rectangle_around(box := some_box(choose, shape, size), shape, size)
        touched = {int(at) for at in _bytes(box)}
        inside = {int(at) for at in _bytes(bytes_of(found, shape, size))}
        assert touched <= inside, (shape, size, box, found)
        places = [np.unravel_index(at // size, shape) for at in touched]
        tight += all({place[dim] for place in places} >= {first, last - 1} for dim, (first, last) in enumerate(found))
    assert tight > 300


def _bytes(box: ByteBox) -> np.ndarray:
    """The offsets of the bytes of a box."""
    starts = np.array([box.start])
    for count, distance in box.dims:
        starts = np.add.outer(starts, np.arange(count) * distance).ravel()
    return np.unique(np.add.outer(starts, np.arange(box.run)))


def test_the_bytes_of_a_rectangle_are_its_elements_in_order() -> None:
    choose = random.Random(7)
    for _ in range(200):
        shape = tuple(choose.randrange(1, 6) for _ in range(choose.randrange(1, 4)))
        array = np.arange(prod(shape), dtype=np.int32).reshape(shape)
        rectangle = tuple(sorted((choose.randrange(extent), extent - choose.randrange(extent))) for extent in shape)
        rectangle = tuple((first, max(last, first + 1)) for first, last in rectangle)
        box = bytes_of(rectangle, shape, 4)
        assert np.array(box.of(array)).reshape(-1).view(np.int32).tolist() == array[slices(rectangle)].ravel().tolist()
        assert rectangle_around(box, shape, 4) == rectangle


def test_rectangles_that_meet_are_found() -> None:
    choose, meeting = random.Random(8), 0
    for _ in range(300):
        some = []
        for _ in range(choose.randrange(2, 6)):
            corner = choose.randrange(8), choose.randrange(8)
            some.append(tuple((at, at + choose.randrange(1, 4)) for at in corner))
        expected = any(meet(one, other) for one, other in itertools.combinations(some, 2))
        assert any_meet(some) == expected
        meeting += expected
    assert 50 < meeting < 250 and hull_of([]) is None
    assert hull_of([((0, 2), (3, 4)), ((1, 5), (0, 1))]) == ((0, 5), (0, 4))


def test_parts_are_put_together_with_what_was_there() -> None:
    choose = random.Random(9)
    for _ in range(100):
        shape = tuple(choose.randrange(1, 9) for _ in range(choose.randrange(1, 4)))
        expected = old = np.arange(prod(shape)).reshape(shape)
        expected, parts = old.copy(), []
        for number in range(4):
            rectangle = tuple((at := choose.randrange(extent), choose.randrange(at, extent) + 1) for extent in shape)
            if not any(meet(rectangle, one) for one, _ in parts):
                parts.append((rectangle, np.full(shape_of(rectangle), -1 - number)))
                expected[slices(rectangle)] = -1 - number
        assert np.block(put_together(shape, parts, old)).tolist() == expected.tolist()
