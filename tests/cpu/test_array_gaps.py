"""Native code never touches a byte that no element of its arrays owns, in the words of the interpreter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from test_checks import FAULTY, LANES

import tileir
from tests.thorough import sampled
from tileir.runtime.options import Check

GAP = 0xA5A5A5A5
CHECKS: tuple[Check, ...] = (True, "strict")

LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "a column": lambda whole: whole[:, 1],
    "every other element": lambda whole: whole.reshape(-1)[::2],
    "some columns": lambda whole: whole[:, :7],
    "some columns, turned": lambda whole: whole[:, :7].T,
    "every other row": lambda whole: whole[::2],
    "a part of a cube": lambda whole: whole.reshape(16, 8, 16)[:, :3, 2:9:2],
    "windows": lambda whole: np.lib.stride_tricks.sliding_window_view(whole[:, ::2], 3, axis=1, writeable=True),
    "strides that do not nest": lambda whole: np.lib.stride_tricks.as_strided(whole, (9, 5), (8, 12)),
}


def gaps_around(array: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return which elements of `whole` lie outside `array`."""
    whole.view(np.uint32)[...] = 0
    array.view(np.uint32)[...] = 1
    gaps = whole.view(np.uint32) == 0
    whole.view(np.uint32)[...] = GAP
    array[...] = 0
    return gaps


def outcome(kernel: tileir.Kernel, array: np.ndarray, target: str, check: Check) -> tuple[object, ...] | None:
    try:
        kernel.launch(1, array, target=target, check=check)
    except tileir.Trap as trap:
        return trap.message, trap.op, trap.array, trap.index, trap.block
    return None


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", sampled([name for name in FAULTY if not name.startswith("multimem")], 4))
def test_an_access_to_bytes_between_elements_traps_as_in_the_interpreter(name: str, layout: str, check: Check) -> None:
    kernel = tileir.parse(f"entry @k(%p: tile<ptr<f32>>) {{\n{FAULTY[name]}\n  return\n}}")["k"]
    whole = np.zeros((128, 16), np.float32)
    array = LAYOUTS[layout](whole)
    gaps = gaps_around(array, whole)
    expected = outcome(kernel, array, "interp", check)
    assert (whole.view(np.uint32)[gaps] == GAP).all()
    array[...] = 0
    for _ in range(2):
        assert outcome(kernel, array, "cpu", check) == expected
    assert (whole.view(np.uint32)[gaps] == GAP).all()


TENSOR = "tensor_view<?x?xf32, strides=[?,?]>"
VIEW = f"partition_view<tile=(4x4), padding_value = zero, {TENSOR}>"
SIZES = ", ".join(f"%{name}: tile<i32>" for name in ("n0", "n1", "s0", "s1", "d0", "d1"))
COPY = f"""entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, {SIZES}) {{
  %tx = make_tensor_view %x, shape = [%n0, %n1], strides = [%s0, %s1] : tile<i32> -> {TENSOR}
  %ty = make_tensor_view %y, shape = [%n0, %n1], strides = [%d0, %d1] : tile<i32> -> {TENSOR}
  %vx = make_partition_view %tx : {VIEW}
  %vy = make_partition_view %ty : {VIEW}
  %i, %j, %k = get_tile_block_id : tile<i32>
  %v, %t = load_view_tko weak %vx[%i, %j] : {VIEW}, tile<i32> -> tile<4x4xf32>, token
  %u = store_view_tko weak %v, %vy[%i, %j] : tile<4x4xf32>, {VIEW}, tile<i32> -> token
  return
}}"""
"""Copies a view of its first array, with given extents and strides, into one of the second."""


