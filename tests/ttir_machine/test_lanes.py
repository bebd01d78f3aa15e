"""Lanes of the TTIR machine: poison spreads, is dropped or is a fault."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ttir_machine.programs import COUNT, execute, load, numbers, store
from tests.ttir_machine.values import MachineFault
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirValue


def test_a_select_may_drop_poison_but_nothing_else_may_see_it() -> None:
    def shifted(build: Builder, memory: list[TtirValue], guarded: bool) -> None:
        amount, width = load(build, memory[0]), build.integer(I32.shaped(COUNT), 32)
        result = build.op("arith.shli", build.integer(I32.shaped(COUNT), 1), amount)
        if guarded:
            inside = build.compare("ult", amount, width)
            result = build.select(inside, result, build.integer(I32.shaped(COUNT), 0))
        store(build, memory[1], result)

    amounts, result = numbers(0, 3, 31, 32, -1), numbers()
    execute(lambda build, memory: shifted(build, memory, True), amounts, result)
    np.testing.assert_array_equal(result[:5], [1, 8, -(1 << 31), 0, 0])
    with pytest.raises(MachineFault, match="poison"):
        execute(lambda build, memory: shifted(build, memory, False), amounts, result)


@pytest.mark.parametrize(
    ("name", "dividend", "divisor"),
    [("arith.divsi", 5, 0), ("arith.remui", 5, 0), ("arith.divsi", -(1 << 31), -1), ("arith.remsi", -(1 << 31), -1)],
)
def test_a_division_without_a_quotient_is_a_fault_whoever_uses_it(name: str, dividend: int, divisor: int) -> None:
    def divide(build: Builder, memory: list[TtirValue]) -> None:
        build.op(name, load(build, memory[0]), load(build, memory[1]))

    with pytest.raises(MachineFault, match="division"):
        execute(divide, numbers(dividend), numbers(divisor))
