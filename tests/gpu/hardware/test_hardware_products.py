"""Matrix products of every element type and of any extents, on a GPU, beside products in f64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import tileir
from tests.gpu.hardware.hardware_device import Device
from tests.gpu.ttir_gemm import Gemm
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES, largest_error
from tileir.ir import types as t
from tileir.ir.storage import dtype_of

ELEMENTS = {element.name: element for element in t.NUMBERS}
PRODUCTS = [
    Gemm("f16"), Gemm("f16", (256, 128, 64)), Gemm("f16", (64, 64, 32)), Gemm("f16", (16, 16, 16)),
    Gemm("f16", sums="f16", tile=(64, 64, 32)), Gemm("bf16"), Gemm("bf16", (64, 256, 64)),
    Gemm("f32", (64, 64, 32)), Gemm("f32", (32, 32, 16)), Gemm("tf32", (128, 128, 32)), Gemm("tf32", (64, 64, 32)),
    Gemm("f64", (32, 32, 16), sums="f64"), Gemm("f64", (64, 64, 8), sums="f64"),
    Gemm("i8", (128, 128, 64), sums="i32"), Gemm("i8", (64, 64, 128), sums="i32"),
    Gemm("f8E4M3FN", (128, 128, 64)), Gemm("f8E5M2", (64, 64, 64)), Gemm("f8E4M3FN", (64, 64, 64), sums="f16"),
]  # fmt: skip
"""Through views; the sums are those of every program, f32, unless it says otherwise."""
ALIGNED = [(128, 128, 64), (256, 384, 192), (512, 512, 1024)]
ANY = [(1, 1, 1), (129, 70, 65), (513, 257, 129), (300, 1000, 40), (128, 128, 0)]
REHEARSED = 1 << 21
"""Products of numbers that the TTIR machine is asked for at most."""
TOLERANCES = {"f16": 5e-3, "f32": 1e-5, "f64": 1e-12}
"""Of real numbers, by the type of the sums: relative to the largest element of the product."""
OF_BYTES = 1e-3
"""The tolerance of products of 8-bit floats, some of them added in less than f32."""


def kernel_of(gemm: Gemm) -> tileir.Kernel:
    text = gemm.text
    if gemm.element == "i8":
        text = text.replace("mmaf %p, %q, %sum :", "mmai %p, %q, %sum signed signed :")
        text = text.replace("<i32: 0.0>", "<i32: 0>")
    return tileir.parse(text)["k"]


def named(gemm: Gemm) -> str:
    rows = "" if gemm.b_by_rows else "-turned"
    return f"{gemm.element}-{gemm.sums}-{'x'.join(map(str, gemm.tile))}-{gemm.known}{rows}"


def whole_numbers(random: np.random.Generator, element: str, *shape: int) -> np.ndarray:
    """Numbers whose sums of products are exact in any order."""
    bound = 128 if element == "i8" else 2
    return random.integers(-bound, bound, shape).astype(dtype_of(ELEMENTS[element]))


def real_numbers(random: np.random.Generator, element: str, *shape: int) -> np.ndarray:
    made = random.standard_normal(shape).astype(np.float32)
    if element == "tf32":
        return (made.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return made.astype(dtype_of(ELEMENTS[element]))


def multiplied(device: Device, gemm: Gemm, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The product of A and B (which is given as it lies in memory) by the device, and in f64."""
    wide = [x.astype(np.float64) for x in (a, b)]
    expected = wide[0] @ (wide[1] if gemm.b_by_rows else wide[1].T)
    (m, k), n = a.shape, expected.shape[1]
    c = np.full((m, n), 77, dtype_of(ELEMENTS[gemm.sums]))
    grid = (-(-m // gemm.tile[0]), -(-n // gemm.tile[1]))
    strides = [max(x.shape[1], 1) for x in (a, b, c)]
    args = [a, b, c, m, n, k, *strides]
    return device.outcome(kernel_of(gemm), grid, args).arrays[2].astype(np.float64), expected


def check(device: Device, gemm: Gemm, sizes: Sequence[int]) -> None:
    m, n, k = sizes
    if device.rehearsal and m * n * k > REHEARSED:
        pytest.skip("takes the TTIR machine too long")
    random = np.random.default_rng(m + n + k)
    shapes = (m, k), ((k, n) if gemm.b_by_rows else (n, k))
    found, expected = multiplied(device, gemm, *(whole_numbers(random, gemm.element, *shape) for shape in shapes))
    np.testing.assert_array_equal(found, expected)
    if gemm.element != "i8":
        found, expected = multiplied(device, gemm, *(real_numbers(random, gemm.element, *shape) for shape in shapes))
        tolerance = max(TOLERANCES[gemm.sums], OF_BYTES if gemm.element.startswith("f8") else 0)
        assert np.abs(found - expected).max() <= tolerance * max(np.abs(expected).max(), 1)


def alignable(gemm: Gemm, **changes: object) -> Gemm:
    return Gemm(**{**vars(gemm), **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("sizes", ALIGNED, ids=lambda sizes: "x".join(map(str, sizes)))
@pytest.mark.parametrize("turned", [False, True], ids=["", "turned"])
@pytest.mark.parametrize("gemm", PRODUCTS, ids=named)
def test_products_of_what_is_promised_to_be_aligned(
    device: Device, gemm: Gemm, turned: bool, sizes: Sequence[int]
) -> None:
    """The tiles come through the copy engine where there is one."""
    check(device, alignable(gemm, b_by_rows=not turned), sizes)


@pytest.mark.parametrize("sizes", ANY, ids=lambda sizes: "x".join(map(str, sizes)))
@pytest.mark.parametrize("gemm", PRODUCTS, ids=named)
def test_products_of_any_extents(device: Device, gemm: Gemm, sizes: Sequence[int]) -> None:
    check(device, alignable(gemm, known=1, b_by_rows=sizes[0] % 2 == 1), sizes)


LARGER = {
    "gemm_kloop": {"M": 512, "N": 500, "K": 1000},
    "gemm_views": {"M": 1024, "N": 512, "K": 2048},
    "softmax": {"rows": 1000, "columns": 1000},
    "layer_norm": {"rows": 1000, "columns": 768},
    "attention": {"heads": 16, "length": 1000},
    "total": {"n": 1 << 22},
    "vector_add": {"n": (1 << 24) + 7},
    "transpose": {"rows": 3000, "columns": 2001},
}


@pytest.mark.parametrize("example", [one for one in EXAMPLES if one.name in LARGER], ids=lambda example: example.name)
def test_an_example_on_larger_arrays_gives_what_numpy_gives(gpu: Device, example: Example) -> None:
    larger = example.resized(**LARGER[example.name])
    given = larger.arguments(larger.sizes, np.random.default_rng(2))
    answer = larger.answer(given)
    kernel = tileir.load(larger.path)[larger.kernel]
    arrays = iter(gpu.outcome(kernel, larger.grid(larger.sizes), list(given.values())).arrays)
    found = {name: next(arrays) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    assert largest_error(found, answer) <= larger.tolerance
