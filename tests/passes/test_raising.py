"""Accesses through tiles of pointers become views exactly where that changes nothing that can be seen."""

from __future__ import annotations

import numpy as np
import pytest
from raised import GATHERED, KEPT, NOT_GATHERED, RAISED

import tileir
from tests.differential import outcome
from tests.passes.random_pointers import check
from tests.thorough import sampled
from tileir.ir.types import GatherScatterViewType
from tileir.ops.control import If
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.views import LoadView, MakeTensorView, StoreView
from tileir.sanitize.launch import sanitize

PASSES = ["canonicalise", "cse", "raise", "cse"]
THROUGH_POINTERS = (LoadPtr, StorePtr)
STORES_THAT_SHARE = 550
"""The kernel of this seed stores to two views what it loads by pointers whose first elements are computed alike."""
VECTORS = [((2, 1, 1), n, 1, 1, n) for n in (1, 7, 8, 9, 15, 16)]
"""Grids, n, m, s, and as many elements of p and q as those that are not masked off need."""
PLANES = [((2, 3, 1), n, m, 24, (n - 1) * 24 + m) for n, m in ((1, 1), (4, 8), (5, 9), (7, 24), (8, 17), (3, 24))]
LAUNCHES = {
    "whole": [((1, 1, 1), 0, 0, 0, 8)],
    "far blocks": VECTORS[:3],
    "plane": PLANES,
    "plane of known width": PLANES,
    "guarded plane": PLANES,
    "guarded turns": [((1, 1, 1), n, 0, 0, max(n, 0)) for n in (-1, 0, 1, 8, 13, 24)],
    "counter": [((1, 1, 1), n, 0, 0, max(n, 0)) for n in (-3, 0, 1, 8, 21)],
    "rest": [((1, 1, 1), n, 0, 0, max(n, 0)) for n in (-9, 0, 1, 8, 16, 23)],
    "cube": [((1, 1, 1), n, 0, 0, min(8 * (n + 1), 32)) for n in (1, 2, 3, 9)],
    "permuted": [((1, 1, 1), 0, m, 0, 8 * m) for m in (1, 5, 8)],
}
EMPTY = {
    "guarded": [((3, 1, 1), n, 0, 0, max(n, 0)) for n in (-8, 0, 1, 9)],
    "guarded plane": [((2, 3, 1), n, m, 5, 24) for n, m in ((0, 5), (3, 0), (-1, -1), (2, 5))],
    "blocks": [((3, 1, 1), n, 0, 0, max(n, 0)) for n in (-8, 0, 1, 9)],
    "plane": [((2, 3, 1), n, m, 5, 24) for n, m in ((0, 5), (3, 0), (-1, -1), (2, 5))],
}
"""Launches in which some tile blocks have nothing to do."""


def launches(name: str) -> list[tuple]:
    return LAUNCHES.get(name, VECTORS) + EMPTY.get(name, [])


def raised(text: str) -> tileir.Module:
    return tileir.optimize(tileir.parse(text), passes=PASSES)


def count(module: tileir.Module, kinds: tuple[type, ...]) -> int:
    return sum(isinstance(op, kinds) for op in module.walk())


def arguments(launch: tuple, shared: bool = False, missing: int = 0) -> list[object]:
    """Those of a launch; p and q may be one array, and elements may be missing at the end."""
    _, n, m, s, size = launch
    data = np.random.default_rng(size).standard_normal(max(size - missing, 0)).astype(np.float32)
    return [data, data if shared else np.zeros_like(data), np.zeros(4, np.int32), n, m, s]


@pytest.mark.parametrize("name", RAISED)
def test_all_accesses_become_views(name: str) -> None:
    before, after = tileir.parse(RAISED[name]), raised(RAISED[name])
    assert count(after, THROUGH_POINTERS) == 0
    assert count(after, (LoadView, StoreView)) == count(before, THROUGH_POINTERS) > 0
    assert tileir.verify(after).ok
    data = tileir.to_bytecode(after)
    assert tileir.to_bytecode(tileir.from_bytecode(data)) == data


@pytest.mark.parametrize("name", KEPT)
def test_an_access_stays_where_a_condition_is_not_proved(name: str) -> None:
    before, after = tileir.parse(KEPT[name]), raised(KEPT[name])
    assert count(after, (LoadView, StoreView)) == 0
    assert count(after, THROUGH_POINTERS) == count(before, THROUGH_POINTERS) > 0


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize("name", RAISED)
def test_views_give_the_same_bits(name: str, target: str) -> None:
    """With arrays that end where the mask does, so that lanes masked off would trap."""
    before, after = tileir.parse(RAISED[name]), raised(RAISED[name])
    for launch in launches(name):
        for shared in (False, True):
            args = arguments(launch, shared)
            first, second = (outcome(module["k"], launch[0], args, target) for module in (before, after))
            assert first.trap is None
            assert second.trap is None, (launch, second.trap)
            assert [one.tobytes() for one in first.arrays] == [one.tobytes() for one in second.arrays], launch


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize("name", RAISED)
def test_an_element_beyond_the_array_still_traps(name: str, target: str) -> None:
    launch = LAUNCHES.get(name, VECTORS)[-1]
    for module in (tileir.parse(RAISED[name]), raised(RAISED[name])):
        with pytest.raises(tileir.Trap):
            module["k"].launch(launch[0], *arguments(launch, missing=1), target=target)


