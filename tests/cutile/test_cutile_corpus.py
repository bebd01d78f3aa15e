"""Every faulty cuTile kernel of the corpus has exactly the findings that it is marked with, every mended one none."""

from __future__ import annotations

import inspect
import re

import pytest

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

import cuda.tile as ct

from tests.cutile import sanitized_kernels
from tests.cutile.sanitized_kernels import PAIRS
from tests.sanitize.corpus_programs import cases
from tileir import cutile
from tileir.sanitize.findings import SYMMETRIC

LINES = inspect.getsource(sanitized_kernels).splitlines()
MARK = re.compile(r"([!&])([a-z-]+)(\.\d+)?")


def body(name: str) -> range:
    """The line numbers of a kernel."""
    begin = next(number for number, line in enumerate(LINES, 1) if line.startswith(f"def {name}("))
    end = next((number for number in range(begin + 1, len(LINES)) if LINES[number - 1] == ""), len(LINES))
    return range(begin, end)


def expected(name: str) -> list[tuple[str, int, int | None]]:
    first, other = {}, {}
    for number in body(name):
        for sign, kind, tag in MARK.findall(LINES[number - 1].partition("#")[2]):
            (first if sign == "!" else other)[kind, tag] = number
    return [found(kind, line, other.get((kind, tag))) for (kind, tag), line in first.items()]


def found(kind: str, line: int, other: int | None) -> tuple[str, int, int | None]:
    """Either access of a conflict may be met first."""
    pair = sorted((line, other)) if kind in SYMMETRIC and other is not None else (line, other)
    return kind, pair[0], pair[1]


@pytest.mark.parametrize("name", [f"{how}_{name}" for name in PAIRS for how in ("wrong", "right")])
def test_the_findings_are_those_that_the_kernel_is_marked_with(name: str) -> None:
    pair = PAIRS[name.partition("_")[2]]
    with cutile.on("interp", sanitize=True) as session:
        ct.launch(None, (pair.blocks,), getattr(sanitized_kernels, name), pair.arrays())
    met = [found(one.kind, one.loc.line, None if one.other is None else one.other.line) for one in session.report]
    assert sorted(met, key=str) == sorted(expected(name), key=str), str(session.report)
    assert bool(met) == name.startswith("wrong_")


PUBLISHED = {
    "a kernel that never reads its block id": "never_reads_its_block_id",
    "a scatter through duplicate destinations": "scatter_through_duplicates",
    "a store without the guard that its twin has": "store_without_guard",
    "a histogram written by all blocks and read in the same launch": "histogram_read_in_the_same_launch",
    "the initialisation guarded but the final store not": "init_guarded_but_not_the_final_store",
    "padding in the variance of a layer norm": "padding_in_a_variance variance_of_padded_rows",
    "a relaxed last block done": "last_block_done_relaxed",
    "a relaxed semaphore of split-k": "split_k_semaphore_relaxed",
    "a mutex with a plain unlock": "mutex_with_plain_unlock",
    "a look-back with block scope": "look_back_with_block_scope",
    "an acquire only on the failed swap": "acquire_only_on_the_failed_swap",
    "a torn atomic maximum": "maximum_in_two_steps torn_atomic_max",
    "the mask of one array for a shorter one": "mask_of_one_array_for_a_shorter_one "
    "mask_of_one_array_for_a_shorter_view",
    "a second loop loads what the first stores": "second_loop_loads_what_the_first_of_a_neighbour_stores "
    "second_loop_loads_what_the_first_stores",
}
"""Faults that have been published, by the names of their pairs: in cuTile, and in Tile IR if that is another."""


@pytest.mark.parametrize("fault", PUBLISHED)
def test_a_published_fault_is_in_both_languages(fault: str) -> None:
    here, *there = PUBLISHED[fault].split()
    names = {case.name for case in cases()}
    for how in ("wrong", "right"):
        assert here in PAIRS and hasattr(sanitized_kernels, f"{how}_{here}")
        assert f"{how}_{(there or [here])[0]}" in names
