"""Facts about numbers while code is made: only true ones, and those that addresses need."""

import random

import numpy as np
import pytest

import tileir
from tests import ttir_machine
from tests.targets import ttir
from tests.thorough import sampled
from tests.ttir_machine import allocation
from tileir.analysis.ranges import MAX_DIVISOR, Range, power_in
from tileir.gpu.ttir.analysis.ranges import ValueRanges
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I8, I16, I32, I64, TtirBlock, TtirFunction, TtirType, TtirValue

INTEGERS = (I8, I16, I32, I64)
BINARY = [f"arith.{name}" for name in (
    "addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui",
)]  # fmt: skip
BY_CONSTANT = [f"arith.{name}" for name in ("shli", "shrui", "shrsi", "divui", "divsi", "remui", "remsi")]


@pytest.mark.parametrize(
    ("number", "power"), [(0, MAX_DIVISOR), (1, 1), (12, 4), (-8, 8), (1 << 62, 1 << 62), (3 << 40, 1 << 40)]
)
def test_the_power_of_two_in_a_number(number, power):
    assert power_in(number) == power


def test_nothing_is_known_of_a_parameter():
    block = TtirBlock((I32,))
    assert ValueRanges().of(block.arguments[0]) == Range(1, -(1 << 31), (1 << 31) - 1)


def test_promises_add_up():
    (value,) = TtirBlock((I32,)).arguments
    facts = ValueRanges()
    facts.promise(value, 24, low=0)
    facts.promise(value, 2, high=1000)
    assert facts.of(value) == Range(8, 0, 1000)


def test_the_start_of_a_tile_is_a_multiple_of_its_extent():
    block = TtirBlock()
    build, facts = Builder(block), ValueRanges()
    place = build.op("arith.extui", build.op("tt.get_program_id", type=I32, axis=0), type=I64)
    start = build.op("arith.muli", place, build.integer(I64, 128))
    assert facts.of(start) == Range(128, 0, 128 * ((1 << 24) - 1))


def test_an_address_keeps_the_divisor_of_offset_times_element():
    block = TtirBlock((TtirType("!tt.ptr<f16>"), I64))
    pointer, offset = block.arguments
    facts = ValueRanges()
    facts.promise(pointer, 64)
    facts.promise(offset, 8)
    assert facts.divisor(Builder(block).op("tt.addptr", pointer, offset)) == 16


def test_the_counter_of_a_loop_lies_between_its_bounds():
    block = TtirBlock((I32, I32))
    position, upper = block.arguments
    build, facts = Builder(block), ValueRanges()
    facts.promise(upper, high=500)
    facts.count(position, build.integer(I32, 16), upper, build.integer(I32, 4))
    assert facts.of(position) == Range(4, 16, 499)


# ---------------------------------------------------------------- never more than is true


def expression(seed: int) -> tuple[TtirFunction, ValueRanges, list[tuple[TtirValue, int]], list[TtirValue]]:
    """Random arithmetic on parameters with promises that their values keep, stored to memory."""
    choose = random.Random(seed)
    types = [choose.choice(INTEGERS) for _ in range(3)]
    body = TtirBlock((*types, TtirType("!tt.ptr<i64>")))
    build, facts = Builder(body), ValueRanges()
    given = [(value, _number(choose, value.type)) for value in body.arguments[:-1]]
    for value, number in given:
        if choose.random() < 0.7:
            facts.promise(value, power_in(number))
        if choose.random() < 0.7:
            facts.promise(value, low=number - min(3, number + (1 << (value.type.bits - 1))), high=number)
    found = [value for value, _ in given]
    for _ in range(12):
        found.append(_step(choose, build, found))
    for place, value in enumerate(found):
        wide = build.resized(value, "i64", signed=True)
        build.effect("tt.store", build.op("tt.addptr", body.arguments[-1], build.integer(I32, place)), wide)
    build.effect("tt.return")
    return TtirFunction("k", body), facts, given, found


def _number(choose: random.Random, type: TtirType) -> int:
    half = 1 << (type.bits - 1)
    return choose.choice([0, 1, -1, 16, 48, half - 1, -half, choose.randrange(-half, half), choose.randrange(half)])


