"""Reductions and scans are the specification's sequential fold, however they are evaluated (operations 3.15, 3.17)."""

import ml_dtypes
import numpy as np
import pytest
from interp_kernels import evaluate, function

from tileir.interp import folds
from tileir.interp.literals import scalar
from tileir.ir.attributes import FloatAttr, IntegerAttr
from tileir.ir.types import BF16, F16, I8

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
}
FLOATS, INTS = ("f16", "bf16", "f32", "f64"), ("i8", "i32", "i64")
SHAPE = (4, 16, 8)


def dims(shape):
    return "x".join(map(str, shape))


def fold_text(kind, ty, dim, body, identity, reverse=False, shape=SHAPE):
    """A function that folds %x with `body`, which sees %l and %r and yields %y."""
    source = f"tile<{dims(shape)}x{ty}>"
    rest = shape[:dim] + shape[dim + 1 :]
    result = source if kind == "scan" else f"tile<{dims((*rest, ty))}>"
    order = f" reverse={str(reverse).lower()}" if kind == "scan" else ""
    return function(
        f"%x: {source}", result,
        f"""%r = {kind} %x dim={dim}{order} identities=[{identity} : {ty}] : {source} -> {result}
              (%l: tile<{ty}>, %r: tile<{ty}>) {{
                {body}
                yield %y : tile<{ty}>
              }}
            return %r : {result}""",
    )  # fmt: skip


def body_of(operation, ty, plain=True):
    """One operation; or the same with a detour that hides it from the fast evaluation."""
    if plain:
        return f"%y = {operation.format('%l', '%r')} : tile<{ty}>"
    return (
        "%true = constant <i1: true> : tile<i1>\n"
        f"%q = {operation.format('%l', '%r')} : tile<{ty}>\n"
        f"%y = select %true, %q, %l : tile<i1>, tile<{ty}>"
    )


def by_lanes(operation, ty):
    """The same inside an `if`, which is evaluated lane by lane."""
    return (
        "%true = constant <i1: true> : tile<i1>\n"
        f"%y = if %true -> (tile<{ty}>) {{\n%q = {operation.format('%l', '%r')} : tile<{ty}>\nyield %q : tile<{ty}>\n}}"
        f" else {{\nyield %l : tile<{ty}>\n}}"
    )


def random_tile(ty, shape=SHAPE):
    generator = np.random.default_rng(7)
    if ty == "i1":
        return generator.integers(0, 2, shape).astype(np.bool_)
    if ty in INTS:
        info = np.iinfo(DTYPES[ty])
        return generator.integers(info.min, info.max, shape, DTYPES[ty], endpoint=True)
    values = generator.standard_normal(shape) * 2.0 ** generator.integers(-6, 6, shape)
    special = generator.choice([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0], shape)
    return np.where(generator.random(shape) < 0.3, special, values).astype(DTYPES[ty])


def same_bits(a, b):
    """Equal patterns, any NaN being like any other."""
    if a.dtype.kind in "biu":
        return a.dtype == b.dtype and bool((a == b).all())
    unsigned = f"u{a.dtype.itemsize}"
    equal = a.view(unsigned) == b.view(unsigned)
    return a.dtype == b.dtype and bool((equal | (np.isnan(a.astype(float)) & np.isnan(b.astype(float)))).all())


