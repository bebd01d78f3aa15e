"""Code for AMD with the waves and stages that the search against spills chose leaves what the interpreter leaves."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

pytest.importorskip("triton", "3.9", reason="needs triton, version 3.9 for the choices: pip install '.[gpu]'")
pytest.importorskip("tinygrad", reason="needs tinygrad, whose tables decode AMD's instructions")

import tileir
from bench import gpu_kernels
from bench.gpu_attention import CausalAttention
from tests.differential import outcome
from tests.targets import hsaco, ttir
from tileir.gpu.arch import arch_named
from tileir.gpu.program import aligned_facts, compiled
from tileir.runtime.exact import exact_kernel
from tileir.runtime.gpu_routes import source_of

pytestmark = pytest.mark.thorough
RANDOM = np.random.default_rng(4)


def require_chosen_code(text: str, arch: str, grid: tuple[int, ...], args: list[object], result: int) -> None:
    """Hold the result of the code that is chosen to that of the interpreter, within the rounding of f16 sums."""
    (kernel,) = tileir.parse(text).kernels.values()
    kernel = exact_kernel(kernel)
    chosen = compiled(source_of(kernel), arch_named(arch), aligned_facts(kernel.entry), ["hsaco"])
    assert chosen.rejected
    run = partial(hsaco.run, options=chosen.options)
    found = ttir.outcome_of(run, kernel, grid, args, arch).arrays[result]
    expected = outcome(kernel, grid, args, "interp").arrays[result]
    np.testing.assert_allclose(found.astype(np.float32), expected.astype(np.float32), rtol=2e-3, atol=2e-3)


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float16)


def test_attention_with_shorter_pipelines() -> None:
    heads, length, width = 16, 128, 128
    arrays = [numbers(heads, length, width) for _ in range(3)]
    args = [*arrays, np.zeros_like(arrays[0]), heads, length, np.float32(width**-0.5)]
    require_chosen_code(CausalAttention("f16", 64, 64).text(), "gfx1100", (2, 1), args, 3)


def test_products_with_more_waves() -> None:
    rows, columns, depth = 160, 128, 192
    args = [numbers(rows, depth), numbers(depth, columns), np.zeros((rows, columns), np.float16), rows, columns, depth]
    require_chosen_code(gpu_kernels.gemm("f16", 128, 128, 64), "gfx1201", (2,), args, 2)
