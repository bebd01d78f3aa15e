"""Programs put together at random do natively what they do in the interpreter, bit for bit.

A failure is shrunk to a short program, which is printed. ``pytest --hypothesis-seed=N`` tries other programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import tileir
from tests.differential import assert_same, outcome
from tileir.fuzz.builder import ProgramBuilder
from tileir.fuzz.draft import STORED, arrays
from tileir.ir import types as t

T = TypeVar("T")
EXAMPLES = 30
STATEMENTS = 10
OTHERS = tuple(element for element in STORED if element not in (t.I32, t.I1))


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example, HealthCheck.data_too_large],
)
@given(st.data())
def test_a_random_program_does_what_it_does_in_the_interpreter(data: st.DataObject) -> None:
    def choose(options: Sequence[T]) -> T:
        return options[data.draw(st.integers(0, len(options) - 1))]

    elements = (t.I32, t.I1, choose(OTHERS), choose(OTHERS))
    elements = tuple(dict.fromkeys(elements))
    module = tileir.Module.of(ProgramBuilder(choose, elements).program(STATEMENTS))
    note(tileir.to_text(module))
    args = arrays(elements)
    first, second = (outcome(module["k"], (1,), args, target) for target in ("interp", "cpu"))
    assert_same(first, second, [True] * len(args), [element.name for element in elements])
