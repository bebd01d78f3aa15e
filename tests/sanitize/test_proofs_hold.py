"""No verdict of a proof is wrong: the sanitizer never finds a fault proved absent, and always one proved present."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import numpy as np
import pytest

import tileir
from tests.analysis.generated_indices import Generator
from tests.analysis.launches import SCRIPTS
from tests.golden.arguments import arguments, programs, runs
from tests.sanitize.corpus_programs import Case, cases
from tests.sanitize.proof_checks import ProofTally, check, covers
from tests.thorough import sampled
from tileir import cutile
from tileir.command_line.argument_words import given_values
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES
from tileir.sanitize.proofs.verdict import Answer

TRIES = int(os.environ.get("TILEIR_FUZZ_TRIES", 8))
GRIDS = ((1, 1, 1), (2, 2, 1), (3, 1, 1))


class Unmasked(Generator):
    """Programs that may leave the array."""

    def inside(self, index: str, shape: tuple[int, ...], width: str) -> str:
        if self.random.random() < 0.5:
            return super().inside(index, shape, width)
        name = self.fresh()
        self.line(f"{name} = constant <i1: true> : tile<{'x'.join([*map(str, shape), 'i1'])}>")
        return name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", sampled([Generator, Unmasked], 2))
def test_of_random_programs(make: type[Generator]) -> None:
    tally = ProofTally()
    for seed in range(TRIES):
        generator = make(seed)
        kernel = tileir.parse(generator.program())["k"]
        for grid in GRIDS:
            tally.compare(kernel, grid, generator.arguments())
    assert tally.count("races", Answer.ABSENT) >= TRIES and tally.count("races", Answer.PRESENT) > 2
    assert tally.count("bounds", Answer.ABSENT) >= TRIES


@pytest.mark.parametrize("case", sampled(cases(), 3), ids=lambda case: case.id)
def test_of_the_corpus(case: Case) -> None:
    words = [word for word in case.words if not word.startswith("--")]
    ProofTally().compare(case.kernel, case.grid, [one.value for one in given_values(case.kernel, words, 0)])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", sorted({name for name, _ in programs()}))
def test_of_the_golden_programs(file: str) -> None:
    for name, text, entry, run in runs():
        if name == file:
            kernel = tileir.parse(text)[entry]
            try:
                ProofTally().compare(kernel, run.grid, arguments(kernel, run))
            except tileir.UnsupportedError:
                continue


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_of_an_example(example: Example) -> None:
    given = example.arguments(example.sizes, np.random.default_rng(3))
    kernel = tileir.load(str(example.path))[example.kernel]
    tally = ProofTally()
    tally.compare(kernel, example.grid(example.sizes), list(given.values()))
    assert tally.count("bounds", Answer.ABSENT)
    assert tally.count("races", Answer.ABSENT) or example.name == "mutex"


@pytest.mark.parametrize("script", sampled(SCRIPTS, 3), ids=lambda path: path.stem)
def test_of_a_cutile_example(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")
    pytest.importorskip("torch", reason="the examples compare with torch")
    with cutile.on("interp", sanitize=True) as session:
        runpy.run_path(str(script), run_name="__main__")
    assert session is not None
    report = session.report
    for proof in report.proofs:
        for verdict in proof.verdicts:
            assert not verdict.decided or verdict.outcome is Answer.ABSENT
            if covers(verdict, (1, 1, 1)):
                check(verdict, report, proof)