def steps(array: np.ndarray) -> list[int]:
    return [step // array.itemsize for step in array.strides]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("layout", ["some columns", "some columns, turned", "every other row", "windows of a row"])
def test_a_view_with_the_strides_of_its_array_is_used_as_any_other(layout: str, check: Check) -> None:
    windows = np.lib.stride_tricks.sliding_window_view
    made = {**LAYOUTS, "windows of a row": lambda whole: windows(whole[0, ::2], 3, writeable=True)}[layout]
    given = np.random.default_rng(0).standard_normal((128, 16)).astype(np.float32)
    whole = np.zeros_like(given)
    x, y = made(given), made(whole)
    gaps = gaps_around(y, whole)
    grid = [-(-extent // 4) for extent in x.shape]
    tileir.parse(COPY)["k"].launch(grid, x, y, *x.shape, *steps(x), *steps(y), check=check)
    np.testing.assert_array_equal(y, x)
    assert (whole.view(np.uint32)[gaps] == GAP).all()


@pytest.mark.parametrize("sizes", [(3, 4, 32, 2, 32, 2), (2, 2, 64, 4, 64, 4), (3, 3, 34, 2, 32, 4)])
def test_a_view_of_some_elements_of_an_array_with_gaps_is_used_as_any_other(sizes: tuple[int, ...]) -> None:
    found, expected = (np.zeros((8, 16), np.float32) for _ in range(2))
    x = np.arange(128, dtype=np.float32).reshape(8, 16)
    for y, target in ((found, "cpu"), (expected, "interp")):
        tileir.parse(COPY)["k"].launch((1, 1), x[::2, ::2], y[::2, ::2], *sizes, target=target)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("extents", [(4, 9), (5, 8), (3, 16)])
def test_a_view_that_claims_gaps_traps_at_the_first_tile_that_has_one(extents: tuple[int, int]) -> None:
    y = np.zeros((16, 16), np.float32)
    traps = []
    for target in ("cpu", "interp"):
        x, kernel = np.zeros((8, 16), np.float32)[::2, :8], tileir.parse(COPY)["k"]
        with pytest.raises(tileir.Trap) as caught:
            kernel.launch((4, 4), x, y, *extents, 32, 1, 16, 1, target=target)
        traps.append((caught.value.op, caught.value.array, caught.value.message.split(" at ")[0]))
    assert traps[0] == traps[1]


@pytest.mark.parametrize("rows", [(0, 4, 8, 12), (4, 0, 0, 0), (0, 1, 4, 8), (0, 4, 8, 16), (0, 4, -1, 8)])
def test_a_lane_between_elements_traps_as_in_the_interpreter(rows: tuple[int, ...]) -> None:
    kernel = tileir.parse(LANES.format(given="f32", cast="", used=""))["k"]
    column, at, ends = np.zeros((4, 4), np.float32)[:, 1], np.array(rows, np.int32), []
    for target in ("cpu", "interp"):
        try:
            kernel.launch(1, column, at, target=target)
        except tileir.Trap as trap:
            ends.append((trap.message, trap.op, trap.array, trap.index))
    assert ends[::2] == ends[1::2]
    assert bool(ends) is bool({*rows} - {0, 4, 8, 12})


def test_an_array_with_gaps_that_may_only_be_read_is_not_written() -> None:
    x = np.ones((8, 16), np.float32)
    y = np.zeros((8, 16), np.float32)
    x.flags.writeable = False
    sizes = (4, 8, 32, 2, 32, 2)
    tileir.parse(COPY)["k"].launch((1, 2), x[::2, ::2], y[::2, ::2], *sizes)
    assert y.sum() == 32
    with pytest.raises(ValueError, match="expected a writable array"):
        tileir.parse(COPY)["k"].launch((1, 2), y[::2, ::2], x[::2, ::2], *sizes)


def test_elements_of_arrays_that_lie_between_those_of_others_may_be_used() -> None:
    """Each of two arrays fills the gaps of the other: all bytes between the first and the last are owned."""
    text = LANES.format(given="f32", cast="", used="").replace("%at:", "%other: tile<ptr<f32>>, %at:")
    whole = np.arange(16, dtype=np.float32)
    kernel = tileir.parse(text)["k"]
    kernel.launch(1, whole[::2], whole[1::2], np.array([0, 1, 2, 3], np.int32))
    with pytest.raises(tileir.Trap, match="no element of the array lies there"):
        kernel.launch(1, whole[::2], whole[1:8:2], np.array([0, 1, 2, 9], np.int32))
