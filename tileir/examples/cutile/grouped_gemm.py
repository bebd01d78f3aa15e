"""The matrix products of a mixture of experts: groups of different height, one launch, lists of arrays."""

import cuda.tile as ct
import torch

STREAM = torch.cuda.current_stream() if torch.cuda.is_available() else 0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@ct.kernel
def grouped_gemm_kernel(tokens, weights, outputs, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The tiles of all groups are numbered through; a block takes every so many of them."""
    tile = ct.bid(0)
    first = 0
    for group in range(len(tokens)):
        a, b, c = tokens[group], weights[group], outputs[group]
        rows = ct.num_tiles(c, axis=0, shape=(tm, tn))
        columns = ct.num_tiles(c, axis=1, shape=(tm, tn))
        behind = first + rows * columns
        while tile < behind:
            i, j = (tile - first) // columns, (tile - first) % columns
            acc = ct.zeros((tm, tn), ct.float32)
            for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
                x = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
                y = ct.load(b, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO)
                acc = ct.mma(x, y, acc)
            ct.store(c, (i, j), acc.astype(c.dtype))
            tile += ct.num_blocks(0)
        first = behind


def grouped_gemm(tokens, weights, tm=16, tn=32, tk=32, blocks=6):
    outputs = [a.new_empty(a.shape[0], b.shape[1]) for a, b in zip(tokens, weights)]
    ct.launch(STREAM, (blocks,), grouped_gemm_kernel, (tokens, weights, outputs, tm, tn, tk))
    return outputs


def main():
    torch.manual_seed(0)
    experts, width, hidden = 4, 64, 96
    x = torch.randn(100, width, device=DEVICE).half()
    chosen = torch.randint(experts, (100,), device=DEVICE)
    weights = [torch.randn(width, hidden, device=DEVICE).half() for _ in range(experts)]
    tokens = [x[chosen == expert] for expert in range(experts)]
    for got, a, b in zip(grouped_gemm(tokens, weights), tokens, weights):
        torch.testing.assert_close(got, (a.float() @ b.float()).half(), rtol=1e-2, atol=1e-2)
    print(f"grouped_gemm: {experts} experts with {[len(a) for a in tokens]} tokens agree with torch")


if __name__ == "__main__":
    main()
