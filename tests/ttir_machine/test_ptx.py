"""Inline PTX of the TTIR machine."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ttir_machine.programs import COUNT, execute, load, store
from tests.ttir_machine.values import MachineFault
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import F32, TtirValue


@pytest.mark.parametrize("text", ["div.rn.f32 $0, $1, $2;", "{ .reg .f32 t; div.rn.f32 t, $1, $2; mov.f32 $0, t; }"])
def test_division_of_tiles_is_approximate_and_that_of_ptx_is_not(text: str) -> None:
    def divide(build: Builder, memory: list[TtirValue]) -> None:
        x, y = load(build, memory[0]), load(build, memory[1])
        store(build, memory[2], build.op("arith.divf", x, y))
        store(build, memory[3], build.op("tt.precise_divf", x, y))
        store(build, memory[4], build.asm(text, "=f,f,f", [x, y], x.type))

    x, y = np.random.default_rng(0).standard_normal((2, COUNT), np.float32)
    results = np.zeros((3, COUNT), np.float32)
    execute(divide, x, y, *results)
    assert (results[0] != x / y).any()
    np.testing.assert_allclose(results[0], x / y, rtol=1e-6)
    np.testing.assert_array_equal(results[1], x / y)
    np.testing.assert_array_equal(results[2], x / y)


@pytest.mark.parametrize(
    ("text", "constraints", "why"),
    [
        ("fma.f32 $0, $1, $1, $1;", "=f,f", "rounding must be written"),
        ("add.f64 $0, $1, $1;", "=f,f", "32 bits as f64"),
        ("add.f32 $0, $1, $1;", "=f,d", "constraint d"),
        ("add.f32 $0, $1, $2;", "=f,f", "reads \\$2"),
        ("cvt.f16.f32 $0, $1;", "=f,f", "rounding must be written"),
        ("frobnicate.f32 $0, $1;", "=f,f", "does not know"),
    ],
)
def test_ptx_that_does_not_exist_is_a_fault(text: str, constraints: str, why: str) -> None:
    def body(build: Builder, memory: list[TtirValue]) -> None:
        value = load(build, memory[0])
        build.asm(text, constraints, [value], value.type)

    with pytest.raises(MachineFault, match=why):
        execute(body, np.zeros(COUNT, np.float32))


@pytest.mark.parametrize(("mode", "expected"), [("rz", 1.0), ("rm", 1.0), ("rp", np.nextafter(np.float32(1), 2))])
def test_ptx_rounds_as_told(mode: str, expected: float) -> None:
    def body(build: Builder, memory: list[TtirValue]) -> None:
        one, tiny = build.float(F32.shaped(COUNT), 1.0), build.float(F32.shaped(COUNT), 2.0**-60)
        store(build, memory[0], build.asm(f"add.{mode}.f32 $0, $1, $2;", "=f,f,f", [one, tiny], one.type))

    result = np.zeros(COUNT, np.float32)
    execute(body, result)
    np.testing.assert_array_equal(result, np.float32(expected))
