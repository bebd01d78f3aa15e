"""Kernels that compute each element by itself: gelu, rotary embedding and a step of AdamW, both in place."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct
import torch

from . import Comparison, normal

APPROXIMATE = ct.RoundingMode.APPROX
ZERO = ct.PaddingMode.ZERO


def sigmoid(x):
    return ct.truediv(1.0, ct.add(1.0, ct.exp(-x), flush_to_zero=True), flush_to_zero=True, rounding_mode=APPROXIMATE)


def tanh(x):
    return ct.sub(2.0 * sigmoid(2.0 * x), 1.0, flush_to_zero=True)


@ct.kernel
def gelu_kernel(x, out, block: ct.Constant[int]):
    """The tanh form, over a flat array."""
    at = ct.bid(0) * block + ct.arange(block, dtype=ct.int32)
    t = ct.astype(ct.gather(x, at, check_bounds=True), ct.float32)
    inner = 0.7978845608028654 * (t + 0.044715 * t * t * t)
    ct.scatter(out, at, ct.astype(0.5 * t * (1.0 + tanh(inner)), out.dtype), check_bounds=True)


def gelu() -> Comparison:
    x = normal(4096, 4096, dtype=torch.float32)

    def ours() -> torch.Tensor:
        out = torch.empty_like(x)
        ct.launch(0, (ct.cdiv(x.numel(), 1024),), gelu_kernel, (x.view(-1), out.view(-1), 1024))
        return out

    return "gelu, f32, 4096 x 4096", ours, lambda: torch.nn.functional.gelu(x, approximate="tanh")


def turn(x, at, c, s, shape):
    """Both halves of all heads at one position, in place."""
    batch, position = at
    _, heads, _, _, half = shape
    first = ct.load(x, index=(batch, 0, position, 0, 0), shape=shape).reshape((1, heads, half))
    second = ct.load(x, index=(batch, 0, position, 1, 0), shape=shape).reshape((1, heads, half))
    ct.store(x, index=(batch, 0, position, 0, 0), tile=(first * c - second * s).reshape(shape).astype(x.dtype))
    ct.store(x, index=(batch, 0, position, 1, 0), tile=(second * c + first * s).reshape(shape).astype(x.dtype))


@ct.kernel
def rope_kernel(q, k, cosines, sines, length: ct.Constant[int], heads: ct.Constant[int], half: ct.Constant[int]):
    at = ct.bid(0) // length, ct.bid(0) % length
    c = ct.reshape(ct.load(cosines, index=(at[1], 0), shape=(1, half)), (1, 1, half))
    s = ct.reshape(ct.load(sines, index=(at[1], 0), shape=(1, half)), (1, 1, half))
    turn(q, at, c, s, (1, heads, 1, 1, half))
    turn(k, at, c, s, (1, heads, 1, 1, half))


def rope() -> Comparison:
    batches, heads, length, width = 1, 32, 2048, 64
    q, k = normal(2, batches, heads, length, width)
    angles = torch.outer(torch.arange(length), 1e4 ** (-torch.arange(0, width, 2) / width))
    cosines, sines = angles.cos().bfloat16(), angles.sin().bfloat16()
    given = q.clone(), k.clone()

    def ours() -> tuple[torch.Tensor, ...]:
        pairs = [x.view(batches, heads, length, 2, width // 2) for x in given]
        ct.launch(0, (batches * length,), rope_kernel, (*pairs, cosines, sines, length, heads, width // 2))
        return given

    c, s = torch.cat((cosines, cosines), -1), torch.cat((sines, sines), -1)

    def turned(x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        return x * c + torch.cat((-second, first), -1) * s

    return "rope on q and k in place, bf16, 32 x 2048 x 64", ours, lambda: (turned(q), turned(k))


@ct.kernel
def adamw_kernel(p, g, m, v, rate, beta1, beta2, epsilon, decay, correction1, correction2, block: ct.Constant[int]):
    """Parameters and both moments, in place."""
    at = (ct.bid(0),)
    w = ct.load(p, index=at, shape=(block,), padding_mode=ZERO)
    d = ct.load(g, index=at, shape=(block,), padding_mode=ZERO)
    first = beta1 * ct.load(m, index=at, shape=(block,), padding_mode=ZERO) + (1 - beta1) * d
    second = beta2 * ct.load(v, index=at, shape=(block,), padding_mode=ZERO) + (1 - beta2) * d * d
    change = (first / correction1) / (ct.sqrt(second / correction2) + epsilon)
    ct.store(p, index=at, tile=w * (1 - rate * decay) - rate * change)
    ct.store(m, index=at, tile=first)
    ct.store(v, index=at, tile=second)


def adamw() -> Comparison:
    """The step after many others, so that a further one changes little."""
    count, steps, settings = 1 << 22, 1000, (1e-4, 0.9, 0.999, 1e-8, 0.01)
    rate, beta1, beta2, epsilon, decay = settings
    p, g, m, v = normal(4, count, dtype=torch.float32)
    state = p, m, v.abs_()
    theirs, step = [one.clone() for one in state], torch.tensor(float(steps - 1))

    def ours() -> tuple[torch.Tensor, ...]:
        corrections = 1 - beta1**steps, 1 - beta2**steps
        ct.launch(0, (ct.cdiv(count, 1024),), adamw_kernel, (p, g, m, v, *settings, *corrections, 1024))
        return state

    def peers() -> tuple[torch.Tensor, ...]:
        parameter, first, second = theirs
        torch._fused_adamw_(
            [parameter], [g], [first], [second], [], [step], lr=rate, beta1=beta1, beta2=beta2, eps=epsilon,
            weight_decay=decay, amsgrad=False, maximize=False,
        )  # fmt: skip
        return parameter, first, second

    return "AdamW in place, f32, 2^22", ours, peers


def comparisons() -> Iterator[Comparison]:
    yield gelu()
    yield rope()
    yield adamw()
