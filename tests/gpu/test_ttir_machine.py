"""The TTIR machine itself: what it computes, and that code without a meaning does not pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.gpu.ttir_machine import run
from tests.gpu.ttir_memory import allocation
from tests.gpu.ttir_values import MachineFault
from tileir.gpu.ttir.builder import Builder
from tileir.gpu.ttir.code import F32, I32, Block, Function, Type, Value

Body = Callable[[Builder, list[Value]], None]
COUNT = 8
POINTER = Type("!tt.ptr<i32>")


def execute(body: Body, *arrays: np.ndarray, grid: tuple[int, ...] = (1,)) -> None:
    """Run a function whose parameters are the addresses of arrays of i32 or f32."""
    types = tuple(Type(f"!tt.ptr<{'f' if array.dtype.kind == 'f' else 'i'}32>") for array in arrays)
    block = Block(types)
    build = Builder(block)
    body(build, block.arguments)
    build.effect("tt.return")
    memory = [allocation(str(place), array) for place, array in enumerate(arrays)]
    run(Function("k", block), grid, [found.address for found in memory], memory)


def places(build: Builder, base: Value, count: int = COUNT) -> Value:
    return build.op("tt.addptr", build.splat(base, count), build.range(count))


def load(build: Builder, base: Value, mask: Value | None = None, other: Value | None = None) -> Value:
    given = [value for value in (places(build, base), mask, other) if value is not None]
    segments = (1, int(mask is not None), int(other is not None))
    type = Type(base.type.pointee, (COUNT,))
    return build.insert("tt.load", given, [type], {"operandSegmentSizes": segments})[0]


def store(build: Builder, base: Value, value: Value) -> None:
    build.effect("tt.store", places(build, base, value.type.count), value)


def numbers(*values: int) -> np.ndarray:
    return np.resize(np.array(values or range(COUNT), np.int32), COUNT)


def test_a_select_may_drop_poison_but_nothing_else_may_see_it() -> None:
    def shifted(build: Builder, memory: list[Value], guarded: bool) -> None:
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
    def divide(build: Builder, memory: list[Value]) -> None:
        build.op(name, load(build, memory[0]), load(build, memory[1]))

    with pytest.raises(MachineFault, match="division"):
        execute(divide, numbers(dividend), numbers(divisor))


def test_a_masked_load_gives_other_and_is_undefined_without() -> None:
    def masked(build: Builder, memory: list[Value], has_other: bool) -> None:
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

    def odd(build: Builder, memory: list[Value]) -> None:
        byte = build.bitcast(memory[0], "!tt.ptr<i8>")
        moved = build.bitcast(build.op("tt.addptr", byte, build.integer(I32, 2)), "!tt.ptr<i32>")
        build.effect("tt.store", moved, build.integer(I32, 1))

    with pytest.raises(MachineFault, match="misaligned"):
        execute(odd, numbers())


def _folding(name: str, joined: str) -> Body:
    def body(build: Builder, memory: list[Value]) -> None:
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


@pytest.mark.parametrize("text", ["div.rn.f32 $0, $1, $2;", "{ .reg .f32 t; div.rn.f32 t, $1, $2; mov.f32 $0, t; }"])
def test_division_of_tiles_is_approximate_and_that_of_ptx_is_not(text: str) -> None:
    def divide(build: Builder, memory: list[Value]) -> None:
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
    def body(build: Builder, memory: list[Value]) -> None:
        value = load(build, memory[0])
        build.asm(text, constraints, [value], value.type)

    with pytest.raises(MachineFault, match=why):
        execute(body, np.zeros(COUNT, np.float32))


@pytest.mark.parametrize(("mode", "expected"), [("rz", 1.0), ("rm", 1.0), ("rp", np.nextafter(np.float32(1), 2))])
def test_ptx_rounds_as_told(mode: str, expected: float) -> None:
    def body(build: Builder, memory: list[Value]) -> None:
        one, tiny = build.float(F32.shaped(COUNT), 1.0), build.float(F32.shaped(COUNT), 2.0**-60)
        store(build, memory[0], build.asm(f"add.{mode}.f32 $0, $1, $2;", "=f,f,f", [one, tiny], one.type))

    result = np.zeros(COUNT, np.float32)
    execute(body, result)
    np.testing.assert_array_equal(result, np.float32(expected))


def _waiting(limit: int) -> Body:
    """Each block waits until as many blocks have come as `limit` says."""

    def body(build: Builder, memory: list[Value]) -> None:
        one, zero = build.integer(I32, 1), build.integer(I32, 0)
        atomic = {"atomic_rmw_op": 4, "sem": 1, "scope": 1}
        build.op("tt.atomic_rmw", memory[0], one, type=I32, **atomic)
        with build.region() as before:
            seen = build.op("tt.atomic_rmw", memory[0], zero, type=I32, **atomic)
            build.effect("scf.condition", build.compare("slt", seen, build.integer(I32, limit)))
        with build.region() as after:
            build.effect("scf.yield")
        build.insert("scf.while", (), (), {}, [before, after])

    return body


def test_blocks_that_wait_for_each_other_take_turns() -> None:
    counter = np.zeros(1, np.int32)
    execute(_waiting(6), counter, grid=(3, 2))
    assert counter[0] == 6


def test_blocks_that_wait_for_ever_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.gpu.ttir_machine.MAX_TURNS", 100)
    with pytest.raises(MachineFault, match="for ever"):
        execute(_waiting(7), np.zeros(1, np.int32), grid=(3, 2))


def test_lanes_with_one_address_are_added_up_one_after_the_other() -> None:
    def body(build: Builder, memory: list[Value]) -> None:
        everywhere, ones = build.splat(memory[0], COUNT), build.integer(I32.shaped(COUNT), 1)
        old = build.op("tt.atomic_rmw", everywhere, ones, type=ones.type, atomic_rmw_op=4, sem=1, scope=1)
        store(build, memory[1], old)

    counter, old = np.zeros(1, np.int32), numbers(0)
    execute(body, counter, old)
    assert counter[0] == COUNT
    np.testing.assert_array_equal(old, range(COUNT))


def test_a_product_is_of_tf32_unless_it_is_asked_to_be_exact() -> None:
    def body(build: Builder, memory: list[Value]) -> None:
        third = build.float(F32.shaped(16, 16), 1 / 3)
        zero = build.float(F32.shaped(16, 16), 0.0)
        for base, precision in ((memory[0], 0), (memory[1], 2)):
            product = build.op("tt.dot", third, third, zero, type=zero.type, inputPrecision=precision)
            store(build, base, build.reshape(product, 256))

    coarse, exact = np.zeros((2, 256), np.float32)
    execute(body, coarse, exact)
    np.testing.assert_allclose(exact, 16 / 9, rtol=1e-6)
    assert 1e-5 < abs(coarse[0] - 16 / 9) < 1e-2


def test_a_descriptor_pads_what_lies_outside_and_wants_aligned_memory() -> None:
    def body(build: Builder, memory: list[Value], shift: int) -> None:
        base = build.op("tt.addptr", memory[0], build.integer(I32, shift))
        shape, strides = (
            (build.integer(I32, 3), build.integer(I32, 5)),
            (build.integer(Type("i64"), n) for n in (8, 1)),
        )
        type = Type("!tt.tensordesc<4x8xi32>")
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
    block = Block((POINTER,))
    build = Builder(block)
    store(build, block.arguments[0], build.range(COUNT))
    if barrier:
        build.effect("ttg.barrier", addrSpace=31)
    load(build, block.arguments[0])
    build.effect("tt.return")
    memory = allocation("x", numbers())
    function = Function("k", block)
    if barrier:
        run(function, (1,), [memory.address], [memory], ordered=True)
        return
    with pytest.raises(MachineFault, match="no barrier after"):
        run(function, (1,), [memory.address], [memory], ordered=True)


def test_a_scaled_product_has_a_scale_for_each_part_of_the_sum() -> None:
    def body(build: Builder, memory: list[Value]) -> None:
        ones = build.integer(Type("i8", (16, 32)), 0x22)
        twos = build.integer(Type("i8", (64, 16)), 0x40)
        four, half = (build.integer(Type("i8", (16, 2)), 127 + power) for power in (2, -1))
        kinds = {"a_elem_type": 4, "b_elem_type": 1, "operandSegmentSizes": (1, 1, 1, 1, 1)}
        operands = [ones, twos, build.float(F32.shaped(16, 16), 0.25), four, half]
        product = build.insert("tt.dot_scaled", operands, [F32.shaped(16, 16)], kinds)[0]
        store(build, memory[0], build.reshape(product, 256))

    result = np.zeros(256, np.float32)
    execute(body, result)
    np.testing.assert_array_equal(result, 64 * (1.0 * 4) * (2.0 * 0.5) + 0.25)
