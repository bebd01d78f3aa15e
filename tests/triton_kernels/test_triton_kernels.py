"""The kernels of `bench/kernels/model_kernels`, which are written as models and tutorials have them, beside torch."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("triton", reason="needs triton")

import torch
from torch.nn import functional
from torch.testing import assert_close

import tileir.triton

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "kernels"))

from model_kernels import attention, elementwise, matmul, orders, rows, windows


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(params=["cpu", "interp"], autouse=True)
def target(request: pytest.FixtureRequest):
    with tileir.triton.on(request.param):
        yield request.param


def test_vector_addition() -> None:
    x, y = torch.randn(2, 1000)
    assert torch.equal(elementwise.add(x, y, block=256), x + y)


def test_dropout_keeps_the_same_elements_for_the_same_seed() -> None:
    x = torch.randn(4000)
    once, again, other = (elementwise.dropout(x, 0.25, seed, block=1024) for seed in (7, 7, 8))
    assert torch.equal(once, again) and not torch.equal(once, other)
    kept = once != 0
    assert abs(kept.float().mean() - 0.75) < 0.03
    assert_close(once[kept], x[kept] / 0.75)


def test_swiglu() -> None:
    gate, up = torch.randn(2, 1000)
    assert_close(elementwise.swiglu(gate, up, block=256), functional.silu(gate) * up)


def test_rotary_embedding() -> None:
    x, angles = torch.randn(2, 5, 6, 32), torch.randn(5, 16)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., :16], x[..., 16:]
    c, s = cos[None, :, None], sin[None, :, None]
    turned = torch.cat([first * c - second * s, second * c + first * s], -1)
    assert_close(elementwise.rope(x.clone(), cos, sin), turned)


def test_softmax() -> None:
    x = torch.randn(9, 100)
    assert_close(rows.softmax(x, programs=4), torch.softmax(x, 1))


def test_cross_entropy_and_its_gradient() -> None:
    logits = torch.randn(6, 100, requires_grad=True)
    target = torch.randint(0, 100, (6,))
    target[3] = -100
    wanted = functional.cross_entropy(logits, target)
    wanted.backward()
    loss, gradient = rows.cross_entropy(logits.detach().clone(), target, block=32)
    assert_close(loss, wanted.detach())
    assert_close(gradient, logits.grad)


def test_layer_norm_and_its_gradients() -> None:
    x, dout = torch.randn(20, 60, requires_grad=True), torch.randn(20, 60)
    weight, bias = torch.randn(60, requires_grad=True), torch.randn(60, requires_grad=True)
    wanted = functional.layer_norm(x, (60,), weight, bias)
    gradients = torch.autograd.grad(wanted, (x, weight, bias), dout)
    out = rows.layer_norm(x, weight, bias)
    assert_close(out, wanted)
    for found, gradient in zip(torch.autograd.grad(out, (x, weight, bias), dout), gradients):
        assert_close(found, gradient, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.bfloat16, 2e-2), (torch.float16, 2e-3)])
def test_products_in_grouped_order(dtype: torch.dtype, tolerance: float) -> None:
    a, b = torch.randn(50, 40, dtype=dtype), torch.randn(40, 70, dtype=dtype)
    assert_close(matmul.matmul(a, b, (16, 16, 32)), (a.float() @ b.float()).to(dtype), atol=tolerance, rtol=tolerance)


def test_products_by_persistent_programs() -> None:
    a, b = torch.randn(50, 48), torch.randn(36, 48)
    assert_close(matmul.persistent_matmul(a, b, (16, 16, 32)), a @ b.T, atol=1e-4, rtol=1e-4)


def test_products_of_groups_of_matrices() -> None:
    sizes = (30, 20, 10), (20, 33, 40)
    a, b = [torch.randn(m, k) for m, k, _ in sizes], [torch.randn(k, n) for _, k, n in sizes]
    for _ in range(3):  # later launches may take a shorter way
        for c, x, y in zip(matmul.grouped_matmul(a, b, (16, 16, 16), programs=3), a, b):
            assert_close(c, x @ y, atol=1e-4, rtol=1e-4)


def test_products_with_scales_of_blocks() -> None:
    a, b = (torch.randn(n, 128).to(torch.float8_e4m3fn) for n in (30, 20))
    a_scale, b_scale = (torch.randint(122, 130, (n, 4), dtype=torch.uint8) for n in (30, 20))

    def scaled(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return x.float() * torch.exp2(scale.float() - 127).repeat_interleave(32, 1)

    wanted = scaled(a, a_scale) @ scaled(b, b_scale).T
    assert_close(matmul.scaled_matmul(a, a_scale, b, b_scale, (16, 16, 64)), wanted, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_and_its_gradients(causal: bool) -> None:
    q, k, v = (torch.randn(1, 2, 50, 16, requires_grad=True) for _ in range(3))
    dout = torch.randn(1, 2, 50, 16)
    wanted = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    gradients = torch.autograd.grad(wanted, (q, k, v), dout)
    out = attention.Attention.apply(q, k, v, causal, (16, 16))
    assert_close(out, wanted, atol=1e-4, rtol=1e-4)
    for found, gradient in zip(torch.autograd.grad(out, (q, k, v), dout), gradients):
        assert_close(found, gradient, atol=1e-4, rtol=1e-3)


def test_decoding_over_pages() -> None:
    sequences, heads, shared, width, page = 3, 4, 2, 16, 8
    lengths, table = torch.tensor([5, 8, 20], dtype=torch.int32), torch.randperm(9).reshape(3, 3).int()
    k, v = torch.randn(2, 9, page, shared, width)
    q = torch.randn(sequences, heads, width)
    wanted = torch.empty_like(q)
    for sequence, length in enumerate(lengths.tolist()):
        keys, values = (x[table[sequence].long()].reshape(-1, shared, width)[:length] for x in (k, v))
        for head in range(heads):
            own = head // (heads // shared)
            weights = torch.softmax(keys[:, own] @ q[sequence, head] / math.sqrt(width), 0)
            wanted[sequence, head] = weights @ values[:, own]
    assert_close(attention.paged_decode(q, k, v, table, lengths), wanted)


def test_the_largest_of_rows() -> None:
    x = torch.randn(4, 50)
    values, indices = orders.topk(x, 8)
    wanted = torch.topk(x, 8)
    assert_close(values, wanted.values)
    assert torch.equal(indices, wanted.indices)


def test_a_recurrence_by_scans() -> None:
    decay, x = torch.rand(2, 100), torch.randn(2, 100)
    h, wanted = torch.zeros(2), []
    for step in range(100):
        h = decay[:, step] * h + x[:, step]
        wanted.append(h)
    assert_close(orders.recurrence(decay, x, block=32), torch.stack(wanted, 1), atol=1e-4, rtol=1e-4)


def test_a_causal_filter() -> None:
    x, weight = torch.randn(2, 3, 100), torch.randn(3, 4)
    wanted = functional.silu(functional.conv1d(x, weight[:, None], padding=3, groups=3)[..., :100])
    assert_close(windows.causal_filter(x, weight, block=32), wanted)


def test_a_mean_over_the_borders_of_an_image() -> None:
    x = torch.randn(37, 45)
    wanted = functional.avg_pool2d(x[None, None], 3, 1, 1)[0, 0]
    assert_close(windows.mean_of_neighbours(x, blocks=(16, 16)), wanted)