CASES = [
    *((ty, op, identity) for ty in FLOATS for op, identity in [
        ("addf {}, {}", "0.0"), ("mulf {}, {}", "1.0"), ("maxf {}, {}", "-1.0"), ("minf {}, {}", "0.0"),
        ("maxf {}, {} propagate_nan", "-0.0"), ("minf {}, {} propagate_nan", "2.0"),
    ]),
    *((ty, op, identity) for ty in (*INTS, "i1") for op, identity in [
        ("addi {}, {}", "0"), ("muli {}, {}", "1"), ("andi {}, {}", "-1"), ("ori {}, {}", "0"), ("xori {}, {}", "0"),
        ("maxi {}, {} signed", "-1"), ("maxi {}, {} unsigned", "0"), ("mini {}, {} signed", "0"),
        ("mini {}, {} unsigned", "-1"),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("ty", "operation", "identity"), CASES)
def test_one_operation_is_folded_with_the_bits_of_the_general_evaluation(ty, operation, identity):
    x = random_tile(ty)
    for kind, dim, reverse in [("reduce", 0, False), ("reduce", 2, False), ("scan", 1, False), ("scan", 2, True)]:
        results = [
            evaluate(fold_text(kind, ty, dim, body_of(operation, ty, plain), identity, reverse), x)
            for plain in (True, False)
        ]
        assert same_bits(*map(np.asarray, results)), (kind, dim, reverse)


@pytest.mark.parametrize(("ty", "operation", "identity"), [CASES[0], CASES[12], CASES[-1]])
def test_lane_by_lane_evaluation_gives_the_same(ty, operation, identity):
    x = random_tile(ty, (2, 4, 8))
    for kind, dim, reverse in [("reduce", 1, False), ("scan", 2, True)]:
        results = [
            evaluate(fold_text(kind, ty, dim, body, identity, reverse, (2, 4, 8)), x)
            for body in (body_of(operation, ty), by_lanes(operation, ty))
        ]
        assert same_bits(*map(np.asarray, results)), (kind, dim, reverse)


def test_a_reduction_passes_the_element_first_and_starts_with_the_identity():
    text = fold_text("reduce", "i32", 0, "%y = subi %l, %r : tile<i32>", "100", shape=(4,))
    x = np.array([1, 2, 3, 4], np.int32)
    assert int(evaluate(text, x)) == 4 - (3 - (2 - (1 - 100)))


def test_a_scan_passes_the_running_value_first():
    x = np.array([1, 2, 3, 4], np.int32)
    forward = fold_text("scan", "i32", 0, "%y = subi %l, %r : tile<i32>", "100", shape=(4,))
    backward = fold_text("scan", "i32", 0, "%y = subi %l, %r : tile<i32>", "100", True, shape=(4,))
    assert evaluate(forward, x).tolist() == [99, 97, 94, 90]
    assert evaluate(backward, x).tolist() == [90, 91, 93, 96]


def test_sums_of_floats_are_not_regrouped():
    x = np.array([1e8, 1.0, -1e8, 1.0] * 64, np.float32)
    expected = np.float32(0)
    for value in x:
        expected = value + expected
    text = fold_text("reduce", "f32", 0, body_of("addf {}, {}", "f32"), "0.0", shape=(256,))
    assert float(evaluate(text, x)) == expected


def test_a_rounding_mode_is_honoured():
    x = np.full(16, 0.1, np.float32)
    bodies = (f"%y = addf %l, %r rounding<{mode}> : tile<f32>" for mode in ("positive_inf", "negative_inf"))
    up, down = (float(evaluate(fold_text("reduce", "f32", 0, body, "0.0", shape=(16,)), x)) for body in bodies)
    assert down < up


ARGMAX = """%m, %ix = reduce %v, %pos dim=1 identities=[0xFF800000 : f32, 0 : i32]
      : tile<4x8xf32>, tile<4x8xi32> -> tile<4xf32>, tile<4xi32>
    (%a: tile<f32>, %b: tile<f32>, %i: tile<i32>, %j: tile<i32>) {
      %g = cmpf greater_than ordered %a, %b : tile<f32> -> tile<i1>
      %x = select %g, %a, %b : tile<i1>, tile<f32>
      %y = select %g, %i, %j : tile<i1>, tile<i32>
      yield %x, %y : tile<f32>, tile<i32>
    }
    return %m, %ix : tile<4xf32>, tile<4xi32>"""


def test_several_operands_are_reduced_in_lock_step():
    v = np.random.default_rng(1).random((4, 8)).astype(np.float32)
    positions = np.broadcast_to(np.arange(8, dtype=np.int32), (4, 8))
    text = function("%v: tile<4x8xf32>, %pos: tile<4x8xi32>", "tile<4xf32>, tile<4xi32>", ARGMAX)
    largest, index = evaluate(text, v, positions)
    assert (largest == v.max(1)).all()
    assert (index == v.argmax(1)).all()


def test_a_body_may_capture_values_and_ignore_its_arguments():
    text = function(
        "%x: tile<2x4xi32>, %k: tile<i32>", "tile<2xi32>, tile<2xi32>",
        """%a = reduce %x dim=1 identities=[0 : i32] : tile<2x4xi32> -> tile<2xi32> (%l: tile<i32>, %r: tile<i32>) {
             %s = muli %l, %k : tile<i32>
             %y = addi %s, %r : tile<i32>
             yield %y : tile<i32>
           }
           %b = reduce %x dim=1 identities=[0 : i32] : tile<2x4xi32> -> tile<2xi32> (%l: tile<i32>, %r: tile<i32>) {
             yield %k : tile<i32>
           }
           return %a, %b : tile<2xi32>, tile<2xi32>""",
    )  # fmt: skip
    a, b = evaluate(text, np.arange(8, dtype=np.int32).reshape(2, 4), np.int32(10))
    assert a.tolist() == [60, 220]
    assert b.tolist() == [10, 10]


def test_bodies_may_nest_reductions_and_shapes():
    text = fold_text(
        "reduce", "i32", 0,
        """%p = reshape %l : tile<i32> -> tile<1xi32>
           %q = reshape %r : tile<i32> -> tile<1xi32>
           %both = cat %p, %q dim = 0 : tile<1xi32>, tile<1xi32> -> tile<2xi32>
           %y = reduce %both dim=0 identities=[0 : i32] : tile<2xi32> -> tile<i32> (%a: tile<i32>, %b: tile<i32>) {
             %s = addi %a, %b : tile<i32>
             yield %s : tile<i32>
           }""",
        "0", shape=(8,),
    )  # fmt: skip
    assert int(evaluate(text, np.arange(8, dtype=np.int32))) == 28


def test_identities_may_be_of_the_other_half_precision_type():
    assert float(scalar(FloatAttr(0x3F80, BF16), F16)) == 1.0
    assert int(scalar(IntegerAttr(-1, I8), I8)) == -1


def test_strict_mode_checks_promises_inside_a_reduction():
    text = fold_text("reduce", "i8", 0, "%y = addi %l, %r overflow<no_signed_wrap> : tile<i8>", "0", shape=(4,))
    x = np.full(4, 100, np.int8)
    assert int(evaluate(text, x)) == np.int64(400).astype(np.int8)
    with pytest.raises(Exception, match="no_signed_wrap"):
        evaluate(text, x, mode="strict")


def test_well_known_bodies_are_recognised():
    from tileir.text.parser import parse

    module = parse(fold_text("reduce", "f32", 1, body_of("addf {}, {}", "f32"), "0.0"))
    reduce = next(op for op in module.walk() if op.spec.name == "reduce")
    assert folds.fold_of(reduce, (np.float32(0),)) is not None


def test_generate_evaluates_its_body_at_every_index():
    text = function(
        "%k: tile<i32>", "tile<2x4xi32>, tile<2x4xi32>",
        """%a = experimental$generate { ^bb0(%i: tile<i32>, %j: tile<i32>):
             %m = muli %i, %k : tile<i32>
             %s = addi %m, %j : tile<i32>
             yield %s : tile<i32>
           } : tile<2x4xi32>
           %b = experimental$generate { ^bb0(%i: tile<i32>, %j: tile<i32>):
             %same = cmpi equal %i, %j, signed : tile<i32> -> tile<i1>
             %v = if %same -> (tile<i32>) {
               yield %k : tile<i32>
             } else {
               yield %i : tile<i32>
             }
             yield %v : tile<i32>
           } : tile<2x4xi32>
           return %a, %b : tile<2x4xi32>, tile<2x4xi32>""",
    )  # fmt: skip
    a, b = evaluate(text, np.int32(10))
    assert a.tolist() == [[0, 1, 2, 3], [10, 11, 12, 13]]
    assert b.tolist() == [[10, 0, 0, 0], [1, 10, 1, 1]]
