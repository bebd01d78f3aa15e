"""Transpose a matrix tile by tile."""

import cuda.tile as ct
import numpy as np


@ct.kernel
def transpose_kernel(x, out, tm: ct.Constant[int], tn: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(out, (j, i), ct.transpose(ct.load(x, (i, j), (tm, tn))))


def transpose(x, tm=32, tn=64):
    out = np.empty(x.shape[::-1], x.dtype)
    grid = (ct.cdiv(x.shape[0], tm), ct.cdiv(x.shape[1], tn))
    ct.launch(None, grid, transpose_kernel, (x, out, tm, tn))
    return out


def main():
    x = np.arange(100 * 150, dtype=np.int32).reshape(100, 150)
    np.testing.assert_array_equal(transpose(x), x.T)
    np.testing.assert_array_equal(transpose(x[::2, 1:-1]), x[::2, 1:-1].T)
    print("transpose: 100 x 150 and a strided part of it agree with NumPy")


if __name__ == "__main__":
    main()
