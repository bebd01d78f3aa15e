"""Kernels in which elements meet in an order: the largest of a row, scans along it."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def topk_kernel(x_ptr, values_ptr, indices_ptr, stride, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    """Sorts numbers of 64 bits: above an f32 as an integer of the same order, below what is left of the index."""
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + lanes, mask=lanes < columns, other=float("-inf"))
    bits = x.to(tl.int32, bitcast=True)
    ordered = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    keys = (ordered.to(tl.int64) << 32) | (BLOCK - 1 - lanes).to(tl.int64)
    best = tl.topk(keys, K)
    ranks = tl.arange(0, K)
    ordered = (best >> 32).to(tl.int32)
    bits = tl.where(ordered < 0, ordered ^ 0x7FFFFFFF, ordered)
    tl.store(values_ptr + row * K + ranks, bits.to(tl.float32, bitcast=True))
    tl.store(indices_ptr + row * K + ranks, BLOCK - 1 - (best & 0xFFFFFFFF))


def topk(x: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The `k` largest of each row, a power of two, with their indices; the first of equal ones."""
    rows, columns = x.shape
    values, indices = torch.empty(rows, k), torch.empty(rows, k, dtype=torch.int64)
    topk_kernel[(rows,)](x, values, indices, x.stride(0), columns, K=k, BLOCK=triton.next_power_of_2(columns))
    return values, indices


@triton.jit
def _after(decay, value, later_decay, later_value):
    """Two steps of h = decay * h + value as one."""
    return decay * later_decay, later_decay * value + later_value


@triton.jit
def recurrence_kernel(decay_ptr, x_ptr, out_ptr, length, BLOCK: tl.constexpr):
    """h[t] = decay[t] * h[t - 1] + x[t] along a row, block by block."""
    row = tl.program_id(0) * length
    last = 0.0
    for begin in range(0, length, BLOCK):
        lanes = begin + tl.arange(0, BLOCK)
        inside = lanes < length
        decay = tl.load(decay_ptr + row + lanes, mask=inside, other=1.0)
        x = tl.load(x_ptr + row + lanes, mask=inside, other=0.0)
        decays, values = tl.associative_scan((decay, x), 0, _after)
        h = decays * last + values
        tl.store(out_ptr + row + lanes, h, mask=inside)
        last = tl.sum(tl.where(lanes == begin + BLOCK - 1, h, 0.0), 0)


def recurrence(decay: torch.Tensor, x: torch.Tensor, block: int = 256) -> torch.Tensor:
    rows, length = x.shape
    out = torch.empty_like(x)
    recurrence_kernel[(rows,)](decay, x, out, length, BLOCK=block)
    return out
