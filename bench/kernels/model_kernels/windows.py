"""Kernels whose windows reach over the borders of what they read: a causal filter and a mean of neighbours."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def causal_filter_kernel(x_ptr, weight_ptr, out_ptr, length, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    channel = tl.program_id(1)
    row = (tl.program_id(2) * tl.num_programs(1) + channel) * length
    steps = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in tl.static_range(TAPS):
        before = steps - (TAPS - 1) + tap
        values = tl.load(x_ptr + row + before, mask=(before >= 0) & (before < length), other=0.0)
        total += values * tl.load(weight_ptr + channel * TAPS + tap)
    tl.store(out_ptr + row + steps, total * tl.sigmoid(total), mask=steps < length)


def causal_filter(x: torch.Tensor, weight: torch.Tensor, block: int = 256) -> torch.Tensor:
    """Filter each channel of `x`, batch x channels x steps, by its weights, channels x taps, then SiLU."""
    batch, channels, length = x.shape
    out = torch.empty_like(x)
    grid = triton.cdiv(length, block), channels, batch
    causal_filter_kernel[grid](x, weight, out, length, TAPS=weight.shape[1], BLOCK=block)
    return out


@triton.jit
def neighbours_kernel(x_ptr, out_ptr, rows, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    down = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    across = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for i in tl.static_range(-1, 2):
        for j in tl.static_range(-1, 2):
            row, column = down + i, across + j
            inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
            total += tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
    tl.store(out_ptr + down * columns + across, total / 9, mask=(down < rows) & (across < columns))


def mean_of_neighbours(x: torch.Tensor, blocks: tuple[int, int] = (32, 128)) -> torch.Tensor:
    """Return the mean of each element and the eight around it, those beyond the border being 0."""
    out, (rows, columns) = torch.empty_like(x), x.shape
    grid = triton.cdiv(rows, blocks[0]), triton.cdiv(columns, blocks[1])
    neighbours_kernel[grid](x, out, rows, columns, BLOCK_M=blocks[0], BLOCK_N=blocks[1])
    return out
