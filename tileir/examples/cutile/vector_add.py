"""Add two vectors of any length: NumPy arrays, a tile of 256 elements to a block."""

import cuda.tile as ct
import numpy as np

TILE = 256


@ct.kernel
def vector_add(a, b, out, tile: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(a, (i,), (tile,)) + ct.load(b, (i,), (tile,)))


def add(a, b):
    out = np.empty_like(a)
    ct.launch(None, (ct.cdiv(len(a), TILE),), vector_add, (a, b, out, TILE))
    return out


def main():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 1000)).astype(np.float32)
    np.testing.assert_array_equal(add(a, b), a + b)
    print("vector_add: 1000 elements agree with NumPy")


if __name__ == "__main__":
    main()
