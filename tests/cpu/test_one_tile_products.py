"""Products of one tile along K, and of few, leave what the interpreter leaves.

Numbers are small integers, whose sums are exact in any order. Arrays end where memory does, so that a read beyond one
ends the process.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tileir
from tests.cpu.guarded import Guarded
from tests.cpu.test_deferred_products import SUMS, TILE, numbers, program

LAYOUTS = {
    "plain": (False, False),
    "b turned": (False, True),
    "a turned": (True, False),
    "both turned": (True, True),
}
"""Transposed factors."""
SHAPES = [(8, 64), (32, 32), (16, 40), (64, 300), (6, 5), (12, 31), (33, 70), (3, 64), (96, 16)]


def agrees(kernel: tileir.Kernel, element: str, turned: tuple[bool, bool], m: int, n: int, k: int) -> None:
    a = numbers(*((k, m) if turned[0] else (m, k)), element, 1)
    b = numbers(*((n, k) if turned[1] else (k, n)), element, 2)
    results = []
    for target in ("cpu", "interp"):
        out, guard = np.full((m, n), 7, {"f64": np.float64}.get(SUMS.get(element), np.float32)), Guarded()
        arrays = (guard.copy(a), guard.copy(b)) if target == "cpu" else (a, b)
        kernel.launch((-(-m // TILE), -(-n // TILE)), *arrays, out, m, n, k, -(-k // TILE), target=target)
        results.append(out)
    assert np.array_equal(*results), (m, n, k)


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_factors_of_any_extents(element, layout):
    kernel = tileir.parse(program(element, LAYOUTS[layout]))["k"]
    for m, n in SHAPES:
        for k in (TILE, 20, 9 * TILE):
            agrees(kernel, element, LAYOUTS[layout], m, n, k)


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_factors_that_are_converted_or_paired(element):
    agrees(tileir.parse(program(element))["k"], element, (False, False), 32, 32, TILE)


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")
def test_sums_start_from_what_the_loop_is_given():
    start = program("f32").replace("%zeros = constant <f32: 0.0>", "%zeros = constant <f32: 2.5>")
    agrees(tileir.parse(start)["k"], "f32", (False, False), 32, 64, TILE)
