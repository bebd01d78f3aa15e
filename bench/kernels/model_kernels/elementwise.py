"""Kernels that take each element once: vector addition, dropout, SwiGLU, rotary embedding, a step of AdamW."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)


def add(x: torch.Tensor, y: torch.Tensor, block: int = 4096) -> torch.Tensor:
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), block),)](x, y, out, x.numel(), BLOCK=block)
    return out


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    kept = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(kept, x / (1 - p), 0.0), mask=inside)


def dropout(x: torch.Tensor, p: float, seed: int, block: int = 4096) -> torch.Tensor:
    out = torch.empty_like(x)
    dropout_kernel[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), p, seed, BLOCK=block)
    return out


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    gate = tl.load(gate_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=inside, other=0.0)
    tl.store(out_ptr + offsets, (gate * tl.sigmoid(gate)).to(up.dtype) * up, mask=inside)


def swiglu(gate: torch.Tensor, up: torch.Tensor, block: int = 4096) -> torch.Tensor:
    out = torch.empty_like(gate)
    swiglu_kernel[(triton.cdiv(gate.numel(), block),)](gate, up, out, gate.numel(), BLOCK=block)
    return out


@triton.jit
def rope_kernel(x_ptr, cos_ptr, sin_ptr, heads, length, HALF: tl.constexpr, HEADS: tl.constexpr):
    """One position: all heads are turned by the same angles, in place."""
    row = tl.program_id(0)
    lanes = tl.arange(0, HALF)[None, :]
    cos = tl.load(cos_ptr + (row % length) * HALF + lanes)
    sin = tl.load(sin_ptr + (row % length) * HALF + lanes)
    head = tl.arange(0, HEADS)[:, None]
    places = x_ptr + row * heads * 2 * HALF + head * 2 * HALF + lanes
    inside = (head < heads) & (lanes < HALF)
    first = tl.load(places, mask=inside, other=0.0)
    second = tl.load(places + HALF, mask=inside, other=0.0)
    tl.store(places, first * cos - second * sin, mask=inside)
    tl.store(places + HALF, second * cos + first * sin, mask=inside)


def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """`x` of shape (batch, length, heads, width) is turned in place, by angles of shape (length, width / 2)."""
    batch, length, heads, width = x.shape
    padded = triton.next_power_of_2(heads)
    rope_kernel[(batch * length,)](x, cos, sin, heads, length, HALF=width // 2, HEADS=padded)
    return x


@triton.jit
def adamw_kernel(
    p_ptr, g_ptr, m_ptr, v_ptr, n, rate, beta1, beta2, epsilon, decay, correction1, correction2, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    p = tl.load(p_ptr + offsets, mask=inside)
    g = tl.load(g_ptr + offsets, mask=inside)
    m = beta1 * tl.load(m_ptr + offsets, mask=inside) + (1 - beta1) * g
    v = beta2 * tl.load(v_ptr + offsets, mask=inside) + (1 - beta2) * g * g
    change = (m / correction1) / (tl.sqrt(v / correction2) + epsilon)
    tl.store(p_ptr + offsets, p * (1 - rate * decay) - rate * change, mask=inside)
    tl.store(m_ptr + offsets, m, mask=inside)
    tl.store(v_ptr + offsets, v, mask=inside)


def adamw(
    p: torch.Tensor, g: torch.Tensor, m: torch.Tensor, v: torch.Tensor, step: int, block: int = 1024
) -> tuple[torch.Tensor, ...]:
    """`p`, `m` and `v` are changed in place."""
    rate, beta1, beta2, epsilon, decay = 1e-3, 0.9, 0.999, 1e-8, 0.01
    given = rate, beta1, beta2, epsilon, decay, 1 - beta1**step, 1 - beta2**step
    adamw_kernel[(triton.cdiv(p.numel(), block),)](p, g, m, v, p.numel(), *given, BLOCK=block)
    return p, m, v
