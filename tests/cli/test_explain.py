"""``tileir explain``, ``info`` and ``demo``."""

import json
from pathlib import Path

import pytest

from tileir.examples.checks import EXAMPLES
from tileir.explain import operation_example
from tileir.ops import OPS


def test_a_code_is_explained(tileir) -> None:
    ran = tileir("explain", "e0203")
    assert ran.status == 0
    assert ran.out.startswith("# E0203: ")
    assert ran.out.count("```mlir") == 2


def test_several_codes_and_operations_are_explained(tileir) -> None:
    ran = tileir("explain", "E0305", "mulf", "cuda_tile.load_ptr_tko", "experimental$call")
    titles = [line for line in ran.out.splitlines() if line.startswith("# ")]
    assert titles[0].startswith("# E0305: ")
    assert titles[1:] == ["# mulf", "# load_ptr_tko", "# experimental$call"]
    assert "%result = mulf %lhs, %rhs" in ran.out


def test_pages_are_laid_out_on_a_terminal(tileir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = tileir("explain", "mulf").out
    assert "\x1b[" in out and "| `lhs` |" not in out and "```" not in out


def test_codes_are_listed(tileir) -> None:
    lines = tileir("explain").out.splitlines()
    assert len(lines) > 50 and lines.pop().startswith("words: module, kernel, ")
    assert all(len(line.split("  ", 1)[1]) > 4 for line in lines)
    codes = [line for line in lines if line[0] in "EW" and line[1].isdigit()]
    assert codes == sorted(codes)
    assert any(line.startswith("race  ") for line in lines)


def test_an_unknown_code_is_wrong_usage(tileir) -> None:
    ran = tileir("explain", "E0293")
    assert ran.status == 2
    assert "did you mean" in ran.err


def test_info_says_versions_and_targets(tileir) -> None:
    facts = json.loads(tileir("info", "--json").out)
    assert "interp" in facts["targets"]
    assert facts["packages"]["numpy"][0].isdigit()
    assert "language versions" in tileir("info").out


def test_the_demo_shows_each_example_with_its_verdict(tileir) -> None:
    ran = tileir("demo", "hello_grid", "vector_add")
    assert ran.status == 0
    assert "2 examples are right" in ran.out
    assert "98" in ran.out


def test_the_demo_lists_and_copies_the_examples(tileir) -> None:
    assert tileir("demo", "--list").out.count(".mlir") == len(EXAMPLES)
    assert tileir("demo", "--copy", "mine").status == 0
    assert {path.name for path in Path("mine").iterdir()} == {example.file for example in EXAMPLES}


def test_an_unknown_example_is_wrong_usage(tileir) -> None:
    ran = tileir("demo", "mandelbrot")
    assert ran.status == 2
    assert "there are hello_grid" in ran.err


def test_every_operation_has_an_example() -> None:
    assert all("```mlir" in operation_example(name) for name in OPS)


def test_words_of_the_language_are_explained(tileir) -> None:
    ran = tileir("explain", "token", "tile_block", "view", "trap", "mulf")
    assert ran.status == 0
    assert [line for line in ran.out.splitlines() if line.startswith("# ")] == [
        *("# token", "# tile block", "# view", "# trap", "# mulf")
    ]
    assert "token=%written" in ran.out and "entry @example()" in ran.out
    assert "did you mean token" in tileir("explain", "tokn").err


def test_info_in_a_pipe_is_no_wider_than_120_columns(tileir) -> None:
    assert max(map(len, tileir("info").out.splitlines())) <= 120
