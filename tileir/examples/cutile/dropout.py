"""Dropout with random numbers made in the kernel: a hash of seed and position, the same on every machine."""

import cuda.tile as ct
import numpy as np

TILE = 128


@ct.function
def hashed(position, seed):
    """Return A 32-bit hash with good avalanche (two multiplications, three shifts)."""
    h = position ^ seed
    h = (h ^ (h >> 16)) * ct.uint32(0x7FEB352D)
    h = (h ^ (h >> 15)) * ct.uint32(0x846CA68B)
    return h ^ (h >> 16)


@ct.kernel
def dropout_kernel(x, out, seed, p, tile: ct.Constant[int]):
    i = ct.bid(0)
    position = (i * tile + ct.arange(tile, dtype=ct.int32)).astype(ct.uint32)
    uniform = (hashed(position, ct.astype(seed, ct.uint32)) >> 8).astype(ct.float32) * (1.0 / (1 << 24))
    t = ct.load(x, (i,), (tile,))
    ct.store(out, (i,), ct.where(uniform >= p, t / (1.0 - p), 0.0))


def dropout(x, p, seed):
    out = np.empty_like(x)
    ct.launch(None, (ct.cdiv(len(x), TILE),), dropout_kernel, (x, out, seed, p, TILE))
    return out


def expected(x, p, seed):
    h = np.arange(len(x), dtype=np.uint32) ^ np.uint32(seed)
    h = (h ^ (h >> 16)) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> 15)) * np.uint32(0x846CA68B)
    uniform = ((h ^ (h >> 16)) >> 8).astype(np.float32) / (1 << 24)
    return np.where(uniform >= np.float32(p), x / (np.float32(1) - np.float32(p)), np.float32(0))


def main():
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    out = dropout(x, 0.25, seed=1234)
    np.testing.assert_allclose(out, expected(x, 0.25, 1234), rtol=1e-6)
    print(f"dropout: {np.mean(out == 0):.1%} of 1000 elements dropped, the same ones as with NumPy")


if __name__ == "__main__":
    main()
