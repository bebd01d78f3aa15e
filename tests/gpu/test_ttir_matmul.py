"""Products of matrices agree with the interpreter, whatever their size, and compile to the instructions for them."""

import re

import ml_dtypes
import numpy as np
import pytest

from tests.differential import assert_equal
from tests.interp.interp_kernels import evaluate
from tests.language.test_matmul import DTYPES, mma, scaled
from tests.targets.ttir_functions import compiled
from tests.thorough import sampled

ARCHS = ("sm_80", "sm_90", "sm_100")


def tile(element, *shape):
    return f"tile<{'x'.join(map(str, (*shape, element)))}>"


def text_of(operation, element, accumulator, shape, suffix=""):
    *batch, m, n, k = shape
    return mma(
        operation, tile(element, *batch, m, k), tile(element, *batch, k, n), tile(accumulator, *batch, m, n), suffix
    )


def assert_agrees(gpu_code, text, *values, arch="sm_90"):
    (got,) = gpu_code.evaluated(text, *values, arch=arch)
    assert_equal(np.array(evaluate(text, *values), order="C"), got, True, f"TTIR for {arch}")


SHAPES = [(1, 1, 1), (2, 4, 2), (1, 32, 8), (64, 8, 4), (1, 64, 4, 16), (4, 2, 2, 2)]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("shape", SHAPES)
def test_matrices_of_any_size_are_multiplied(gpu_code, shape, arch):
    *batch, m, n, k = shape
    generator = np.random.default_rng(7)
    for element, accumulator in [("bf16", "f32"), ("f64", "f64"), ("f8E4M3FN", "f32"), ("f8E5M2", "f16")]:
        shapes = [(*batch, m, k), (*batch, k, n), (*batch, m, n)]
        types = (element, element, accumulator)
        values = [generator.integers(-3, 4, size).astype(DTYPES[ty]) for size, ty in zip(shapes, types)]
        assert_agrees(gpu_code, text_of("mmaf", element, accumulator, shape), *values, arch=arch)


def test_what_fills_up_a_matrix_adds_nothing(gpu_code):
    """Not even where a factor is infinite or not a number."""
    a = np.array([[np.inf, 1.0], [np.nan, 1.0], [1.0, 2.0], [3.0, 4.0]], np.float16)
    b = np.array([[1.0, -np.inf, 5.0, 6.0], [1.0, 1.0, 1.0, 1.0]], np.float16)
    assert_agrees(gpu_code, text_of("mmaf", "f16", "f32", (4, 4, 2)), a, b, np.zeros((4, 4), np.float32))


@pytest.mark.parametrize("signs", ["signed signed", "signed unsigned", "unsigned signed", "unsigned unsigned"])
def test_bytes_are_multiplied_as_their_signedness_says_in_batches(gpu_code, signs):
    generator = np.random.default_rng(8)
    a, b = (generator.integers(-128, 128, shape, np.int8) for shape in [(2, 4, 8), (2, 8, 16)])
    c = generator.integers(-100, 100, (2, 4, 16), np.int32)
    assert_agrees(gpu_code, text_of("mmai", "i8", "i32", (2, 4, 16, 8), signs), a, b, c)


