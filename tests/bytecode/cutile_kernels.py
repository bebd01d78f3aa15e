# Kernels are read by cuTile, not run by Python: branches stay branches, and `assert_` is an operation.
# ruff: noqa: SIM108, PT009
"""Kernels written in cuTile Python, with arguments and what NumPy makes of them.

Importing this needs the package `cuda-tile`; exporting a kernel needs no GPU.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass, field

import cuda.tile as ct
import ml_dtypes
import numpy as np
from cuda.tile import compilation

DTYPES = {
    np.dtype(np.float32): ct.float32,
    np.dtype(np.float64): ct.float64,
    np.dtype(np.float16): ct.float16,
    np.dtype(ml_dtypes.bfloat16): ct.bfloat16,
    np.dtype(ml_dtypes.float8_e4m3fn): ct.float8_e4m3fn,
    np.dtype(ml_dtypes.float8_e5m2): ct.float8_e5m2,
    np.dtype(np.int8): ct.int8,
    np.dtype(np.int16): ct.int16,
    np.dtype(np.int32): ct.int32,
    np.dtype(np.int64): ct.int64,
    np.dtype(np.uint8): ct.uint8,
    np.dtype(np.uint32): ct.uint32,
    np.dtype(np.bool_): ct.bool_,
}
VERSIONS = ("13.1", "13.2", "13.3", "13.4")
"""The versions that cuTile writes."""


@dataclass(frozen=True)
class Constant:
    """An argument that is fixed when the kernel is exported."""

    value: int | float | bool


@dataclass(frozen=True)
class Case:
    """A kernel, its arguments, and `expected`: from copies of the arguments to what each array must hold after."""

    kernel: object
    arguments: Callable[[], list]
    expected: Callable[..., dict[int, np.ndarray]]
    grid: tuple[int, ...] = (1,)
    since: str = "13.1"
    tolerance: float = 0.0
    architecture: str = "sm_100"
    options: dict = field(default_factory=dict)
    """Assumptions for every array parameter, beyond those read off the argument."""

    @property
    def name(self) -> str:
        return self.kernel._annotated_function.pyfunc.__name__

    @property
    def versions(self) -> list[str]:
        return [version for version in VERSIONS if version >= self.since]

    def export(self, version: str) -> bytes:
        """The bytecode that cuTile writes."""
        constraints = [constraint(argument, self.options) for argument in self.arguments()]
        convention = compilation.CallingConvention.cutile_python_v1()
        signature = compilation.KernelSignature(constraints, convention, symbol=self.name)
        file = io.BytesIO()
        compilation.export_kernel(
            self.kernel,
            [signature],
            file,
            gpu_code=self.architecture,
            output_format="tileir_bytecode",
            bytecode_version=version,
        )
        return file.getvalue()


def constraint(argument: object, options: dict) -> object:
    if isinstance(argument, Constant):
        return compilation.ConstantConstraint(argument.value)
    if isinstance(argument, np.ndarray):
        return array_constraint(argument, options)
    return compilation.ScalarConstraint(ct.int32 if isinstance(argument, int) else ct.float32)


def array_constraint(array: np.ndarray, options: dict) -> object:
    contiguous = array.flags.c_contiguous and array.ndim > 0
    constants = (None,) * (array.ndim - 1) + (1,) if contiguous else None
    return compilation.ArrayConstraint(
        DTYPES[array.dtype],
        array.ndim,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=constants,
        **options,
    )


def flat_arguments(arguments: list) -> list:
    """Arguments as an entry takes them: an array is a pointer, its extents, its strides in elements."""
    flat = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            strides = [stride // argument.itemsize for stride in argument.strides]
            flat += [argument, *argument.shape, *strides]
        elif not isinstance(argument, Constant):
            flat.append(argument)
    return flat


def floats(*shape: int, dtype=np.float32, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def integers(*shape: int, dtype=np.int32, low=-100, high=100, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def zeros(*shape: int, dtype=np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


F8 = ml_dtypes.float8_e4m3fn
BF16 = ml_dtypes.bfloat16

# ---------------------------------------------------------------- element by element


@ct.kernel
def vector_add(a, b, out, n: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(a, index=(i,), shape=(n,)) + ct.load(b, index=(i,), shape=(n,)))


@ct.kernel
def saxpy_of_any_length(x, y, alpha, n: ct.Constant[int]):
    i = ct.bid(0)
    fresh = ct.load(x, index=(i,), shape=(n,), padding_mode=ct.PaddingMode.ZERO) * alpha
    ct.store(y, index=(i,), tile=fresh + ct.load(y, index=(i,), shape=(n,), padding_mode=ct.PaddingMode.ZERO))


@ct.kernel
def add_three_dimensions(a, b, out):
    i, j, k = ct.bid(0), ct.bid(1), ct.bid(2)
    x = ct.load(a, index=(i, j, k), shape=(2, 4, 8))
    y = ct.load(b, index=(i, j, k), shape=(2, 4, 8))
    ct.store(out, index=(i, j, k), tile=x - y * 2.0)


@ct.kernel
def transcendental(x, out):
    t = ct.load(x, index=(0,), shape=(32,))
    y = ct.exp(t) + ct.sin(t) * ct.cos(t) - ct.tanh(t) + ct.sqrt(ct.abs(t)) + ct.log(ct.abs(t) + 1.0)
    ct.store(out, index=(0,), tile=y + ct.exp2(t) + ct.floor(t) - ct.ceil(t) + ct.rsqrt(ct.abs(t) + 0.5))


@ct.kernel
def gelu(x, out):
    t = ct.load(x, index=(0,), shape=(64,))
    inner = 0.7978845608 * (t + 0.044715 * t * t * t)
    ct.store(out, index=(0,), tile=0.5 * t * (1.0 + ct.tanh(inner)))


@ct.kernel
def clamp_by_comparison(x, out, low, high):
    t = ct.load(x, index=(0,), shape=(64,))
    t = ct.where(t < low, low, t)
    ct.store(out, index=(0,), tile=ct.minimum(ct.where(t > high, high, t), 1.5))


@ct.kernel
def xorshift(seed, out):
    s = ct.load(seed, index=(0,), shape=(64,))
    for _ in range(3):
        s = s ^ (s << 13)
        s = s ^ (s >> 17)
        s = s ^ (s << 5)
    ct.store(out, index=(0,), tile=s * 1664525 + 1013904223)


@ct.kernel
def integer_division(a, b, quotient, remainder):
    x, y = ct.load(a, index=(0,), shape=(64,)), ct.load(b, index=(0,), shape=(64,))
    ct.store(quotient, index=(0,), tile=x // y)
    ct.store(remainder, index=(0,), tile=x % y)


@ct.kernel
def bits(a, b, out):
    x, y = ct.load(a, index=(0,), shape=(32,)), ct.load(b, index=(0,), shape=(32,))
    ct.store(out, index=(0,), tile=(x & y) | (~x ^ (y >> 2)))


@ct.kernel
def reinterpret(x, out):
    t = ct.load(x, index=(0,), shape=(32,))
    ct.store(out, index=(0,), tile=ct.bitcast(t, ct.int32) & 0x7FFFFFFF)


@ct.kernel
def convert_types(x, half, whole, narrow):
    t = ct.load(x, index=(0,), shape=(32,))
    ct.store(half, index=(0,), tile=ct.astype(t, ct.float16))
    ct.store(whole, index=(0,), tile=ct.astype(t, ct.int32))
    ct.store(narrow, index=(0,), tile=ct.astype(ct.astype(t, ct.int32), ct.int8))


# ---------------------------------------------------------------- shapes


@ct.kernel
def transpose_matrix(x, out):
    i, j = ct.bid(0), ct.bid(1)
    t = ct.load(x, index=(i, j), shape=(4, 8))
    ct.store(out, index=(j, i), tile=ct.transpose(t))


@ct.kernel
def permute_axes(x, out):
    t = ct.load(x, index=(0, 0, 0), shape=(2, 4, 8))
    ct.store(out, index=(0, 0, 0), tile=ct.permute(t, (2, 0, 1)))


@ct.kernel
def load_in_other_order(x, out):
    ct.store(out, index=(0, 0), tile=ct.load(x, index=(0, 0), shape=(8, 4), order=(1, 0)))


@ct.kernel
def outer_product(a, b, out):
    x = ct.load(a, index=(0,), shape=(8,)).reshape((8, 1))
    y = ct.expand_dims(ct.load(b, index=(0,), shape=(16,)), 0)
    ct.store(out, index=(0, 0), tile=ct.broadcast_to(x, (8, 16)) * y)


@ct.kernel
def join_and_cut(a, b, out):
    x, y = ct.load(a, index=(0,), shape=(8,)), ct.load(b, index=(0,), shape=(8,))
    both = ct.cat((x, y), 0)
    ct.store(out, index=(0,), tile=ct.extract(both, (1,), shape=(4,)) + ct.extract(both, (2,), shape=(4,)))


@ct.kernel
def ramp(out):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.arange(16, dtype=ct.int32) * 3 + i + ct.num_blocks(0))


# ---------------------------------------------------------------- reductions and scans


@ct.kernel
def row_sums(x, sums, greatest):
    i = ct.bid(0)
    t = ct.load(x, index=(i, 0), shape=(4, 16))
    ct.store(sums, index=(i,), tile=ct.sum(t, axis=1))
    ct.store(greatest, index=(i,), tile=ct.max(t, axis=1))


@ct.kernel
def softmax_of_rows(x, out):
    t = ct.load(x, index=(ct.bid(0), 0), shape=(1, 32))
    e = ct.exp(t - ct.max(t, axis=1, keepdims=True))
    ct.store(out, index=(ct.bid(0), 0), tile=e / ct.sum(e, axis=1, keepdims=True))


@ct.kernel
def layer_norm(x, weight, out, epsilon):
    t = ct.load(x, index=(ct.bid(0), 0), shape=(1, 64))
    mean = ct.sum(t, axis=1, keepdims=True) / 64.0
    centred = t - mean
    variance = ct.sum(centred * centred, axis=1, keepdims=True) / 64.0
    y = centred * ct.rsqrt(variance + epsilon) * ct.load(weight, index=(0,), shape=(64,))
    ct.store(out, index=(ct.bid(0), 0), tile=y)


@ct.kernel
def positions_of_extremes(x, low, high):
    t = ct.load(x, index=(0, 0), shape=(8, 16))
    ct.store(low, index=(0,), tile=ct.argmin(t, axis=1))
    ct.store(high, index=(0,), tile=ct.argmax(t, axis=1))


@ct.kernel
def products(x, out):
    ct.store(out, index=(0,), tile=ct.prod(ct.load(x, index=(0, 0), shape=(4, 8)), axis=0))


@ct.kernel
def own_reduction(x, out):
    t = ct.load(x, index=(0, 0), shape=(4, 16))
    ct.store(out, index=(0,), tile=ct.reduce(t, 1, lambda a, b: a ^ b, 0))


@ct.kernel
def running_sums(x, forward, backward):
    t = ct.load(x, index=(0, 0), shape=(4, 16))
    ct.store(forward, index=(0, 0), tile=ct.cumsum(t, axis=1))
    ct.store(backward, index=(0, 0), tile=ct.cumsum(t, axis=0, reverse=True))


@ct.kernel
def running_products(x, out):
    ct.store(out, index=(0,), tile=ct.cumprod(ct.load(x, index=(0,), shape=(8,)), axis=0))


# ---------------------------------------------------------------- matrix multiplication


@ct.kernel(num_ctas=ct.ByTarget(sm_100=2), occupancy=4)
def matrix_multiply(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO, latency=4)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO, allow_tma=False)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(i, j), tile=ct.astype(acc, c.dtype))


@ct.kernel
def batched_multiply(a, b, c):
    x = ct.load(a, index=(ct.bid(0), 0, 0), shape=(1, 8, 16))
    y = ct.load(b, index=(ct.bid(0), 0, 0), shape=(1, 16, 8))
    ct.store(c, index=(ct.bid(0), 0, 0), tile=ct.mma(x, y, ct.zeros((1, 8, 8), dtype=ct.float32)))


@ct.kernel
def multiply_f8(a, b, c):
    x, y = ct.load(a, index=(0, 0), shape=(16, 32)), ct.load(b, index=(0, 0), shape=(32, 16))
    ct.store(c, index=(0, 0), tile=ct.mma(x, y, ct.zeros((16, 16), dtype=ct.float32)))


@ct.kernel
def multiply_i8(a, b, c):
    x, y = ct.load(a, index=(0, 0), shape=(16, 32)), ct.load(b, index=(0, 0), shape=(32, 16))
    ct.store(c, index=(0, 0), tile=ct.mma(x, y, ct.zeros((16, 16), dtype=ct.int32)))


# ---------------------------------------------------------------- control flow


@ct.kernel
def count_steps_of_collatz(start, out):
    n = ct.load(start, index=(ct.bid(0),), shape=()).item()
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps = steps + 1
    ct.store(out, index=(ct.bid(0),), tile=steps)


@ct.kernel
def skip_and_leave(x, out):
    acc = ct.zeros((8,), dtype=ct.int32)
    i = 0
    while True:
        i = i + 1
        if i > 10:
            break
        if i % 3 == 0:
            continue
        acc = acc + ct.load(x, index=(0,), shape=(8,)) * i
    ct.store(out, index=(0,), tile=acc)


@ct.kernel
def choose_by_block(x, out):
    i = ct.bid(0)
    t = ct.load(x, index=(i,), shape=(8,))
    if i % 2 == 0:
        t = t * 2
        if i > 2:
            t = t + 100
    else:
        t = -t
    ct.store(out, index=(i,), tile=t)


@ct.kernel
def nested_loops(out, n, m):
    acc = ct.zeros((4,), dtype=ct.int32)
    for i in range(n):
        for j in range(i, m, 2):
            acc = acc + i * j
    ct.store(out, index=(0,), tile=acc)


@ct.kernel
def leave_early(x, out):
    i = ct.bid(0)
    if i > 2:
        return
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(4,)) + 1)


# ---------------------------------------------------------------- memory


@ct.kernel
def gather_rows(x, rows, out):
    r = ct.load(rows, index=(0,), shape=(8,)).reshape((8, 1))
    columns = ct.arange(16, dtype=ct.int32).reshape((1, 16))
    ct.store(out, index=(0, 0), tile=ct.gather(x, (r, columns)))


@ct.kernel
def gather_out_of_bounds(x, out):
    at = ct.arange(16, dtype=ct.int32) * 2 - 4
    ct.store(out, index=(0,), tile=ct.gather(x, at, padding_value=-1.0, mask=at < 20))


@ct.kernel
def scatter_reversed(x, out):
    at = 15 - ct.arange(16, dtype=ct.int32)
    ct.scatter(out, at, ct.load(x, index=(0,), shape=(16,)), mask=at > 3)


@ct.kernel
def histogram(x, counts):
    t = ct.load(x, index=(ct.bid(0),), shape=(32,))
    ct.atomic_add(counts, t, 1)


@ct.kernel
def atomic_extremes(x, low, high, seen):
    t = ct.load(x, index=(ct.bid(0),), shape=(16,))
    zero = ct.zeros((16,), dtype=ct.int32)
    ct.atomic_min(low, zero, t)
    ct.atomic_max(high, zero, t)
    ct.atomic_or(seen, zero, 1 << (t & 31))


@ct.kernel
def swap_if_equal(x, old):
    at = ct.arange(8, dtype=ct.int32)
    ct.store(old, index=(0,), tile=ct.atomic_cas(x, at, at % 2, at + 10))


@ct.kernel
def sum_of_all(x, total):
    part = ct.sum(ct.load(x, index=(ct.bid(0),), shape=(32,)))
    ct.atomic_add(total, 0, part, memory_order=ct.MemoryOrder.RELAXED)


@ct.kernel
def overlapping_windows(x, out):
    view = x.tiled_view((8,), traversal_steps=(4,))
    ct.store(out, index=(ct.bid(0),), tile=ct.sum(view.load((ct.bid(0),))).reshape((1,)))


@ct.kernel
def add_through_view(x):
    view = x.tiled_view((8,))
    view.atomic_store_add((ct.bid(0),), ct.full((8,), 3, dtype=ct.int32))


@ct.kernel
def bytes_of_words(x, out):
    ct.store(out, index=(0,), tile=ct.pack_to_bytes(ct.load(x, index=(0,), shape=(8,))))


@ct.kernel
def print_a_tile(x):
    t = ct.load(x, index=(0,), shape=(4,))
    ct.printf("%d and %f\n", t, ct.astype(t, ct.float32))
    ct.assert_(t < 1000, "too big")


def _collatz(start: np.ndarray) -> np.ndarray:
    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    return np.array([steps(int(n)) for n in start], np.int32)


def _xorshift(seed: np.ndarray) -> np.ndarray:
    for _ in range(3):
        seed = seed ^ (seed << np.uint32(13))
        seed = seed ^ (seed >> np.uint32(17))
        seed = seed ^ (seed << np.uint32(5))
    return seed * np.uint32(1664525) + np.uint32(1013904223)


def _layer_norm(x, weight, out, epsilon):
    centred = x - x.mean(axis=1, keepdims=True)
    return {2: centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon) * weight}


def _matrix_product(*arguments):
    return {2: (arguments[0].astype(np.float64) @ arguments[1].astype(np.float64)).astype(arguments[2].dtype)}


def _softmax(x, out):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return {1: e / e.sum(axis=1, keepdims=True)}


def _transcendental(t, out):
    y = np.exp(t) + np.sin(t) * np.cos(t) - np.tanh(t) + np.sqrt(abs(t)) + np.log(abs(t) + 1)
    return {1: y + np.exp2(t) + np.floor(t) - np.ceil(t) + 1 / np.sqrt(abs(t) + 0.5)}


def _choose(x, out):
    rows = x.reshape(-1, 8)
    chosen = [(row * 2 + (100 if i > 2 else 0)) if i % 2 == 0 else -row for i, row in enumerate(rows)]
    return {1: np.concatenate(chosen)}


def _gathered(x, out):
    at = np.arange(16) * 2 - 4
    return {1: np.where((at >= 0) & (at < 20) & (at < len(x)), x[np.clip(at, 0, len(x) - 1)], -1.0)}


def _scattered(x, out):
    at = 15 - np.arange(16)
    out[at[at > 3]] = x[at > 3]
    return {1: out}


def _nested(out, n, m):
    return {0: np.full(4, sum(i * j for i in range(n) for j in range(i, m, 2)), np.int32)}


def _early(x, out):
    out[:12] = x[:12] + 1
    return {1: out}


def _swapped(x, old):
    at = np.arange(8)
    return {0: np.where(x == at % 2, at + 10, x), 1: x}


def _windows(x, out):
    return {1: np.array([x[4 * i : 4 * i + 8].sum() for i in range(len(out))], x.dtype)}


def _bits_seen(x, low, high, seen):
    mask = np.bitwise_or.reduce(np.int32(1) << (x & 31))
    return {1: np.array([x.min()]), 2: np.array([x.max()]), 3: np.array([mask])}


CASES = [
    Case(
        vector_add,
        lambda: [floats(64), floats(64, seed=1), zeros(64), Constant(16)],
        lambda a, b, c, n: {2: a + b},
        (4,),
    ),
    Case(
        saxpy_of_any_length,
        lambda: [floats(50), floats(50, seed=1), 2.5, Constant(16)],
        lambda x, y, alpha, n: {1: x * np.float32(alpha) + y},
        (4,),
        tolerance=1e-6,
    ),
    Case(
        add_three_dimensions,
        lambda: [floats(4, 8, 16), floats(4, 8, 16, seed=1), zeros(4, 8, 16)],
        lambda a, b, c: {2: a - b * 2},
        (2, 2, 2),
        tolerance=1e-6,
    ),
    Case(transcendental, lambda: [floats(32), zeros(32)], _transcendental, tolerance=1e-5),
    Case(
        gelu,
        lambda: [floats(64), zeros(64)],
        lambda t, out: {1: 0.5 * t * (1 + np.tanh(0.7978845608 * (t + 0.044715 * t**3)))},
        tolerance=1e-5,
    ),
    Case(
        clamp_by_comparison,
        lambda: [floats(64) * 3, zeros(64), -1.0, 2.0],
        lambda x, out, low, high: {1: np.minimum(np.clip(x, low, high), 1.5)},
    ),
    Case(
        xorshift,
        lambda: [integers(64, dtype=np.uint32, low=1, high=1 << 31), zeros(64, dtype=np.uint32)],
        lambda seed, out: {1: _xorshift(seed)},
    ),
    Case(
        integer_division,
        lambda: [
            integers(64),
            integers(64, low=1, high=9, seed=1),
            zeros(64, dtype=np.int32),
            zeros(64, dtype=np.int32),
        ],
        lambda a, b, q, r: {2: a // b, 3: a % b},
    ),
    Case(
        bits,
        lambda: [integers(32, dtype=np.int64), integers(32, dtype=np.int64, seed=1), zeros(32, dtype=np.int64)],
        lambda x, y, out: {2: (x & y) | (~x ^ (y >> 2))},
    ),
    Case(
        reinterpret, lambda: [floats(32), zeros(32, dtype=np.int32)], lambda x, out: {1: x.view(np.int32) & 0x7FFFFFFF}
    ),
    Case(
        convert_types,
        lambda: [floats(32) * 50, zeros(32, dtype=np.float16), zeros(32, dtype=np.int32), zeros(32, dtype=np.int8)],
        lambda x, h, w, n: {1: x.astype(np.float16), 2: x.astype(np.int32), 3: x.astype(np.int32).astype(np.int8)},
    ),
    Case(transpose_matrix, lambda: [floats(8, 16), zeros(16, 8)], lambda x, out: {1: x.T}, (2, 2)),
    Case(permute_axes, lambda: [floats(2, 4, 8), zeros(8, 2, 4)], lambda x, out: {1: x.transpose(2, 0, 1)}),
    Case(load_in_other_order, lambda: [floats(4, 8), zeros(8, 4)], lambda x, out: {1: x.T}),
    Case(outer_product, lambda: [floats(8), floats(16, seed=1), zeros(8, 16)], lambda a, b, out: {2: np.outer(a, b)}),
    Case(join_and_cut, lambda: [floats(8), floats(8, seed=1), zeros(4)], lambda a, b, out: {2: a[4:] + b[:4]}),
    Case(
        ramp,
        lambda: [zeros(64, dtype=np.int32)],
        lambda out: {0: (np.arange(16) * 3 + np.arange(4)[:, None] + 4).reshape(-1)},
        (4,),
    ),
    Case(
        row_sums,
        lambda: [floats(8, 16), zeros(8), zeros(8)],
        lambda x, s, g: {1: x.sum(axis=1), 2: x.max(axis=1)},
        (2,),
        tolerance=1e-5,
    ),
    Case(softmax_of_rows, lambda: [floats(4, 32), zeros(4, 32)], _softmax, (4,), tolerance=1e-5),
    Case(
        layer_norm, lambda: [floats(4, 64), floats(64, seed=1), zeros(4, 64), 1e-5], _layer_norm, (4,), tolerance=1e-4
    ),
    Case(
        positions_of_extremes,
        lambda: [floats(8, 16), zeros(8, dtype=np.int32), zeros(8, dtype=np.int32)],
        lambda x, low, high: {1: x.argmin(axis=1), 2: x.argmax(axis=1)},
    ),
    Case(products, lambda: [floats(4, 8), zeros(8)], lambda x, out: {1: x.prod(axis=0)}, tolerance=1e-5),
    Case(
        own_reduction,
        lambda: [integers(4, 16), zeros(4, dtype=np.int32)],
        lambda x, out: {1: np.bitwise_xor.reduce(x, axis=1)},
    ),
    Case(
        running_sums,
        lambda: [integers(4, 16), zeros(4, 16, dtype=np.int32), zeros(4, 16, dtype=np.int32)],
        lambda x, f, b: {1: x.cumsum(axis=1), 2: x[::-1].cumsum(axis=0)[::-1]},
    ),
    Case(running_products, lambda: [floats(8), zeros(8)], lambda x, out: {1: x.cumprod()}, tolerance=1e-5),
    Case(
        matrix_multiply,
        lambda: [
            floats(40, 24, dtype=np.float16),
            floats(24, 40, dtype=np.float16, seed=1),
            zeros(40, 40),
            Constant(16),
            Constant(16),
            Constant(16),
        ],
        _matrix_product,
        (3, 3),
        tolerance=1e-3,
        options={"base_addr_divisible_by": 16, "stride_divisible_by": (8, 1)},
    ),
    Case(
        batched_multiply,
        lambda: [floats(2, 8, 16, dtype=BF16), floats(2, 16, 8, dtype=BF16, seed=1), zeros(2, 8, 8)],
        _matrix_product,
        (2,),
        tolerance=1e-4,
    ),
    Case(
        multiply_f8,
        lambda: [floats(16, 32, dtype=F8), floats(32, 16, dtype=F8, seed=1), zeros(16, 16)],
        _matrix_product,
        tolerance=1e-4,
    ),
    Case(
        multiply_i8,
        lambda: [
            integers(16, 32, dtype=np.int8),
            integers(32, 16, dtype=np.int8, seed=1),
            zeros(16, 16, dtype=np.int32),
        ],
        lambda a, b, c: {2: a.astype(np.int32) @ b.astype(np.int32)},
    ),
    Case(
        count_steps_of_collatz,
        lambda: [np.arange(1, 9, dtype=np.int32), zeros(8, dtype=np.int32)],
        lambda start, out: {1: _collatz(start)},
        (8,),
    ),
    Case(
        skip_and_leave,
        lambda: [integers(8), zeros(8, dtype=np.int32)],
        lambda x, out: {1: x * sum(i for i in range(1, 11) if i % 3)},
    ),
    Case(choose_by_block, lambda: [integers(48), zeros(48, dtype=np.int32)], _choose, (6,)),
    Case(nested_loops, lambda: [zeros(4, dtype=np.int32), 5, 9], _nested),
    Case(leave_early, lambda: [integers(24), zeros(24, dtype=np.int32)], _early, (6,)),
    Case(
        gather_rows,
        lambda: [floats(32, 16), integers(8, low=0, high=32), zeros(8, 16)],
        lambda x, rows, out: {2: x[rows]},
    ),
    Case(gather_out_of_bounds, lambda: [floats(18), zeros(16)], _gathered),
    Case(scatter_reversed, lambda: [floats(16), zeros(16)], _scattered),
    Case(
        histogram,
        lambda: [integers(128, low=0, high=16), zeros(16, dtype=np.int32)],
        lambda x, counts: {1: np.bincount(x, minlength=16)},
        (4,),
    ),
    Case(
        atomic_extremes,
        lambda: [integers(64), np.array([1000], np.int32), np.array([-1000], np.int32), zeros(1, dtype=np.int32)],
        _bits_seen,
        (4,),
    ),
    Case(swap_if_equal, lambda: [np.array([0, 1, 1, 1, 0, 0, 5, 1], np.int32), zeros(8, dtype=np.int32)], _swapped),
    Case(sum_of_all, lambda: [floats(128), zeros(1)], lambda x, total: {1: np.array([x.sum()])}, (4,), tolerance=1e-4),
    Case(overlapping_windows, lambda: [floats(20), zeros(4)], _windows, (4,), since="13.3", tolerance=1e-5),
    Case(add_through_view, lambda: [integers(32)], lambda x: {0: x + 3}, (4,), since="13.3"),
    Case(
        bytes_of_words,
        lambda: [integers(8), zeros(32, dtype=np.uint8)],
        lambda x, out: {1: x.view(np.uint8)},
        since="13.3",
    ),
    Case(print_a_tile, lambda: [integers(4)], lambda x: {0: x}),
]
