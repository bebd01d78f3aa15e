"""Kernels of Helion, which writes Triton, on CPU tensors: what its language can say, beside PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("triton", reason="needs triton")
pytest.importorskip("helion", reason="needs helion: pip install helion")

import helion
import helion.language as hl
import torch
import torch.nn.functional as F
from torch import Tensor, randn
from torch.testing import assert_close

pytestmark = pytest.mark.filterwarnings("ignore")
kernel = helion.kernel(autotune_effort="none")


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


@kernel
def row_softmax(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = torch.nn.functional.softmax(x[rows, :], dim=1)
    return out


@kernel
def online_softmax(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    width = hl.register_block_size(x.size(1))
    for rows in hl.tile(x.size(0)):
        largest = hl.full([rows], float("-inf"), dtype=torch.float32)
        total = hl.zeros([rows], dtype=torch.float32)
        for columns in hl.tile(x.size(1), block_size=width):
            values = x[rows, columns]
            larger = torch.maximum(largest, torch.amax(values, dim=1))
            total = total * torch.exp(largest - larger) + torch.exp(values - larger[:, None]).sum(dim=1)
            largest = larger
        for columns in hl.tile(x.size(1), block_size=width):
            out[rows, columns] = torch.exp(x[rows, columns] - largest[:, None]) / total[:, None]
    return out


@kernel
def rms_norm(x: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    out = torch.empty_like(x)
    scales = torch.empty([x.size(0), 1], dtype=torch.float32, device=x.device)
    for rows in hl.tile(x.size(0)):
        values = x[rows, :].to(torch.float32)
        scale = torch.rsqrt(torch.mean(values * values, dim=-1, keepdim=True) + eps)
        out[rows, :] = (values * scale * weight[:].to(torch.float32)).to(x.dtype)
        scales[rows, :] = scale
    return out, scales


@kernel
def row_losses(logits: Tensor, labels: Tensor) -> Tensor:
    count, classes = logits.shape
    losses = torch.empty([count], dtype=logits.dtype, device=logits.device)
    flat = logits.view(-1)
    for rows in hl.tile(count):
        chosen = hl.load(flat, [rows.index * classes + labels[rows]])
        scores = logits[rows, :]
        largest = torch.amax(scores, dim=-1)
        losses[rows] = largest + torch.log(torch.exp(scores - largest[:, None]).sum(dim=-1)) - chosen
    return losses


@kernel
def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    heads, length, _ = q.size()
    depth = hl.specialize(q.size(2))
    turned = k.transpose(1, 2)
    out = torch.empty_like(q)
    for head, rows in hl.tile([heads, length]):
        largest = hl.full([head, rows], float("-inf"), dtype=torch.float32)
        total = hl.zeros([head, rows], dtype=torch.float32)
        weighed = hl.zeros([head, rows, depth], dtype=torch.float32)
        queries = q[head, rows, :] * (1.44269504 / depth**0.5)
        for columns in hl.tile(k.size(1)):
            scores = torch.bmm(queries, turned[head, :, columns])
            larger = torch.maximum(largest, torch.amax(scores, -1))
            shares = torch.exp2(scores - larger[:, :, None])
            kept = torch.exp2(largest - larger)
            total = total * kept + torch.sum(shares, -1)
            weighed = torch.baddbmm(weighed * kept[:, :, None], shares.to(v.dtype), v[head, columns, :])
            largest = larger
        out[head, rows, :] = (weighed / total[:, :, None]).to(out.dtype)
    return out


@kernel
def split_product(x: Tensor, y: Tensor) -> Tensor:
    out = torch.zeros([x.size(0), y.size(1)], dtype=torch.float32, device=x.device)
    for rows, columns, part in hl.tile([x.size(0), y.size(1), x.size(1)], block_size=[None, None, 64]):
        total = hl.zeros([rows, columns], dtype=torch.float32)
        for inner in hl.tile(part.begin, part.end):
            total = hl.dot(x[rows, inner], y[inner, columns], acc=total)
        hl.atomic_add(out, [rows, columns], total)
    return out


@kernel
def padded_rows(values: Tensor, offsets: Tensor, dense: Tensor) -> Tensor:
    out = torch.zeros_like(dense)
    for rows in hl.tile(offsets.size(0) - 1):
        first = offsets[rows]
        lengths = offsets[rows.index + 1] - first
        for columns in hl.tile(0, lengths.amax()):
            inside = columns.index[None, :] < lengths[:, None]
            out[rows, columns] = hl.load(values, [first[:, None] + columns.index[None, :]], extra_mask=inside)
    return out


@kernel
def side_by_side(x: Tensor, y: Tensor) -> Tensor:
    out = torch.empty([x.size(0), x.size(1) + y.size(1)], dtype=x.dtype, device=x.device)
    for rows, columns in hl.tile(out.size()):
        left = (columns.index < x.size(1))[None, :]
        of_x = hl.load(x, [rows, columns], extra_mask=left)
        of_y = hl.load(y, [rows, columns.index - x.size(1)], extra_mask=~left)
        out[rows, columns] = torch.where(left, of_x, of_y)
    return out


def _within_group(value: Tensor, group: Tensor, next_value: Tensor, next_group: Tensor) -> tuple[Tensor, Tensor]:
    return torch.where(group == next_group, value + next_value, next_value), next_group


@kernel
def grouped_sums(x: Tensor, groups: Tensor) -> Tensor:
    out = torch.empty_like(x)
    for columns in hl.tile(x.size(1)):
        numbers = hl.zeros([x.size(0), columns], dtype=torch.float32) + groups[:].to(torch.float32)[:, None]
        sums, _ = hl.associative_scan(_within_group, (x[:, columns], numbers), dim=0)
        out[:, columns] = sums
    return out


@kernel
def dropped(x: Tensor, share: float, seed: int) -> Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        kept = hl.rand([tile], seed=seed) > share
        out[tile] = torch.where(kept, x[tile] / (1.0 - share), 0.0)
    return out


@pytest.mark.parametrize("softmax", [row_softmax, online_softmax])
def test_softmax(softmax: Callable[[Tensor], Tensor]) -> None:
    x = randn(130, 257)
    assert_close(softmax(x), x.softmax(1))


def test_rms_norm() -> None:
    x, weight = randn(130, 257), randn(257)
    out, scales = rms_norm(x, weight, 1e-5)
    assert_close(out, F.rms_norm(x, (257,), weight, 1e-5))
    assert_close(scales, torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-5))


def test_a_label_of_each_row() -> None:
    logits, labels = randn(130, 257), torch.randint(0, 257, (130,))
    assert_close(row_losses(logits, labels), F.cross_entropy(logits, labels, reduction="none"))


def test_attention() -> None:
    q, k, v = randn(6, 128, 64), randn(6, 192, 64), randn(6, 192, 64)
    assert_close(attention(q, k, v), F.scaled_dot_product_attention(q, k, v), rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float8_e4m3fn])
def test_a_product_added_up_atomically(kind: torch.dtype) -> None:
    x, y = randn(100, 160).to(kind), randn(160, 90).to(kind)
    assert_close(split_product(x, y), x.float() @ y.float(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("pid_type", ["flat", "xyz"])
@pytest.mark.parametrize("indexing", ["pointer", "tensor_descriptor"])
def test_a_product_as_it_was_tuned_for_a_gpu(indexing: str, pid_type: str) -> None:
    groups = {} if pid_type == "xyz" else {"l2_groupings": [4]}
    config = helion.Config(
        block_sizes=[64, 32, 32], indexing=indexing, pid_type=pid_type, num_warps=8, num_stages=3, **groups
    )

    @helion.kernel(config=config)
    def product(x: Tensor, y: Tensor) -> Tensor:
        out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype, device=x.device)
        for rows, columns in hl.tile([x.size(0), y.size(1)]):
            total = hl.zeros([rows, columns], dtype=torch.float32)
            for inner in hl.tile(x.size(1)):
                total = torch.addmm(total, x[rows, inner], y[inner, columns])
            out[rows, columns] = total.to(x.dtype)
        return out

    x, y = randn(256, 128).half(), randn(128, 192).half()
    assert_close(product(x, y).float(), x.float() @ y.float(), rtol=2e-3, atol=2e-2)


def test_rows_of_many_lengths() -> None:
    offsets, values = torch.tensor([0, 3, 3, 9, 20]), randn(20)
    wanted = torch.zeros(4, 16)
    for row, (first, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        wanted[row, : end - first] = values[first:end]
    assert_close(padded_rows(values, offsets, torch.empty(4, 16)), wanted)


def test_arrays_side_by_side() -> None:
    x, y = randn(33, 40), randn(33, 51)
    assert_close(side_by_side(x, y), torch.cat([x, y], 1))


def test_sums_that_begin_again_with_each_group() -> None:
    x, groups = randn(64, 30), torch.arange(64) // 10
    wanted = torch.cat([part.cumsum(0) for part in x.split(10)])
    assert_close(grouped_sums(x, groups), wanted, rtol=1e-5, atol=1e-5)


def test_random_numbers_repeat() -> None:
    ones = torch.ones(10_000)
    once = dropped(ones, 0.3, 7)
    assert torch.equal(once, dropped(ones, 0.3, 7)) and not torch.equal(once, dropped(ones, 0.3, 8))
    assert 0.27 < (once == 0).float().mean() < 0.33 and set(once.tolist()) == {0.0, once.max().item()}
