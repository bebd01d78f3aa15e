"""Attention in one pass over the keys, with the running maximum and sum of an online softmax; causal or not."""

import math

import cuda.tile as ct
import torch

STREAM = torch.cuda.current_stream() if torch.cuda.is_available() else 0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MINUS_INFINITY = -1e30


@ct.kernel
def attention_kernel(
    q,
    k,
    v,
    out,
    scale,
    queries: ct.Constant[int],
    keys: ct.Constant[int],
    width: ct.Constant[int],
    causal: ct.Constant[bool],
):
    head, block = ct.bid(1), ct.bid(0)
    x = ct.load(q, (head, block, 0), (1, queries, width)).reshape((queries, width))
    rows = (block * queries + ct.arange(queries, dtype=ct.int32)).reshape((queries, 1))
    top = ct.full((queries, 1), MINUS_INFINITY, ct.float32)
    total = ct.zeros((queries, 1), ct.float32)
    acc = ct.zeros((queries, width), ct.float32)
    length = k.shape[1]
    last = ct.cdiv(ct.minimum((block + 1) * queries, length), keys) if causal else ct.cdiv(length, keys)
    for j in range(last):
        y = ct.load(k, (head, j, 0), (1, keys, width), padding_mode=ct.PaddingMode.ZERO).reshape((keys, width))
        scores = ct.mma(x, ct.transpose(y), ct.zeros((queries, keys), ct.float32)) * scale
        columns = (j * keys + ct.arange(keys, dtype=ct.int32)).reshape((1, keys))
        seen = columns < length
        if causal:
            seen = seen & (columns <= rows)
        scores = ct.where(seen, scores, MINUS_INFINITY)
        new_top = ct.maximum(top, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp(scores - new_top)
        shrink = ct.exp(top - new_top)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        z = ct.load(v, (head, j, 0), (1, keys, width), padding_mode=ct.PaddingMode.ZERO).reshape((keys, width))
        acc = ct.mma(weights.astype(z.dtype), z, acc * shrink)
        top = new_top
    ct.store(out, (head, block, 0), (acc / total).astype(out.dtype).reshape((1, queries, width)))


def attention(q, k, v, causal=False, queries=32, keys=32):
    """``q``, ``k``, ``v``: (heads, length, width), the width a power of two."""
    out = torch.empty_like(q)
    heads, length, width = q.shape
    scale = 1 / math.sqrt(width)
    grid = (ct.cdiv(length, queries), heads)
    ct.launch(STREAM, grid, attention_kernel, (q, k, v, out, scale, queries, keys, width, causal))
    return out


def main():
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 80, 32, device=DEVICE)
    for causal in (False, True):
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        torch.testing.assert_close(attention(q, k, v, causal), expected, rtol=1e-4, atol=1e-4)
    print("attention: 2 heads, 80 queries, width 32 agree with torch, causal and not")


if __name__ == "__main__":
    main()
