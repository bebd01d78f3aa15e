"""The algorithms in `examples/concurrent`, right and wrong: what the explorer finds, and how it mends them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tileir
from tests.explore.launched import explored_file
from tileir.explore.changes import Mend
from tileir.explore.program import ModelProgram
from tileir.explore.results import Exploration

FOLDER = Path(tileir.__file__).parent / "examples" / "concurrent"
ALGORITHMS = {"last_block", "look_back", "message_passing", "mutex", "split_k", "ticket_lock", "work_queue"}
RIGHT = {"last_block", "look_back", "message", "mutex", "split_k", "ticket", "queue"}
MENDS = {
    "last_block_relaxed": ["'atomic_rmw_tko': 'acq_rel device' instead of 'relaxed device'"],
    "last_block_release": ["'atomic_rmw_tko': 'acq_rel device' instead of 'release device'"],
    "last_block_no_token": ["'load_ptr_tko': wait for the token of 'atomic_rmw_tko'"],
    "last_block_unpublished": ["'atomic_rmw_tko': wait for the token of 'store_ptr_tko'"],
    "last_block_scope": ["'atomic_rmw_tko': 'acq_rel device' instead of 'acq_rel tl_blk'"],
    "look_back_block_scope": [
        "'store_ptr_tko': 'release device' instead of 'release tl_blk'",
        "'load_ptr_tko': 'acquire device' instead of 'acquire tl_blk'",
        "'store_ptr_tko': 'release device' instead of 'release tl_blk'",
    ],
    "look_back_relaxed": ["'store_ptr_tko': 'release device' instead of 'relaxed device'"] * 2,
    "look_back_no_acquire": ["'load_ptr_tko': 'acquire device' instead of 'relaxed device'"],
    "message_relaxed_flag": [
        "'store_ptr_tko': 'release device' instead of 'relaxed device'",
        "'load_ptr_tko': 'acquire device' instead of 'relaxed device'",
    ],
    "message_no_token_before_flag": ["'store_ptr_tko': wait for the token of 'store_ptr_tko'"],
    "message_no_token_after_wait": [
        "'load_ptr_tko': wait for the token of 'load_ptr_tko', through the results of the regions between"
    ],
    "mutex_plain_unlock": ["'store_ptr_tko': 'release device' instead of 'weak'"],
    "mutex_relaxed_unlock": ["'store_ptr_tko': 'release device' instead of 'relaxed device'"],
    "mutex_relaxed_lock": ["'atomic_cas_tko': 'acquire device' instead of 'relaxed device'"],
    "mutex_no_token": [
        "'load_ptr_tko': wait for the token of 'atomic_cas_tko', through the results of the regions between"
    ],
    "mutex_block_scope": ["'atomic_cas_tko': 'acquire device' instead of 'acquire tl_blk'"],
    "mutex_not_unlocked": [],
    "split_k_relaxed": [
        "'load_ptr_tko': 'acquire device' instead of 'relaxed device'",
        "'store_ptr_tko': 'release device' instead of 'relaxed device'",
    ],
    "split_k_relaxed_post": ["'store_ptr_tko': 'release device' instead of 'relaxed device'"],
    "split_k_off_by_one": [],
    "ticket_relaxed_call": ["'store_ptr_tko': 'release device' instead of 'relaxed device'"],
    "ticket_relaxed_wait": ["'load_ptr_tko': 'acquire device' instead of 'relaxed device'"],
    "queue_relaxed_push": ["'store_ptr_tko': 'release device' instead of 'relaxed device'"],
    "queue_relaxed_wait": ["'load_ptr_tko': 'acquire device' instead of 'relaxed device'"],
    "queue_off_by_one": [
        "'store_ptr_tko': 'relaxed device' instead of 'weak'",
        "'load_ptr_tko': 'relaxed device' instead of 'weak'",
    ],
}
"""The first mend of each wrong algorithm, without places. Nothing orders a wait for the wrong number, or for nobody;
a queue that hands out what is not there yet becomes one without a race, which is all that is asked of it."""


def entries() -> list[tuple[Path, str]]:
    return [(path, name) for path in sorted(FOLDER.glob("*.mlir")) for name in tileir.load(path).kernels]


def test_each_algorithm_is_there_right_and_wrong() -> None:
    assert {path.stem for path in FOLDER.glob("*.mlir")} == ALGORITHMS
    assert {name for _, name in entries()} == RIGHT | MENDS.keys()


@pytest.mark.parametrize(("path", "name"), entries(), ids=lambda value: getattr(value, "stem", value))
def test_all_executions_are_as_the_program_says(path: Path, name: str) -> None:
    report = explored_file(path, name)
    assert report.ok and report.complete, str(report)
    assert bool(report.faults) == (name not in RIGHT)
    first = report.mends[0].steps if report.mends else ()
    assert [without_places(step) for step in first] == MENDS.get(name, [])


def without_places(step: str) -> str:
    return re.sub(r"[^\s']*\.mlir:\d+:\d+: ", "", step)


def test_a_mend_names_the_places() -> None:
    report = explored_file(FOLDER / "mutex.mlir", "mutex_relaxed_unlock")
    (mend,) = report.mends
    assert isinstance(mend, Mend) and mend.weakest and mend.cost == 1
    (step,) = mend.steps
    place = re.match(r".*mutex\.mlir:(\d+):\d+: 'store_ptr_tko'", step)
    assert place is not None
    line = (FOLDER / "mutex.mlir").read_text().splitlines()[int(place[1]) - 1]
    assert "%unlocked = store_ptr_tko relaxed device %lock" in line


QUICK = [(path, name) for path, name in entries() if not name.startswith("queue_")]


@pytest.mark.parametrize(("path", "name"), QUICK, ids=lambda value: getattr(value, "stem", value))
def test_iterations_that_find_nothing_add_nothing(path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one such iteration of every loop explored there are more executions, and no other outcome or fault."""
    few = explored_file(path, name, mends=False)
    monkeypatch.setattr(ModelProgram, "only_strong_access", lambda self, loop: None)
    many = explored_file(path, name, mends=False)
    assert many.executions >= few.executions
    assert ends(many) == ends(few)
    assert {fault.kind for fault in many.faults} == {fault.kind for fault in few.faults}


def ends(report: Exploration) -> set[tuple[tuple[str, float], ...]]:
    return {tuple(sorted(outcome.values.items())) for outcome in report.outcomes}


def test_executions_are_as_many_as_the_tile_blocks_can_be_ordered() -> None:
    assert explored_file(FOLDER / "mutex.mlir", "mutex").executions == 6
    assert explored_file(FOLDER / "ticket_lock.mlir", "ticket").executions == 6
    assert explored_file(FOLDER / "split_k.mlir", "split_k").executions == 1
