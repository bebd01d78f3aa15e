"""Products of up to 16 rows, which a matrix unit makes transposed, leave what the interpreter leaves.

Numbers are integers, whose sums are exact in any order, but where it is said. Without a matrix unit the same programs
are multiplied otherwise, and have to agree as well. Arrays end where memory does: the rows of a tile that are not
needed are not there.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.cpu.anew import kernel_of, planned, with_products
from tests.cpu.guarded import Guarded
from tests.cpu.test_deferred_integers import are_equal, results, up_and_down
from tests.cpu.test_deferred_products import compiled_anew, program
from tests.thorough import sampled
from tileir.cpu.llvm.engine import host
from tileir.cpu.matmul import policy
from tileir.cpu.matmul.multiplication import LoopProduct
from tileir.cpu.matmul.policy import ProductPlan

__all__ = ["compiled_anew"]
TILE = 64
B_TURNED = (False, True)
DTYPES = {"bf16": ml_dtypes.bfloat16, "i8": np.int8}
ROWS = (1, 3, 7, 15, 16, 17, 64 + 5)
PANEL = 1024
UNSIGNED = "unsigned unsigned"
SQUARE = f"tile<{TILE}x{TILE}xbf16>"
A_KIND = f"partition_view<tile=({TILE}x{TILE}), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>>"
STORED = f"%t3 = store_view_tko weak %ta, %a_tiles[%x, %zero] : {SQUARE}, {A_KIND}, tile<i32> -> token"


@pytest.fixture(autouse=True)
def made(monkeypatch) -> list[LoopProduct]:
    """The products that are compiled to multiply transposed runs of tiles."""
    found: list[LoopProduct] = []
    multiply = LoopProduct.multiply_run

    def noted(self: LoopProduct, *given: object) -> None:
        found.append(self)
        multiply(self, *given)

    monkeypatch.setattr(LoopProduct, "multiply_run", noted)
    return found


def short(found: ProductPlan, depth: int) -> ProductPlan:
    """The product with panels for so many bytes along K at most, if it is transposed."""
    room = found.panels.transposed if found.panels else None
    if room is None:
        return found
    tiles = depth * room.tiles // policy.LONGEST_TRANSPOSED
    room = replace(room, size=room.size * tiles // room.tiles, tiles=tiles)
    return replace(found, panels=replace(found.panels, transposed=room))


def integers(shape: tuple[int, int], element: str, seed: int) -> np.ndarray:
    bound = 128 if element == "i8" else 3
    return np.random.default_rng(seed).integers(-bound, bound, shape).astype(DTYPES[element])


def agrees(text: str, m: int, n: int, k: int, element: str = "bf16", turned_a: bool = False, steps: int = 0) -> None:
    kernel, guard = kernel_of(text), Guarded()
    a = integers((k, m) if turned_a else (m, k), element, 1)
    b = integers((n, k) if "[%n, %k]" in text else (k, n), element, 2)
    found = []
    for target in ("cpu", "interp"):
        options = {"threads": 1} if target == "cpu" else {}
        out = np.full((m, n), 7, np.int32 if element == "i8" else np.float32)
        given = guard.copy(a), guard.copy(b), out, m, n, k, steps or -(-k // TILE)
        kernel.launch((-(-m // TILE), -(-n // TILE)), *given, target=target, **options)
        found.append(out)
    assert are_equal(found), (m, n, k)


linux = pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")


@linux
@pytest.mark.parametrize("element", sampled(DTYPES, 2))
@pytest.mark.parametrize("turned_a", sampled([False, True], 2), ids=["a plain", "a turned"])
def test_few_rows_at_all_borders(element, turned_a, made):
    text = program(element, (turned_a, True), size=TILE)
    for m in ROWS:
        for n, k in ((200, 1000), (64, 128), (70, 64), (5, 20)):
            agrees(text, m, n, k, element, turned_a)
    assert bool(made) == host().has_matrix_unit


@linux
@pytest.mark.parametrize("element", DTYPES)
def test_runs_that_are_full(element, monkeypatch):
    planned(monkeypatch, change=lambda made: with_products(made, partial(short, depth=PANEL)))
    text = program(element, B_TURNED, size=TILE)
    for k in (PANEL, PANEL + TILE, 5 * PANEL, 5 * PANEL + 3):
        agrees(text, 9, 150, k, element)


@linux
def test_tiles_that_do_not_follow_one_another():
    agrees(program("bf16", B_TURNED, bounds="%one to %steps, step %two", size=TILE), 8, 130, 700)
    same = program("bf16", B_TURNED, size=TILE).replace("%b_tiles[%i, %y]", "%b_tiles[%one, %y]")
    agrees(same, 8, 130, 700)


@linux
@pytest.mark.parametrize("start", ["-0.0", "2.5"])
def test_sums_start_from_what_the_loop_is_given(start):
    zeros = "%zeros = constant <f32: 0.0>"
    text = program("bf16", B_TURNED, size=TILE).replace(zeros, zeros.replace("0.0", start))
    agrees(text, 8, 100, 700)
    agrees(text, 8, 100, 700, steps=1)


@linux
def test_tiles_do_not_wait_where_memory_may_change(made):
    agrees(program("bf16", B_TURNED, body=STORED, size=TILE), 8, 64, 300)
    assert not made


@pytest.mark.parametrize("signs", ["signed unsigned", "unsigned signed", UNSIGNED])
def test_bytes_of_each_signedness(signs):
    kernel = tileir.parse(program("i8", B_TURNED, signs=signs, size=TILE))["k"]
    a, b = integers((11, 1440), "i8", 3), integers((90, 1440), "i8", 4)
    c = np.zeros((11, 90), np.int32)
    assert are_equal(turned_results(kernel, a, b, c))


def turned_results(kernel: tileir.Kernel, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> list[np.ndarray]:
    """Return the contents of c after native code and after the interpreter, for B transposed."""
    assert a.shape[1] == b.shape[1]
    return results(kernel, a, b.reshape(a.shape[1], -1), c)


@pytest.mark.parametrize("start", ["%zeros", "%old"])
def test_sums_saturate_after_each_tile(start, monkeypatch):
    """In front of a limit so many runs are safe; rows go over the limit and come back, also in the midst of a run."""
    planned(monkeypatch, change=lambda made: with_products(made, partial(short, depth=2 * PANEL)))
    kernel = tileir.parse(program("i8", B_TURNED, start=start, signs=UNSIGNED, size=TILE))["k"]
    limit = (1 << 31) // (255 * 255 * TILE)
    up = limit + 2 if start == "%zeros" else 37
    a, b = up_and_down(UNSIGNED, up + 70, up)
    a = a[:6].copy()
    a[1, up * TILE :] = 1
    for room in (0, 1, 20 * TILE * 255 * 255, 36 * TILE * 255 * 255, 37 * TILE * 255 * 255 + 5):
        c = np.full((6, TILE), (1 << 31) - 1 - room, np.int32)
        found = turned_results(kernel, a, b.T.copy(), c)
        assert are_equal(found), room
        assert found[0].max() <= (1 << 31) - 1


def test_few_rows_are_those_of_many_bit_by_bit():
    """Real numbers, whose sums depend on the order of their terms."""
    if not host().has_matrix_unit:
        pytest.skip("without a matrix unit few rows are summed in another order")
    kernel, rng = tileir.parse(program("bf16", B_TURNED, size=TILE))["k"], np.random.default_rng(7)
    a, b = (rng.standard_normal((rows, 1000)).astype(ml_dtypes.bfloat16) for rows in (64, 100))
    found = []
    for rows in (64, 8):
        out = np.zeros((rows, 100), np.float32)
        kernel.launch((1, 2), a[:rows].copy(), b, out, rows, 100, 1000, 16, target="cpu", threads=1)
        found.append(out[:8])
    assert are_equal(found)
