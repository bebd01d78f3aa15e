"""The TTIR of programs put together at random does what they do in the interpreter, bit for bit.

One token runs through all memory operations of a program, so the TTIR machine also looks for a barrier between any two
accesses to the same memory. A failure is shrunk to a short program, which is printed. ``pytest --hypothesis-seed=N``
tries other programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import tileir
from tests.differential import assert_same, outcome
from tests.targets import ttir
from tileir.fuzz.builder import ProgramBuilder
from tileir.fuzz.draft import STORED, arrays
from tileir.ir import types as t

T = TypeVar("T")
EXAMPLES = 40
STATEMENTS = 10
OTHERS = tuple(element for element in STORED if element not in (t.I32, t.I1))
EIGHT_BITS = (t.F8E4M3FN, t.F8E5M2)
"""Not on sm_80."""


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

    elements = tuple(dict.fromkeys((t.I32, t.I1, choose(OTHERS), choose(OTHERS))))
    old = not any(element in EIGHT_BITS for element in elements)
    arch = choose(("sm_90", "sm_80") if old else ("sm_90", "sm_89"))
    module = tileir.Module.of(ProgramBuilder(choose, elements).program(STATEMENTS))
    note(f"for {arch}:\n{tileir.to_text(module)}")
    args = arrays(elements)
    first = outcome(module["k"], (1,), args, "interp")
    second = ttir.outcome(module["k"], (1,), args, arch, ordered=True)
    assert_same(first, second, [True] * len(args), [element.name for element in elements])
