"""The kernels of the golden programs, each with the signature that it is compiled for. Needs `triton`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import triton
import triton.language as tl


@dataclass(frozen=True)
class Compiled:
    """A kernel and its specialisation; `aligned` are the parameters that are multiples of 16."""

    kernel: Any
    signature: dict[str, str]
    constexprs: dict[str, object] = field(default_factory=dict)
    aligned: tuple[str, ...] = ()


KERNELS: dict[str, Compiled] = {}


def golden(signature: str, aligned: str = "", **constexprs: object):
    """Have the kernel below as a golden program; `signature` has the types of the parameters that are none of these."""

    def register(kernel):
        names = [name for name in kernel.arg_names if name not in constexprs]
        types = dict(zip(names, signature.split(), strict=True)) | dict.fromkeys(constexprs, "constexpr")
        ordered = {name: types[name] for name in kernel.arg_names}
        KERNELS[kernel.__name__] = Compiled(kernel, ordered, constexprs, tuple(aligned.split()))
        return kernel

    return register


@golden("*fp32 *fp32 *fp32 i32", aligned="x y z", BLOCK=1024)
@triton.jit
def vector_add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@golden("*fp32 *fp32 i32 i32", BLOCK=256)
@triton.jit
def softmax(x, y, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    values = tl.load(x + row * stride + column, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * stride + column, powers / tl.sum(powers, axis=0), mask=inside)


@golden("*fp16 *fp16 *fp32 i32 i32 i32 i32 i32 i32", M=32, N=32, K=16, GROUP=2)
@triton.jit
def matmul(
    a, b, c, m, n, k, stride_a, stride_b, stride_c,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    rows, columns = tl.cdiv(m, M), tl.cdiv(n, N)
    first = program // (GROUP * columns) * GROUP
    group = min(rows - first, GROUP)
    row = first + program % (GROUP * columns) % group
    column = program % (GROUP * columns) // group
    tl.assume(row >= 0)
    at_m = (row * M + tl.arange(0, M)) % m
    at_n = (column * N + tl.arange(0, N)) % n
    at_k = tl.arange(0, K)
    a_at = a + at_m[:, None] * stride_a + at_k[None, :]
    b_at = b + at_k[:, None] * stride_b + at_n[None, :]
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(tl.cdiv(k, K)):
        left = tl.load(a_at, mask=at_k[None, :] < k - step * K, other=0.0)
        right = tl.load(b_at, mask=at_k[:, None] < k - step * K, other=0.0)
        total = tl.dot(left, right, total)
        a_at += K
        b_at += K * stride_b
    at_m = row * M + tl.arange(0, M)
    at_n = column * N + tl.arange(0, N)
    inside = (at_m[:, None] < m) & (at_n[None, :] < n)
    tl.store(c + at_m[:, None] * stride_c + at_n[None, :], total, mask=inside)


@golden("*i32 *i32 *i32", BLOCK=64)
@triton.jit
def integers(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at), tl.load(y + at)
    unsigned = a.to(tl.uint32, bitcast=True) // b.to(tl.uint32, bitcast=True)
    tl.store(out + at, a // b)
    tl.store(out + BLOCK + at, a % b)
    tl.store(out + 2 * BLOCK + at, unsigned.to(tl.int32, bitcast=True))
    tl.store(out + 3 * BLOCK + at, (a << 3) ^ (b >> 2) | (a & ~b))
    tl.store(out + 4 * BLOCK + at, tl.where(a < b, tl.minimum(a, 7), tl.maximum(b, -7)))
    tl.store(out + 5 * BLOCK + at, tl.umulhi(a, b) + tl.abs(a))
    tl.store(out + 6 * BLOCK + at, ((a.to(tl.int64) * b) >> 16).to(tl.int32))
    tl.store(out + 7 * BLOCK + at, (a.to(tl.float32) * 0.5).to(tl.int32) + (a > b).to(tl.int32))


@golden("*fp32 *fp32 *fp32", BLOCK=64)
@triton.jit
def floats(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, a / b + tl.math.div_rn(a, b) + tl.sqrt_rn(tl.abs(a)))
    tl.store(out + BLOCK + at, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 2 * BLOCK + at, tl.minimum(a, b))
    tl.store(out + 3 * BLOCK + at, tl.clamp(a, -0.5, 0.5, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 4 * BLOCK + at, tl.fma(a, b, 1.0) + tl.floor(a) - tl.ceil(b))
    tl.store(out + 5 * BLOCK + at, a.to(tl.float8e4nv).to(tl.float32) + b.to(tl.float8e5).to(tl.float32))
    tl.store(out + 6 * BLOCK + at, a.to(tl.float16, fp_downcast_rounding="rtz").to(tl.float32))
    tl.store(out + 7 * BLOCK + at, tl.where((a != a) | (a <= b), a.to(tl.bfloat16).to(tl.float32), a % b))


@golden("*fp32 *fp32", BLOCK=64)
@triton.jit
def functions(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    tl.store(out + at, tl.exp(a) + tl.exp2(a))
    tl.store(out + BLOCK + at, tl.log(a) + tl.log2(a))
    tl.store(out + 2 * BLOCK + at, tl.sin(a) + tl.cos(a))
    tl.store(out + 3 * BLOCK + at, tl.sqrt(a) + tl.rsqrt(a))
    tl.store(out + 4 * BLOCK + at, tl.erf(a))
    tl.store(out + 5 * BLOCK + at, tl.extra.libdevice.tanh(a) + tl.extra.libdevice.log1p(a))
    tl.store(out + 6 * BLOCK + at, tl.sigmoid(a))


@triton.jit
def compose(scale, shift, next_scale, next_shift):
    return scale * next_scale, shift * next_scale + next_shift


@golden("*fp32 *fp32 *fp32 *i32", M=8, N=32)
@triton.jit
def reductions(x, y, out, places, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.arange(0, M), tl.arange(0, N)
    at = row[:, None] * N + column[None, :]
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + row, tl.sum(a, axis=1))
    tl.store(out + M + row, tl.reduce(a, 1, multiplied))
    best, place = tl.max(a, axis=1, return_indices=True)
    tl.store(out + 2 * M + row, best)
    tl.store(places + row, place)
    tl.store(places + M + row, tl.argmin(a, axis=1))
    scale, shift = tl.associative_scan((a, b), 1, compose)
    tl.store(out + 3 * M + at, scale + shift)
    tl.store(out + 3 * M + M * N + at, tl.cumsum(a, axis=1, reverse=True))
    tl.store(places + 2 * M + row, tl.xor_sum((a > b).to(tl.int32), axis=1))


@triton.jit
def multiplied(a, b):
    return a * b


@golden("*i32 *i32", N=64)
@triton.jit
def positions(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    tl.store(out + at, tl.sort(a))
    tl.store(out + N + at, tl.gather(a, N - 1 - at, axis=0))
    tl.store(out + 2 * N + tl.arange(0, 16), tl.histogram(a & 31, 16, mask=at < 60))


@golden("*fp32 *fp32", M=4, N=8)
@triton.jit
def shapes(x, out, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.arange(0, M), tl.arange(0, N)
    a = tl.load(x + row[:, None] * N + column[None, :])
    tl.store(out + column[:, None] * M + row[None, :], tl.trans(a))
    left, right = tl.split(tl.reshape(a, M * N // 2, 2))
    pairs = tl.join(right, left)
    half = tl.arange(0, M * N // 2)
    tl.store(out + M * N + half[:, None] * 2 + tl.arange(0, 2)[None, :], pairs)
    both = tl.cat(tl.reshape(a, M * N), tl.reshape(a * 2, M * N), can_reorder=True)
    tl.store(out + 2 * M * N + tl.arange(0, 2 * M * N), both)
    tl.store(
        out + 4 * M * N + row[:, None] * N + column[None, :], tl.broadcast_to(column[None, :], M, N).to(tl.float32)
    )


@golden("*fp32 i32 i32", BLOCK=16)
@triton.jit
def early_return(out, n, limit, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    if program >= limit:
        return
    at = program * BLOCK + tl.arange(0, BLOCK)
    value = tl.full((BLOCK,), 1.0, tl.float32)
    if program > 1:
        value += 1.0
        if program > 2:
            tl.store(out + at, -value)
            return
    tl.store(out + at, value, mask=at < n)


@golden("*fp32 *fp32 i32", BLOCK=16)
@triton.jit
def loops(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(0, n, 2):
        value = tl.load(x + step * BLOCK + at)
        if step % 4 == 0:
            total += value
        else:
            total -= value
            tl.store(out + BLOCK + at, total)
    limit = 0
    while tl.sum(total) < 1000.0 and limit < 20:
        total = total * 2.0 + tl.load(out + BLOCK + at)
        limit += 1
    tl.store(out + at, total)


@triton.jit(noinline=True)
def halved(value, n):
    if n > 2:
        return value * 0.5
    value += 1.0
    return value


@golden("*fp32 i32")
@triton.jit
def calls(x, n):
    tl.store(x, halved(tl.load(x), n))


@golden("*i32 *fp32 *fp32 *i32", BLOCK=64)
@triton.jit
def atomics(counts, sums, x, out, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + program * BLOCK + at)
    tl.atomic_add(counts + at % 4, 1, mask=at < 60, sem="relaxed")
    tl.atomic_add(sums + at % 4, value)
    tl.atomic_max(sums + 4, tl.max(value))
    tl.atomic_min(sums + 5, tl.min(value), scope="sys")
    tl.atomic_or(counts + 4, 1 << program)
    while tl.atomic_cas(counts + 5, 0, 1, sem="acquire") == 1:
        pass
    tl.store(counts + 6, tl.load(counts + 6) + program)
    tl.atomic_xchg(counts + 5, 0, sem="release")
    seen = tl.atomic_poll(counts + 5, 0, timeout_ns=100000)
    tl.atomic_store(out + program, seen.to(tl.int32) + tl.atomic_load(out + program))


@golden("tensordesc<fp32[8,16]> *fp32 i32 i32", M=8, N=16)
@triton.jit
def descriptors(given, x, m, n, M: tl.constexpr, N: tl.constexpr):
    made = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    made.store([row, column], given.load([row, column]) * 2.0)
    total = tl.zeros((M, N), tl.float32)
    for step in range(0, n, N):
        total += given.load([row, step])
    total += given.load([row, 3]) + given.load([row - 5, column - 5])
    made.atomic_add([row, column], total)


@golden("*fp32 *i32 i32 i32", M=16, N=32)
@triton.jit
def descriptor_rows(x, index, m, n, M: tl.constexpr, N: tl.constexpr):
    made = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[1, N])
    rows = tl.load(index + tl.arange(0, M))
    made.scatter(made.gather(rows, 0) + 1.0, rows, 0)


@golden("*fp32 *fp32 *fp32", M=16, N=16, K=32)
@triton.jit
def precisions(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + row[:, None] * K + inner[None, :])
    right = tl.load(b + inner[:, None] * N + column[None, :])
    at = c + row[:, None] * N + column[None, :]
    tl.store(at, tl.dot(left, right))
    tl.store(at + M * N, tl.dot(left, right, input_precision="ieee"))
    tl.store(at + 2 * M * N, tl.dot(left, right, input_precision="tf32x3"))
    tl.store(at + 3 * M * N, tl.dot(left, right, input_precision="bf16x6"))
    small = tl.dot(left.to(tl.int8), right.to(tl.int8), out_dtype=tl.int32)
    tl.store(at + 4 * M * N, small.to(tl.float32))
    mixed = tl.dot(left.to(tl.float8e4nv), right.to(tl.float8e5))
    tl.store(at + 5 * M * N, mixed)


@golden("*u8 *u8 *u8 *u8 *fp32", M=32, N=32, K=64)
@triton.jit
def scaled(a, a_scale, b, b_scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    half, block = tl.arange(0, K // 2), tl.arange(0, K // 32)
    left_scale = tl.load(a_scale + row[:, None] * (K // 32) + block[None, :])
    right_scale = tl.load(b_scale + column[:, None] * (K // 32) + block[None, :])
    left = tl.load(a + row[:, None] * (K // 2) + half[None, :])
    right = tl.load(b + half[:, None] * N + column[None, :])
    at = c + row[:, None] * N + column[None, :]
    tl.store(at, tl.dot_scaled(left, left_scale, "e2m1", right, right_scale, "e2m1"))
    whole = tl.load(a + row[:, None] * K + inner[None, :]) & 0x77
    tl.store(at + M * N, tl.dot_scaled(whole, left_scale, "e4m3", right, right_scale, "e2m1"))
    tl.store(at + 2 * M * N, tl.dot_scaled(whole.to(tl.bfloat16), None, "bf16", right, right_scale, "e2m1"))
    tl.store(at + 3 * M * N, tl.dot_scaled(whole.to(tl.float16), None, "fp16", right, right_scale, "e2m1"))


@triton.jit
def collatz(n):
    steps = n * 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@triton.jit
def twisted(a, b, c, d):
    return a + d, b - c


@golden("*i32 *i32 *i32", N=16)
@triton.jit
def elements(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, tl.map_elementwise(collatz, a))
    tl.store(out + N + at, tl.map_elementwise(larger, a, b))
    tl.store(out + 2 * N + at, tl.map_elementwise(twisted, a, b, pack=2)[0])


@triton.jit
def larger(a, b):
    if a > b:
        b = a
    return b


@golden("*fp32 i32", N=64)
@triton.jit
def random_numbers(out, seed, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.rand(seed, at))
    tl.store(out + N + at, tl.randn(seed, at))


@golden("*fp32 i32", N=4)
@triton.jit
def printed(x, n, N: tl.constexpr):
    at = tl.max_contiguous(tl.multiple_of(tl.arange(0, N), N), N)
    tl.assume(n % 4 == 0)
    value = tl.load(x + tl.multiple_of(n - 12, 4) + at)
    tl.device_print("value", value)
    tl.device_print("n", n, hex=True)
    tl.debug_barrier()
