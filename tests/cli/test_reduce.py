"""``tileir reduce``: programs get small, stay valid, and still fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tileir as library
from tests.golden.arguments import FOLDER

SEARCH = "import sys; text = open(sys.argv[1], 'rb').read(); sys.exit(3 if {!r}.encode() in text else 0)"


def command(word: str) -> str:
    """A command that fails where a word stands in the file."""
    return f'{sys.executable} -c "{SEARCH.format(word)}" {{}}'


@pytest.mark.parametrize(
    ("file", "word", "most"),
    [("control_flow", "shri", 7), ("matmul", "mmaf", 11), ("reductions", "scan", 8)],
)
def test_a_program_is_reduced_to_what_fails(tileir, file: str, word: str, most: int) -> None:
    text = (FOLDER / f"{file}.mlir").read_text().split("\n// -----")[0]
    Path("large.mlir").write_text(text)
    ran = tileir("reduce", "large.mlir", "--test", command(word), "-o", "small.mlir")
    assert ran.status == 0, ran.err
    small = library.load("small.mlir")
    assert library.verify(small).ok
    assert word in Path("small.mlir").read_text()
    assert sum(1 for _ in small.walk()) <= most
    assert "operations: " in ran.err


def test_nests_and_extents_get_small(tileir) -> None:
    Path("large.mlir").write_text(
        """cuda_tile.module @m { entry @k(%c: tile<i1>, %n: tile<i32>, %p: tile<ptr<f32>>) {
          for %i in (%n to %n, step %n) : tile<i32> {
            if %c {
              %x = constant <f32: 2.5> : tile<64x128xf32>
              %y = exp %x : tile<64x128xf32>
              print_tko "%f", %y : tile<64x128xf32> -> token
            }
          }
        } }"""
    )
    assert tileir("reduce", "large.mlir", "--test", command("= exp"), "-o", "small.mlir").status == 0
    text = Path("small.mlir").read_text()
    for word in ("for", "if", "print", "64", "128", "%arg"):
        assert word not in text
    assert "exp" in text


def test_a_command_that_does_not_fail_is_wrong_usage(tileir) -> None:
    Path("k.mlir").write_text("cuda_tile.module @m { entry @k() { } }")
    ran = tileir("reduce", "k.mlir", "--test", command("no such word"))
    assert ran.status == 2
    assert "does not fail" in ran.err
    assert tileir("reduce", "k.mlir", "--test", "/no/such/command").status == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--test", "echo 'open"], "--test: No closing quotation"),
        (["--test", "false", "--match", "("], "--match: missing ), unterminated subpattern at position 0"),
        (["--test", "false", "--timeout", "inf"], "--timeout: expected a positive number of seconds, got inf"),
        (["--test", "false", "--timeout", "-1"], "--timeout: expected a positive number of seconds, got -1.0"),
    ],
)
def test_wrong_options_say_what_is_expected(tileir, words: list[str], message: str) -> None:
    Path("k.mlir").write_text("cuda_tile.module @m { entry @k() { } }")
    ran = tileir("reduce", "k.mlir", *words)
    assert ran.status == 2
    assert ran.err.startswith(f"tileir reduce: error: {message}")


def test_constants_that_nobody_uses_go_though_the_optimiser_would_take_more(tileir) -> None:
    lines = "".join(f"  %c{number} = constant <i32: {number}> : tile<i32>\n" for number in range(6))
    Path("large.mlir").write_text(f"entry @k() {{\n{lines}  %x = xori %c1, %c2 : tile<i32>\n}}\n")
    assert tileir("reduce", "large.mlir", "--test", command("xori"), "-o", "small.mlir").status == 0
    assert Path("small.mlir").read_text().count("constant") == 2
