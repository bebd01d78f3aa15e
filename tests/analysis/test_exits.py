"""The targets of exits from regions."""

from __future__ import annotations

import tileir
from tileir.analysis.structure import EXITS, target_of
from tileir.ir.core import Op

PROGRAM = """
entry @k(%n: tile<i32>, %c: tile<i1>) {
  %one = constant <i32: 1> : tile<i32>
  for %i in (%one to %n, step %one) : tile<i32> {
    loop {
      if %c { break } else { continue }
    }
    %s = if %c -> (tile<i32>) { yield %i : tile<i32> } else { yield %n : tile<i32> }
    continue
  }
  if %c { return }
}
"""


def exits() -> list[tuple[str, Op | None]]:
    entry = tileir.parse(PROGRAM)["k"].entry
    return [(op.spec.name, target_of(op)) for op in entry.walk() if type(op) in EXITS]


def test_an_exit_leads_to_the_innermost_operation_that_it_can_leave() -> None:
    found = [(name, None if target is None else target.spec.name) for name, target in exits()]
    assert found == [
        ("break", "loop"),
        ("continue", "loop"),
        ("continue", "loop"),
        ("yield", "if"),
        ("yield", "if"),
        ("continue", "for"),
        ("return", "entry"),
        ("return", "entry"),
    ]


def test_an_exit_with_nothing_to_leave_leads_nowhere() -> None:
    operations = list(tileir.parse(PROGRAM)["k"].entry.walk())
    around = next(op for op in operations if op.spec.name == "for")
    exit = next(op for op in operations if op.spec.name == "break")
    (exit.parent,) = around.regions
    assert target_of(exit) is None
