"""Products of the TTIR machine."""

from __future__ import annotations

import numpy as np

from tests.ttir_machine.programs import execute, store
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import F32, TtirType, TtirValue


def test_a_product_is_of_tf32_unless_it_is_asked_to_be_exact() -> None:
    def body(build: Builder, memory: list[TtirValue]) -> None:
        third = build.float(F32.shaped(16, 16), 1 / 3)
        zero = build.float(F32.shaped(16, 16), 0.0)
        for base, precision in ((memory[0], 0), (memory[1], 2)):
            product = build.op("tt.dot", third, third, zero, type=zero.type, inputPrecision=precision)
            store(build, base, build.reshape(product, 256))

    coarse, exact = np.zeros((2, 256), np.float32)
    execute(body, coarse, exact)
    np.testing.assert_allclose(exact, 16 / 9, rtol=1e-6)
    assert 1e-5 < abs(coarse[0] - 16 / 9) < 1e-2


def test_a_scaled_product_has_a_scale_for_each_part_of_the_sum() -> None:
    def body(build: Builder, memory: list[TtirValue]) -> None:
        ones = build.integer(TtirType("i8", (16, 32)), 0x22)
        twos = build.integer(TtirType("i8", (64, 16)), 0x40)
        four, half = (build.integer(TtirType("i8", (16, 2)), 127 + power) for power in (2, -1))
        kinds = {"a_elem_type": 4, "b_elem_type": 1, "operandSegmentSizes": (1, 1, 1, 1, 1)}
        operands = [ones, twos, build.float(F32.shaped(16, 16), 0.25), four, half]
        product = build.insert("tt.dot_scaled", operands, [F32.shaped(16, 16)], kinds)[0]
        store(build, memory[0], build.reshape(product, 256))

    result = np.zeros(256, np.float32)
    execute(body, result)
    np.testing.assert_array_equal(result, 64 * (1.0 * 4) * (2.0 * 0.5) + 0.25)
