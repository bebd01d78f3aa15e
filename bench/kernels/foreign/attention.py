"""Attention over blocks of keys: causal or not, and latent attention, whose scores are the sum of two products."""

from __future__ import annotations

import math
from collections.abc import Iterator

import cuda.tile as ct
import torch

from . import Comparison, normal

LOG2_E = 1 / math.log(2)
APPROXIMATE = ct.RoundingMode.APPROX


@ct.kernel(occupancy=2)
def attention_kernel(
    q,
    k,
    v,
    out,
    scale: float,
    width: ct.Constant[int],
    heads: ct.Constant[int],
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    causal: ct.Constant[bool],
):
    block, batch, head = ct.bid(0), ct.bid(1) // heads, ct.bid(1) % heads
    scale = scale * LOG2_E
    rows = (block * tm + ct.arange(tm, dtype=ct.int32))[:, None]
    columns = ct.arange(tn, dtype=ct.int32)[None, :]
    top = ct.full((tm, 1), -math.inf, dtype=ct.float32)
    total = ct.full((tm, 1), 0.0, dtype=ct.float32)
    acc = ct.full((tm, width), 0.0, dtype=ct.float32)
    x = ct.load(q, index=(batch, head, block, 0), shape=(1, 1, tm, width)).reshape((tm, width))
    length = k.shape[2]
    if causal:
        behind = (block + 1) * tm
        first_masked = ct.minimum(block * tm // tn, length // tn)
        steps = ct.cdiv(min(behind, length), tn)
    else:
        steps = ct.cdiv(length, tn)
        first_masked = length // tn
    for j in range(steps):
        y = ct.load(k, index=(batch, head, 0, j), shape=(1, 1, width, tn), order=(0, 1, 3, 2), latency=2)
        scores = ct.mma(x, y.reshape((width, tn)), ct.full((tm, tn), 0.0, dtype=ct.float32))
        if (causal or length % tn != 0) and j >= first_masked:
            seen = j * tn + columns < length
            if causal:
                seen = seen & (rows >= j * tn + columns)
            scores = scores + ct.where(seen, 0.0, -math.inf)
        new_top = max(top, ct.max(scores, axis=-1, keepdims=True) * scale)
        weights = ct.exp2(scores * scale - new_top, flush_to_zero=True)
        shrink = ct.exp2(top - new_top, flush_to_zero=True)
        total = total * shrink + ct.sum(weights, axis=-1, keepdims=True)
        acc = acc * shrink
        z = ct.load(v, index=(batch, head, j, 0), shape=(1, 1, tn, width), latency=4).reshape((tn, width))
        acc = ct.mma(weights.astype(q.dtype), z, acc)
        top = new_top
    acc = ct.truediv(acc, total, flush_to_zero=True, rounding_mode=APPROXIMATE)
    ct.store(out, index=(batch, head, block, 0), tile=acc.reshape((1, 1, tm, width)).astype(out.dtype))


def attention(width: int, causal: bool) -> Comparison:
    heads, length, tm, tn = 8, 1024, 128, 128
    q, k, v = normal(3, 1, heads, length, width)

    def ours() -> torch.Tensor:
        out = torch.empty_like(q)
        arguments = (q, k, v, out, width**-0.5, width, heads, tm, tn, causal)
        ct.launch(0, (length // tm, heads, 1), attention_kernel, arguments)
        return out

    what = f"attention, {'causal' if causal else 'not causal'}, bf16, 1 x {heads} x {length} x {width}"
    return what, ours, lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


@ct.kernel
def latent_kernel(
    q,
    q_position,
    k,
    k_position,
    v,
    out,
    scale: float,
    heads: ct.Constant[int],
    width: ct.Constant[int],
    position_width: ct.Constant[int],
    tm: ct.Constant[int],
    tn: ct.Constant[int],
):
    """All heads share the part of the keys that knows the position."""
    block, batch, head = ct.bid(0), ct.bid(1) // heads, ct.bid(1) % heads
    scale = scale * LOG2_E
    rows = block * tm + ct.arange(tm, dtype=ct.int32)
    x = ct.load(q, index=(batch, head, block, 0), shape=(1, 1, tm, width)).reshape((tm, width))
    x_position = ct.load(q_position, index=(batch, head, block, 0), shape=(1, 1, tm, position_width))
    x_position = x_position.reshape((tm, position_width))
    top = ct.full((tm, 1), -math.inf, dtype=ct.float32)
    total = ct.full((tm, 1), 0.0, dtype=ct.float32)
    acc = ct.full((tm, width), 0.0, dtype=ct.float32)
    tail = block * tm // tn
    for j in range(ct.cdiv((block + 1) * tm, tn)):
        y = ct.load(k, index=(batch, head, 0, j), shape=(1, 1, width, tn), order=(0, 1, 3, 2), latency=3)
        y_position = ct.load(
            k_position, index=(batch, 0, 0, j), shape=(1, 1, position_width, tn), order=(0, 1, 3, 2), latency=3
        )
        scores = ct.full((tm, tn), 0.0, dtype=ct.float32)
        scores = ct.mma(x, y.reshape((width, tn)), scores)
        scores = ct.mma(x_position, y_position.reshape((position_width, tn)), scores)
        if j >= tail:
            columns = j * tn + ct.arange(tn, dtype=ct.int32)
            scores = ct.where(rows[:, None] >= columns[None, :], scores, -1.0e6)
        new_top = ct.maximum(top, ct.mul(ct.max(scores, axis=1, keepdims=True), scale))
        weights = ct.exp2(ct.sub(ct.mul(scores, scale), new_top), flush_to_zero=True)
        shrink = ct.exp2(ct.sub(top, new_top), flush_to_zero=True)
        total = ct.add(ct.mul(total, shrink), ct.sum(weights, axis=1, keepdims=True))
        z = ct.load(v, index=(batch, head, j, 0), shape=(1, 1, tn, width), latency=3).reshape((tn, width))
        acc = ct.mma(ct.astype(weights, v.dtype), z, ct.mul(acc, shrink))
        top = new_top
    acc = ct.truediv(acc, total, flush_to_zero=True, rounding_mode=APPROXIMATE)
    ct.store(out, index=(batch, head, block, 0), tile=acc.reshape((1, 1, tm, width)).astype(out.dtype))


def latent_attention() -> Comparison:
    heads, length, width, position_width, tm, tn = 8, 1024, 128, 64, 128, 128
    q, k, v = normal(3, 1, heads, length, width)
    q_position, k_position = normal(1, heads, length, position_width), normal(1, 1, length, position_width)
    scale = (width + position_width) ** -0.5

    def ours() -> torch.Tensor:
        out = torch.empty_like(v)
        arguments = (q, q_position, k, k_position, v, out, scale, heads, width, position_width, tm, tn)
        ct.launch(0, (length // tm, heads, 1), latent_kernel, arguments)
        return out

    def peers() -> torch.Tensor:
        query = torch.cat((q, q_position), -1)
        key = torch.cat((k, k_position.expand(-1, heads, -1, -1)), -1)
        # torch is six times slower if values are not as wide as keys.
        padded = torch.nn.functional.pad(v, (0, position_width))
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, padded, is_causal=True, scale=scale)
        return attended[..., :width]

    return f"latent attention, prefill, bf16, 1 x {heads} x {length} x 128 + 64", ours, peers


def comparisons() -> Iterator[Comparison]:
    yield attention(64, causal=True)
    yield attention(128, causal=False)
    yield latent_attention()
