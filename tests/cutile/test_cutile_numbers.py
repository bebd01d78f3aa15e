"""Numbers that kernels make are those that NumPy makes, where the vendor's machine code makes the same."""

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

import cuda.tile as ct

import tileir
from tileir import cutile

TARGETS = ("interp", "cpu")
NARROW = (np.float16, ml_dtypes.bfloat16)


@ct.kernel
def sums(x, rows, columns, running):
    t = ct.load(x, (0, 0), (2048, 4))
    ct.store(rows, (0,), ct.sum(ct.permute(t, (1, 0)), 1))
    ct.store(columns, (0,), ct.sum(t, 0))
    ct.store(running, (0, 0), ct.cumsum(t, 0))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", NARROW)
def test_long_sums_of_narrow_numbers_do_not_stagnate(target, dtype):
    x = np.random.default_rng(0).random((2048, 4)).astype(dtype)
    rows, columns, running = np.zeros(4, dtype), np.zeros(4, dtype), np.zeros((2048, 4), dtype)
    with cutile.on(target):
        ct.launch(None, (1,), sums, (x, rows, columns, running))
    exact = np.cumsum(x.astype(np.float64), 0)
    roundoff = 2.0**-11 if dtype is np.float16 else 2.0**-8
    for got in (rows, columns):
        np.testing.assert_allclose(got.astype(np.float64), exact[-1], rtol=11 * roundoff)
    np.testing.assert_allclose(running.astype(np.float64), exact, rtol=32 * roundoff)


@ct.kernel
def truths(x, out):
    ct.store(out, (0,), ct.load(x, (0,), (8,)).astype(ct.bool_))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, *NARROW])
def test_a_number_is_true_unless_it_is_zero(target, dtype):
    x = np.array([-3.0, 0.25, 0.0, -0.0, 1.0, np.inf, -np.inf, np.nan]).astype(dtype)
    out = np.zeros(8, np.bool_)
    with cutile.on(target):
        ct.launch(None, (1,), truths, (x, out))
    assert out.tolist() == [True, True, False, False, True, True, True, True]


@ct.kernel
def unsigned_parts(x, y, remainders, up):
    a, b = ct.load(x, (0,), (16,)), ct.load(y, (0,), (16,))
    ct.store(remainders, (0,), a % b)
    ct.store(up, (0,), ct.cdiv(a, b))


@ct.kernel
def unsigned_quotients(x, y, out):
    ct.store(out, (0,), ct.load(x, (0,), (16,)) // ct.load(y, (0,), (16,)))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
def test_unsigned_numbers_are_divided_or_refused_by_their_line(target, dtype):
    """cuda-tile 1.7 asks for a rounding that the language, and the vendor's assembler, refuse for unsigned numbers."""
    random = np.random.default_rng(0)
    x, y = random.integers(0, 255, 16).astype(dtype), random.integers(1, 9, 16).astype(dtype)
    remainders, up, quotients = np.zeros((3, 16), dtype)
    refused = None
    with cutile.on(target):
        ct.launch(None, (1,), unsigned_parts, (x, y, remainders, up))
        try:
            ct.launch(None, (1,), unsigned_quotients, (x, y, quotients))
        except tileir.DiagnosticError as error:
            refused = error
    assert (remainders == x % y).all()
    assert (up == -(-x.astype(np.int64) // y.astype(np.int64))).all()
    if refused is None:
        assert (quotients == x // y).all()
    else:
        assert [fault.code for fault in refused.diagnostics] == ["E0704"]
        assert "test_cutile_numbers.py" in str(refused)


needs_propagation = pytest.mark.skipif(
    not hasattr(ct.ArrayAnnotation(), "static_stride_dims"), reason="propagate_nan came with cuda-tile 1.6"
)


@ct.kernel
def extremes(x, out):
    t = ct.load(x, (0, 0), (4, 8))
    ct.store(out, (0, 0), ct.max(t, 1).reshape((1, 4)))
    ct.store(out, (1, 0), ct.min(t, 1).reshape((1, 4)))
    ct.store(out, (2, 0), ct.max(t, 1, propagate_nan=True).reshape((1, 4)))
    ct.store(out, (3, 0), ct.min(t, 1, propagate_nan=True).reshape((1, 4)))


@needs_propagation
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, *NARROW])
def test_the_extremes_of_nothing_but_nan_are_nan(target, dtype):
    x = np.random.default_rng(0).standard_normal((4, 8))
    x[0], x[1, ::2] = np.nan, np.nan
    x = x.astype(dtype)
    out = np.zeros((4, 4), dtype)
    with cutile.on(target):
        ct.launch(None, (1,), extremes, (x, out))
    wide = x.astype(np.float64)
    wanted = [np.fmax.reduce(wide, 1), np.fmin.reduce(wide, 1), wide.max(1), wide.min(1)]
    np.testing.assert_array_equal(out.astype(np.float64), np.stack(wanted))


def larger(a, b):
    return ct.maximum(a, b)


def smaller(a, b):
    return ct.minimum(a, b, propagate_nan=True)


@ct.kernel
def running_extremes(x, upward, downward):
    t = ct.load(x, (0, 0), (4, 8))
    ct.store(upward, (0, 0), ct.scan(t, 1, larger, float("-inf")))
    ct.store(downward, (0, 0), ct.scan(t, 0, smaller, float("inf"), reverse=True))


@needs_propagation
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, *NARROW])
def test_extremes_so_far_are_nan_where_there_was_nothing_else(target, dtype):
    x = np.random.default_rng(1).standard_normal((4, 8))
    x[0], x[1, :3], x[2, 5:], x[3, 4] = np.nan, np.nan, np.nan, np.nan
    x = x.astype(dtype)
    upward, downward = np.zeros((2, 4, 8), dtype)
    with cutile.on(target):
        ct.launch(None, (1,), running_extremes, (x, upward, downward))
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(upward.astype(np.float64), np.fmax.accumulate(wide, 1))
    np.testing.assert_array_equal(downward.astype(np.float64), np.minimum.accumulate(wide[::-1], 0)[::-1])
