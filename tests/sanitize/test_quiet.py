"""Accesses that are proved to conflict with none need not be followed: the findings stay the same."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tileir
from tests.analysis.generated_indices import Generator
from tests.sanitize.corpus_programs import Case, cases
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES
from tileir.runtime.grid import checked_grid
from tileir.runtime.module import bind, target_named
from tileir.sanitize import run
from tileir.sanitize.launch import known_launch, quiet_of
from tileir.sanitize.proofs import kernel as kernel_proofs
from tileir.sanitize.proofs import races
from tileir.sanitize.proofs.verdict import Scope
from tileir.sanitize.report import SanitizerReport

GRID = (2, 2, 1)


def summary(report: SanitizerReport) -> list[tuple[object, ...]]:
    return [(one.kind, one.loc, one.other, one.array, one.indices, one.count, one.because) for one in report]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_the_corpus_has_the_same_findings(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "WAITING", 64)  # who waits for ever is found as well after fewer rounds
    proved = case.report()
    monkeypatch.setattr(run, "_quiet", lambda launch, orders: frozenset())
    assert summary(proved) == summary(case.report())


@pytest.mark.filterwarnings("ignore")
def test_random_programs_have_the_same_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = 0
    for seed in range(30):
        generator = Generator(seed)
        kernel = tileir.parse(generator.program())["k"]
        given = generator.arguments()
        with monkeypatch.context() as patched:
            patched.setattr(run, "_quiet", lambda launch, orders: frozenset())
            followed = tileir.sanitize(kernel, GRID, *given, copy=True)
        assert summary(tileir.sanitize(kernel, GRID, *given, copy=True)) == summary(followed), seed
        arguments = bind(kernel, given, target_named("interp"))
        quiet += len(quiet_of(kernel, known_launch(kernel, checked_grid(GRID, "k"), arguments)))
    assert quiet > 20


def test_a_proof_is_made_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(
        kernel_proofs, "proved", lambda *args, real=kernel_proofs.proved: made.append(args) or real(*args)
    )
    launched = tileir.load(EXAMPLES[0].path)[EXAMPLES[0].kernel]
    given = EXAMPLES[0].arguments(EXAMPLES[0].sizes, np.random.default_rng(0))
    report = tileir.sanitize(launched, EXAMPLES[0].grid(EXAMPLES[0].sizes), *given.values())
    assert not made
    assert report.proofs is report.proofs
    assert len(made) == 1


def test_a_report_that_travels_takes_its_proofs_along() -> None:
    example = EXAMPLES[0]
    given = example.arguments(example.sizes, np.random.default_rng(0))
    kernel = tileir.load(example.path)[example.kernel]
    report = tileir.sanitize(kernel, example.grid(example.sizes), *given.values())
    there = pickle.loads(pickle.dumps(report))
    assert str(there) == str(report)
    assert there.proofs and [proof.to_json() for proof in there.proofs] == [proof.to_json() for proof in report.proofs]


def test_what_holds_for_any_arguments_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Scope] = []
    monkeypatch.setattr(races, "_try", lambda *args, real=races._try: tried.append(args[1]) or real(*args))
    kernel = tileir.parse(Generator(0).program())["k"]
    for x in (1, 2):
        given = [x if isinstance(one, int) else one for one in Generator(0).arguments()]
        tileir.prove(kernel, GRID, *given, run=False)
    assert tried == [Scope.ANY, Scope.ARGUMENTS, Scope.LAUNCH, Scope.ARGUMENTS, Scope.LAUNCH]


@pytest.mark.parametrize("name", ["gemm_views", "softmax", "layer_norm", "attention"])
def test_nothing_needs_to_be_followed_in_the_usual_kernels(name: str) -> None:
    example: Example = next(one for one in EXAMPLES if one.name == name)
    given = list(example.arguments(example.sizes, np.random.default_rng(0)).values())
    kernel = tileir.load(example.path)[example.kernel]
    arguments = bind(kernel, given, target_named("interp"))
    launch = known_launch(kernel, checked_grid(example.grid(example.sizes), example.kernel), arguments)
    assert len(quiet_of(kernel, launch)) == len(
        [op for op in kernel.entry.walk() if op.spec.name.endswith("_view_tko")]
    )
