# Kernels are read by cuTile, not run by Python: names of the library hide nobody's, and `assert_` is an operation.
# ruff: noqa: PT009
"""Kernels that between them call every function of cuTile's public interface, and what NumPy makes of the same.

Importing this needs the package `cuda-tile`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import cuda.tile as ct
import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Case:
    """A kernel, its arguments, and `expected`: from the arguments before to the contents of some of them after."""

    kernel: object
    arguments: Callable[[], tuple]
    expected: Callable[..., dict[int, object]]
    grid: tuple[int, ...] = (1,)
    tolerance: float = 0.0
    output: str | None = None
    """Its output."""

    @property
    def name(self) -> str:
        return self.kernel._annotated_function.pyfunc.__name__


def floats(*shape: int, low=-2.0, high=2.0, dtype=np.float32, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def integers(*shape: int, low=-50, high=50, dtype=np.int32, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def zeros(*shape: int, dtype=np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


# ---------------------------------------------------------------- element by element


@ct.kernel
def functions_of_one_number(x, out):
    t = ct.load(x, (0,), (16,))
    ct.store(out, (0, 0), ct.sin(t).reshape((1, 16)))
    ct.store(out, (1, 0), ct.cos(t).reshape((1, 16)))
    ct.store(out, (2, 0), ct.tan(t).reshape((1, 16)))
    ct.store(out, (3, 0), ct.sinh(t).reshape((1, 16)))
    ct.store(out, (4, 0), ct.cosh(t).reshape((1, 16)))
    ct.store(out, (5, 0), ct.tanh(t).reshape((1, 16)))
    ct.store(out, (6, 0), ct.exp(t).reshape((1, 16)))
    ct.store(out, (7, 0), ct.exp2(t).reshape((1, 16)))
    ct.store(out, (8, 0), ct.log(ct.abs(t)).reshape((1, 16)))
    ct.store(out, (9, 0), ct.log2(ct.abs(t)).reshape((1, 16)))
    ct.store(out, (10, 0), ct.sqrt(ct.abs(t)).reshape((1, 16)))
    ct.store(out, (11, 0), ct.rsqrt(ct.abs(t)).reshape((1, 16)))
    ct.store(out, (12, 0), ct.floor(t).reshape((1, 16)))
    ct.store(out, (13, 0), ct.ceil(t).reshape((1, 16)))
    ct.store(out, (14, 0), ct.negative(t).reshape((1, 16)))


def _of_one_number(t, out):
    a = abs(t)
    rows = [np.sin(t), np.cos(t), np.tan(t), np.sinh(t), np.cosh(t), np.tanh(t), np.exp(t), np.exp2(t)]
    rows += [np.log(a), np.log2(a), np.sqrt(a), 1 / np.sqrt(a), np.floor(t), np.ceil(t), -t]
    return {1: np.stack(rows)}


@ct.kernel
def functions_of_two_numbers(x, y, out):
    a, b = ct.load(x, (0,), (16,)), ct.load(y, (0,), (16,))
    ct.store(out, (0, 0), ct.add(a, b, rounding_mode=ct.RoundingMode.RN).reshape((1, 16)))
    ct.store(out, (1, 0), ct.sub(a, b).reshape((1, 16)))
    ct.store(out, (2, 0), ct.mul(a, b, flush_to_zero=True).reshape((1, 16)))
    ct.store(out, (3, 0), ct.truediv(a, b).reshape((1, 16)))
    ct.store(out, (4, 0), ct.pow(ct.abs(a), b).reshape((1, 16)))
    ct.store(out, (5, 0), ct.atan2(a, b).reshape((1, 16)))
    ct.store(out, (6, 0), ct.minimum(a, b).reshape((1, 16)))
    ct.store(out, (7, 0), ct.maximum(a, b, propagate_nan=True).reshape((1, 16)))
    ct.store(out, (8, 0), ct.mod(a, b).reshape((1, 16)))


def _of_two_numbers(a, b, out):
    rows = [a + b, a - b, a * b, a / b, abs(a) ** b, np.arctan2(a, b), np.minimum(a, b), np.maximum(a, b), np.mod(a, b)]
    return {2: np.stack(rows)}


@ct.kernel
def integer_functions(x, y, out):
    a, b = ct.load(x, (0,), (16,)), ct.load(y, (0,), (16,))
    quotient, remainder = ct.divmod(a, b)
    ct.store(out, (0, 0), ct.floordiv(a, b).reshape((1, 16)))
    ct.store(out, (1, 0), quotient.reshape((1, 16)))
    ct.store(out, (2, 0), remainder.reshape((1, 16)))
    ct.store(out, (3, 0), ct.cdiv(ct.abs(a), b).reshape((1, 16)))
    ct.store(out, (4, 0), ct.bitwise_and(a, b).reshape((1, 16)))
    ct.store(out, (5, 0), ct.bitwise_or(a, b).reshape((1, 16)))
    ct.store(out, (6, 0), ct.bitwise_xor(a, b).reshape((1, 16)))
    ct.store(out, (7, 0), ct.bitwise_not(a).reshape((1, 16)))
    ct.store(out, (8, 0), ct.bitwise_lshift(a, b & 7).reshape((1, 16)))
    ct.store(out, (9, 0), ct.bitwise_rshift(a, b & 7).reshape((1, 16)))


def _integer_functions(a, b, out):
    rows = [a // b, a // b, a % b, -(-abs(a) // b), a & b, a | b, a ^ b, ~a, a << (b & 7), a >> (b & 7)]
    return {2: np.stack(rows)}


@ct.kernel
def comparisons(x, y, out):
    a, b = ct.load(x, (0,), (16,)), ct.load(y, (0,), (16,))
    bits = ct.where(ct.greater(a, b), 1, 0) + ct.where(ct.greater_equal(a, b), 2, 0)
    bits += ct.where(ct.less(a, b), 4, 0) + ct.where(ct.less_equal(a, b), 8, 0)
    bits += ct.where(ct.equal(a, b), 16, 0) + ct.where(ct.not_equal(a, b), 32, 0)
    ct.store(out, (0,), bits + ct.where(ct.isnan(ct.truediv(a - a, b - b)), 64, 0))


def _comparisons(a, b, out):
    bits = (a > b) + 2 * (a >= b) + 4 * (a < b) + 8 * (a <= b) + 16 * (a == b) + 32 * (a != b) + 64
    return {2: bits}


# ---------------------------------------------------------------- making and reshaping tiles


@ct.kernel
def made_tiles(out, n, k: ct.Constant[int]):
    ct.store(out, (0, 0), ct.arange(8, dtype=ct.int32, start=3, step=2).reshape((1, 8)))
    ct.store(out, (1, 0), ct.full((1, 8), ct.ensure_constant(k), ct.int32))
    ct.store(out, (2, 0), ct.ones((1, 8), ct.int32))
    ct.store(out, (3, 0), ct.zeros((1, 8), ct.int32) + ct.assume_divisible_by(n, 4))
    ct.store(out, (4, 0), ct.astile(((1, 2, 3, 4, 5, 6, 7, 8),), dtype=ct.int32))
    ct.store(out, (5, 0), ct.full((1, 8), ct.bid(0) + ct.num_blocks(0) + ct.num_tiles(out, 0, (2, 8)), ct.int32))
    states = ()
    for i in ct.static_iter(range(3)):
        states += (ct.full((1, 8), i, ct.int32),)
    ct.static_assert(len(states) == 3, "three states")
    if ct.static_eval(k != 7):
        raise ct.static_exception(ValueError("this branch is not compiled"))
    ct.store(out, (6, 0), states[1] + states[2])


def _made_tiles(out, n, k):
    made = [range(3, 19, 2), [k] * 8, [1] * 8, [n] * 8, range(1, 9), [0 + 1 + 4] * 8, [3] * 8]
    return {0: np.array([list(row) for row in made])}


@ct.kernel
def shapes(x, wide, cut, mixed):
    t = ct.load(x, (0, 0), (4, 8))
    row = ct.extract(t, (1, 0), (1, 8))
    ct.store(wide, (0, 0, 0), ct.cat((ct.expand_dims(t, 0), ct.permute(ct.reshape(t, (4, 1, 8)), (1, 0, 2))), 0))
    ct.store(cut, (0, 0), ct.insert(ct.transpose(t), (0, 3), ct.transpose(row)))
    ct.store(mixed, (0, 0), ct.broadcast_to(row, (4, 8)))


def _shapes(x, wide, cut, mixed):
    inserted = x.T.copy()
    inserted[:, 3] = x[1]
    return {1: np.stack([x, x]), 2: inserted, 3: np.broadcast_to(x[1], (4, 8))}


@ct.kernel
def changed_types(x, packed, bits, half, back):
    t = ct.load(x, (0,), (16,))
    ct.store(packed, (0,), ct.pack_to_bytes(t))
    ct.store(bits, (0,), ct.bitcast(t, ct.int32))
    ct.store(half, (0,), ct.astype(t, ct.float16))
    ct.store(back, (0,), ct.unpack_from_bytes(ct.pack_to_bytes(t), ct.float32))


def _changed_types(x, *_):
    return {1: x.view(np.uint8), 2: x.view(np.int32), 3: x.astype(np.float16), 4: x}


# ---------------------------------------------------------------- reductions and scans


@ct.kernel
def reductions(x, out, where):
    t = ct.load(x, (0, 0), (4, 16))
    ct.store(out, (0, 0), ct.sum(t, axis=1).reshape((1, 4)))
    ct.store(out, (1, 0), ct.max(t, axis=1).reshape((1, 4)))
    ct.store(out, (2, 0), ct.min(t, axis=1).reshape((1, 4)))
    ct.store(out, (3, 0), ct.prod(t, axis=1).reshape((1, 4)))
    ct.store(out, (4, 0), ct.reduce(t, 1, lambda a, b: ct.maximum(ct.abs(a), ct.abs(b)), 0.0).reshape((1, 4)))
    ct.store(where, (0, 0), ct.argmax(t, axis=1).reshape((1, 4)))
    ct.store(where, (1, 0), ct.argmin(t, axis=1).reshape((1, 4)))


def _reductions(x, out, where):
    rows = [x.sum(1), x.max(1), x.min(1), x.prod(1), abs(x).max(1)]
    return {1: np.stack(rows), 2: np.stack([x.argmax(1), x.argmin(1)])}


@ct.kernel
def scans(x, sums, products, greatest):
    t = ct.load(x, (0, 0), (4, 16))
    ct.store(sums, (0, 0), ct.cumsum(t, axis=1))
    ct.store(products, (0, 0), ct.cumprod(t, axis=0, reverse=True))
    ct.store(greatest, (0, 0), ct.scan(t, 1, lambda a, b: ct.maximum(a, b), -1e30))


def _scans(x, *_):
    return {1: x.cumsum(1), 2: x[::-1].cumprod(0)[::-1], 3: np.maximum.accumulate(x, 1)}


# ---------------------------------------------------------------- matrix products


@ct.kernel
def products(x, y, out):
    a, b = ct.load(x, (0, 0), (16, 16)), ct.load(y, (0, 0), (16, 16))
    ct.store(out, (0, 0), ct.mma(a, b, ct.ones((16, 16), ct.float32)))
    ct.store(out, (1, 0), ct.matmul(a, b).astype(ct.float32))
    ct.store(out, (2, 0), (a @ b).astype(ct.float32))


def _products(a, b, out):
    exact = a.astype(np.float32) @ b.astype(np.float32)
    rounded = exact.astype(np.float16).astype(np.float32)
    return {2: np.concatenate([exact + 1, rounded, rounded])}


@ct.kernel
def scaled_product(x, x_scale, y, y_scale, out):
    a, b = ct.load(x, (0, 0), (16, 64)), ct.load(y, (0, 0), (64, 16))
    s, t = ct.load(x_scale, (0, 0), (16, 2)), ct.load(y_scale, (0, 0), (2, 16))
    ct.store(out, (0, 0), ct.mma_scaled(a, s, b, t, ct.zeros((16, 16), ct.float32)))


def _scaled_product(x, x_scale, y, y_scale, out):
    a = x.astype(np.float32) * np.repeat(x_scale.astype(np.float32), 32, axis=1)
    return {4: a @ (y.astype(np.float32) * np.repeat(y_scale.astype(np.float32), 32, axis=0))}


def _scaled_arguments():
    f8, e8 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    scales = np.exp2(integers(16, 2, low=-3, high=4)), np.exp2(integers(2, 16, low=-3, high=4, seed=1))
    x, y = floats(16, 64, dtype=f8), floats(64, 16, dtype=f8, seed=1)
    return x, scales[0].astype(e8), y, scales[1].astype(e8), zeros(16, 16)


# ---------------------------------------------------------------- memory


@ct.kernel
def gathered_and_scattered(x, out, back):
    at = 15 - ct.arange(16, dtype=ct.int32)
    t = ct.gather(x, at * 2, padding_value=-1.0)
    ct.store(out, (0,), t)
    ct.scatter(back, at, t, mask=at > 3)


def _gathered_and_scattered(x, out, back):
    at = 15 - np.arange(16)
    t = np.where(at * 2 < len(x), x[np.minimum(at * 2, len(x) - 1)], -1)
    back[at[at > 3]] = t[at > 3]
    return {1: t, 2: back}


@ct.kernel
def chosen_rows(x, out, rows):
    chosen = ct.load(rows, (0,), (4,))
    t = ct.load_advanced_indexing(x, (chosen, ct.Slice(2, 4)), padding_mode=ct.PaddingMode.ZERO)
    ct.store_advanced_indexing(out, (chosen, ct.Slice(0, 4)), t + 1)


def _chosen_rows(x, out, rows):
    out[rows] = x[rows, 2:6] + 1
    return {1: out}


@ct.kernel
def atomics(x, seen, old):
    at = ct.arange(8, dtype=ct.int32)
    t = ct.load(x, (0,), (8,))
    ct.atomic_add(seen, (0, at), t)
    ct.atomic_max(seen, (1, at), t)
    ct.atomic_min(seen, (2, at), t)
    ct.atomic_and(seen, (3, at), t)
    ct.atomic_or(seen, (4, at), t)
    ct.atomic_xor(seen, (5, at), t)
    ct.store(old, (0, 0), ct.atomic_xchg(seen, (6, at), t).reshape((1, 8)))
    ct.store(old, (1, 0), ct.atomic_cas(seen, (7, at), at, t).reshape((1, 8)))


def _atomics(x, seen, old):
    before = seen.copy()
    at = np.arange(8)
    after = [seen[0] + x, np.maximum(seen[1], x), np.minimum(seen[2], x), seen[3] & x, seen[4] | x, seen[5] ^ x, x]
    return {1: np.stack([*after, np.where(seen[7] == at, x, seen[7])]), 2: before[6:]}


@ct.kernel
def methods_of_arrays(x, out):
    part = x.slice(0, 4, 12)
    ct.store(out, (0,), ct.load(part, (1,), (4,)))
    view = x.tiled_view((4,), traversal_steps=(2,))
    ct.store(out, (1,), view.load((1,)))
    ct.store(out, (2,), x.get_raw_memory().load_offset(ct.arange(4, dtype=ct.int32) * 3))
    ct.store(out, (3,), ct.full((4,), x.shape[0] + x.strides[0] + x.ndim + view.num_tiles(0), ct.int32))


def _methods_of_arrays(x, out):
    tiles = len(range(0, len(x), 2))
    return {1: np.concatenate([x[8:12], x[2:6], x[0:12:3], [len(x) + 1 + 1 + tiles] * 4])}


@ct.kernel
def arrays_from_pointers(x, out):
    pointer = x.foreign_pointer
    ct.static_assert(pointer.dtype == ct.foreign_pointer_dtype(ct.int32))
    ct.store(out, (0,), ct.load(ct.Array.from_foreign(pointer, (8,), (2,)), (0,), (8,)))


@ct.kernel
def atomics_of_views(x):
    view = x.tiled_view((1, 8))
    t = ct.arange(8, dtype=ct.int32).reshape((1, 8)) + 2
    view.atomic_store_add((0, 0), t)
    view.atomic_store_max((1, 0), t)
    view.atomic_store_min((2, 0), t)
    view.atomic_store_and((3, 0), t)
    view.atomic_store_or((4, 0), t)
    view.atomic_store_xor((5, 0), t)


def _atomics_of_views(x):
    t = np.arange(8) + 2
    return {0: np.stack([x[0] + t, np.maximum(x[1], t), np.minimum(x[2], t), x[3] & t, x[4] | t, x[5] ^ t])}


@ct.kernel
def dependent_grids(x):
    ct.grid_dependency_control_wait()
    ct.store(x, (0,), ct.load(x, (0,), (8,)) + 1)
    ct.grid_dependency_control_launch_dependents()


# ---------------------------------------------------------------- printing


@ct.kernel
def printed(x):
    t = ct.load(x, (0,), (4,))
    ct.printf("%d;", t)
    ct.print(f"sum={ct.sum(t)}", 3, sep=":")
    ct.assert_(t < 1000, "too big")


def _few(n: int, seed=0) -> np.ndarray:
    """Return numbers, many of them equal."""
    return integers(n, high=-47, seed=seed, dtype=np.float32)


def _half(n: int) -> np.ndarray:
    return zeros(n, dtype=np.float16)


def _around_zero() -> np.ndarray:
    """Numbers of both signs, none of them near zero, where `log` and a quotient lose digits."""
    return np.concatenate([floats(8, low=0.3), floats(8, low=-2.0, high=-0.3)])


CASES = [
    Case(functions_of_one_number, lambda: (_around_zero(), zeros(15, 16)), _of_one_number, tolerance=2e-6),
    Case(
        functions_of_two_numbers,
        lambda: (_around_zero(), _around_zero()[::-1].copy(), zeros(9, 16)),
        _of_two_numbers,
        tolerance=2e-6,
    ),
    Case(
        integer_functions,
        lambda: (integers(16), integers(16, low=1, high=9), zeros(10, 16, dtype=np.int32)),
        _integer_functions,
    ),
    Case(
        comparisons,
        lambda: (_few(16), _few(16, seed=1), zeros(16, dtype=np.int32)),
        _comparisons,
    ),
    Case(made_tiles, lambda: (zeros(7, 8, dtype=np.int32), 12, 7), _made_tiles),
    Case(shapes, lambda: (floats(4, 8), zeros(2, 4, 8), zeros(8, 4), zeros(4, 8)), _shapes),
    Case(
        changed_types,
        lambda: (floats(16), zeros(64, dtype=np.uint8), zeros(16, dtype=np.int32), _half(16), zeros(16)),
        _changed_types,
    ),
    Case(
        reductions,
        lambda: (floats(4, 16), zeros(5, 4), zeros(2, 4, dtype=np.int32)),
        _reductions,
        tolerance=1e-5,
    ),
    Case(scans, lambda: (floats(4, 16), zeros(4, 16), zeros(4, 16), zeros(4, 16)), _scans, tolerance=1e-5),
    Case(
        products,
        lambda: (floats(16, 16, dtype=np.float16), floats(16, 16, dtype=np.float16, seed=1), zeros(48, 16)),
        _products,
        tolerance=2e-3,
    ),
    Case(scaled_product, _scaled_arguments, _scaled_product, tolerance=1e-4),
    Case(gathered_and_scattered, lambda: (floats(20), zeros(16), zeros(16)), _gathered_and_scattered),
    Case(
        chosen_rows,
        lambda: (integers(8, 8), zeros(8, 4, dtype=np.int32), np.array([6, 1, 3, 0], np.int32)),
        _chosen_rows,
    ),
    Case(
        atomics,
        lambda: (integers(8), integers(8, 8, low=0, high=8, seed=1), zeros(2, 8, dtype=np.int32)),
        _atomics,
    ),
    Case(methods_of_arrays, lambda: (integers(16), zeros(16, dtype=np.int32)), _methods_of_arrays),
    Case(
        arrays_from_pointers,
        lambda: (integers(16), zeros(8, dtype=np.int32)),
        lambda x, out: {1: x[::2]},
    ),
    Case(atomics_of_views, lambda: (integers(6, 8, low=0),), _atomics_of_views),
    Case(dependent_grids, lambda: (integers(8),), lambda x: {0: x + 1}),
    Case(
        printed,
        lambda: (np.array([1, 2, 3, 4], np.int32),),
        lambda x: {0: x},
        output="[1, 2, 3, 4];sum=10:3\n",
    ),
]
