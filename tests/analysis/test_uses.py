"""Who uses a value, who is the last, which loop is around, and what loops carry."""

from __future__ import annotations

import pytest

import tileir
from tileir.analysis.structure import Uses, ancestor_in, carried_arguments, enclosing_loop, home_of, last_uses
from tileir.ir.core import Op
from tileir.ops.module import Entry

PROGRAM = """
entry @k(%n: tile<i32>, %c: tile<i1>) {
  %one = constant <i32: 1> : tile<i32>
  %twice = addi %n, %n : tile<i32>
  %sum = for %i in (%one to %n, step %one) : tile<i32> iter_values(%a = %one) -> (tile<i32>) {
    %b = loop iter_values(%x = %a) : tile<i32> -> tile<i32> {
      if %c { break %x : tile<i32> }
      %y = muli %x, %twice : tile<i32>
      continue %y : tile<i32>
    }
    continue %b : tile<i32>
  }
  %last = addi %sum, %one : tile<i32>
}
"""


@pytest.fixture
def entry() -> Entry:
    return tileir.parse(PROGRAM)["k"].entry


def named(entry: Entry, name: str) -> list[Op]:
    return [op for op in entry.walk() if op.spec.name == name]


def test_a_user_counts_once_however_often_it_has_the_value(entry: Entry) -> None:
    count, _ = entry.body.args
    assert Uses([entry]).of(count) == [named(entry, "addi")[0], named(entry, "for")[0]]


def test_uses_in_regions_count_too(entry: Entry) -> None:
    twice, last = named(entry, "addi")
    assert Uses(entry.body.ops).of(twice.results[0]) == named(entry, "muli")
    assert Uses(entry.body.ops).of(last.results[0]) == ()


def test_the_last_use_is_an_operation_of_the_block_of_the_value(entry: Entry) -> None:
    last = last_uses(entry.body)
    one, twice = named(entry, "constant")[0].results[0], named(entry, "addi")[0].results[0]
    assert last[one] is named(entry, "addi")[1]
    assert last[twice] is named(entry, "for")[0]
    (loop,) = named(entry, "loop")
    assert last[carried_arguments(loop)[0]] is named(entry, "muli")[0]  # type: ignore[arg-type]
    assert last[entry.body.args[1]] is named(entry, "for")[0]


def test_an_operation_has_one_ancestor_in_a_block(entry: Entry) -> None:
    (product,) = named(entry, "muli")
    assert ancestor_in(entry.body, product) is named(entry, "for")[0]
    assert ancestor_in(product.parent, product) is product
    assert home_of(product.results[0]) is product.parent
    assert home_of(entry.body.args[0]) is entry.body


def test_the_innermost_loop_is_found_through_branches(entry: Entry) -> None:
    (loop,), (outer,) = named(entry, "loop"), named(entry, "for")
    assert enclosing_loop(named(entry, "break")[0]) is loop
    assert enclosing_loop(loop) is outer
    assert enclosing_loop(outer) is None


def test_the_induction_value_is_not_carried(entry: Entry) -> None:
    for loop in (*named(entry, "for"), *named(entry, "loop")):
        assert [value.type for value in carried_arguments(loop)] == [loop.results[0].type]  # type: ignore[arg-type]
    assert carried_arguments(named(entry, "for")[0])[0].index == 1  # type: ignore[arg-type]
