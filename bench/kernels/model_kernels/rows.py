"""Kernels that reduce a row: softmax, cross entropy with its gradient, layer norm with its gradients."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, row_stride, rows, columns, BLOCK: tl.constexpr):
    """Each program takes every so many-th row."""
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * row_stride + lanes, mask=inside, other=float("-inf"))
        raised = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * row_stride + lanes, raised / tl.sum(raised, axis=0), mask=inside)


def softmax(x: torch.Tensor, programs: int = 256) -> torch.Tensor:
    rows, columns = x.shape
    out = torch.empty_like(x)
    grid = (min(rows, programs),)
    softmax_kernel[grid](x, out, x.stride(0), rows, columns, BLOCK=triton.next_power_of_2(columns))
    return out


@triton.jit
def cross_entropy_kernel(logits_ptr, target_ptr, loss_ptr, row_stride, columns, ignored, scale, BLOCK: tl.constexpr):
    """The loss of one row, by a running maximum and sum; the gradient takes the place of the logits."""
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * row_stride
    target = tl.load(target_ptr + row)
    if target == ignored:
        for begin in range(0, columns, BLOCK):
            lanes = begin + tl.arange(0, BLOCK)
            tl.store(logits_ptr + lanes, 0.0, mask=lanes < columns)
        tl.store(loss_ptr + row, 0.0)
        return
    largest = float("-inf")
    total = 0.0
    chosen = tl.load(logits_ptr + target)
    for begin in range(0, columns, BLOCK):
        lanes = begin + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + lanes, mask=lanes < columns, other=float("-inf"))
        new = tl.maximum(largest, tl.max(x))
        total = total * tl.exp(largest - new) + tl.sum(tl.exp(x - new))
        largest = new
    for begin in range(0, columns, BLOCK):
        lanes = begin + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + lanes, mask=lanes < columns, other=float("-inf"))
        gradient = tl.exp(x - largest) / total - tl.where(lanes == target, 1.0, 0.0)
        tl.store(logits_ptr + lanes, gradient * scale, mask=lanes < columns)
    tl.store(loss_ptr + row, largest + tl.log(total) - chosen)


def cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, ignored: int = -100, block: int = 4096
) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean loss, and its gradient, for which the memory of the logits is used."""
    rows, columns = logits.shape
    counted = int((target != ignored).sum())
    losses = torch.empty(rows)
    block = min(block, triton.next_power_of_2(columns))
    cross_entropy_kernel[(rows,)](
        logits, target, losses, logits.stride(0), columns, ignored, 1.0 / counted, BLOCK=block
    )
    return losses.sum() / counted, logits


@triton.jit
def layer_norm_kernel(
    x_ptr, out_ptr, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, stride, columns, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    x_ptr += row * stride
    out_ptr += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for begin in range(0, columns, BLOCK):
        lanes = begin + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + lanes, mask=lanes < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for begin in range(0, columns, BLOCK):
        lanes = begin + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + lanes, mask=lanes < columns, other=0.0).to(tl.float32)
        centred = tl.where(lanes < columns, x - mean, 0.0)
        squares += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for begin in range(0, columns, BLOCK):
        lanes = begin + tl.arange(0, BLOCK)
        inside = lanes < columns
        weight = tl.load(weight_ptr + lanes, mask=inside)
        bias = tl.load(bias_ptr + lanes, mask=inside)
        x = tl.load(x_ptr + lanes, mask=inside, other=0.0).to(tl.float32)
        tl.store(out_ptr + lanes, (x - mean) * rstd * weight + bias, mask=inside)


@triton.jit
def layer_norm_gradient_kernel(
    dx_ptr, dout_ptr, dweight_ptr, dbias_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, columns,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The gradient of one row. Those of weight and bias are added up in groups of rows, each behind a lock."""
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    inside = lanes < columns
    x = tl.load(x_ptr + row * stride + lanes, mask=inside, other=0.0).to(tl.float32)
    dout = tl.load(dout_ptr + row * stride + lanes, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + lanes, mask=inside, other=0.0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    normal = tl.where(inside, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    weighted = tl.where(inside, weight * dout, 0.0)
    along = tl.sum(normal * weighted, axis=0) / columns
    middle = tl.sum(weighted, axis=0) / columns
    tl.store(dx_ptr + row * stride + lanes, (weighted - (normal * along + middle)) * rstd, mask=inside)

    group = row % GROUPS
    count_ptr = lock_ptr + GROUPS + group
    dweight_ptr += group * columns + lanes
    dbias_ptr += group * columns + lanes
    dweight, dbias = dout * normal, dout
    while tl.atomic_cas(lock_ptr + group, 0, 1) == 1:
        pass
    if tl.load(count_ptr) == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        dweight += tl.load(dweight_ptr, mask=inside)
        dbias += tl.load(dbias_ptr, mask=inside)
    tl.store(dweight_ptr, dweight, mask=inside)
    tl.store(dbias_ptr, dbias, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + group, 0)


@triton.jit
def layer_norm_sum_kernel(part_ptr, out_ptr, groups, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of the groups, for a stretch of columns."""
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for begin in range(0, groups, ROWS):
        rows = begin + tl.arange(0, ROWS)
        inside = (rows[:, None] < groups) & (lanes[None, :] < columns)
        total += tl.load(part_ptr + rows[:, None] * columns + lanes[None, :], mask=inside, other=0.0)
    tl.store(out_ptr + lanes, tl.sum(total, axis=0), mask=lanes < columns)


class LayerNorm(torch.autograd.Function):
    """Layer norm of the rows of a matrix."""

    @staticmethod
    def forward(ctx, x, weight, bias, eps=1e-5):
        rows, columns = x.shape
        out, mean, rstd = torch.empty_like(x), torch.empty(rows), torch.empty(rows)
        block = min(1024, triton.next_power_of_2(columns))
        layer_norm_kernel[(rows,)](x, out, weight, bias, mean, rstd, x.stride(0), columns, eps, BLOCK=block)
        ctx.save_for_backward(x, weight, mean, rstd)
        return out

    @staticmethod
    def backward(ctx, dout):
        x, weight, mean, rstd = ctx.saved_tensors
        rows, columns = x.shape
        groups = 64
        locks = torch.zeros(2 * groups, dtype=torch.int32)
        parts = torch.zeros(2, groups, columns)
        dx, dweight, dbias = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
        layer_norm_gradient_kernel[(rows,)](
            dx, dout.contiguous(), parts[0], parts[1], x, weight, mean, rstd, locks, x.stride(0), columns,
            GROUPS=groups, BLOCK=triton.next_power_of_2(columns),
        )  # fmt: skip
        for part, total in zip(parts, (dweight, dbias)):
            grid = (triton.cdiv(columns, 128),)
            layer_norm_sum_kernel[grid](part, total, groups, columns, ROWS=32, BLOCK=128)
        return dx, dweight, dbias, None


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return LayerNorm.apply(x, weight, bias)
