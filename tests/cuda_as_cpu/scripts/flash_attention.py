"""Flash attention in cuTile, checked against torch and timed with Triton's do_bench."""

import math

import cuda.tile as ct
import torch
import triton.testing

LOG2_E = 1 / math.log(2)


@ct.kernel
def attention_kernel(
    q,
    k,
    v,
    out,
    scale: float,
    HEADS: ct.Constant[int],
    M: ct.Constant[int],
    N: ct.Constant[int],
    D: ct.Constant[int],
    CAUSAL: ct.Constant[bool],
):
    block, batch, head = ct.bid(0), ct.bid(1) // HEADS, ct.bid(1) % HEADS
    factor = scale * LOG2_E
    row = block * M + ct.arange(M, dtype=ct.int32)[:, None]
    most = ct.full((M, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((M, 1), dtype=ct.float32)
    mixed = ct.zeros((M, D), dtype=ct.float32)
    queries = ct.load(q, index=(batch, head, block, 0), shape=(1, 1, M, D)).reshape((M, D))
    blocks = ct.cdiv(k.shape[2], N)
    if CAUSAL:
        blocks = min(blocks, ct.cdiv((block + 1) * M, N))
    for j in range(blocks):
        keys = ct.load(k, index=(batch, head, 0, j), shape=(1, 1, D, N), order=(0, 1, 3, 2), latency=2)
        scores = ct.mma(queries, keys.reshape((D, N)), ct.zeros((M, N), dtype=ct.float32))
        if CAUSAL:
            column = j * N + ct.arange(N, dtype=ct.int32)[None, :]
            scores = ct.where(row >= column, scores, -math.inf)
        now = ct.maximum(most, ct.max(scores, axis=1, keepdims=True) * factor)
        powers = ct.exp2(scores * factor - now)
        shrunk = ct.exp2(most - now)
        total = total * shrunk + ct.sum(powers, axis=1, keepdims=True)
        values = ct.load(v, index=(batch, head, j, 0), shape=(1, 1, N, D), latency=4).reshape((N, D))
        mixed = ct.mma(powers.astype(q.dtype), values, mixed * shrunk)
        most = now
    ct.store(out, index=(batch, head, block, 0), tile=(mixed / total).reshape((1, 1, M, D)).astype(out.dtype))


def attention(q, k, v, causal):
    batch, heads, length, size = q.shape
    out = torch.empty_like(q)
    arguments = (q, k, v, out, 1 / math.sqrt(size), heads, 64, 64, size, causal)
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(length, 64), batch * heads, 1), attention_kernel, arguments)
    return out


def main():
    torch.manual_seed(0)
    print(f"{'causal':>6} {'length':>6} {'cuTile ms':>10} {'torch ms':>10} {'GFLOP/s':>8}")
    for causal in (False, True):
        for length in (128, 256):
            print(measured(causal, length))


def measured(causal: bool, length: int) -> str:
    """Return the line of the table, once the result is right."""
    q, k, v = (torch.randn(1, 4, length, 64, device="cuda", dtype=torch.float16) for _ in range(3))

    def ours():
        return attention(q, k, v, causal)

    def theirs():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    torch.testing.assert_close(ours(), theirs(), atol=1e-2, rtol=1e-2)
    time, low, high = triton.testing.do_bench(ours, warmup=5, rep=20, quantiles=[0.5, 0.2, 0.8])
    assert low <= time <= high
    operations = 4 * q.numel() * length * (0.5 if causal else 1)
    reference = triton.testing.do_bench(theirs, warmup=5, rep=20)
    return f"{causal!s:>6} {length:>6} {time:>10.3f} {reference:>10.3f} {operations / time / 1e6:>8.1f}"


if __name__ == "__main__":
    main()
