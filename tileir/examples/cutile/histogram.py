"""A histogram by atomic additions: many blocks count into one array."""

import cuda.tile as ct
import numpy as np

TILE = 256


@ct.kernel
def histogram_kernel(values, counts, low, width, bins: ct.Constant[int], tile: ct.Constant[int]):
    at = ct.bid(0) * tile + ct.arange(tile, dtype=ct.int32)
    t = ct.gather(values, at, padding_value=low)
    chosen = ct.floor((t - low) / width).astype(ct.int32)
    # Where there is no value, the index is one that does not exist, which adds nothing.
    chosen = ct.where(at < values.shape[0], ct.minimum(ct.maximum(chosen, 0), bins - 1), bins)
    ct.atomic_add(counts, chosen, 1)


def histogram(values, low, high, bins):
    counts = np.zeros(bins, np.int32)
    grid = (ct.cdiv(len(values), TILE),)
    ct.launch(None, grid, histogram_kernel, (values, counts, low, (high - low) / bins, bins, TILE))
    return counts


def main():
    values = np.random.default_rng(0).integers(0, 32, 3000).astype(np.float32)
    np.testing.assert_array_equal(histogram(values, 0.0, 32.0, 32), np.histogram(values, 32, (0, 32))[0])
    print("histogram: 3000 values in 32 bins agree with NumPy")


if __name__ == "__main__":
    main()
