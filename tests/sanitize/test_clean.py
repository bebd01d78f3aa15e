"""What is right is not complained about: the examples, the cuTile examples, what looks like a fault and is none."""

from __future__ import annotations

import runpy
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.golden.arguments import arguments, runs
from tileir import cutile
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES

CUTILE = Path(tileir.__file__).parent / "examples" / "cutile"
UNORDERED = {
    "atomics.through_views",
    "debug_info.scale",
    "extensions.rows",
    "hints.tuned",
    "multicast_13_5.kinds",
    "multicast_13_5.pointers",
    "multicast_13_5.replicas",
    "version_13_4.promised",
    "views.partitions",
}
"""Golden entries that access one element without a token in between, which their texts are not about."""
BROKEN = ("undefined", "assert")
"""Kinds that the golden programs show on purpose."""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_has_no_finding_and_the_right_results(example: Example) -> None:
    given = example.arguments(example.sizes, np.random.default_rng(3))
    answer = example.answer({name: np.copy(value) for name, value in given.items()})
    kernel = tileir.load(str(example.path))[example.kernel]
    report = tileir.sanitize(kernel, example.grid(example.sizes), *given.values(), output=lambda text: None)
    assert not report.findings, str(report)
    for name, expected in answer.items():
        scale = np.abs(expected).max() or 1.0
        assert np.abs(np.asarray(given[name], np.float64) - expected).max() <= example.tolerance * scale


@pytest.mark.parametrize("script", sorted(CUTILE.glob("*.py")), ids=lambda path: path.stem)
def test_a_cutile_example_has_no_finding(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")
    if "import torch" in script.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="the example compares with torch")
    with cutile.on("interp", sanitize=True) as session:
        runpy.run_path(str(script), run_name="__main__")
    assert session is not None
    assert not session.report.findings, str(session.report)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", runs(), ids=lambda case: f"{case[0]}-{case[2]}")
def test_a_golden_program_has_only_the_findings_that_it_is_known_for(case: tuple) -> None:
    file, text, entry, run = case
    kernel = tileir.parse(text, file)[entry]
    try:
        report = tileir.sanitize(kernel, run.grid, *arguments(kernel, run), output=lambda text: None)
    except tileir.UnsupportedError:
        return
    known = (*BROKEN, "missing-token") if f"{file}.{entry}" in UNORDERED else BROKEN
    assert not [finding for finding in report if finding.kind not in known], str(report)


def test_neighbouring_bytes_of_different_blocks_are_apart() -> None:
    text = """
    cuda_tile.module @m { entry @k(%x: tile<ptr<f8E4M3FN>>) {
      %b, %y, %z = get_tile_block_id : tile<i32>
      %one = constant <f8E4M3FN: 1.0> : tile<f8E4M3FN>
      %p = offset %x, %b : tile<ptr<f8E4M3FN>>, tile<i32> -> tile<ptr<f8E4M3FN>>
      %t = store_ptr_tko weak %p, %one : tile<ptr<f8E4M3FN>>, tile<f8E4M3FN> -> token
    } }"""
    x = np.zeros(16, ml_dtypes.float8_e4m3fn)
    assert not len(tileir.sanitize(tileir.parse(text)["k"], 16, x))
    assert (x == 1).all()
