"""What golden programs compute, beside NumPy, on the interpreter and on the CPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tileir
from tileir.runtime.module import Kernel

GOLDEN = Path(__file__).parent / "golden"
each_target = pytest.mark.parametrize("target", ["interp", "cpu"])
random = np.random.default_rng(29)


def kernel(name: str) -> Kernel:
    return tileir.load(GOLDEN / f"{name}.ttir")[name]


def normal(*shape: int, dtype: str = "f4") -> np.ndarray:
    return random.standard_normal(shape).astype(dtype)


@each_target
def test_sums_of_vectors(target: str) -> None:
    x, y, z = normal(3000), normal(3000), np.zeros(3000, "f4")
    kernel("vector_add").launch(3, x, y, z, 3000, target=target)
    np.testing.assert_array_equal(z, x + y)


@each_target
def test_softmax_of_rows(target: str) -> None:
    x = normal(7, 200)
    y = np.zeros_like(x)
    kernel("softmax").launch(7, x, y, 200, 200, target=target)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)


@each_target
def test_products_of_matrices_in_grouped_order(target: str) -> None:
    m, n, k = 70, 50, 40
    a, b, c = normal(m, k, dtype="f2"), normal(k, n, dtype="f2"), np.zeros((m, n), "f4")
    kernel("matmul").launch(3 * 2, a, b, c, m, n, k, k, n, n, target=target)
    np.testing.assert_allclose(c, a.astype("f4") @ b.astype("f4"), rtol=1e-3, atol=1e-3)
