"""The TTIR of the listings of the seed appendix leaves what the interpreter leaves, value by value."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tests.differential import assert_same, exact_part, observed_names, outcome
from tests.golden.arguments import aligned
from tests.observe import observe
from tests.seeds.listings import appendix, mutex_program, needed
from tests.targets import ttir
from tileir.ir import types as t
from tileir.ir.storage import DTYPES
from tileir.runtime.module import Kernel

pytestmark = needed

NUMBERS = [f"12.2.{number}" for number in (1, 2, 3, 4)] + [
    f"12.3.{number}"
    for number in (*range(1, 14), *range(16, 22), *range(23, 26), *range(31, 61), 68, 69, 71, 72, 76, 77, 78)
]
"""The listings that have an entry, end, and call no function of the host."""
ELEMENTS = 8192 * 128


@pytest.mark.parametrize("number", NUMBERS)
def test_a_listing_leaves_what_the_interpreter_leaves(number: str) -> None:
    module = tileir.parse(appendix()[number], number)
    (kernel,) = module.kernels.values()
    types = [argument.type for argument in kernel.entry.body.args]
    certain = exact_part(kernel.entry)
    observed = observe(kernel.entry)
    given = [_argument(type) for type in types]
    args = [*given, *(value.array for value in observed)]
    own = sum(isinstance(value, np.ndarray) for value in given)
    exact = [len(certain) == sum(1 for _ in kernel.entry.walk())] * own + [value.op in certain for value in observed]
    first = outcome(kernel, (1,), args, "interp")
    second = ttir.outcome(kernel, (1,), args, "sm_90")
    assert_same(first, second, exact, [f"array {place}" for place in range(own)] + observed_names(observed))


def _argument(type: t.Type) -> object:
    assert isinstance(type, t.TileType)
    if not isinstance(type.element, t.PointerType):
        return 1
    return aligned((np.arange(ELEMENTS) % 8192).astype(DTYPES[type.element.pointee]))


def _kernel(text: str) -> Kernel:
    (kernel,) = tileir.parse(text).kernels.values()
    return kernel


def test_saxpy_with_views() -> None:
    size = 300
    x, y = np.random.default_rng(2).standard_normal((2, size, size), np.float32)
    grid = (-(-size // 128), -(-size // 256))
    result = ttir.outcome(_kernel(appendix()["12.2.6"]), grid, [x, y, 2.5, size, size], "sm_90")
    np.testing.assert_array_equal(result.arrays[1], np.float32(2.5) * x + y)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_dynamic_gemm_with_views(arch: str) -> None:
    m, n, k = 256, 128, 192
    rng = np.random.default_rng(3)
    a, b = (aligned(rng.standard_normal(shape).astype(np.float16)) for shape in ((k, m), (n, k)))
    c = aligned(np.zeros((m, n), np.float32))
    args = [a, b, c, m, n, k, m, k, n]
    result = ttir.outcome(_kernel(appendix()["12.2.7"]), (m // 128, n // 128), args, arch)
    exact = a.astype(np.float64).T @ b.astype(np.float64).T
    assert np.abs(result.arrays[2] - exact).max() <= 1e-5 * np.abs(exact).max()


def test_cross_block_mutex_ends() -> None:
    result = ttir.outcome(_kernel(mutex_program()), (8,), [], "sm_90")
    assert sorted(result.printed.splitlines()) == [f"current tile: {block} / 8" for block in range(8)]
