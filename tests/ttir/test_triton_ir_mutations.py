"""Damaged TTIR gives diagnostics and nothing else."""

from __future__ import annotations

import random
import re

import pytest
from test_triton_ir_golden import PROGRAMS

from tests.thorough import sampled
from tileir.ir.diagnostics import DiagnosticError
from tileir.triton import from_ttir

TOKEN = re.compile(r"[%@#!^]?[\w.$-]+|\S")
TEXTS = [path.read_text(encoding="utf-8") for path in PROGRAMS]
SMALL = [text for text in TEXTS if len(text) < 12_000]


def mutated(text: str, choose: random.Random) -> str:
    """The text with a token or two left out, doubled, exchanged or taken from elsewhere."""
    for _ in range(choose.randint(1, 2)):
        tokens = list(TOKEN.finditer(text))
        first, second = choose.choice(tokens), choose.choice(tokens)
        made = choose.choice(["", f"{first[0]} {first[0]}", second[0], "0", "-1", "1x", ">", "i32", "f64", '"'])
        text = text[: first.start()] + made + text[first.end() :]
    return text


@pytest.mark.parametrize("seed", sampled(range(8), 4))
def test_a_damaged_program_is_read_or_refused(seed: int) -> None:
    choose = random.Random(seed)
    for _ in range(40):
        text = mutated(choose.choice(SMALL), choose)
        assert told(text) is None or "error[E0" in str(told(text))


def told(text: str) -> DiagnosticError | None:
    """Return the diagnostics of a program; None if it has none."""
    try:
        from_ttir(text)
    except DiagnosticError as error:
        return error
    return None
