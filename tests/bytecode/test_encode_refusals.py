"""Constructs without a place in bytecode are refused by name, and nothing else is."""

from __future__ import annotations

import pytest

import tileir
from tileir.ops.module import Entry

DIVIDING = """
entry @k(%p: tile<ptr<i32>>) {
  %x = iota : tile<8xi32>
  %r = reduce %x dim=0 identities=[1 : i32] : tile<8xi32> -> tile<i32> (%a: tile<i32>, %b: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %q = divi %a, %one signed : tile<i32>
    %m = addi %q, %b : tile<i32>
    yield %m : tile<i32>
  }
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
}
"""


def test_a_reduction_may_divide_in_every_version() -> None:
    for version in ("13.1", "13.2", "13.3", "13.4", "13.5"):
        assert tileir.from_bytecode(tileir.to_bytecode(tileir.parse(DIVIDING), version=version))["k"]


def test_a_printing_reduction_is_refused() -> None:
    text = DIVIDING.replace("%m = addi", 'print_tko "x" -> token\n    %m = addi')
    with pytest.raises(tileir.DiagnosticError, match="'print_tko': expected only operations without memory effects"):
        tileir.to_bytecode(tileir.parse(text))


def test_an_entry_inside_an_entry_is_refused() -> None:
    module = tileir.parse(DIVIDING)
    inner = tileir.parse("entry @inner() {}").items[0]
    assert isinstance(inner, Entry)
    body = module["k"].entry.body
    body.ops.insert(0, inner)
    inner.parent = body
    with pytest.raises(tileir.DiagnosticError, match="'entry': expected only instructions inside 'entry'"):
        tileir.to_bytecode(module)
