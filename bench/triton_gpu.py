"""Triton's own programs for the GPU benchmark's kernels, as its users write them."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def gemm(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    """C = A * B of row-major matrices, in tiles that follow one another in columns of `GROUP`."""
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    block = tl.program_id(0)
    in_group = GROUP * columns
    first = block // in_group * GROUP
    height = min(rows - first, GROUP)
    row = (first + block % in_group % height) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = (block % in_group // height) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_at = a + row[:, None] * K + k[None, :]
    b_at = b + k[:, None] * N + column[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        x = tl.load(a_at, mask=(row[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(b_at, mask=(k[:, None] < left) & (column[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
        a_at += BLOCK_K
        b_at += BLOCK_K * N
    mask = (row[:, None] < M) & (column[None, :] < N)
    tl.store(c + row[:, None] * N + column[None, :], total.to(c.dtype.element_ty), mask=mask)


@triton.jit
def _step(
    total, weight, largest, q, keys, values, first, row, length, scale, CAUSAL: tl.constexpr, COLUMNS: tl.constexpr
):
    column = first + tl.arange(0, COLUMNS)
    scores = tl.dot(q, tl.trans(tl.load(keys + first * 128, mask=column[:, None] < length, other=0.0))) * scale
    if CAUSAL:
        scores = tl.where(row[:, None] >= column[None, :], scores, -float("inf"))
    top = tl.maximum(largest, tl.max(scores, 1))
    powers = tl.exp2(scores - top[:, None])
    kept = tl.exp2(largest - top)
    total = total * kept[:, None]
    v = tl.load(values + first * 128, mask=column[:, None] < length, other=0.0)
    return tl.dot(powers.to(v.dtype), v, total), weight * kept + tl.sum(powers, 1), top


@triton.jit
def attention(q, k, v, out, length, scale, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Causal attention of heads of width 128: a loop without a mask, then one with."""
    start, head = tl.program_id(0) * ROWS, tl.program_id(1)
    row, width = start + tl.arange(0, ROWS), tl.arange(0, 128)
    base = head * length * 128
    own = base + row[:, None] * 128 + width[None, :]
    places = base + tl.arange(0, COLUMNS)[:, None] * 128 + width[None, :]
    queries = tl.load(q + own, mask=row[:, None] < length, other=0.0)
    scale = scale * 1.44269504
    total = tl.zeros((ROWS, 128), dtype=tl.float32)
    weight = tl.zeros((ROWS,), dtype=tl.float32)
    largest = tl.full((ROWS,), -float("inf"), dtype=tl.float32)
    for first in range(0, start, COLUMNS):
        total, weight, largest = _step(
            total, weight, largest, queries, k + places, v + places, first, row, length, scale, False, COLUMNS
        )
    for first in range(start, start + ROWS, COLUMNS):
        total, weight, largest = _step(
            total, weight, largest, queries, k + places, v + places, first, row, length, scale, True, COLUMNS
        )
    tl.store(out + own, (total / weight[:, None]).to(out.dtype.element_ty), mask=row[:, None] < length)


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    """Softmax of whole rows."""
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    mask = column < columns
    values = tl.load(x + row * columns + column, mask=mask, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + column, powers / tl.sum(powers, axis=0), mask=mask)


@triton.jit
def layer_norm(x, scale, shift, y, columns, epsilon, BLOCK: tl.constexpr):
    """Layer norm of whole rows."""
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    mask = column < columns
    values = tl.load(x + row * columns + column, mask=mask, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(mask, values - mean, 0.0)
    factor = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    found = centred * factor * tl.load(scale + column, mask=mask) + tl.load(shift + column, mask=mask)
    tl.store(y + row * columns + column, found, mask=mask)
