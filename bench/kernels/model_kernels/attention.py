"""Attention that keeps no matrix of scores: forward, backward, and of one token over pages."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """A block of queries of one head. The logarithms of the sums of the scores are kept for the gradients."""
    start = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64) * length * WIDTH
    rows = start + tl.arange(0, BLOCK_M)
    lanes = tl.arange(0, WIDTH)
    q = tl.load(q_ptr + head + rows[:, None] * WIDTH + lanes[None, :], mask=rows[:, None] < length, other=0.0)
    largest = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    out = tl.zeros([BLOCK_M, WIDTH], dtype=tl.float32)
    end = tl.minimum(start + BLOCK_M, length) if CAUSAL else length
    for begin in range(0, end, BLOCK_N):
        columns = begin + tl.arange(0, BLOCK_N)
        inside = columns[:, None] < length
        k = tl.load(k_ptr + head + columns[:, None] * WIDTH + lanes[None, :], mask=inside, other=0.0)
        v = tl.load(v_ptr + head + columns[:, None] * WIDTH + lanes[None, :], mask=inside, other=0.0)
        seen = columns[None, :] < length
        if CAUSAL:
            seen = seen & (rows[:, None] >= columns[None, :])
        scores = tl.where(seen, tl.dot(q, k.T) * scale, float("-inf"))
        new = tl.maximum(largest, tl.max(scores, 1))
        raised = tl.exp(scores - new[:, None])
        shrunk = tl.exp(largest - new)
        total = total * shrunk + tl.sum(raised, 1)
        out = tl.dot(raised.to(v.dtype), v, out * shrunk[:, None])
        largest = new
    out = out / total[:, None]
    tl.store(
        out_ptr + head + rows[:, None] * WIDTH + lanes[None, :],
        out.to(out_ptr.dtype.element_ty),
        mask=rows[:, None] < length,
    )
    tl.store(lse_ptr + tl.program_id(1) * length + rows, largest + tl.log(total), mask=rows < length)


@triton.jit
def attention_rows_kernel(out_ptr, dout_ptr, delta_ptr, count, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    """Compute the sum of each row of out * dout, needed for the gradients of scores."""
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    places = rows[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    inside = rows[:, None] < count
    out = tl.load(out_ptr + places, mask=inside, other=0.0).to(tl.float32)
    dout = tl.load(dout_ptr + places, mask=inside, other=0.0).to(tl.float32)
    tl.store(delta_ptr + rows, tl.sum(out * dout, 1), mask=rows < count)


@triton.jit
def attention_gradient_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dq_ptr, dk_ptr, dv_ptr, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """The gradients of a block of keys and values, over all queries; what it adds to those of queries, atomically."""
    start = tl.program_id(0) * BLOCK_N
    head = tl.program_id(1).to(tl.int64) * length * WIDTH
    lse_ptr += tl.program_id(1) * length
    delta_ptr += tl.program_id(1) * length
    columns = start + tl.arange(0, BLOCK_N)
    lanes = tl.arange(0, WIDTH)
    own = head + columns[:, None] * WIDTH + lanes[None, :]
    inside = columns[:, None] < length
    k = tl.load(k_ptr + own, mask=inside, other=0.0)
    v = tl.load(v_ptr + own, mask=inside, other=0.0)
    dk = tl.zeros([BLOCK_N, WIDTH], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, WIDTH], dtype=tl.float32)
    first = start // BLOCK_M * BLOCK_M if CAUSAL else 0
    for begin in range(first, length, BLOCK_M):
        rows = begin + tl.arange(0, BLOCK_M)
        places = head + rows[:, None] * WIDTH + lanes[None, :]
        row_in = rows[:, None] < length
        q = tl.load(q_ptr + places, mask=row_in, other=0.0)
        dout = tl.load(dout_ptr + places, mask=row_in, other=0.0)
        lse = tl.load(lse_ptr + rows, mask=rows < length, other=0.0)
        delta = tl.load(delta_ptr + rows, mask=rows < length, other=0.0)
        seen = row_in & (columns[None, :] < length)
        if CAUSAL:
            seen = seen & (rows[:, None] >= columns[None, :])
        p = tl.where(seen, tl.exp(tl.dot(q, k.T) * scale - lse[:, None]), 0.0)
        dv = tl.dot(p.to(dout.dtype).T, dout, dv)
        ds = (p * (tl.dot(dout, v.T) - delta[:, None]) * scale).to(q.dtype)
        dk = tl.dot(ds.T, q, dk)
        tl.atomic_add(dq_ptr + places, tl.dot(ds, k), mask=row_in, sem="relaxed")
    tl.store(dk_ptr + own, dk.to(dk_ptr.dtype.element_ty), mask=inside)
    tl.store(dv_ptr + own, dv.to(dv_ptr.dtype.element_ty), mask=inside)


class Attention(torch.autograd.Function):
    """Attention of queries, keys and values of shape (batch, heads, length, width)."""

    @staticmethod
    def forward(ctx, q, k, v, causal, blocks=(64, 64)):
        batch, heads, length, width = q.shape
        out = torch.empty_like(q)
        lse = torch.empty(batch, heads, length)
        scale = 1 / math.sqrt(width)
        grid = triton.cdiv(length, blocks[0]), batch * heads
        attention_kernel[grid](
            q, k, v, out, lse, scale, length, CAUSAL=causal, BLOCK_M=blocks[0], BLOCK_N=blocks[1], WIDTH=width
        )
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.causal, ctx.blocks = causal, blocks
        return out

    @staticmethod
    def backward(ctx, dout):
        q, k, v, out, lse = ctx.saved_tensors
        batch, heads, length, width = q.shape
        dout = dout.contiguous()
        delta = torch.empty_like(lse)
        count = batch * heads * length
        attention_rows_kernel[(triton.cdiv(count, 64),)](out, dout, delta, count, BLOCK=64, WIDTH=width)
        dq, dk, dv = torch.zeros(q.shape), torch.empty_like(k), torch.empty_like(v)
        grid = triton.cdiv(length, ctx.blocks[1]), batch * heads
        attention_gradient_kernel[grid](
            q, k, v, dout, lse, delta, dq, dk, dv, 1 / math.sqrt(width), length,
            CAUSAL=ctx.causal, BLOCK_M=ctx.blocks[0], BLOCK_N=ctx.blocks[1], WIDTH=width,
        )  # fmt: skip
        return dq.to(q.dtype), dk, dv, None, None


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    return Attention.apply(q, k, v, causal)


@triton.jit
def paged_decode_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr, scale, heads, group, most_pages,
    PAGE: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """One query head of one sequence, over the pages of its keys and values; `group` heads share those."""
    sequence, head = tl.program_id(0), tl.program_id(1)
    lanes = tl.arange(0, WIDTH)
    place = (sequence * heads + head) * WIDTH + lanes
    q = tl.load(q_ptr + place).to(tl.float32)
    length = tl.load(lengths_ptr + sequence)
    own, shared = head // group, heads // group
    largest = float("-inf")
    total = 0.0
    out = tl.zeros([WIDTH], dtype=tl.float32)
    for page in range(tl.cdiv(length, PAGE)):
        number = tl.load(table_ptr + sequence * most_pages + page).to(tl.int64)
        slots = tl.arange(0, PAGE)
        rows = ((number * PAGE + slots[:, None]) * shared + own) * WIDTH + lanes[None, :]
        inside = page * PAGE + slots < length
        k = tl.load(k_ptr + rows, mask=inside[:, None], other=0.0).to(tl.float32)
        v = tl.load(v_ptr + rows, mask=inside[:, None], other=0.0).to(tl.float32)
        scores = tl.where(inside, tl.sum(q[None, :] * k, 1) * scale, float("-inf"))
        new = tl.maximum(largest, tl.max(scores, 0))
        raised = tl.exp(scores - new)
        shrunk = tl.exp(largest - new)
        total = total * shrunk + tl.sum(raised, 0)
        out = out * shrunk + tl.sum(raised[:, None] * v, 0)
        largest = new
    tl.store(out_ptr + place, (out / total).to(out_ptr.dtype.element_ty))


def paged_decode(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, table: torch.Tensor, lengths: torch.Tensor
) -> torch.Tensor:
    """`q` of shape (sequences, heads, width); `k` and `v` of (pages, page, shared heads, width); `table` of pages."""
    sequences, heads, width = q.shape
    out = torch.empty_like(q)
    paged_decode_kernel[(sequences, heads)](
        q, k, v, table, lengths, out, 1 / math.sqrt(width), heads, heads // k.shape[2], table.shape[1],
        PAGE=k.shape[1], WIDTH=width,
    )  # fmt: skip
    return out