SCALED = [
    ("f8E4M3FN", "f8E8M0FNU", 32), ("f8E5M2", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E8M0FNU", 32),
    ("f4E2M1FN", "f8E8M0FNU", 16), ("f4E2M1FN", "f8E4M3FN", 16), ("f4E2M1FN", "fnv8E5M3FNU", 16),
]  # fmt: skip


def scaled_text(element, scale, block, m=128, n=16, k=64):
    return scaled(element, scale, [(m, k), (k, n), (m, n), (m, k // block), (k // block, n)])


@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
@pytest.mark.parametrize(("element", "scale", "block"), SCALED)
def test_blocks_are_scaled_by_the_hardware_or_without(gpu_code, element, scale, block, arch):
    m, n, k = 128, 16, 64
    generator = np.random.default_rng(9)
    factors = {"f4E2M1FN": ml_dtypes.float4_e2m1fn, **DTYPES}[element]
    a, b = (generator.integers(-3, 4, shape).astype(factors) for shape in [(m, k), (k, n)])
    shapes = (m, k // block), (k // block, n)
    if scale == "f8E8M0FNU":
        d, e = (np.exp2(generator.integers(-3, 4, shape)).astype(ml_dtypes.float8_e8m0fnu) for shape in shapes)
    elif scale == "f8E4M3FN":
        d, e = ((generator.integers(1, 9, shape) / 2).astype(ml_dtypes.float8_e4m3fn) for shape in shapes)
    else:
        d, e = (generator.integers(112, 136, shape, np.uint8) for shape in shapes)
    c = generator.integers(-4, 5, (m, n)).astype(np.float32)
    assert_agrees(gpu_code, scaled_text(element, scale, block), a, b, c, d, e, arch=arch)


@pytest.mark.parametrize("powers", [(0, 254), (254, 0), (127, 127), (1, 200), (254, 100)])
def test_scales_reach_as_far_as_their_type(gpu_code, powers):
    text = scaled_text("f8E5M2", "f8E8M0FNU", 32, 2, 2, 32)
    a, b = np.full((2, 32), 57344.0, ml_dtypes.float8_e5m2), np.full((32, 2), 2.0**-16, ml_dtypes.float8_e5m2)
    d, e = (
        np.full(shape, code, np.uint8).view(ml_dtypes.float8_e8m0fnu) for shape, code in zip([(2, 1), (1, 2)], powers)
    )
    assert_agrees(gpu_code, text, a, b, np.zeros((2, 2), np.float32), d, e)


# ---------------------------------------------------------------- instructions


@pytest.fixture
def _triton():
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")


WGMMA, TENSOR_MEMORY = "wgmma.mma_async.sync.aligned", "tcgen05.mma.cta_group::1.kind::"
INSTRUCTIONS = [
    ("sm_80", "f16", "f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
    ("sm_80", "tf32", "f32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("sm_80", "f64", "f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"),
    ("sm_80", "f8E4M3FN", "f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
    ("sm_90", "f16", "f16", f"{WGMMA}.m64n64k16.f16.f16.f16"),
    ("sm_90", "bf16", "f32", f"{WGMMA}.m64n64k16.f32.bf16.bf16"),
    ("sm_90", "tf32", "f32", f"{WGMMA}.m64n64k8.f32.tf32.tf32"),
    ("sm_90", "f8E5M2", "f32", f"{WGMMA}.m64n64k32.f32.e5m2.e5m2"),
    ("sm_100", "f16", "f32", f"{TENSOR_MEMORY}f16"),
    ("sm_100", "tf32", "f32", f"{TENSOR_MEMORY}tf32"),
    ("sm_100", "f8E4M3FN", "f32", f"{TENSOR_MEMORY}f8f6f4"),
    ("sm_89", "f8E4M3FN", "f32", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    ("sm_120", "f8E4M3FN", "f32", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    ("sm_120", "f16", "f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
]


@pytest.mark.usefixtures("_triton")
@pytest.mark.parametrize(("arch", "element", "accumulator", "instruction"), sampled(INSTRUCTIONS, 4))
def test_large_products_are_those_of_the_hardware(arch, element, accumulator, instruction):
    ptx = compiled(text_of("mmaf", element, accumulator, (64, 64, 64)), arch, "ptx", "cubin").texts["ptx"]
    assert instruction in ptx


@pytest.mark.usefixtures("_triton")
@pytest.mark.parametrize(("arch", "sums"), [("sm_89", True), ("sm_90", True), ("sm_100", False), ("sm_120", False)])
def test_sums_of_eight_bit_products_are_added_in_f32_unless_the_hardware_does(arch, sums):
    """The sums are those of the products of one operation, 32 for each thread."""
    fast, exact = (
        compiled(text_of("mmaf", "f8E5M2", "f32", (64, 64, 64), flag), arch, "ptx").texts["ptx"]
        for flag in ("fast_acc", "")
    )
    added = [len(re.findall(r"add(?:\.rn)?\.f32 ", ptx)) for ptx in (fast, exact)]
    assert added == [0, 32 * sums]


@pytest.mark.usefixtures("_triton")
@pytest.mark.parametrize(("arch", "native"), [("sm_90", False), ("sm_120", True)])
def test_more_eight_bit_products_than_may_be_added_in_less_are_those_of_f16(arch, native):
    ptx = compiled(text_of("mmaf", "f8E5M2", "f32", (64, 64, 256)), arch, "ptx").texts["ptx"]
    assert ("e5m2.e5m2" in ptx, "f16.f16" in ptx) == (native, not native)


@pytest.mark.usefixtures("_triton")
def test_products_of_f32_are_exact():
    ptx = compiled(text_of("mmaf", "f32", "f32", (16, 16, 16)), "sm_90", "ptx").texts["ptx"]
    assert "fma.rn.f32" in ptx
    assert "tf32" not in ptx


@pytest.mark.usefixtures("_triton")
@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_small_products_compile(arch):
    for element, accumulator in [("f16", "f16"), ("tf32", "f32"), ("f64", "f64"), ("f8E4M3FN", "f32")]:
        for shape in [(1, 1, 1), (128, 8, 64), (4, 2, 2, 2)]:
            compiled(text_of("mmaf", element, accumulator, shape), arch)
    compiled(text_of("mmai", "i8", "i32", (2, 4, 8, 4), "unsigned signed"), arch)


@pytest.mark.usefixtures("_triton")
@pytest.mark.parametrize(("element", "scale", "block", "kind"), [
    ("f8E5M2", "f8E8M0FNU", 32, "mxf8f6f4.block_scale.block32"),
    ("f4E2M1FN", "f8E8M0FNU", 32, "mxf4.block_scale.block32"),
    ("f4E2M1FN", "f8E4M3FN", 16, "mxf4nvf4.block_scale.block16"),
])  # fmt: skip
def test_the_hardware_scales_where_it_can(element, scale, block, kind):
    assert kind in compiled(scaled_text(element, scale, block), "sm_100", "ptx", "cubin").texts["ptx"]
    compiled(scaled_text(element, scale, block, 16, 8, 32), "sm_100")
    compiled(scaled_text(element, scale, block, 16, 8, 64), "sm_80")
