"""Products of bytes that a loop defers saturate where the interpreter's do: after each iteration, also in between.

Tiles are put together while no sum can leave i32, and multiplied one by one from then on. Here sums start so near the
limits, or loops are so long, that this happens first in a certain panel; rows go over the limit and come back.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tileir
from tests.cpu.anew import planned, with_products
from tests.cpu.test_deferred_products import compiled_anew, deferred, launched, program
from tileir.cpu.llvm import engine
from tileir.cpu.matmul.policy import ProductPlan

__all__ = ["compiled_anew"]
SIGNS = ("signed signed", "signed unsigned", "unsigned signed", "unsigned unsigned")
TILE = 64
"""So that a matrix unit takes a tile by itself."""
LEAST, MOST = -(1 << 31), (1 << 31) - 1
PANEL = 1024
"""Bytes along K that are put together."""
HOSTS = {"this processor": {}, "without a matrix unit": {"has_matrix_unit": False}}
HOSTS["without dot products"] = {"has_matrix_unit": False, "has_int8_dot": False}


def extremes(signs: str) -> tuple[int, int]:
    """The patterns of the numbers with the largest product, of the left and the right factor."""
    left, right = (128 if word == "signed" else 255 for word in signs.split())
    return left, right


def largest(signs: str) -> int:
    """The magnitude of that product."""
    return int(np.prod(extremes(signs), dtype=np.int64))


def up_and_down(signs: str, steps: int, up: int) -> tuple[np.ndarray, np.ndarray]:
    """Factors of one tile of rows and columns: sums grow as fast as they can for `up` tiles, then shrink, or stay."""
    left, right = (np.full((TILE, steps * TILE), extreme, np.uint8) for extreme in extremes(signs))
    left[:, up * TILE :] = 127 if signs.startswith("signed") else 0
    left[1::2] ^= 0x80 if signs.startswith("signed") else 0
    return left.view(np.int8), right.T.copy().view(np.int8)


def made(signs: str, start: str = "%zeros") -> tileir.Kernel:
    """A kernel whose product is deferred; sums begin as `start` says."""
    text = program("i8", start=start, signs=signs, size=TILE)
    assert deferred(text) == 1
    return tileir.parse(text)["k"]


def results(kernel: tileir.Kernel, a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> list[np.ndarray]:
    """Return the contents of c after native code and after the interpreter."""
    c = np.zeros((a.shape[0], b.shape[1]), np.int32) if c is None else c
    extents = *c.shape, a.shape[1], a.shape[1] // TILE
    return [launched(kernel, target, [a, b, c], *extents, size=TILE)[-c.size :] for target in ("cpu", "interp")]


def are_equal(found: list[np.ndarray]) -> bool:
    return bool(np.array_equal(*found))


@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("changes", HOSTS.values(), ids=HOSTS.keys())
def test_all_bytes_of_each_signedness(signs, changes, monkeypatch):
    planned(monkeypatch, target=replace(engine.host(), **changes))
    random, kernel = np.random.default_rng(3), made(signs)
    for rows in (6, 100):
        a, b = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((rows, 1440), (1440, 90)))
        assert are_equal(results(kernel, a, b)), rows


@pytest.mark.parametrize("signs", SIGNS)
def test_sums_that_start_near_the_limits(signs):
    """Some number of panels is safe; the sums added until they shrink are one less than the limit allows, equal to it,
    or more."""
    kernel = made(signs, "%old")
    for panels in (1, 2):
        up = panels * PANEL // TILE - 5
        a, b = up_and_down(signs, 2 * PANEL // TILE + 5, up)
        reach = up * TILE * largest(signs)
        for room in (reach - 1, reach, reach + 1, panels * PANEL * largest(signs) + 1):
            starts = np.array([[MOST - room], [LEAST + room]], np.int32)
            assert are_equal(results(kernel, a, b, np.tile(starts, (TILE // 2, TILE)))), room
            assert are_equal(results(kernel, a, b, np.tile(starts[::-1], (TILE // 2, TILE)))), room


def test_sums_that_start_at_the_limits():
    kernel = made("signed unsigned", "%old")
    a, b = up_and_down("signed unsigned", 40, 20)
    for start in (LEAST, MOST):
        assert are_equal(results(kernel, a, b, np.full((TILE, TILE), start, np.int32)))


def test_a_loop_so_long_that_sums_saturate():
    signs = "unsigned unsigned"
    kernel, limit = made(signs), -(-MOST // (largest(signs) * TILE))
    for up in (limit - 1, limit + 1):
        a, b = up_and_down(signs, limit + 40, up)
        found = results(kernel, a, b)
        assert are_equal(found)
        assert (found[0].max() == MOST) == (up > limit)


def test_tiles_are_put_together_by_the_bound_on_products(monkeypatch):
    """With a bound that is too low, sums that saturate in between are wrong; with one that is too high, none are."""
    a, b = up_and_down("signed signed", 64, 30)
    start = np.full((TILE, TILE), MOST - 5000, np.int32)
    assert are_equal(results(made("signed signed", "%old"), a, b, start))
    for bound, is_right in ((1, False), (1 << 40, True)):

        def bounded(found: ProductPlan, bound: int = bound) -> ProductPlan:
            assert found.panels is not None
            return replace(found, panels=replace(found.panels, largest=bound))

        planned(monkeypatch, change=lambda made, bounded=bounded: with_products(made, bounded))
        assert are_equal(results(made("signed signed", "%old"), a, b, start)) is is_right
