"""Correct programs get no complaint: the examples, the cuTile examples, and programs that only look faulty."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import tileir
from tests.golden.arguments import arguments, runs
from tests.sanitize.corpus_programs import Case, clean_cases
from tests.thorough import sampled
from tileir import cutile
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES

CUTILE = Path(tileir.__file__).parent / "examples" / "cutile"
KNOWN = {
    "arithmetic_integer.promises": ("undefined", "overflow promises are broken, to show what becomes of the result"),
    "arithmetic_integer.readings": ("undefined", "shifts by the width and more"),
    "assumptions.promises": ("undefined", "assumptions that do not hold are its subject"),
    "atomics.through_views": (
        "missing-token undefined",
        "reductions at and beyond the edge, beside a load",
    ),
    "control_flow.branches": ("assert", "the branch with the assertion is taken"),
    "conversions.integers": ("undefined", "truncations that break their promise, to show what becomes of the result"),
    "debug_info.scale": ("missing-token", "its subject are places; it loads and stores one element without a token"),
    "extensions.rows": ("missing-token", "gathers and scatters of the same row side by side"),
    "hints.tuned": ("missing-token undefined", "one of each access with hints, at one element and outside the view"),
    "memory.stores": ("missing-token", "stores of every strength at one address, the last without a token"),
    "multicast_13_5.kinds": ("missing-token", "every kind of reduction of the same tile"),
    "multicast_13_5.pointers": ("missing-token", "a reduction beside the load of the same tile"),
    "multicast_13_5.replicas": ("missing-token", "every operation on the same tile"),
    "printing.hello": ("assert", "assertions with all kinds of messages"),
    "shapes.cutting": ("undefined", "a subtile outside the tile"),
    "version_13_4.inserting": ("undefined", "subtiles outside the tile"),
    "version_13_4.promised": ("missing-token", "a load and a store of the same tile, each with a promise"),
    "views.partitions": ("missing-token undefined", "tiles inside, at the edge and outside, all of the same view"),
    "views.strided": ("undefined", "an index outside the view"),
}
"""Golden entries that are not right by the memory model or the rules of undefined behaviour: the kinds of findings that
they have, and why."""


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


@pytest.mark.parametrize("script", sampled(sorted(CUTILE.glob("*.py")), 3), ids=lambda path: path.stem)
def test_a_cutile_example_has_no_finding(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")
    if "import torch" in script.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="the example compares with torch")
    with cutile.on("interp", sanitize=True) as session:
        runpy.run_path(str(script), run_name="__main__")
    assert session is not None
    assert not session.report.findings, str(session.report)


def _golden_entries() -> dict[str, list[tuple]]:
    """The runs of each entry of the golden programs."""
    found: dict[str, list[tuple]] = {}
    for file, text, entry, run in runs():
        found.setdefault(f"{file}.{entry}", []).append((file, text, entry, run))
    return found


ENTRIES = _golden_entries()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENTRIES)
def test_a_golden_program_has_exactly_the_findings_that_it_is_known_for(name: str) -> None:
    kinds, reports = set(), []
    for file, text, entry, run in ENTRIES[name]:
        kernel = tileir.parse(text, file)[entry]
        try:
            reports.append(tileir.sanitize(kernel, run.grid, *arguments(kernel, run), output=lambda text: None))
        except tileir.UnsupportedError:
            continue
        kinds |= {finding.kind for finding in reports[-1]}
    expected, _ = KNOWN.get(name, ("", ""))
    assert kinds == set(expected.split()), "\n".join(map(str, reports))


def test_every_known_entry_is_there() -> None:
    assert KNOWN.keys() <= ENTRIES.keys()


@pytest.mark.parametrize("case", clean_cases(), ids=lambda case: case.name)
def test_what_looks_like_a_fault_is_not_reported(case: Case) -> None:
    report = case.report()
    assert not report.findings, str(report)
    (proof,) = report.proofs
    assert proof.races.decided or case.name == "f4_neighbours"
