"""Colours follow from the declarations: the lexer for Pygments and the grammar for editors."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("pygments", reason="the lexer is one for Pygments")

from pygments.lexers import get_lexer_by_name
from pygments.token import Keyword, Name, Text
from pygments.util import ClassNotFound

from tileir.text.highlight import grammar
from tileir.text.reading.hints import spellings
from tileir.tools.lexer import TileIrLexer

ROOT = Path(__file__).parents[2]
PROGRAMS = [*sorted((ROOT / "examples").glob("*.mlir")), *sorted((ROOT / "tests/golden").glob("*.mlir"))]
UNCOLOURED = re.compile(r"[\s?*+-]+")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_token_of_a_program_is_known(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tokens = list(TileIrLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert "".join(value for _, value in tokens) == text
    plain = {value for kind, value in tokens if kind is Text and not UNCOLOURED.fullmatch(value)}
    assert not plain


def test_every_operation_is_a_word() -> None:
    for name in spellings():
        first = next(iter(TileIrLexer().get_tokens(f"{name} %a")))
        assert first[1] == name and (first[0] in Keyword or first[0] is Name.Builtin), name


def test_the_grammar_is_data_with_expressions_that_compile() -> None:
    patterns = json.loads(json.dumps(grammar()))["patterns"]
    assert len(patterns) > 10 and all(re.compile(one["match"]) for one in patterns)


def test_the_lexer_is_found_by_its_name() -> None:
    try:
        assert isinstance(get_lexer_by_name("tileir"), TileIrLexer)
    except ClassNotFound:
        pytest.skip("tileir was installed before it had a lexer")


def test_the_engine_of_the_editor_reads_the_grammar() -> None:
    folder = ROOT / "editors/vscode"
    if shutil.which("node") is None or not (folder / "node_modules").is_dir():
        pytest.skip("needs node, and the packages that 'make vscode' installs")
    ran = subprocess.run(["node", "test.js"], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
