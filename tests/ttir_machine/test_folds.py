"""Reductions and scans of the TTIR machine."""

from __future__ import annotations

import numpy as np

from tests.ttir_machine.programs import COUNT, Body, execute, load, numbers, store
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirValue


def _folding(name: str, joined: str) -> Body:
    def body(build: Builder, memory: list[TtirValue]) -> None:
        source = load(build, memory[0])
        with build.region(I32, I32) as region:
            first, second = region.arguments
            ten = build.integer(I32, 10)
            sums = build.op("arith.addi", build.op("arith.muli", first, ten), second)
            build.effect(f"{name}.return", build.op(joined, first, second) if joined else sums)
        type = I32.shaped(COUNT) if name == "tt.scan" else I32
        attributes = {"axis": 0, "reverse": False} if name == "tt.scan" else {"axis": 0}
        result = build.insert(name, [source], [type], attributes, [region])[0]
        store(build, memory[1], build.like(result, source))

    return body


def test_reductions_and_scans() -> None:
    source, result = numbers(), numbers(0)
    execute(_folding("tt.scan", "arith.addi"), source, result)
    np.testing.assert_array_equal(result, np.cumsum(source))
    execute(_folding("tt.reduce", "arith.addi"), source, result)
    np.testing.assert_array_equal(result, source.sum())


def test_a_reduction_that_depends_on_the_order_does_not_get_program_order() -> None:
    source, result = numbers(1, 2, 3, 4, 5, 6, 7, 8), numbers(0)
    execute(_folding("tt.reduce", ""), source, result)
    assert result[0] != 12345678
