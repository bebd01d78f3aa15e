"""Every rule of every operation has a program that breaks it."""

from __future__ import annotations

from functools import cache

import pytest
from chunks import error_chunks

from tileir.ops import OPS
from tileir.verify.table import EVERYWHERE, own_rules

NOT_IN_TEXT = {
    ("constant", "E0406"),
    ("global", "E0406"),
    ("global", "E0814"),
    ("assume", "E0451"),
    *((name, "E0830") for name in ("entry", "load_ptr_tko", "store_ptr_tko", "load_view_tko", "store_view_tko")),
}
"""Rules that no text can break, because the parser refuses it; `test_built.py` breaks them in memory."""


@cache
def reported() -> set[tuple[str | None, str]]:
    return {(diagnostic.op, diagnostic.code) for chunk in error_chunks() for diagnostic in chunk.run()}


@pytest.mark.parametrize("name", sorted(OPS))
def test_every_rule_of_an_operation_has_an_error_test(name: str) -> None:
    expected = {(name, rule.code) for rule in own_rules(OPS[name])}
    assert expected - NOT_IN_TEXT <= reported()


def test_every_rule_of_all_operations_has_an_error_test() -> None:
    assert set(EVERYWHERE) <= {code for _, code in reported()} | {"E0221", "E0222"}


def test_what_cannot_be_written_is_a_rule() -> None:
    rules = {(name, rule.code) for name, op in OPS.items() for rule in own_rules(op)}
    assert rules >= NOT_IN_TEXT
