"""Small TTIR functions for the tests of the machine: loads and stores of arrays, and a launch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.ttir_machine.machine import run
from tests.ttir_machine.memory import allocation
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirBlock, TtirFunction, TtirType, TtirValue

Body = Callable[[Builder, list[TtirValue]], None]
COUNT = 8
POINTER = TtirType("!tt.ptr<i32>")


def execute(body: Body, *arrays: np.ndarray, grid: tuple[int, ...] = (1,)) -> None:
    """Run a function whose parameters are the addresses of arrays of i32 or f32."""
    types = tuple(TtirType(f"!tt.ptr<{'f' if array.dtype.kind == 'f' else 'i'}32>") for array in arrays)
    block = TtirBlock(types)
    build = Builder(block)
    body(build, block.arguments)
    build.effect("tt.return")
    memory = [allocation(str(place), array) for place, array in enumerate(arrays)]
    run(TtirFunction("k", block), grid, [found.address for found in memory], memory)


def places(build: Builder, base: TtirValue, count: int = COUNT) -> TtirValue:
    return build.op("tt.addptr", build.splat(base, count), build.range(count))


def load(build: Builder, base: TtirValue, mask: TtirValue | None = None, other: TtirValue | None = None) -> TtirValue:
    given = [value for value in (places(build, base), mask, other) if value is not None]
    segments = (1, int(mask is not None), int(other is not None))
    type = TtirType(base.type.pointee, (COUNT,))
    return build.insert("tt.load", given, [type], {"operandSegmentSizes": segments})[0]


def store(build: Builder, base: TtirValue, value: TtirValue) -> None:
    build.effect("tt.store", places(build, base, value.type.count), value)


def numbers(*values: int) -> np.ndarray:
    return np.resize(np.array(values or range(COUNT), np.int32), COUNT)
