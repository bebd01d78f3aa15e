"""Whatever is done to a valid program, reading it gives a module or a `DiagnosticError`, never another exception."""

import re

from golden_programs import GOLDEN
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.loc import SourceLoc
from tileir.text.parser import parse
from tileir.text.printer import to_text

TOKEN = re.compile(r'[%@!#^]?[\w$.]+|"[^"\n]*"|->|\s+|.', re.S)
LONGEST = 6000
ODD = [*'{}()[]<>"%#!@^:,=-?\n\x00é', "->", "loc(", "tile<", "dense<", "token", "0x", "9" * 30, '"\\q"', "^bb0:"]


def _programs() -> list[list[str]]:
    texts = []
    for golden in GOLDEN:
        module = golden.parse()
        texts += [golden.source, to_text(module, form="generic", debug=True), to_text(module, debug=True)]
    return [TOKEN.findall(text) for text in texts if len(text) < LONGEST]


PROGRAMS = _programs()
WORDS = sorted({token for tokens in PROGRAMS for token in tokens if not token.isspace()} | set(ODD))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    tokens = list(draw(st.sampled_from(PROGRAMS)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(tokens) - 1))
        change = draw(st.sampled_from(["delete", "double", "replace", "insert", "cut"]))
        if change == "delete":
            del tokens[at]
        elif change == "double":
            tokens.insert(at, tokens[at])
        elif change == "replace":
            tokens[at] = draw(st.sampled_from(WORDS))
        elif change == "insert":
            tokens.insert(at, draw(st.sampled_from(WORDS)))
        else:
            del tokens[at + 1 :]
        tokens = tokens or ["}"]
    return "".join(tokens)


def read(text: str) -> None:
    found: list[Diagnostic] = []
    try:
        parse(text)
    except DiagnosticError as error:
        found = error.diagnostics
        assert_shown(error)
    for diagnostic in found:
        assert isinstance(diagnostic.loc, SourceLoc)
        assert 0 <= diagnostic.loc.offset <= diagnostic.loc.end <= len(text)


def assert_shown(error: DiagnosticError) -> None:
    assert error.diagnostics
    assert str(error)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated())
def test_a_mutated_program_reads_or_is_refused(text: str) -> None:
    read(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_reads_or_is_refused(text: str) -> None:
    read(text)
