"""Softmax of rows of any length: a row is padded to a power of two with minus infinity."""

import cuda.tile as ct
import torch

STREAM = torch.cuda.current_stream() if torch.cuda.is_available() else 0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@ct.kernel
def softmax_kernel(x, out, rows: ct.Constant[int], columns: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (rows, columns), padding_mode=ct.PaddingMode.NEG_INF).astype(ct.float32)
    e = ct.exp(t - ct.max(t, axis=1, keepdims=True))
    ct.store(out, (i, 0), (e / ct.sum(e, axis=1, keepdims=True)).astype(out.dtype))


def softmax(x, rows=4):
    out = torch.empty_like(x)
    columns = 1 << (x.shape[1] - 1).bit_length()
    ct.launch(STREAM, (ct.cdiv(x.shape[0], rows),), softmax_kernel, (x, out, rows, columns))
    return out


def main():
    torch.manual_seed(0)
    for dtype, tolerance in ((torch.float32, 1e-6), (torch.float16, 1e-3)):
        x = (torch.randn(64, 300, device=DEVICE) * 4).to(dtype)
        torch.testing.assert_close(softmax(x), torch.softmax(x.float(), 1).to(dtype), rtol=tolerance, atol=tolerance)
    print("softmax: 64 rows of 300 agree with torch, in float32 and float16")


if __name__ == "__main__":
    main()
