"""Loops that run on vectors do what their iterations do one by one."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from llvmlite import ir

import tileir
from tests.thorough import sampled
from tileir.cpu.emit.elements import FLOAT, I1, I8, I32, I64, PTR
from tileir.cpu.emit.emitter import ARENA_ALIGNMENT, Emitter
from tileir.cpu.emit.vectorizability import GuardedLoad, WideFunction, byte_size
from tileir.cpu.llvm.engine import Host, Loaded, host, object_code
from tileir.cpu.llvm.printing import NativeModule

WIDTHS = [128, 256, 512]
COUNTS = [1, 2, 3, 7, 8, 16, 24, 63, 64, 65, 100, 256, 300]
Body = Callable[[Emitter, ir.Value, ir.Value, ir.Value], None]


@pytest.fixture(params=WIDTHS)
def processor(request: pytest.FixtureRequest) -> Host:
    """A processor by the bits of its vectors; code for wider ones than this machine's is never run."""
    if request.param > host().vector_bits:
        pytest.skip("this machine has no vectors that wide")
    return dataclasses.replace(host(), vector_bits=request.param)


def module(count: int | None, body: Body, processor: Host | None = None) -> ir.Module:
    """A function of two addresses and a number of iterations, which is known if `count` is."""
    made = NativeModule("loop", processor or host())
    function = ir.Function(made, ir.FunctionType(I32, [PTR, PTR, I64]), "f")
    start, leave = function.append_basic_block("start"), function.append_basic_block("exit")
    builder = ir.IRBuilder(start)
    status = builder.alloca(I32)
    builder.store(I32(0), status)
    emit = Emitter(function, builder, builder.alloca(I64, ARENA_ALIGNMENT // 8), leave, status)
    source, target, iterations = function.args
    emit.loop_nest([iterations if count is None else count], lambda at: body(emit, source, target, at[0]))
    builder.branch(leave)
    builder.position_at_end(leave)
    builder.ret(builder.load(status, typ=I32))
    return made


def is_widened(made: ir.Module) -> bool:
    return "wide:" in str(made)


def run(made: ir.Module, source: np.ndarray, target: np.ndarray, count: int) -> None:
    loaded = Loaded(object_code(str(made), host()), host(), ["f"])
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    assert kind(loaded.addresses["f"])(source.ctypes.data, target.ctypes.data, count) == 0


def load(emit: Emitter, base: ir.Value, index: ir.Value, element: ir.Type = FLOAT, size: int = 4) -> ir.Value:
    place = emit.builder.gep(base, [index], source_etype=element)
    return emit.independent(emit.builder.load(place, typ=element, align=size))


def store(emit: Emitter, value: ir.Value, base: ir.Value, index: ir.Value, size: int = 4) -> None:
    place = emit.builder.gep(base, [index], source_etype=value.type)
    emit.independent(emit.builder.store(value, place, align=size))


def check(body: Body, expected: Callable[[np.ndarray, int], np.ndarray], source: np.ndarray, processor: Host) -> None:
    """The results of a loop for every count, known or not; nothing beyond the last iteration is touched."""
    for count in COUNTS:
        for known in (count, None):
            made = module(known, body, processor)
            wanted = expected(source, count)
            found = np.full(len(wanted) + 8, 77, wanted.dtype)
            run(made, source, found, count)
            np.testing.assert_array_equal(found[: len(wanted)], wanted)
            assert (found[len(wanted) :] == 77).all()
            if known is None or count >= 16:
                assert is_widened(made), count


def numbers(dtype: type, length: int = 1300) -> np.ndarray:
    return np.random.default_rng(5).integers(-100, 100, length).astype(dtype)


# ---------------------------------------------------------------- what has a form for vectors


def test_lanes_side_by_side(processor: Host) -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        store(emit, emit.builder.fmul(load(emit, source, at), FLOAT(3.0)), target, at)

    check(body, lambda source, count: source[:count] * np.float32(3), numbers(np.float32), processor)


def test_elements_of_several_sizes(processor: Host) -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        store(emit, emit.builder.sext(load(emit, source, at, I8, 1), I64), target, at, 8)

    check(body, lambda source, count: source[:count].astype(np.int64), numbers(np.int8), processor)


def test_the_position_itself_is_a_number(processor: Host) -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        builder = emit.builder
        grown = builder.sub(builder.shl(builder.trunc(at, I32), I32(1)), I32(5))
        store(emit, builder.xor(grown, I32(3)), target, at)

    check(body, lambda source, count: (np.arange(count, dtype=np.int32) * 2 - 5) ^ 3, numbers(np.int32), processor)


def test_what_is_the_same_in_all_iterations_is_read_once(processor: Host) -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        first = load(emit, source, I64(1), I32)
        store(emit, emit.builder.add(load(emit, source, at, I32), first), target, at)

    check(body, lambda source, count: source[:count] + source[1], numbers(np.int32), processor)


def test_choices(processor: Host) -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        builder, number = emit.builder, load(emit, source, at, I32)
        even = builder.icmp_signed("==", builder.urem(at, I64(2)), I64(0))
        low = builder.icmp_signed("<", number, I32(10))
        chosen = builder.select(builder.and_(even, low), builder.udiv(number, I32(4)), I32(-1))
        store(emit, chosen, target, at)

    def expected(source: np.ndarray, count: int) -> np.ndarray:
        chosen = (np.arange(count) % 2 == 0) & (source[:count] < 10)
        return np.where(chosen, (source[:count].view(np.uint32) // 4).view(np.int32), -1)

    check(body, expected, numbers(np.int32), processor)


def test_functions_one_of_which_takes_a_flag(processor: Host) -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        builder, number = emit.builder, load(emit, source, at, I32)
        names = {"llvm.umax.i32": [I32, I32], "llvm.abs.i32": [I32, I1]}
        for name, types in names.items():
            if name not in emit.module.globals:
                ir.Function(emit.module, ir.FunctionType(I32, types), name)
        size = builder.call(emit.module.globals["llvm.abs.i32"], [number, I1(0)])
        store(emit, builder.call(emit.module.globals["llvm.umax.i32"], [size, I32(50)]), target, at)

    check(body, lambda source, count: np.maximum(np.abs(source[:count]), 50), numbers(np.int32), processor)


# ---------------------------------------------------------------- places


def test_lanes_apart_and_backwards() -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        builder = emit.builder
        apart = load(emit, source, builder.mul(at, I64(3)), I32)
        back = load(emit, source, builder.sub(I64(1200), at), I32)
        store(emit, builder.sub(apart, back), target, at)

    def expected(source: np.ndarray, count: int) -> np.ndarray:
        return source[: 3 * count : 3] - source[1200 : 1200 - count : -1]

    for known in (300, None):
        made, source, found = module(known, body), numbers(np.int32), np.zeros(300, np.int32)
        run(made, source, found, 300)
        np.testing.assert_array_equal(found, expected(source, 300))
        assert is_widened(made) is (host().vector_bits == 512)


def test_lanes_anywhere() -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        builder = emit.builder
        place = builder.and_(builder.sext(load(emit, source, at, I32), I64), I64(255))
        store(emit, load(emit, source, place, I32), target, at)

    for known in (300, None):
        made, source, found = module(known, body), numbers(np.int32), np.zeros(300, np.int32)
        run(made, source, found, 300)
        np.testing.assert_array_equal(found, source[source[:300] & 255])
        assert is_widened(made) is (host().vector_bits == 512)


def test_elements_stored_anywhere_leave_the_last_at_equal_places() -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        place = emit.builder.and_(emit.builder.sext(load(emit, source, at, I32), I64), I64(63))
        store(emit, load(emit, source, at, I32), target, place)

    for known in (300, None):
        made, source, found, expected = module(known, body), numbers(np.int32), *np.zeros((2, 64), np.int32)
        run(made, source, found, 300)
        for number in source[:300]:
            expected[number & 63] = number
        np.testing.assert_array_equal(found, expected)
        assert is_widened(made) is (host().vector_bits == 512)


def test_elements_stored_a_distance_apart_are_stored_one_by_one() -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        store(emit, load(emit, source, at, I32), target, emit.builder.mul(at, I64(2)))

    made, source, found = module(None, body), numbers(np.int32), np.zeros(200, np.int32)
    run(made, source, found, 100)
    np.testing.assert_array_equal(found[::2], source[:100])
    assert not found[1::2].any()
    assert not is_widened(made)


def test_a_function_that_has_forms_for_vectors(processor: Host) -> None:
    def wide(scalar: WideFunction, lanes: int) -> ir.Function:
        vector = ir.VectorType(FLOAT, lanes)
        made = ir.Function(scalar.module, ir.FunctionType(vector, [vector]), f"{scalar.name}.{lanes}")
        builder = ir.IRBuilder(made.append_basic_block())
        builder.ret(builder.fadd(made.args[0], made.args[0]))
        return made

    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        function = emit.module.globals.get("twice")
        if function is None:
            function = WideFunction(emit.module, ir.FunctionType(FLOAT, [FLOAT]), "twice", wide)
            builder = ir.IRBuilder(function.append_basic_block())
            builder.ret(builder.fadd(function.args[0], function.args[0]))
        store(emit, emit.builder.call(function, [load(emit, source, at)]), target, at)

    check(body, lambda source, count: 2 * source[:count], numbers(np.float32), processor)


# ---------------------------------------------------------------- loads under a condition


@pytest.mark.parametrize("element", sampled([I8, I32, I64, FLOAT], 2))
@pytest.mark.parametrize("step", [0, 1, 3, None])
def test_what_a_condition_leaves_out_is_not_read(step: int | None, element: ir.Type, processor: Host) -> None:
    """The addresses of the lanes left out lead nowhere."""
    size, place = byte_size(element), 200
    dtype = {FLOAT: np.float32}.get(element, np.dtype(f"i{size}"))

    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        builder = emit.builder
        bits = load(emit, source, at, I32)
        inside = builder.icmp_signed("<", bits, I32(0))
        index = builder.and_(builder.sext(bits, I64), I64(63)) if step is None else builder.mul(at, I64(step))
        elsewhere = builder.select(inside, I64(0), I64(1 << 40)) if step is None else I64(0)
        base = builder.gep(source, [I64(4 * place)], source_etype=I8)
        at_element = builder.gep(base, [builder.add(index, elsewhere)], source_etype=element)
        found = builder.load(builder.select(inside, at_element, emit.stack(element)), typ=element, align=size)
        emit.guarded[found] = GuardedLoad(at_element, inside, ir.Constant(element, None))
        seven = element(7)
        store(emit, builder.select(inside, emit.independent(found), seven), target, at, size)

    def expected(source: np.ndarray, count: int) -> np.ndarray:
        bits = source[:count]
        index = bits & 63 if step is None else np.arange(count) * step
        elements = source[place:].view(dtype)
        return np.where(bits < 0, elements[np.where(bits < 0, index, 0)], dtype(7) if element is FLOAT else 7)

    source = numbers(np.int32, 4000)
    for count in COUNTS:
        made = module(count, body, processor)
        found = np.full(count + 8, 77, dtype)
        run(made, source, found, count)
        assert found[:count].tobytes() == expected(source, count).astype(dtype).tobytes()
        assert (found[count:] == 77).all()


# ---------------------------------------------------------------- cells


@pytest.mark.parametrize("place", [0, 1, 15, 16, 31, 32, 63, 64, 98, 99])
def test_a_cell_collects_from_all_lanes(place: int, processor: Host) -> None:
    made = NativeModule("loop", processor)
    function = ir.Function(made, ir.FunctionType(I32, [PTR, PTR, I64]), "f")
    start, leave = function.append_basic_block("start"), function.append_basic_block("exit")
    builder = ir.IRBuilder(start)
    memory = builder.alloca(I64, ARENA_ALIGNMENT // 8)
    emit = Emitter(function, builder, memory, leave, builder.alloca(I32))
    source, target, count = function.args
    found, least = emit.stack(I1), emit.stack(I64)
    builder.store(I1(0), found)
    builder.store(I64(1000), least)
    smaller = ir.Function(made, ir.FunctionType(I64, [I64, I64]), "llvm.umin.i64")

    def visit(index: tuple[ir.Value, ...]) -> None:
        odd = builder.icmp_signed("==", load(emit, source, index[0], I8, 1), I8(1))
        builder.store(builder.or_(odd, builder.load(found, typ=I1)), found)
        here = builder.select(odd, index[0], I64(1000))
        builder.store(builder.call(smaller, [builder.load(least, typ=I64), here]), least)

    emit.loop_nest([count], visit)
    builder.store(builder.zext(builder.load(found, typ=I1), I64), target)
    builder.store(builder.load(least, typ=I64), builder.gep(target, [I64(1)], source_etype=I64))
    builder.branch(leave)
    builder.position_at_end(leave)
    builder.ret(I32(0))
    assert is_widened(made)
    marks, results = np.zeros(120, np.int8), np.zeros(2, np.int64)
    marks[100:] = 1
    run(made, marks, results, 100)
    assert results.tolist() == [0, 1000]
    marks[place] = 1
    run(made, marks, results, 100)
    assert results.tolist() == [1, place]


# ---------------------------------------------------------------- what is left


def test_a_remainder_of_floats_is_made_one_by_one() -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        store(emit, emit.builder.frem(load(emit, source, at), FLOAT(7.0)), target, at)

    made = module(None, body)
    assert not is_widened(made)
    source, found = numbers(np.float32), np.zeros(100, np.float32)
    run(made, source, found, 100)
    np.testing.assert_array_equal(found, np.fmod(source[:100], 7))


def test_a_cell_that_a_function_changes_is_changed_one_by_one() -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        builder, name = emit.builder, "llvm.nearbyint.f32"
        if name not in emit.module.globals:
            ir.Function(emit.module, ir.FunctionType(FLOAT, [FLOAT]), name)
        cell = emit.stack(FLOAT)
        builder.store(builder.call(emit.module.globals[name], [builder.load(cell, typ=FLOAT)]), cell)
        store(emit, load(emit, source, at), target, at)

    assert not is_widened(module(None, body))


def test_elements_of_no_known_size_are_stored_one_by_one() -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        emit.independent(emit.builder.store(ir.Constant(ir.HalfType(), 1.0), target, align=2))

    assert not is_widened(module(None, body))


@pytest.mark.parametrize("count", [64, None])
def test_each_instruction_stays_that_of_its_line(count: int | None) -> None:
    places: dict[str, ir.DIValue] = {}

    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        for line, name in enumerate(("load", "fmul", "store"), 1):
            places[name] = emit.module.add_debug_info("DILocation", {"line": line})
        with emit.at_place(places["load"]):
            number = load(emit, source, at)
        with emit.at_place(places["fmul"]):
            number = emit.builder.fmul(number, number)
        with emit.at_place(places["store"]):
            store(emit, number, target, at)

    wide = next(block for block in module(count, body).get_global("f").blocks if block.name == "wide")
    for name, place in places.items():
        found = [each for each in wide.instructions if each.opname == name]
        assert found and all(each.metadata["dbg"] is place for each in found)


def test_a_constant_without_a_number_is_none() -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        builder, number = emit.builder, load(emit, source, at, I32)
        nothing = ir.Constant(I64, None)
        store(emit, builder.add(number, builder.trunc(builder.mul(at, nothing), I32)), target, at)

    check(body, lambda source, count: source[:count], numbers(np.int32), host())


def test_iterations_that_are_not_marked_stay_in_order() -> None:
    def body(emit: Emitter, source: ir.Value, target: ir.Value, at: ir.Value) -> None:
        builder = emit.builder
        place = builder.gep(target, [at], source_etype=I32)
        before = builder.load(builder.gep(place, [I64(-1)], source_etype=I32), typ=I32)
        builder.store(builder.add(before, load(emit, source, at, I32)), place)

    made, source = module(None, body), numbers(np.int32)
    sums = np.zeros(101, np.int32)
    run(made, source, sums[1:], 100)
    np.testing.assert_array_equal(sums[1:], np.cumsum(source[:100], dtype=np.int32))


def test_vectors_of_ordinary_numbers_and_of_special_ones_are_rounded_to_bf16():
    """The processor's instruction takes subnormal numbers for zeros, and keeps bits of a NaN."""
    part = "partition_view<tile=(1024), tensor_view<4096x{}, strides=[1]>>"
    kernel = tileir.parse(f"""entry @k(%in: tile<ptr<f32>>, %out: tile<ptr<bf16>>) {{
  %x, %y, %z = get_tile_block_id : tile<i32>
  %a = make_tensor_view %in, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
  %b = make_tensor_view %out, shape = [4096], strides = [1] : tensor_view<4096xbf16, strides=[1]>
  %as = make_partition_view %a : {part.format("f32")}
  %bs = make_partition_view %b : {part.format("bf16")}
  %read, %t0 = load_view_tko weak %as[%x] : {part.format("f32")}, tile<i32> -> tile<1024xf32>, token
  %rounded = ftof %read : tile<1024xf32> -> tile<1024xbf16>
  %t1 = store_view_tko weak %rounded, %bs[%x] : tile<1024xbf16>, {part.format("bf16")}, tile<i32> -> token
}}""")["k"]
    generator = np.random.default_rng(0)
    bits = generator.integers(0x00800000, 0x7F800000, 4096, dtype=np.uint32)
    bits |= generator.integers(0, 2, 4096, dtype=np.uint32) << 31
    special = [0, 1, 0x7FFFFF, 0x80000000, 0x80400000, 0x7F800000, 0xFF800000, 0x7F800001, 0x7FFFFFFF, 0xFFC12345]
    bits[1024::97] = generator.choice(np.array(special, np.uint32), len(bits[1024::97]))
    results = []
    for target in ("interp", "cpu"):
        out = np.zeros(4096, ml_dtypes.bfloat16)
        kernel.launch(4, bits.view(np.float32), out, target=target)
        results.append(out.tobytes())
    assert results[0] == results[1]