def _step(choose: random.Random, build: Builder, found: list[TtirValue]) -> TtirValue:
    value = choose.choice(found)
    kind = choose.choice(["binary", "binary", "constant", "cast", "select"])
    if kind == "cast":
        return build.resized(value, choose.choice(INTEGERS).element, signed=choose.random() < 0.5)
    same = [other for other in found if other.type == value.type]
    if kind == "constant":
        name = choose.choice(BY_CONSTANT)
        shifts = name.startswith("arith.sh")
        by = choose.randrange(value.type.bits) if shifts else choose.choice([1, 2, 3, 8, 16, 100])
        return build.op(name, value, build.integer(value.type, by))
    if kind == "select":
        return build.select(build.compare("slt", value, choose.choice(same)), value, choose.choice(same))
    return build.op(
        choose.choice(BINARY), value, choose.choice([*same, build.integer(value.type, choose.choice([8, -16, 5]))])
    )


@pytest.mark.parametrize("start", sampled(range(0, 400, 50), 4))
def test_facts_hold_for_random_arithmetic(start):
    for seed in range(start, start + 50):
        function, facts, given, found = expression(seed)
        out = np.zeros(len(found), np.int64)
        lent = [allocation("out", out)]
        values = [number for _, number in given]
        ttir_machine.run(function, (1,), [*values, lent[0].address], lent)
        for value, number in zip(found, out.tolist()):
            known = facts.of(value)
            assert number % known.divisor == 0, (seed, value, number, known)
            assert known.low <= number <= known.high, (seed, value, number, known)


# ---------------------------------------------------------------- where promises are noted

ASSUMES = """
entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %c: tile<i1>) {
  LINES
}
"""


def lowered(*lines: str) -> str:
    kernel = tileir.parse(ASSUMES.replace("LINES", "\n  ".join(lines)))["k"]
    return ttir.lowered(kernel, "sm_90").text


def test_a_promise_about_a_parameter_is_one_of_the_parameter():
    text = lowered("%0 = assume div_by<32>, %p : tile<ptr<f32>>", "%1 = assume div_by<16>, %n : tile<i32>")
    assert "arg_attrs = [{tt.divisibility = 32 : i32}, {tt.divisibility = 16 : i32}, {}]" in text


def test_a_promise_about_a_view_is_one_of_its_address():
    view = "tensor_view<?xf32, strides=[1]>"
    text = lowered(
        f"%v = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> {view}",
        f"%0 = assume div_by<64>, %v : {view}",
    )
    assert "arg_attrs = [{tt.divisibility = 64 : i32}, {}, {}]" in text


def test_a_promise_about_a_result_is_noted_where_it_is_made():
    text = lowered("%m = addi %n, %n : tile<i32>", "%0 = assume div_by<16>, %m : tile<i32>")
    assert re_line(text, "arith.addi").count("tt.divisibility = dense<16> : tensor<1xi32>") == 1


def re_line(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if f'"{name}"' in line)


def test_a_promise_in_a_branch_says_nothing_of_the_value_outside():
    text = lowered(
        "if %c {",
        "  %0 = assume div_by<16>, %n : tile<i32>",
        "  %1 = assume div_by<16>, %p : tile<ptr<f32>>",
        "  %2 = assume bounded<0, 100>, %n : tile<i32>",
        "}",
    )
    assert "arg_attrs = [{}, {}, {}]" in text
    assert '"arith.divui"' in text
    assert '"tt.int_to_ptr"' in text


def test_promises_about_tiles_of_addresses_reach_the_analysis_of_triton():
    text = lowered(
        "%q = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>",
        "%r = broadcast %q : tile<1xptr<f32>> -> tile<64xptr<f32>>",
        "%i = iota : tile<64xi32>",
        "%s = offset %r, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>",
        "%t = assume div_by<16, every 4 along 0>, %s : tile<64xptr<f32>>",
    )
    line = re_line(text, "tt.addptr")
    assert "tt.contiguity = dense<[4]> : tensor<1xi32>" in line
    assert "tt.divisibility = dense<[16]> : tensor<1xi32>" in line
