"""Norms and softmax of rows."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct
import torch

from . import PROCESSORS, Comparison, normal

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def persistent_layer_norm(
    x, weight, bias, out, means, scales, epsilon: ct.Constant[float], tm: ct.Constant[int], tn: ct.Constant[int]
):
    """Every block takes one group of rows after another, as far apart as there are blocks."""
    rows, columns = x.shape[0], x.shape[1]
    w = ct.astype(ct.load(weight, index=(0,), shape=(tn,), padding_mode=ZERO), ct.float32)
    b = ct.astype(ct.load(bias, index=(0,), shape=(tn,), padding_mode=ZERO), ct.float32)
    inside = ct.reshape(ct.arange(tn, dtype=ct.int32) < columns, (1, tn))
    for group in range(ct.bid(0), ct.cdiv(rows, tm), ct.num_blocks(0)):
        t = ct.astype(ct.load(x, index=(group, 0), shape=(tm, tn), padding_mode=ZERO, latency=4), ct.float32)
        mean = ct.sum(t, axis=1, keepdims=True) / columns
        centred = ct.where(inside, t - mean, 0.0)
        variance = ct.sum(centred * centred, axis=1, keepdims=True) / columns
        scale = ct.rsqrt(variance + epsilon)
        y = centred * scale * w[None, :] + b[None, :]
        ct.store(out, index=(group, 0), tile=ct.astype(y, out.dtype), allow_tma=False, latency=3)
        ct.store(means, index=(group,), tile=ct.reshape(mean, (tm,)))
        ct.store(scales, index=(group,), tile=ct.reshape(scale, (tm,)))


def persistent_norm(columns: int, tm: int) -> Comparison:
    x, weight, bias = normal(4096, columns), normal(columns), normal(columns)
    tn = 1 << (columns - 1).bit_length()

    def ours() -> tuple[torch.Tensor, ...]:
        out, means, scales = torch.empty_like(x), torch.empty(len(x)), torch.empty(len(x))
        grid = (min(PROCESSORS, ct.cdiv(len(x), tm)),)
        ct.launch(0, grid, persistent_layer_norm, (x, weight, bias, out, means, scales, 1e-5, tm, tn))
        return out, means, scales

    return f"persistent layer norm, bf16, 4096 x {columns}", ours, lambda: norm_with_sums(x, weight, bias)


def norm_with_sums(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, ...]:
    out, means, scales = torch.native_layer_norm(x, x.shape[1:], weight, bias, 1e-5)
    return out, means.flatten(), scales.flatten()


@ct.kernel
def layer_norm(x, weight, bias, out, means, scales, epsilon, tn: ct.Constant[int]):
    """A row in pieces: the mean, the variance, the result."""
    row, columns = ct.bid(0), x.shape[1]
    pieces = ct.num_tiles(x, axis=1, shape=(1, tn))
    sums = ct.full((1, tn), 0, dtype=ct.float32)
    for j in range(pieces):
        sums += ct.load(x, index=(row, j), shape=(1, tn), padding_mode=ZERO)
    mean = ct.sum(sums, axis=1) / columns
    ct.store(means, index=(row,), tile=mean)
    squares = ct.full((1, tn), 0, dtype=ct.float32)
    for j in range(pieces):
        t = ct.load(x, index=(row, j), shape=(1, tn), padding_mode=ZERO)
        inside = (j * tn + ct.arange(tn, dtype=ct.int32)) < columns
        centred = ct.where(inside, t - mean, 0)
        squares += centred**2
    scale = 1 / ct.sqrt(ct.sum(squares, axis=1) / columns + epsilon)
    ct.store(scales, index=(row,), tile=scale)
    for j in range(pieces):
        t = ct.load(x, index=(row, j), shape=(1, tn), padding_mode=ZERO)
        w = ct.load(weight, index=(j,), shape=(tn,), padding_mode=ZERO)
        b = ct.load(bias, index=(j,), shape=(tn,), padding_mode=ZERO)
        y = (t - mean) * scale * w + b
        ct.store(out, index=(row, j), tile=y.astype(x.dtype))


def norm() -> Comparison:
    x, weight, bias = normal(4096, 2048), normal(2048), normal(2048)

    def ours() -> tuple[torch.Tensor, ...]:
        out, means, scales = torch.empty_like(x), torch.empty(len(x)), torch.empty(len(x))
        ct.launch(0, (len(x),), layer_norm, (x, weight, bias, out, means, scales, 1e-5, 1024))
        return out, means, scales

    return "layer norm with mean and 1/sigma, bf16, 4096 x 2048", ours, lambda: norm_with_sums(x, weight, bias)


@ct.kernel(occupancy=4)
def persistent_softmax(x, out, rows: ct.Constant[int], columns: ct.Constant[int], tn: ct.Constant[int]):
    """Rows by gather and scatter."""
    lanes = ct.arange(tn, dtype=ct.int32)
    for row in range(ct.bid(0), rows, ct.num_blocks(0)):
        t = ct.gather(x, (row, lanes), check_bounds=True, padding_value=-float("inf"))
        t = ct.astype(t, ct.float32)
        raised = ct.exp(ct.sub(t, ct.max(t, 0, keepdims=True)))
        share = ct.truediv(raised, ct.sum(raised, 0, keepdims=True))
        ct.scatter(out, (row, lanes), ct.astype(share, x.dtype), check_bounds=True)


def softmax() -> Comparison:
    x = normal(4096, 2048, dtype=torch.float32)

    def ours() -> torch.Tensor:
        out = torch.empty_like(x)
        ct.launch(0, (min(4 * PROCESSORS, len(x)),), persistent_softmax, (x, out, *x.shape, 2048))
        return out

    return "softmax, f32, 4096 x 2048", ours, lambda: torch.softmax(x, -1)


@ct.kernel
def chunked_softmax(x, out, rows: ct.Constant[int], columns: ct.Constant[int], tn: ct.Constant[int]):
    """Long rows in three passes."""
    lanes = ct.arange(tn, dtype=ct.int32)
    pieces = (columns + tn - 1) // tn
    for row in range(ct.bid(0), rows, ct.num_blocks(0)):
        top = ct.full((1,), -float("inf"), dtype=ct.float32)
        total = ct.full((1,), 0, dtype=ct.float32)
        for j in range(pieces):
            t = ct.gather(x, (row, j * tn + lanes), check_bounds=True, padding_value=-float("inf"))
            top = ct.maximum(top, ct.max(ct.astype(t, ct.float32), 0, keepdims=True))
        for j in range(pieces):
            t = ct.gather(x, (row, j * tn + lanes), check_bounds=True, padding_value=-float("inf"))
            total = total + ct.sum(ct.exp(ct.astype(t, ct.float32) - top), 0, keepdims=True)
        for j in range(pieces):
            t = ct.gather(x, (row, j * tn + lanes), check_bounds=True, padding_value=-float("inf"))
            share = ct.exp(ct.astype(t, ct.float32) - top) / total
            ct.scatter(out, (row, j * tn + lanes), ct.astype(share, x.dtype), check_bounds=True)


def long_softmax() -> Comparison:
    x = normal(256, 32768, dtype=torch.float32)

    def ours() -> torch.Tensor:
        out = torch.empty_like(x)
        ct.launch(0, (min(4 * PROCESSORS, len(x)),), chunked_softmax, (x, out, *x.shape, 1024))
        return out

    return "softmax in pieces, f32, 256 x 32768", ours, lambda: torch.softmax(x, -1)


def comparisons() -> Iterator[Comparison]:
    yield persistent_norm(2048, 4)
    yield persistent_norm(1000, 16)
    yield norm()
    yield softmax()
    yield long_softmax()
