"""Products of few rows, whose tiles wait for those that follow them along K, leave what the interpreter leaves.

Numbers are small integers, whose sums are exact in any order. A run ends for every reason that there is.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.cpu.anew import compile_anew, planned, with_products
from tests.cpu.test_deferred_products import KIND, PADDED, TILE, agrees, program
from tileir.cpu.matmul import few_rows
from tileir.cpu.matmul.policy import ProductPlan, RunPlan

TURNED = (False, True)
SQUARE = f"tile<{TILE}x{TILE}xf32>"
STORED = f"%t3 = store_view_tko weak %ta, %a_tiles[%x, %zero] : {SQUARE}, {PADDED}, tile<i32> -> token"
STRONG = f"%ts, %t5 = load_view_tko relaxed tl_blk %c_tiles[%x, %y] : {KIND}, tile<i32> -> {SQUARE}, token"


@pytest.fixture(autouse=True)
def made(monkeypatch) -> list[few_rows.Run]:
    """Return the runs of compiled products, none of them from the cache."""
    compile_anew(monkeypatch)
    found: list[few_rows.Run] = []
    add = few_rows.Run.add

    def noted(self: few_rows.Run, *given: object) -> None:
        found.append(self)
        add(self, *given)

    monkeypatch.setattr(few_rows.Run, "add", noted)
    return found


@pytest.mark.parametrize("element", ["f32", "f64", "bf16"])
def test_few_rows_at_all_borders(element, made):
    text = program(element, TURNED)
    for m, n, k in ((1, 90, 300), (2, 40, 544), (3, 31, 64), (4, 33, 32), (5, 64, 100), (33, 64, 100), (1, 32, 20)):
        agrees(text, m, n, k, -(-k // TILE), element, TURNED)
    assert made


@pytest.mark.parametrize("steps", [0, 1, 2, 9, 10])
def test_any_number_of_iterations(steps):
    agrees(program(turned=TURNED), 3, 64, 300, steps, turned=TURNED)


@pytest.mark.parametrize("rows", [1, 3])
def test_runs_that_are_full(monkeypatch, rows):

    def short(found: ProductPlan) -> ProductPlan:
        return replace(found, panels=replace(found.panels, run=RunPlan(of_one_row=3, of_several=2)))

    planned(monkeypatch, change=lambda made: with_products(made, short))
    for k in (5 * TILE, 6 * TILE, 6 * TILE + 3, 7 * TILE):
        agrees(program(turned=TURNED), rows, 40, k, -(-k // TILE), turned=TURNED)


def test_tiles_that_do_not_follow_one_another(made):
    agrees(program(turned=TURNED, bounds="%one to %steps, step %two"), 3, 64, 300, 10, turned=TURNED)
    same = program(turned=TURNED).replace("%b_tiles[%i, %y]", "%b_tiles[%one, %y]")
    agrees(same, 3, 64, 300, 10, turned=TURNED)
    assert len(made) == 2


@pytest.mark.parametrize("body", [STORED, STRONG], ids=["stored", "strong"])
def test_tiles_do_not_wait_where_memory_may_change(body, made):
    agrees(program(turned=TURNED, body=body), 3, 32, 300, 10, turned=TURNED)
    assert not made


@pytest.mark.parametrize("turned", [(False, False), (True, True)], ids=["b plain", "a turned"])
def test_tiles_that_do_not_lie_along_k_do_not_wait(turned, made):
    agrees(program(turned=turned), 3, 40, 300, 10, turned=turned)
    assert not made
