"""Memory of the TTIR machine: masks, faults, atomics, descriptors, races."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ttir_machine.machine import run
from tests.ttir_machine.memory import allocation
from tests.ttir_machine.programs import COUNT, POINTER, execute, load, numbers, store
from tests.ttir_machine.values import MachineFault
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirBlock, TtirFunction, TtirType, TtirValue


def test_a_masked_load_gives_other_and_is_undefined_without() -> None:
    def masked(build: Builder, memory: list[TtirValue], has_other: bool) -> None:
        mask = build.compare("slt", build.range(COUNT), build.integer(I32.shaped(COUNT), 3))
        other = build.integer(I32.shaped(COUNT), -7) if has_other else None
        store(build, memory[1], load(build, memory[0], mask, other))

    source, result = np.arange(3, dtype=np.int32), numbers(0)
    execute(lambda build, memory: masked(build, memory, True), source, result)
    np.testing.assert_array_equal(result, [0, 1, 2, -7, -7, -7, -7, -7])
    with pytest.raises(MachineFault, match="poison"):
        execute(lambda build, memory: masked(build, memory, False), source, result)


def test_access_outside_and_misaligned_access_are_faults() -> None:
    with pytest.raises(MachineFault, match="outside the memory of the launch: byte 12 of '0', which has 12"):
        execute(lambda build, memory: store(build, memory[0], build.range(COUNT)), np.zeros(3, np.int32))

    def odd(build: Builder, memory: list[TtirValue]) -> None:
        byte = build.bitcast(memory[0], "!tt.ptr<i8>")
        moved = build.bitcast(build.op("tt.addptr", byte, build.integer(I32, 2)), "!tt.ptr<i32>")
        build.effect("tt.store", moved, build.integer(I32, 1))

    with pytest.raises(MachineFault, match="misaligned"):
        execute(odd, numbers())


def test_lanes_with_one_address_are_added_up_one_after_the_other() -> None:
    def body(build: Builder, memory: list[TtirValue]) -> None:
        everywhere, ones = build.splat(memory[0], COUNT), build.integer(I32.shaped(COUNT), 1)
        old = build.op("tt.atomic_rmw", everywhere, ones, type=ones.type, atomic_rmw_op=4, sem=1, scope=1)
        store(build, memory[1], old)

    counter, old = np.zeros(1, np.int32), numbers(0)
    execute(body, counter, old)
    assert counter[0] == COUNT
    np.testing.assert_array_equal(old, range(COUNT))


def test_a_descriptor_pads_what_lies_outside_and_wants_aligned_memory() -> None:
    def body(build: Builder, memory: list[TtirValue], shift: int) -> None:
        base = build.op("tt.addptr", memory[0], build.integer(I32, shift))
        shape, strides = (
            (build.integer(I32, 3), build.integer(I32, 5)),
            (build.integer(TtirType("i64"), n) for n in (8, 1)),
        )
        type = TtirType("!tt.tensordesc<4x8xi32>")
        attributes = {"operandSegmentSizes": (1, 2, 2), "padding": 1}
        descriptor = build.insert("tt.make_tensor_descriptor", [base, *shape, *strides], [type], attributes)[0]
        zero = build.integer(I32, 0)
        tile = build.op("tt.descriptor_load", descriptor, zero, zero, type=I32.shaped(4, 8))
        store(build, memory[1], build.reshape(tile, 32))

    raw = np.arange(1, 65, dtype=np.int32)
    source = raw[-raw.ctypes.data % 16 // 4 :][:32]
    result = np.zeros(32, np.int32)
    execute(lambda build, memory: body(build, memory, 0), source, result)
    expected = np.zeros((4, 8), np.int32)
    expected[:3, :5] = source.reshape(4, 8)[:3, :5]
    np.testing.assert_array_equal(result.reshape(4, 8), expected)
    with pytest.raises(MachineFault, match="multiple of 16"):
        execute(lambda build, memory: body(build, memory, 1), source, result)


@pytest.mark.parametrize("barrier", [False, True])
def test_a_barrier_must_stand_between_a_store_and_a_load_of_the_same_memory(barrier: bool) -> None:
    block = TtirBlock((POINTER,))
    build = Builder(block)
    store(build, block.arguments[0], build.range(COUNT))
    if barrier:
        build.effect("ttg.barrier", addrSpace=31)
    load(build, block.arguments[0])
    build.effect("tt.return")
    memory = allocation("x", numbers())
    function = TtirFunction("k", block)
    if barrier:
        run(function, (1,), [memory.address], [memory], ordered=True)
        return
    with pytest.raises(MachineFault, match="no barrier after"):
        run(function, (1,), [memory.address], [memory], ordered=True)
