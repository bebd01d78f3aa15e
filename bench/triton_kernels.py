"""The same computations as Triton kernels, written as its users write them.

Each function gives a launch and the array that it fills. Import after ``TRITON_INTERPRET=1`` is set.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import triton
import triton.language as tl

Launch = Callable[[], object]


@triton.jit
def _add(a, b, c, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < n
    tl.store(c + index, tl.load(a + index, mask=mask) + tl.load(b + index, mask=mask), mask=mask)


@triton.jit
def _softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    values = tl.load(x + row * columns + column, mask=mask, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + column, powers / tl.sum(powers, axis=0), mask=mask)


@triton.jit
def _gemm(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_at = a + row[:, None] * K + k[None, :]
    b_at = b + column[None, :] * K + k[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        a_tile = tl.load(a_at, mask=(row[:, None] < M) & (k[None, :] < left), other=0.0)
        b_tile = tl.load(b_at, mask=(k[:, None] < left) & (column[None, :] < N), other=0.0)
        total = tl.dot(a_tile, b_tile, total)
        a_at += BLOCK_K
        b_at += BLOCK_K
    tl.store(c + row[:, None] * N + column[None, :], total, mask=(row[:, None] < M) & (column[None, :] < N))


def vector_add(a: np.ndarray, b: np.ndarray) -> tuple[Launch, np.ndarray]:
    c = np.zeros_like(a)
    x, y, z = map(torch.from_numpy, (a, b, c))
    return lambda: _add[(triton.cdiv(len(a), 1024),)](x, y, z, len(a), BLOCK=1024), c


def softmax(x: np.ndarray) -> tuple[Launch, np.ndarray]:
    y = np.zeros_like(x)
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    source, target = torch.from_numpy(x), torch.from_numpy(y)
    return lambda: _softmax[(rows,)](source, target, columns, BLOCK=block), y


def gemm(a: np.ndarray, b: np.ndarray) -> tuple[Launch, np.ndarray]:
    """A times the transpose of B, in tiles of 128 x 128 x 64."""
    (m, k), n = a.shape, len(b)
    c = np.zeros((m, n), np.float32)
    x, y, z = map(torch.from_numpy, (a, b, c))
    grid = triton.cdiv(m, 128), triton.cdiv(n, 128)
    return lambda: _gemm[grid](x, y, z, m, n, k, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64), c
