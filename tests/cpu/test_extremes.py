"""The largest and smallest element of a row, whose comparisons leave zeros and NaN for later, are the interpreter's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cpu.test_reduction_trees import DTYPES, REDUCE, folded, plain

NAN, INF = float("nan"), float("inf")
FILLINGS = {
    "nothing but NaN": [NAN],
    "NaN and the first of all": [NAN, -INF, NAN],
    "NaN and the last of all": [NAN, INF, NAN],
    "zeros of both signs": [0.0, -0.0],
    "negative zeros": [-0.0],
    "negative zeros, NaN and less": [-0.0, NAN, -1.0],
    "negative zeros and more": [-0.0, 1.0, NAN],
    "a zero among less": [-3.0, 0.0, -1.0],
    "a negative zero among more": [3.0, -0.0, 1.0],
    "nothing but the first of all": [-INF],
    "nothing but the last of all": [INF],
    "numbers": [1.5, -2.0, NAN, 7.0],
}


def rows(filling: list[float], count: int, columns: int, element: str) -> np.ndarray:
    """Rows filled with some floats in random order, but for two with others."""
    random = np.random.default_rng(columns)
    found = np.stack([random.permutation(np.resize(np.array(filling), columns)) for _ in range(count)])
    found[count // 2] = random.standard_normal(columns)
    found[-1] = np.where(np.arange(columns) == columns - 1, -0.0, NAN)
    return found.astype(DTYPES[element])


@pytest.mark.parametrize("operation", ["maxf %l, %r", "minf %r, %l"])
@pytest.mark.parametrize("shape", [(1, 4), (2, 8), (4, 256), (32, 64), (64, 16)])
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_zeros_and_nan_in_rows_of_every_length(operation: str, shape: tuple[int, int], element: str) -> None:
    count, columns = shape
    for filling in FILLINGS.values():
        x = rows(filling, count, columns, element)
        found = folded(x, REDUCE, 1, plain(operation, element))
        numpy = np.fmax if operation.startswith("maxf") else np.fmin
        assert np.array_equal(found, numpy.reduce(x, axis=1), equal_nan=True)


def test_a_signalling_nan_is_left_out() -> None:
    x = np.full((2, 16), -5.0, np.float32)
    x.view(np.uint32)[:, ::2] = 0x7F800001
    x.view(np.uint32)[1, 1::2] = 0xFF800001
    found = folded(x, REDUCE, 1, plain("maxf %l, %r", "f32"))
    assert found[0] == -5 and np.isnan(found[1])


def test_flushed_subnormals_and_propagated_nan_are_left_to_the_tree() -> None:
    x = np.array([[1e-40, -1e-40, -0.0, NAN], [-1e-40, -2, -3, -4]], np.float32)
    for words in ("flush_to_zero", "propagate_nan", "flush_to_zero propagate_nan"):
        folded(x, REDUCE, 1, plain(f"maxf %l, %r {words}", "f32"))
