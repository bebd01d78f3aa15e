"""Products of matrices: in grouped order, by persistent programs, of groups of matrices, with scales of blocks."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl


@triton.jit
def _tile_of(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    """The tile of a program: those of a group of rows come one after the other, so that columns stay in the cache."""
    across = tl.cdiv(N, BLOCK_N)
    first = pid // (GROUP * across) * GROUP
    rows = min(tl.cdiv(M, BLOCK_M) - first, GROUP)
    within = pid % (GROUP * across)
    return first + within % rows, within // rows


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    row, column = _tile_of(tl.program_id(0), M, N, BLOCK_M, BLOCK_N, GROUP)
    rows = (row * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (column * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_ptrs = b_ptr + inner[:, None] * stride_bk + columns[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BLOCK_K, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


def matmul(a: torch.Tensor, b: torch.Tensor, blocks: tuple[int, int, int] = (128, 128, 64)) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=a.dtype)
    block_m, block_n, block_k = blocks
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP=8,
    )  # fmt: skip
    return c


@triton.jit
def persistent_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """As many programs as there are processors take tile after tile, through descriptors."""
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        row, column = _tile_of(tile, M, N, BLOCK_M, BLOCK_N, GROUP)
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            a = a_desc.load([row * BLOCK_M, k * BLOCK_K])
            b = b_desc.load([column * BLOCK_N, k * BLOCK_K])
            total = tl.dot(a, b.T, total)
        c_desc.store([row * BLOCK_M, column * BLOCK_N], total.to(c_ptr.dtype.element_ty))


def persistent_matmul(a: torch.Tensor, b: torch.Tensor, blocks: tuple[int, int, int] = (128, 128, 64)) -> torch.Tensor:
    """`a` times the transpose of `b`."""
    (M, K), N = a.shape, b.shape[0]
    c = torch.empty(M, N, dtype=a.dtype)
    block_m, block_n, block_k = blocks
    programs = triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]
    persistent_matmul_kernel[(programs,)](a, b, c, M, N, K, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP=8)
    return c


@triton.jit
def grouped_matmul_kernel(
    a_ptrs, b_ptrs, c_ptrs, sizes_ptr, strides_ptr, groups,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Tiles of all products are numbered one after the other; each program takes every so many-th."""
    tile = tl.program_id(0)
    before = 0
    for group in range(groups):
        M = tl.load(sizes_ptr + 3 * group)
        N = tl.load(sizes_ptr + 3 * group + 1)
        K = tl.load(sizes_ptr + 3 * group + 2)
        across = tl.cdiv(N, BLOCK_N)
        tiles = tl.cdiv(M, BLOCK_M) * across
        stride_a = tl.load(strides_ptr + 3 * group)
        stride_b = tl.load(strides_ptr + 3 * group + 1)
        stride_c = tl.load(strides_ptr + 3 * group + 2)
        a_ptr = tl.load(a_ptrs + group).to(tl.pointer_type(tl.float32))
        b_ptr = tl.load(b_ptrs + group).to(tl.pointer_type(tl.float32))
        c_ptr = tl.load(c_ptrs + group).to(tl.pointer_type(tl.float32))
        while tile >= before and tile < before + tiles:
            rows = (tile - before) // across * BLOCK_M + tl.arange(0, BLOCK_M)
            columns = (tile - before) % across * BLOCK_N + tl.arange(0, BLOCK_N)
            total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for k in range(0, K, BLOCK_K):
                inner = k + tl.arange(0, BLOCK_K)
                a_mask = (rows[:, None] < M) & (inner[None, :] < K)
                b_mask = (inner[:, None] < K) & (columns[None, :] < N)
                a = tl.load(a_ptr + rows[:, None] * stride_a + inner[None, :], mask=a_mask, other=0.0)
                b = tl.load(b_ptr + inner[:, None] * stride_b + columns[None, :], mask=b_mask, other=0.0)
                total = tl.dot(a, b, total)
            c_mask = (rows[:, None] < M) & (columns[None, :] < N)
            tl.store(c_ptr + rows[:, None] * stride_c + columns[None, :], total, mask=c_mask)
            tile += tl.num_programs(0)
        before += tiles


def grouped_matmul(
    a: Sequence[torch.Tensor],
    b: Sequence[torch.Tensor],
    blocks: tuple[int, int, int] = (64, 64, 64),
    programs: int = 16,
) -> list[torch.Tensor]:
    """The products of pairs of matrices of different sizes, in one launch."""
    c = [torch.empty(x.shape[0], y.shape[1]) for x, y in zip(a, b)]
    addresses = [torch.tensor([one.data_ptr() for one in matrices]) for matrices in (a, b, c)]
    sizes = torch.tensor([[*x.shape[:1], y.shape[1], x.shape[1]] for x, y in zip(a, b)], dtype=torch.int32)
    strides = torch.tensor([[one.stride(0) for one in three] for three in zip(a, b, c)], dtype=torch.int32)
    block_m, block_n, block_k = blocks
    grouped_matmul_kernel[(programs,)](
        *addresses, sizes, strides, len(a), BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k
    )
    return c


@triton.jit
def scaled_matmul_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """f8 times f8; 32 elements along K share a power of two."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    shared = tl.arange(0, BLOCK_K // 32)
    row_in, column_in = rows[:, None] < M, columns[:, None] < N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * K + k + inner[None, :], mask=row_in)
        b = tl.load(b_ptr + columns[:, None] * K + k + inner[None, :], mask=column_in)
        place = k // 32 + shared[None, :]
        a_scale = tl.load(a_scale_ptr + rows[:, None] * (K // 32) + place, mask=row_in, other=127)
        b_scale = tl.load(b_scale_ptr + columns[:, None] * (K // 32) + place, mask=column_in, other=127)
        total = tl.dot_scaled(a, a_scale, "e4m3", b.T, b_scale, "e4m3", total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=row_in & (columns[None, :] < N))


def scaled_matmul(
    a: torch.Tensor,
    a_scale: torch.Tensor,
    b: torch.Tensor,
    b_scale: torch.Tensor,
    blocks: tuple[int, int, int] = (64, 64, 128),
) -> torch.Tensor:
    """`a` times the transpose of `b`, both of f8, with exponents of shape (rows, K / 32); K a multiple of the block."""
    (M, K), N = a.shape, b.shape[0]
    c = torch.empty(M, N)
    block_m, block_n, block_k = blocks
    grid = triton.cdiv(M, block_m), triton.cdiv(N, block_n)
    scaled_matmul_kernel[grid](a, a_scale, b, b_scale, c, M, N, K, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k)
    return c
