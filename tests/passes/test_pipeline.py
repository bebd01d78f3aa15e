"""Levels, passes by name, and what is refused."""

from __future__ import annotations

import itertools

import pytest
from structural import program

import tileir
from tileir.ir.compare import identical
from tileir.passes import patternwords
from tileir.passes.canonicalise import PATTERNS
from tileir.passes.pipeline import LEVELS, PASSES, Step
from tileir.runtime.optimising import watched

TEXT = program("%s = addi %a, %zero : tile<i32>\n%t = addi %s, %zero : tile<i32>\nOUT %t")


def test_level_0_changes_nothing_and_no_level_changes_the_module_it_is_given() -> None:
    module = tileir.parse(TEXT)
    before = tileir.to_text(module)
    assert identical(tileir.optimize(module, 0), module)
    assert "addi" not in tileir.to_text(tileir.optimize(module))
    assert tileir.to_text(module) == before


def test_passes_run_once_each_in_the_order_given() -> None:
    steps: list[Step] = []
    watched(tileir.parse(TEXT), passes="dce, canonicalise", watch=steps.append)
    assert [step.name for step in steps] == ["dce", "canonicalise"]
    assert all(step.seconds >= 0 for step in steps)


def test_a_pass_without_work_gives_the_program_itself() -> None:
    steps: list[Step] = []
    text = (
        "entry @k(%p: tile<ptr<i32>>, %a: tile<i32>) { store_ptr_tko weak %p, %a : tile<ptr<i32>>, tile<i32> -> token }"
    )
    watched(tileir.parse(text), passes=["cse"], watch=steps.append)
    assert steps[0].after is steps[0].before


@pytest.mark.parametrize("arguments", [{"level": 4}, {"level": -1}, {"passes": "no"}, {"passes": ["dce", ""]}])
def test_wrong_levels_and_passes_are_refused(arguments: dict) -> None:
    with pytest.raises(ValueError, match="expected"):
        tileir.optimize(tileir.parse(TEXT), **arguments)


def test_an_invalid_program_is_refused() -> None:
    wrong = tileir.parse("entry @k(%x: tile<4xf32>) {\n%y = iota : tile<2x2xi32>\n}")
    with pytest.raises(tileir.DiagnosticError):
        tileir.optimize(wrong)


def test_levels_are_made_of_passes_and_each_has_all_of_the_one_before() -> None:
    for lower, higher in itertools.pairwise(LEVELS):
        assert set(lower) <= set(higher) <= PASSES.keys()


def test_no_level_changes_rounding() -> None:
    kinds = {row.kind.value for names in LEVELS for name in names for row in PASSES[name].rows}
    assert "changes rounding" not in kinds


def test_every_word_of_patterns_is_used() -> None:
    text = " ".join(f"{row.pattern} {row.becomes} {row.when}" for row in PATTERNS)
    assert [word for word in patternwords.WORDS if f"{word}(" not in text] == []
