"""A loop that is split at a constant has the same numbers, in the same branches, whatever its step and bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tileir
from tileir.ops.control import For

PREDICATES = ("less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal")
SIGNED = [(-7, 3, 0), (-7, 3, -1), (-7, 3, -7), (0, 2, -3), (0, 4, 127), (-128, 100, 100), (-128, 5, -128), (1, 127, 2)]
UNSIGNED = [(0, 3, 7), (5, 100, 255), (200, 7, 220), (3, 2, 0)]
UPPER = (-128, -7, -6, 0, 3, 9, 126, 127)
TEXT = """
entry @k(%out: tile<ptr<i32>>, %upper: tile<i8>) {{
  %lower = constant <i8: {lower}> : tile<i8>
  %step = constant <i8: {step}> : tile<i8>
  %at = constant <i8: {at}> : tile<i8>
  %three = constant <i32: 3> : tile<i32>
  %seven = constant <i32: 7> : tile<i32>
  %start = constant <i32: 1> : tile<i32>
  %r = for {unsigned} %i in (%lower to %upper, step %step) : tile<i8> iter_values(%v = %start) -> (tile<i32>) {{
    %test = cmpi {predicate} {operands}, {signedness} : tile<i8> -> tile<i1>
    %number = exti %i signed : tile<i8> -> tile<i32>
    %w = if %test -> (tile<i32>) {{
      %x = muli %v, %three : tile<i32>
      yield %x : tile<i32>
    }} else {{
      %x = muli %v, %seven : tile<i32>
      yield %x : tile<i32>
    }}
    %next = addi %w, %number : tile<i32>
    continue %next : tile<i32>
  }}
  store_ptr_tko weak %out, %r : tile<ptr<i32>>, tile<i32> -> token
}}
"""


def result(module: tileir.Module, upper: int) -> int:
    out = np.zeros(1, np.int32)
    module["k"].launch((1,), out, upper, target="interp")
    return int(out[0])


@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("signedness", ["signed", "unsigned"])
def test_a_split_loop_has_the_same_numbers(predicate: str, signedness: str) -> None:
    numbers = SIGNED if signedness == "signed" else UNSIGNED
    for (lower, step, at), operands in itertools.product(numbers, ("%i, %at", "%at, %i")):
        fields = {"predicate": predicate, "signedness": signedness, "operands": operands}
        fields["unsigned"] = "unsigned" if signedness == "unsigned" else ""
        before = tileir.parse(TEXT.format(lower=lower, step=step, at=at, **fields))
        after = tileir.optimize(before, passes="loop-split")
        assert sum(isinstance(op, For) for op in after.walk()) == 2
        for upper in UPPER:
            assert result(after, upper) == result(before, upper), (lower, step, at, operands, upper)
