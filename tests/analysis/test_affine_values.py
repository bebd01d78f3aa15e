"""Every integer and pointer that the interpreter computes is what the analysis says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis import launches
from tests.analysis.shadow import compared_values
from tests.thorough import sampled

SMALL = {"embedding", "gemm_kloop", "layer_norm", "mutex", "prefix_sum", "softmax", "transpose"}
"""Examples with few tile blocks."""

INDICES = {"gather_scatter", "grouped_gemm", "histogram", "transpose"}
"""Scripts of cuTile with indices of their own."""


def test_golden_programs() -> None:
    with compared_values() as tally:
        for file in launches.GOLDEN:
            launches.golden(file)
    assert tally.compared > 1000


def test_examples() -> None:
    with compared_values() as tally:
        launches.examples(SMALL)
    assert tally.compared > 1000 and not tally.unseen


@pytest.mark.parametrize("start", sampled(range(0, 40, 20), 2))
def test_random_programs(start: int) -> None:
    with compared_values() as tally:
        for seed in range(start, start + 20):
            launches.random_program(seed)
    assert tally.compared > 200


@pytest.mark.parametrize("start", sampled(range(0, 60, 20), 3))
def test_random_indices(start: int) -> None:
    with compared_values() as tally:
        for seed in range(start, start + 20):
            launches.random_indices(seed)
    assert tally.compared > 2000


@pytest.mark.parametrize(
    "script", [script for script in launches.SCRIPTS if script.stem in INDICES], ids=lambda path: path.stem
)
def test_cutile_kernels(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")
    pytest.importorskip("torch", reason="the examples compare with torch")
    with compared_values() as tally:
        launches.cutile_script(script)
    assert tally.compared
