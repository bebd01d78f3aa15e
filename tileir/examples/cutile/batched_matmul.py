"""Multiply a batch of matrices in bfloat16: the batch is the third axis of the grid."""

import cuda.tile as ct
import torch

STREAM = torch.cuda.current_stream() if torch.cuda.is_available() else 0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@ct.kernel
def batched_matmul_kernel(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    batch, i, j = ct.bid(2), ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), ct.float32)
    for k in range(ct.num_tiles(a, axis=2, shape=(1, tm, tk))):
        x = ct.load(a, (batch, i, k), (1, tm, tk), padding_mode=ct.PaddingMode.ZERO).reshape((tm, tk))
        y = ct.load(b, (batch, k, j), (1, tk, tn), padding_mode=ct.PaddingMode.ZERO).reshape((tk, tn))
        acc = ct.mma(x, y, acc)
    ct.store(c, (batch, i, j), acc.astype(c.dtype).reshape((1, tm, tn)))


def batched_matmul(a, b, tm=32, tn=32, tk=32):
    batches, m, n = a.shape[0], a.shape[1], b.shape[2]
    c = torch.empty(batches, m, n, dtype=a.dtype, device=a.device)
    grid = (ct.cdiv(m, tm), ct.cdiv(n, tn), batches)
    ct.launch(STREAM, grid, batched_matmul_kernel, (a, b, c, tm, tn, tk))
    return c


def main():
    torch.manual_seed(0)
    a = torch.randn(4, 50, 64, device=DEVICE).bfloat16()
    b = torch.randn(4, 64, 72, device=DEVICE).bfloat16()
    expected = (a.float() @ b.float()).bfloat16()
    torch.testing.assert_close(batched_matmul(a, b), expected, rtol=2e-2, atol=2e-2)
    print("batched_matmul: 4 x (50 x 64 x 72) agrees with torch")


if __name__ == "__main__":
    main()
