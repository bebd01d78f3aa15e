"""The work of compiling a program grows little faster than the program, counted in calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise

import pytest

import tileir
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.run.program import lowered

HEAD = "entry @k(%p: tile<ptr<i32>>, %c: tile<i32>) {\n %one = constant <i32: 1> : tile<i32>\n"
END = " %t = store_ptr_tko weak %p, %v{n} : tile<ptr<i32>>, tile<i32> -> token\n return\n}}"


def doubled(n: int) -> str:
    """A number added to itself, again and again."""
    steps = "".join(f" %v{i + 1} = addi %v{i}, %v{i} : tile<i32>\n" for i in range(n))
    return f"{HEAD} %v0 = addi %c, %one : tile<i32>\n{steps}{END.format(n=n)}"


def chosen(n: int) -> str:
    """Branches in a row, each with a value made of the one before."""
    steps = "".join(
        f""" %c{i} = cmpi less_than %v{i}, %c, signed : tile<i32> -> tile<i1>
 %v{i + 1} = if %c{i} -> (tile<i32>) {{
  %a{i} = addi %v{i}, %one : tile<i32>
  yield %a{i} : tile<i32>
 }} else {{
  %b{i} = muli %v{i}, %c : tile<i32>
  yield %b{i} : tile<i32>
 }}
"""
        for i in range(n)
    )
    return f"{HEAD} %v0 = addi %c, %one : tile<i32>\n{steps}{END.format(n=n)}"


def squared(n: int) -> str:
    """A tile multiplied by itself, again and again."""
    steps = "".join(f" %v{i + 1} = muli %v{i}, %v{i} : tile<16xi32>\n" for i in range(n))
    return f"""{HEAD} %i = iota : tile<16xi32>
 %r = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
 %all = broadcast %r : tile<1xptr<i32>> -> tile<16xptr<i32>>
 %q = offset %all, %i : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
 %v0, %t0 = load_ptr_tko weak %q : tile<16xptr<i32>> -> tile<16xi32>, token
{steps} %t = store_ptr_tko weak %q, %v{n} token = %t0 : tile<16xptr<i32>>, tile<16xi32> -> token
 return
}}"""


def calls(text: str) -> int:
    """Calls of Python functions while a kernel is optimised and lowered."""
    module = tileir.parse(text)
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        lowered(tileir.optimize(module, level=3)["k"].entry, [], CheckLevel.ON)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("program", [doubled, chosen, squared])
def test_compiling_grows_little_faster_than_the_program(program: Callable[[int], str]) -> None:
    calls(program(4))
    counts = [calls(program(n)) for n in (10, 20, 40)]
    assert all(later <= 2**1.5 * earlier for earlier, later in pairwise(counts)), counts
