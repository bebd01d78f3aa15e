"""Every byte that the interpreter touches lies in the footprint of its access, tile block by tile block."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis import launches
from tests.analysis.touched import compared_launches
from tests.thorough import sampled
from tileir.examples.checks import EXAMPLES

DATA_DEPENDENT = {"embedding", "mutex"}
"""Examples whose footprints are larger than the touched memory: rows that are loaded, or a loop without a count."""


@pytest.mark.parametrize("file", launches.GOLDEN)
def test_golden_programs(file: str) -> None:
    with compared_launches() as tally:
        launches.golden(file)
    assert not tally.loose and not tally.unmapped


@pytest.mark.parametrize("name", [example.name for example in EXAMPLES])
def test_examples(name: str) -> None:
    with compared_launches() as tally:
        launches.examples([name])
    assert not tally.unmapped
    assert not tally.inexact or name in DATA_DEPENDENT


@pytest.mark.parametrize("start", sampled(range(0, 60, 20), 3))
def test_random_programs(start: int) -> None:
    with compared_launches() as tally:
        for seed in range(start, start + 20):
            launches.random_program(seed)
    assert tally.exact > 20 and not tally.unmapped


@pytest.mark.parametrize("start", sampled(range(0, 60, 20), 3))
def test_random_indices(start: int) -> None:
    with compared_launches() as tally:
        for seed in range(start, start + 20):
            launches.random_indices(seed)
    assert tally.exact > 200


@pytest.mark.parametrize("script", launches.SCRIPTS, ids=lambda path: path.stem)
def test_cutile_kernels(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")
    pytest.importorskip("torch", reason="the examples compare with torch")
    with compared_launches() as tally:
        launches.cutile_script(script)
    assert tally.exact
