"""Multiply matrices of half precision, accumulating in single precision; the last tiles may stick out."""

import cuda.tile as ct
import torch

STREAM = torch.cuda.current_stream() if torch.cuda.is_available() else 0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@ct.kernel(num_ctas=ct.ByTarget(sm_100=2, default=1))
def matmul_kernel(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), ct.astype(acc, c.dtype))


def matmul(a, b, tm=64, tn=64, tk=32):
    c = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
    grid = (ct.cdiv(a.shape[0], tm), ct.cdiv(b.shape[1], tn))
    ct.launch(STREAM, grid, matmul_kernel, (a, b, c, tm, tn, tk))
    return c


def main():
    torch.manual_seed(0)
    a = torch.randn(200, 96, device=DEVICE).half()
    b = torch.randn(96, 136, device=DEVICE).half()
    torch.testing.assert_close(matmul(a, b), (a.float() @ b.float()).half(), rtol=1e-2, atol=1e-2)
    # A transposed operand is a view: the kernel sees its strides.
    torch.testing.assert_close(matmul(a, b.T.contiguous().T), matmul(a, b))
    print("matmul: 200 x 96 x 136 agrees with torch")


if __name__ == "__main__":
    main()
