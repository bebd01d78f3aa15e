"""Reductions and scans give the same bits however their bodies are evaluated (spec: reduction#top)."""

import ml_dtypes
import numpy as np
import pytest

from tests.interp.interp_kernels import function
from tests.thorough import sampled

pytestmark = pytest.mark.not_on("ttir", "gpu")
"""Of floats the specification leaves the order open: `test_ttir_reduction` has the cases where it does not matter."""

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


def fold(kind, ty, dim, body, identity, reverse=False, shape=SHAPE):
    """An operation that folds %x with `body`, which sees %l and %r and yields %y; and the type of its result."""
    source = f"tile<{dims(shape)}x{ty}>"
    result = source if kind == "scan" else f"tile<{dims((*shape[:dim], *shape[dim + 1 :], ty))}>"
    order = f" reverse={str(reverse).lower()}" if kind == "scan" else ""
    text = f"""{kind} %x dim={dim}{order} identities=[{identity} : {ty}] : {source} -> {result}
              (%l: tile<{ty}>, %r: tile<{ty}>) {{
                {body}
                yield %y : tile<{ty}>
              }}"""
    return text, result


def folds_text(ty, folds, shape=SHAPE):
    """A function that gives what several folds of %x do."""
    names = [f"%r{number}" for number in range(len(folds))]
    lines = "\n".join(f"{name} = {text}" for name, (text, _) in zip(names, folds))
    results = ", ".join(result for _, result in folds)
    return function(f"%x: tile<{dims(shape)}x{ty}>", results, f"{lines}\nreturn {', '.join(names)} : {results}")


def fold_text(kind, ty, dim, body, identity, reverse=False, shape=SHAPE):
    return folds_text(ty, [fold(kind, ty, dim, body, identity, reverse, shape)], shape)


def assert_ways_agree(target, ty, ways, bodies, identity, shape):
    """All bodies give the same bits; a way is a kind of fold, its dimension and whether it starts at the end."""
    folds = [fold(kind, ty, dim, body, identity, last, shape) for kind, dim, last in ways for body in bodies]
    results = list(map(np.asarray, target.evaluate(folds_text(ty, folds, shape), random_tile(ty, shape))))
    for way, one, other in zip(ways, results[::2], results[1::2], strict=True):
        assert same_bits(one, other), way


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


@pytest.mark.parametrize(("ty", "operation", "identity"), sampled(CASES, 4))
def test_one_operation_is_folded_with_the_bits_of_the_general_evaluation(target, ty, operation, identity):
    ways = [("reduce", 0, False), ("reduce", 2, False), ("scan", 1, False), ("scan", 2, True)]
    bodies = [body_of(operation, ty, plain) for plain in (True, False)]
    assert_ways_agree(target, ty, ways, bodies, identity, SHAPE)


@pytest.mark.parametrize(("ty", "operation", "identity"), [CASES[0], CASES[12], CASES[-1]])
def test_lane_by_lane_evaluation_gives_the_same(target, ty, operation, identity):
    ways = [("reduce", 1, False), ("scan", 2, True)]
    bodies = [body_of(operation, ty), by_lanes(operation, ty)]
    assert_ways_agree(target, ty, ways, bodies, identity, (2, 4, 8))


def test_a_reduction_halves_its_elements_and_leaves_the_identity_out(target):
    text = fold_text("reduce", "i32", 0, "%y = subi %l, %r : tile<i32>", "100", shape=(4,))
    x = np.array([1, 20, 300, 4000], np.int32)
    assert int(target.evaluate(text, x)) == (1 - 300) - (20 - 4000)


def test_more_elements_than_a_block_are_joined_with_those_of_the_next_block(target):
    text = fold_text("reduce", "i64", 0, "%y = subi %l, %r : tile<i64>", "0", shape=(128,))
    x = np.random.default_rng(2).integers(0, 1 << 40, 128)
    first = (x[:32] - x[32:64]) - (x[64:96] - x[96:])
    for half in (16, 8, 4, 2, 1):
        first = first[:half] - first[half:]
    assert int(target.evaluate(text, x)) == first[0]


def test_a_scan_passes_the_running_value_first(target):
    x = np.array([1, 2, 3, 4], np.int32)
    forward = fold_text("scan", "i32", 0, "%y = subi %l, %r : tile<i32>", "100", shape=(4,))
    backward = fold_text("scan", "i32", 0, "%y = subi %l, %r : tile<i32>", "100", True, shape=(4,))
    assert target.evaluate(forward, x).tolist() == [1, -1, -4, -8]
    assert target.evaluate(backward, x).tolist() == [-2, -1, 1, 4]


def test_elements_of_later_blocks_are_joined_with_the_result_of_the_blocks_before(target):
    text = fold_text("scan", "i32", 0, "%y = subi %l, %r : tile<i32>", "0", shape=(16,))
    x = np.random.default_rng(2).integers(0, 1000, 16).astype(np.int32)
    blocks = np.subtract.accumulate(x.reshape(2, 8), axis=1)
    assert target.evaluate(text, x).tolist() == [*blocks[0], *(blocks[0, -1] - blocks[1])]


def test_a_rounding_mode_is_honoured(target):
    x = np.random.default_rng(8).random(16).astype(np.float32)
    bodies = (f"%y = addf %l, %r rounding<{mode}> : tile<f32>" for mode in ("positive_inf", "negative_inf"))
    up, down = (float(target.evaluate(fold_text("reduce", "f32", 0, body, "0.0", shape=(16,)), x)) for body in bodies)
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


def test_several_operands_are_reduced_in_lock_step(target):
    v = np.random.default_rng(1).random((4, 8)).astype(np.float32)
    positions = np.broadcast_to(np.arange(8, dtype=np.int32), (4, 8))
    text = function("%v: tile<4x8xf32>, %pos: tile<4x8xi32>", "tile<4xf32>, tile<4xi32>", ARGMAX)
    largest, index = target.evaluate(text, v, positions)
    assert (largest == v.max(1)).all()
    assert (index == v.argmax(1)).all()


def test_a_body_may_capture_values_and_ignore_its_arguments(target):
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
    a, b = target.evaluate(text, np.arange(8, dtype=np.int32).reshape(2, 4), np.int32(10))
    assert a.tolist() == [33, 517]
    assert b.tolist() == [10, 10]


def test_bodies_may_nest_reductions_and_shapes(target):
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
    assert int(target.evaluate(text, np.arange(8, dtype=np.int32))) == 28


def test_identities_may_be_of_the_other_half_precision_type(target):
    text = fold_text("reduce", "f16", 0, body_of("addf {}, {}", "f16"), "0.0", shape=(4,))
    x = np.array([1, 2, 3, 4], np.float16)
    assert float(target.evaluate(text.replace("[0.0 : f16]", "[0.0 : bf16]"), x)) == 10


def test_strict_mode_checks_promises_inside_a_reduction(target):
    text = fold_text("reduce", "i8", 0, "%y = addi %l, %r overflow<no_signed_wrap> : tile<i8>", "0", shape=(4,))
    x = np.full(4, 100, np.int8)
    assert int(target.evaluate(text, x)) == np.int64(400).astype(np.int8)
    with pytest.raises(Exception, match="no_signed_wrap"):
        target.evaluate(text, x, mode="strict")
