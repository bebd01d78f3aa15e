"""RMS normalisation by blocks that stay: each takes every so many rows, with the width as a static shape."""

from typing import Annotated

import cuda.tile as ct
import torch

STREAM = torch.cuda.current_stream() if torch.cuda.is_available() else 0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
FixedWidth = Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(1,))]


@ct.kernel(occupancy=2)
def rms_norm_kernel(x: FixedWidth, weight, out, epsilon):
    width = x.shape[1]
    scale = ct.load(weight, (0,), (width,)).astype(ct.float32)
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        t = ct.load(x, (row, 0), (1, width)).astype(ct.float32)
        mean_square = ct.sum(t * t, axis=1, keepdims=True) / width
        ct.store(out, (row, 0), (t * ct.rsqrt(mean_square + epsilon) * scale).astype(out.dtype))


def rms_norm(x, weight, epsilon=1e-6, blocks=8):
    out = torch.empty_like(x)
    ct.launch(STREAM, (blocks,), rms_norm_kernel, (x, weight, out, epsilon))
    return out


def main():
    torch.manual_seed(0)
    x = torch.randn(50, 256, device=DEVICE).half()
    weight = torch.randn(256, device=DEVICE).half()
    expected = torch.nn.functional.rms_norm(x.float(), (256,), weight.float(), eps=1e-6).half()
    torch.testing.assert_close(rms_norm(x, weight), expected, rtol=1e-3, atol=1e-3)
    print("rms_norm: 50 rows of 256 agree with torch")


if __name__ == "__main__":
    main()
