"""Matrix products: plain, batched, grouped, and those of a mixture of experts."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import cuda.tile as ct
import torch

from . import PROCESSORS, Comparison, normal

ZERO = ct.PaddingMode.ZERO
SHORT = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """By torch. It multiplies f16 by itself a hundred times more slowly, where the processor does not."""
    return (a.float() @ b.float()).half() if a.dtype is torch.float16 else a @ b


def grouped_order(number, rows, columns, tm, tn, group):
    """The tile of a number, where the tiles of `group` rows follow one another column by column."""
    across, down = ct.cdiv(columns, tn), ct.cdiv(rows, tm)
    first = number // (group * across) * group
    height = min(down - first, group)
    return first + number % height, number % (group * across) // height


@ct.kernel(num_ctas=ct.ByTarget(sm_100=2))
def matmul_kernel(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Products of f32 take its factors as tf32."""
    i, j = grouped_order(ct.bid(0), a.shape[0], b.shape[1], tm, tn, 8)
    acc = ct.full((tm, tn), 0, dtype=ct.float32)
    dtype = ct.tfloat32 if a.dtype == ct.float32 else a.dtype
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO).astype(dtype)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO).astype(dtype)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(i, j), tile=ct.astype(acc, c.dtype))


def matmul(dtype: torch.dtype) -> Comparison:
    a, b = normal(2, 1024, 1024, dtype=dtype)
    tm, tn, tk = (32, 32, 32) if dtype is torch.float32 else (128, 256, 64)

    def ours() -> torch.Tensor:
        c = torch.empty(a.shape[0], b.shape[1], dtype=dtype)
        grid = (ceil(a.shape[0] / tm) * ceil(b.shape[1] / tn), 1, 1)
        ct.launch(0, grid, matmul_kernel, (a, b, c, tm, tn, tk))
        return c

    asked = " as tf32" if dtype is torch.float32 else ""
    return f"product, {SHORT[dtype]}{asked}, 1024 x 1024 x 1024", ours, lambda: product(a, b)


@ct.kernel
def batched_kernel(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int], group: ct.Constant[int]):
    """As many blocks as the device runs; the tiles of all products are numbered through."""
    batches, rows, depth, columns = a.shape[0], a.shape[1], a.shape[2], b.shape[2]
    of_one = ct.cdiv(rows, tm) * ct.cdiv(columns, tn)
    for number in range(ct.bid(0), batches * of_one, ct.num_blocks(0)):
        batch = number // of_one
        i, j = grouped_order(number % of_one, rows, columns, tm, tn, group)
        acc = ct.full((tm, tn), 0.0, dtype=ct.float32)
        for k in range(ct.cdiv(depth, tk)):
            x = ct.load(a, index=(batch, i, k), shape=(1, tm, tk), padding_mode=ZERO).reshape((tm, tk))
            y = ct.load(b, index=(batch, k, j), shape=(1, tk, tn), padding_mode=ZERO).reshape((tk, tn))
            acc = ct.mma(x, y, acc=acc)
        ct.store(c, index=(batch, i, j), tile=ct.reshape(ct.astype(acc, c.dtype), (1, tm, tn)))


def batched() -> Comparison:
    a, b = normal(2, 8, 512, 512, dtype=torch.float16)

    def ours() -> torch.Tensor:
        c = torch.empty_like(a)
        ct.launch(0, (PROCESSORS,), batched_kernel, (a, b, c, 256, 256, 64, 8))
        return c

    return "batched product, f16, 8 x 512 x 512 x 512, tiles of 256 x 256", ours, lambda: product(a, b)