@pytest.mark.parametrize("name", RAISED)
def test_the_sanitizer_finds_nothing_new(name: str) -> None:
    before, after = tileir.parse(RAISED[name]), raised(RAISED[name])
    for launch in launches(name):
        first, second = (
            sanitize(module["k"], launch[0], *arguments(launch), copy=True, output=lambda text: None)
            for module in (before, after)
        )
        assert second.ok or not first.ok, f"{launch}\n{second}"


def test_one_test_guards_all_that_a_block_does() -> None:
    """Inputs of the end of a block other than tokens are computed outside."""
    for name in ("guarded", "guarded plane", "guarded turns"):
        guards = [op for op in raised(RAISED[name]).walk() if isinstance(op, If)]
        assert len(guards) == 1
        assert len(guards[0].results) == (name == "guarded turns")


@pytest.mark.parametrize("known", [True, False])
def test_a_view_is_made_before_a_loop_where_its_tensor_has_elements(known: bool) -> None:
    """A loop that may not run does not tell; what is known without it does."""
    text = RAISED["counter"].replace(
        "%c3 =", "%some = assume bounded<1, ?>, %n : tile<i32>\n%c3 =" if known else "%c3 ="
    )
    text = text.replace("to %n", "to %some").replace("all 8 %n", "all 8 %some") if known else text
    text = text.replace("reshape %n", "reshape %some") if known else text
    views = [op for op in raised(text).walk() if isinstance(op, MakeTensorView)]
    assert len(views) == 2
    assert all((op.parent_op.spec.name == "for") is not known for op in views)


def test_the_token_and_the_hints_are_kept() -> None:
    text = RAISED["whole"].replace(
        "load_ptr_tko weak %pa", "load_ptr_tko weak %pa optimization_hints = <sm_90 = {latency = 3}>"
    )
    load, store = (op for op in raised(text).walk() if isinstance(op, LoadView | StoreView))
    assert store.token is load.result_token
    assert "latency" in str(load.optimization_hints)
    assert load.token is None


@pytest.mark.parametrize("seed", sampled([STORES_THAT_SHARE, *range(24)], 3))
def test_a_random_kernel_gives_the_same(seed: int) -> None:
    check(seed, ("interp", "cpu") if seed % 8 == 0 or seed == STORES_THAT_SHARE else ("interp",))


# ---------------------------------------------------------------- rows that an index tile names


def gathered(text: str) -> tileir.Module:
    return tileir.optimize(tileir.parse(text), passes=["canonicalise", "cse", "raise-gathers", "cse", "dce"])


@pytest.mark.parametrize("name", GATHERED)
def test_rows_go_through_gather_views(name: str) -> None:
    after = gathered(GATHERED[name])
    views = [op.view.type for op in after.walk() if isinstance(op, LoadView | StoreView)]
    assert len(views) == 2
    assert all(isinstance(view, GatherScatterViewType) for view in views)
    assert tileir.verify(after).ok
    assert tileir.to_bytecode(after, version="13.3")


@pytest.mark.parametrize("name", NOT_GATHERED)
def test_rows_stay_where_a_condition_is_not_proved(name: str) -> None:
    assert count(gathered(NOT_GATHERED[name]), (LoadView, StoreView)) == 0


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize("name", GATHERED)
def test_gathered_rows_give_the_same_bits(name: str, target: str) -> None:
    """Also where rows are masked off whose index leads nowhere, and where the last row ends with the array."""
    before, after = tileir.parse(GATHERED[name]), gathered(GATHERED[name])
    far = 7 if name == "few rows" else 1 << 20
    for n, m in ((4, 8), (3, 5), (1, 1), (0, 8), (-1, 3), (9, 12)):
        rows = np.array([2, 0, 3, 1], np.int32)
        last = max([24 * row + min(m, 8) for row in rows[: max(n, 0)]], default=1)
        rows[max(n, 0) :] = far
        data = np.random.default_rng(n + m).standard_normal(last).astype(np.float32)
        args = [data, np.zeros_like(data), rows, n, m, 24]
        first, second = (outcome(module["k"], (1,), args, target) for module in (before, after))
        assert first.trap is None
        assert second.trap is None, (n, m, second.trap)
        assert [one.tobytes() for one in first.arrays] == [one.tobytes() for one in second.arrays], (n, m)
        reports = [
            sanitize(module["k"], (1,), *args, copy=True, output=lambda text: None) for module in (before, after)
        ]
        assert reports[1].ok or not reports[0].ok, f"{n}, {m}\n{reports[1]}"


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_a_row_beyond_the_array_still_traps(target: str) -> None:
    data, rows = np.zeros(24 * 4, np.float32), np.array([0, 1, 4, 2], np.int32)
    for module in (tileir.parse(GATHERED["rows"]), gathered(GATHERED["rows"])):
        with pytest.raises(tileir.Trap):
            module["k"].launch((1,), data, data.copy(), rows, 4, 8, 24, target=target)
