"""Matrix products agree with an exact computation (spec: matmul#top)."""

import ml_dtypes
import numpy as np
import pytest

from tests.interp.interp_kernels import function

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


def mma(operation, lhs, rhs, acc, suffix=""):
    return function(
        f"%a: {lhs}, %b: {rhs}, %c: {acc}", acc,
        f"%r = {operation} %a, %b, %c {suffix} : {lhs}, {rhs}, {acc}\nreturn %r : {acc}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("element", "accumulator"),
    [
        ("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("tf32", "f32"), ("f32", "f32"), ("f64", "f64"),
        ("f8E4M3FN", "f16"), ("f8E4M3FN", "f32"), ("f8E5M2", "f16"), ("f8E5M2", "f32"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("batch", [(), (2,)])
def test_small_integers_are_multiplied_exactly(target, element, accumulator, batch):
    generator = np.random.default_rng(3)
    shapes = [(*batch, 4, 8), (*batch, 8, 16), (*batch, 4, 16)]
    values = [generator.integers(-3, 4, shape) for shape in shapes]
    types = [f"tile<{'x'.join(map(str, shape))}x{ty}>" for shape, ty in zip(shapes, (element, element, accumulator))]
    tiles = [value.astype(DTYPES[ty]) for value, ty in zip(values, (element, element, accumulator))]
    result = target.evaluate(mma("mmaf", *types), *tiles)
    assert result.dtype == DTYPES[accumulator]
    assert (result.astype(float) == values[0] @ values[1] + values[2]).all()


def test_transposed_and_broadcast_operands_are_multiplied(target):
    text = function(
        "%a: tile<8x4xf32>, %b: tile<8x1xf32>", "tile<4x16xf32>",
        """%t = permute %a [1, 0] : tile<8x4xf32> -> tile<4x8xf32>
           %w = broadcast %b : tile<8x1xf32> -> tile<8x16xf32>
           %z = constant <f32: 0.0> : tile<4x16xf32>
           %r = mmaf %t, %w, %z : tile<4x8xf32>, tile<8x16xf32>, tile<4x16xf32>
           return %r : tile<4x16xf32>""",
    )  # fmt: skip
    a, b = np.arange(32, dtype=np.float32).reshape(8, 4), np.arange(8, dtype=np.float32).reshape(8, 1)
    assert (target.evaluate(text, a, b) == a.T @ np.repeat(b, 16, 1)).all()


def test_f32_products_are_within_the_error_bound(target):
    generator = np.random.default_rng(5)
    a, b, c = (generator.standard_normal(shape).astype(np.float32) for shape in [(32, 256), (256, 32), (32, 32)])
    result = target.evaluate(mma("mmaf", "tile<32x256xf32>", "tile<256x32xf32>", "tile<32x32xf32>"), a, b, c)
    wide = [x.astype(float) for x in (a, b, c)]
    bound = 257 * 2.0**-24 * (np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(wide[2]))
    assert (np.abs(result - (wide[0] @ wide[1] + wide[2])) <= bound).all()


@pytest.mark.parametrize("depth", [64, 1024])
@pytest.mark.parametrize(("lhs", "rhs"), [("signed", "signed"), ("signed", "unsigned"), ("unsigned", "unsigned")])
def test_integers_are_multiplied_exactly_by_their_signedness(target, lhs, rhs, depth):
    generator = np.random.default_rng(4)
    a, b = (generator.integers(-128, 128, shape, np.int8) for shape in [(2, depth), (depth, 4)])
    c = generator.integers(-100, 100, (2, 4), np.int32)
    text = mma("mmai", f"tile<2x{depth}xi8>", f"tile<{depth}x4xi8>", "tile<2x4xi32>", f"{lhs} {rhs}")
    read = {"signed": np.int8, "unsigned": np.uint8}
    expected = a.view(read[lhs]).astype(np.int64) @ b.view(read[rhs]).astype(np.int64) + c
    assert (target.evaluate(text, a, b, c) == expected).all()


@pytest.mark.not_on("ttir", "gpu")
def test_the_integer_sum_saturates(target):
    text = mma("mmai", "tile<1x2xi8>", "tile<2x1xi8>", "tile<1x1xi32>", "signed signed")
    a, b = np.full((1, 2), 127, np.int8), np.full((2, 1), 127, np.int8)
    assert target.evaluate(text, a, b, np.full((1, 1), 2**31 - 5, np.int32)).item() == 2**31 - 1
    assert target.evaluate(text, a, -b, np.full((1, 1), -(2**31), np.int32)).item() == -(2**31)


def scaled(element, scale, shapes):
    lhs, rhs, acc, lhs_scale, rhs_scale = (
        f"tile<{m}x{n}x{ty}>" for (m, n), ty in zip(shapes, (element, element, "f32", scale, scale))
    )
    return function(
        f"%a: {lhs}, %b: {rhs}, %c: {acc}, %d: {lhs_scale}, %e: {rhs_scale}", acc,
        f"%r = mmaf_scaled %a, %b, %c, %d, %e : {lhs}, {rhs}, {acc}, {lhs_scale}, {rhs_scale}\nreturn %r : {acc}",
    )  # fmt: skip


def test_scales_cover_blocks_along_k(target):
    text = scaled("f8E4M3FN", "f8E8M0FNU", [(2, 64), (64, 4), (2, 4), (2, 2), (2, 4)])
    generator = np.random.default_rng(6)
    a, b = (generator.integers(-4, 5, shape).astype(ml_dtypes.float8_e4m3fn) for shape in [(2, 64), (64, 4)])
    d, e = (np.exp2(generator.integers(-3, 4, shape)).astype(ml_dtypes.float8_e8m0fnu) for shape in [(2, 2), (2, 4)])
    c = generator.integers(-4, 5, (2, 4)).astype(np.float32)
    left = a.astype(float) * np.repeat(d.astype(float), 32, 1)
    right = b.astype(float) * np.repeat(e.astype(float), 32, 0)
    assert (target.evaluate(text, a, b, c, d, e) == (left @ right + c).astype(np.float32)).all()


def test_huge_scales_do_not_overflow_between_products(target):
    text = scaled("f4E2M1FN", "f8E8M0FNU", [(2, 32), (32, 2), (2, 2), (2, 1), (1, 2)])
    a, b = np.full((2, 32), 6, ml_dtypes.float4_e2m1fn), np.full((32, 2), 1, ml_dtypes.float4_e2m1fn)
    d, e = np.full((2, 1), 2.0**127, ml_dtypes.float8_e8m0fnu), np.full((1, 2), 2.0**-127, ml_dtypes.float8_e8m0fnu)
    assert (target.evaluate(text, a, b, np.zeros((2, 2), np.float32), d, e) == 32 * 6).all()


def test_a_nan_scale_makes_its_products_nan(target):
    text = scaled("f4E2M1FN", "f8E4M3FN", [(2, 32), (32, 2), (2, 2), (2, 2), (2, 2)])
    a, b = np.full((2, 32), 1, ml_dtypes.float4_e2m1fn), np.full((32, 2), 1, ml_dtypes.float4_e2m1fn)
    d = np.array([[1, np.nan], [1, 1]], ml_dtypes.float8_e4m3fn)
    result = target.evaluate(text, a, b, np.zeros((2, 2), np.float32), d, np.ones((2, 2), ml_dtypes.float8_e4m3fn))
    assert np.isnan(result[0]).all()
    assert (result[1] == 32).all()
