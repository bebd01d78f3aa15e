"""Reductions and scans of GPU code agree with the interpreter, where the specification lets them, and compile."""

import ml_dtypes
import numpy as np
import pytest

from tests.differential import assert_equal
from tests.interp.interp_kernels import evaluate, function
from tests.language.test_reduction import ARGMAX, FLOATS, INTS, fold_text, random_tile
from tests.targets.ttir_functions import compiled, shadow_of
from tests.thorough import sampled

ARCHS = ("sm_80", "sm_90", "sm_100")
LOWEST = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}
NEUTRAL = [
    *((ty, op, identity) for ty in INTS for op, identity in [
        ("addi {}, {}", "0"), ("muli {}, {}", "1"), ("andi {}, {}", "-1"), ("ori {}, {}", "0"), ("xori {}, {}", "0"),
        ("maxi {}, {} unsigned", "0"), ("mini {}, {} unsigned", "-1"),
    ]),
    *(("i1", op, identity) for op, identity in [
        ("addi {}, {}", "0"), ("muli {}, {}", "1"), ("andi {}, {}", "-1"), ("ori {}, {}", "0"),
        ("maxi {}, {} signed", "-1"), ("mini {}, {} signed", "0"), ("mini {}, {} unsigned", "-1"),
    ]),
    *((ty, "maxf {}, {} propagate_nan", identity) for ty, identity in LOWEST.items()),
]  # fmt: skip
FOLDS = [("reduce", 0, False), ("reduce", 1, False), ("reduce", 2, False), ("scan", 1, False), ("scan", 2, True)]


def text_of(kind, ty, dim, operation, identity, reverse=False, shape=(4, 16, 8)):
    return fold_text(kind, ty, dim, f"%y = {operation.format('%l', '%r')} : tile<{ty}>", identity, reverse, shape)


def assert_agrees(gpu_code, text, *values):
    expected = evaluate(text, *values)
    for wanted, got in zip(expected if isinstance(expected, tuple) else (expected,), gpu_code.evaluated(text, *values)):
        assert_equal(np.array(wanted, order="C"), got, True, "TTIR")


@pytest.mark.parametrize(("ty", "operation", "identity"), NEUTRAL)
def test_elements_are_combined_along_every_dimension(gpu_code, ty, operation, identity):
    x = random_tile(ty)
    for kind, dim, reverse in FOLDS:
        assert_agrees(gpu_code, text_of(kind, ty, dim, operation, identity, reverse), x)


@pytest.mark.parametrize(
    "operation", ["maxf {}, {}", "minf {}, {}", "maxf {}, {} propagate_nan", "minf {}, {} propagate_nan"]
)
@pytest.mark.parametrize("ty", FLOATS)
def test_the_extremes_of_nothing_but_nan_are_nan(gpu_code, ty, operation):
    """Whatever the identity, which has no part in it."""
    x = random_tile(ty)
    x[1], x[2, :, 3], x[3, ::2] = np.nan, np.nan, np.nan
    identity = {"max": "-1.0", "min": "1.0"}[operation[:3]]
    for kind, dim, reverse in FOLDS:
        assert_agrees(gpu_code, text_of(kind, ty, dim, operation, identity, reverse), x)


@pytest.mark.parametrize("ty", FLOATS)
def test_sums_of_small_numbers_are_exact_in_any_order(gpu_code, ty):
    x = np.random.default_rng(3).integers(-4, 5, (4, 16, 8)).astype(random_tile(ty).dtype)
    for kind, dim, reverse in FOLDS:
        assert_agrees(gpu_code, text_of(kind, ty, dim, "addf {}, {}", "0.0", reverse), x)


def test_several_operands_are_combined_in_lock_step(gpu_code):
    v = np.random.default_rng(1).random((4, 8)).astype(np.float32)
    positions = np.broadcast_to(np.arange(8, dtype=np.int32), (4, 8))
    results = "tile<4xf32>, tile<4xi32>"
    assert_agrees(gpu_code, function("%v: tile<4x8xf32>, %pos: tile<4x8xi32>", results, ARGMAX), v, positions)


PICK = """
  %g = cmpi {word} %a, %b, signed : tile<i32> -> tile<i1>
  %x = select %g, %a, %b : tile<i1>, tile<i32>
  %y = select %g, %c, %d : tile<i1>, tile<f8E4M3FN>
  %z = select %g, %e, %f : tile<i1>, tile<i1>
"""


def test_elements_of_one_byte_travel_along(gpu_code):
    types = "tile<2x32xi32>, tile<2x32xf8E4M3FN>, tile<2x32xi1>"
    rest = "tile<2xi32>, tile<2xf8E4M3FN>, tile<2xi1>"
    arguments = "%a: tile<i32>, %b: tile<i32>, %c: tile<f8E4M3FN>, %d: tile<f8E4M3FN>, %e: tile<i1>, %f: tile<i1>"
    identities = "[0 : i32, 0.0 : f8E4M3FN, false]"
    body = PICK.format(word="greater_than") + "yield %x, %y, %z : tile<i32>, tile<f8E4M3FN>, tile<i1>"
    text = function(
        "%k: tile<2x32xi32>, %v: tile<2x32xf8E4M3FN>, %t: tile<2x32xi1>", f"{rest}, {types}",
        f"""%p, %q, %r = reduce %k, %v, %t dim=1 identities={identities} : {types} -> {rest} ({arguments}) {{ {body} }}
            %s, %u, %w = scan %k, %v, %t dim=1 reverse=true identities={identities} : {types} -> {types}
              ({arguments}) {{ {body} }}
            return %p, %q, %r, %s, %u, %w : {rest}, {types}""",
    )  # fmt: skip
    generator = np.random.default_rng(4)
    keys = generator.permutation(64).astype(np.int32).reshape(2, 32) + 1
    values = generator.integers(-8, 8, (2, 32)).astype(ml_dtypes.float8_e4m3fn)
    assert_agrees(gpu_code, text, keys, values, generator.integers(0, 2, (2, 32)).astype(np.bool_))