@ct.kernel
def grouped_kernel(left, right, out, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Blocks walk over the tiles of all groups."""
    number, behind = ct.bid(0), 0
    for group in range(len(left)):
        a, b, c = left[group], right[group], out[group]
        down, across = ct.num_tiles(a, 0, (tm, tk)), ct.num_tiles(b, 1, (tk, tn))
        steps = ct.num_tiles(a, 1, (tm, tk))
        while number >= behind and number < behind + down * across:
            own = number - behind
            i, j = own // across, own % across
            acc = ct.zeros((tm, tn), dtype=ct.float32)
            for k in range(steps):
                x = ct.load(a, (i, k), shape=(tm, tk), padding_mode=ZERO)
                y = ct.load(b, (k, j), shape=(tk, tn), padding_mode=ZERO)
                acc = ct.mma(x, y, acc)
            ct.store(c, (i, j), tile=ct.astype(acc, c.dtype))
            number += ct.num_blocks(0)
        behind += down * across


def grouped(dtype: torch.dtype) -> Comparison:
    left, right = (list(normal(4, 512, 512, dtype=dtype)) for _ in range(2))

    def ours() -> tuple[torch.Tensor, ...]:
        out = [torch.empty_like(a) for a in left]
        ct.launch(0, (PROCESSORS,), grouped_kernel, (left, right, out, 128, 128, 64))
        return tuple(out)

    what = f"grouped products, {SHORT[dtype]}, 4 x 512 x 512 x 512"
    return what, ours, lambda: tuple(map(product, left, right))


@ct.kernel
def experts_kernel(
    a,
    b,
    c,
    routed_weights,
    sorted_rows,
    experts,
    width: ct.Constant[int],
    top_k: ct.Constant[int],
    is_weighted: ct.Constant[bool],
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    tk: ct.Constant[int],
):
    """Each block of sorted rows belongs to one expert; a row is a token once for each of its experts."""
    i, j = grouped_order(ct.bid(0), sorted_rows.shape[0], b.shape[1], tm, tn, 8)
    rows = ct.gather(sorted_rows, i * tm + ct.arange(tm, dtype=ct.int32))
    expert = ct.load(experts, index=i, shape=())
    begins = rows // top_k * width
    acc = ct.full((tm, tn), 0.0, dtype=ct.float32)
    for k in range(ct.cdiv(width, tk)):
        lanes = k * tk + ct.arange(tk, dtype=ct.int32)
        x = ct.gather(a, begins[:, None] + lanes[None, :])
        y = ct.load(b, index=(expert, k, j), shape=(1, tk, tn), order=(0, 2, 1), padding_mode=ZERO)
        acc = ct.mma(x, y.reshape((tk, tn)), acc)
    if is_weighted:
        acc = acc * ct.gather(routed_weights, rows)[:, None]
    columns = j * tn + ct.arange(tn, dtype=ct.int32)
    ct.scatter(c, (rows[:, None], columns[None, :]), ct.astype(acc, c.dtype))


def sorted_by_expert(chosen: torch.Tensor, experts: int, tm: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows sorted by expert, those of each filled up with numbers beyond the last row to whole blocks of `tm`; and the
    expert of each block."""
    rows, owners = [], []
    for expert in range(experts):
        own = torch.nonzero(chosen.flatten() == expert).flatten()
        blocks = ceil(len(own) / tm)
        rows += [own, torch.full((blocks * tm - len(own),), chosen.numel())]
        owners += [expert] * blocks
    return torch.cat(rows).int(), torch.tensor(owners, dtype=torch.int32)


def mixture(is_weighted: bool = True) -> Comparison:
    tokens, width, columns, experts, top_k = 512, 1024, 1024, 8, 2
    tm, tn, tk = 128, 128, 64
    x, w = normal(tokens, width), normal(experts, columns, width)
    shares, chosen = torch.rand(tokens, experts).topk(top_k)
    shares = shares.contiguous()
    rows, owners = sorted_by_expert(chosen, experts, tm)

    def ours() -> torch.Tensor:
        out = torch.empty(tokens * top_k, columns, dtype=x.dtype)
        grid = (ceil(len(rows) / tm) * ceil(columns / tn),)
        arguments = (x.view(-1), w, out, shares.view(-1), rows, owners, width, top_k, is_weighted, tm, tn, tk)
        ct.launch(0, grid, experts_kernel, arguments)
        return out

    flat = chosen.flatten()

    def peers() -> torch.Tensor:
        out = torch.empty(tokens * top_k, columns, dtype=x.dtype)
        for expert in range(experts):
            own = torch.nonzero(flat == expert).flatten()
            out[own] = ((x[own // top_k] @ w[expert].T) * shares.view(-1)[own, None]).to(x.dtype)
        return out

    return f"mixture of experts, bf16, {tokens} x {top_k} of {experts} x {width} x {columns}", ours, peers


def comparisons() -> Iterator[Comparison]:
    yield matmul(torch.float32)
    yield matmul(torch.float16)
    yield batched()
    yield grouped(torch.bfloat16)
    yield grouped(torch.float16)
    yield mixture()
