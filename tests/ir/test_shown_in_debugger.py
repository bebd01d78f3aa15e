"""Locations, values and errors are readable in a debugger."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tileir.ir import loc as l

TEXT = """entry @k(%n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %c = cmpi greater_than %n, %zero, signed : tile<i32> -> tile<i1>
  assert %c, "n is positive" : tile<i1>
}
"""
PLACE = l.FileLoc("k.py", 3, 5)
FILE = l.DIFile("k.py", "/src")
FUNCTION = l.DISubprogram(FILE, 1, "k", "k", l.DICompileUnit(FILE))


@pytest.mark.parametrize(
    ("loc", "shown"),
    [
        (l.UNKNOWN, "loc(unknown)"),
        (PLACE, "loc('k.py':3:5)"),
        (l.FileLoc("k.py", 3, 5, 4, 1), "loc('k.py':3:5 to 4:1)"),
        (l.SourceLoc(l.Source("k.mlir", TEXT), 28, 30), "loc('k.mlir':2:3)"),
        (l.NameLoc("sum"), "loc('sum')"),
        (l.NameLoc("sum", PLACE), "loc('sum'('k.py':3:5))"),
        (l.CallSiteLoc(PLACE, l.FileLoc("main.py", 9, 1)), "loc(callsite('k.py':3:5 at 'main.py':9:1))"),
        (l.FusedLoc((PLACE, l.NameLoc("a"))), "loc(fused['k.py':3:5, 'a'])"),
        (l.BytecodeLoc.at("k.tileirbc", "module", 0x1A4), "loc('k.tileirbc', module, offset 0x1a4)"),
        (l.DILoc(PLACE, FUNCTION), "loc('k.py':3:5 in 'k')"),
        (l.DILoc(PLACE, l.DILexicalBlock(FUNCTION, FILE, 2)), "loc('k.py':3:5 in 'k')"),
        (l.FileLoc("\x1b[2J", 1, 1), "loc('\\x1b[2J':1:1)"),
    ],
)
def test_a_location_is_shown_in_short(loc: l.Location, shown: str) -> None:
    assert repr(loc) == shown


def test_a_source_is_shown_by_its_name() -> None:
    assert repr(l.Source("k.mlir", TEXT)) == "<source 'k.mlir', 6 lines>"


def test_a_trap_shows_all_that_is_known() -> None:
    with pytest.raises(tileir.Trap) as found:
        tileir.parse(TEXT, "k.mlir")["k"].launch(1, np.int32(-1), target="interp")
    text = repr(found.value)
    assert text.startswith("tileir.Trap('assertion failed: n is positive")
    assert text.endswith("kernel='k', block=(0, 0, 0), op='assert', index=(), loc=loc('k.mlir':4:3))")
    assert repr(tileir.Trap("it went wrong")) == "tileir.Trap('it went wrong')"


def test_what_a_target_cannot_do_shows_the_target() -> None:
    assert repr(tileir.UnsupportedError("no such thing", "cpu")) == "tileir.UnsupportedError('no such thing', 'cpu')"
    assert (
        repr(tileir.UnsupportedError("no", "cpu", PLACE)) == "tileir.UnsupportedError('no', 'cpu', loc=loc('k.py':3:5))"
    )
