"""The kernels of the golden programs, each with the signature that it is compiled for. Needs `triton`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import triton
import triton.language as tl


@dataclass(frozen=True)
class Compiled:
    """A kernel and what it is specialised for; `aligned` are the parameters that are multiples of 16."""

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