BRANCHES = """
  %g = cmpi less_than %l, %r, signed : tile<i32> -> tile<i1>
  %y = if %g -> (tile<i32>) {
    %k = cmpi less_than %r, %bound, signed : tile<i32> -> tile<i1>
    %n = if %k -> (tile<i32>) { yield %bound : tile<i32> } else { yield %r : tile<i32> }
    yield %n : tile<i32>
  } else {
    %m = maxi %l, %bound signed : tile<i32>
    yield %m : tile<i32>
  }
"""
NESTED = """
  %p = reshape %l : tile<i32> -> tile<1xi32>
  %q = reshape %r : tile<i32> -> tile<1xi32>
  %both = cat %p, %q dim = 0 : tile<1xi32>, tile<1xi32> -> tile<2xi32>
  %y = reduce %both dim=0 identities=[0 : i32] : tile<2xi32> -> tile<i32> (%a: tile<i32>, %b: tile<i32>) {
    %s = addi %a, %b : tile<i32>
    yield %s : tile<i32>
  }
"""


def any_body(body, identity="0", shape=(2, 8)):
    """Reductions and scans with `body`, which may capture %bound."""
    source = "tile<2x8xi32>"
    folds = []
    for name, kind, dim, more, result in [
        ("%c", "reduce", 0, "", "tile<8xi32>"), ("%d", "reduce", 1, "", "tile<2xi32>"),
        ("%e", "scan", 1, " reverse=false", source), ("%f", "scan", 0, " reverse=true", source),
    ]:  # fmt: skip
        head = f"{name} = {kind} %x dim={dim}{more} identities=[{identity} : i32] : {source} -> {result}"
        folds.append(f"{head} (%l: tile<i32>, %r: tile<i32>) {{ {body} yield %y : tile<i32> }}")
    results = f"tile<8xi32>, tile<2xi32>, {source}, {source}"
    folds.append(f"return %c, %d, %e, %f : {results}")
    return function(f"%x: {source}, %bound: tile<i32>", results, "\n".join(folds))


@pytest.mark.parametrize(("body", "identity"), [(BRANCHES, "-100"), (NESTED, "0")])
def test_any_body_is_run(gpu_code, body, identity):
    x = np.random.default_rng(5).integers(0, 50, (2, 8)).astype(np.int32)
    assert_agrees(gpu_code, any_body(body, identity), x, np.int32(0))


def test_a_tile_of_one_element_along_the_dimension_is_its_own_result(gpu_code):
    text = text_of("reduce", "f32", 0, "addf {}, {}", "0.0", shape=(1,))
    assert_agrees(gpu_code, text, np.array([2.5], np.float32))
    text = text_of("scan", "f32", 1, "addf {}, {}", "0.0", shape=(4, 1))
    assert_agrees(gpu_code, text, np.arange(4, dtype=np.float32).reshape(4, 1))


def test_a_vector_is_reduced_to_a_scalar(gpu_code):
    assert_agrees(
        gpu_code, text_of("reduce", "i32", 0, "addi {}, {}", "0", shape=(256,)), np.arange(256, dtype=np.int32)
    )


def test_a_body_of_one_instruction_stays_one():
    """Triton's compiler knows fast forms of these."""
    kernel = shadow_of(text_of("reduce", "i32", 2, "addi {}, {}", "0")).kernel
    (region,) = next(instruction for instruction in kernel.body.walk() if instruction.name == "tt.reduce").regions
    assert [instruction.name for instruction in region.instructions] == ["arith.addi", "tt.reduce.return"]


MATH = """
  %g = exp %l : tile<f32>
  %h = sqrt %r rounding<nearest_even> : tile<f32>
  %i = divf %g, %h rounding<nearest_even> : tile<f32>
  %j = ftof %i rounding<nearest_even> : tile<f32> -> tile<f16>
  %k = ftof %j rounding<nearest_even> : tile<f16> -> tile<f8E4M3FN>
  %m = ftof %k rounding<nearest_even> : tile<f8E4M3FN> -> tile<f32>
  %n = addf %m, %r rounding<zero> flush_to_zero : tile<f32>
  %o = ftoi %n signed : tile<f32> -> tile<i64>
  %p = constant <i64: 3> : tile<i64>
  %q = divi %o, %p signed : tile<i64>
  %s = itof %q signed : tile<i64> -> tile<f32>
  %y = fpowf %s, %l : tile<f32>
"""


@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_reductions_compile(arch):
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    compiled(any_body(BRANCHES), arch)
    compiled(any_body(NESTED), arch)
    for kind, dim, reverse in FOLDS[2:]:
        compiled(fold_text(kind, "f32", dim, MATH, "0.0", reverse), arch)
