"""SAXPY and a histogram on cupy's arrays, with streams, events and the memory pool."""

import cuda.tile as ct
import cupy as cp
import numpy as np

TILE = 1024


@ct.kernel
def saxpy(a, x, y, out, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=a * ct.load(x, (i,), (TILE,)) + ct.load(y, (i,), (TILE,)))


@ct.kernel
def histogram(values, counts, TILE: ct.Constant[int]):
    found = ct.load(values, (ct.bid(0),), (TILE,))
    ct.atomic_add(counts, found, 1)


def main():
    properties = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    print(properties["name"].decode(), cp.cuda.runtime.runtimeGetVersion(), cp.cuda.Device().compute_capability)
    pool = cp.get_default_memory_pool()
    cp.random.seed(0)
    x, y = cp.random.rand(1 << 16, dtype=cp.float32), cp.random.standard_normal(1 << 16, dtype=cp.float32)
    out = cp.empty_like(x)
    assert x.data.ptr != out.data.ptr
    grid = (ct.cdiv(x.size, TILE), 1, 1)
    with cp.cuda.Stream(non_blocking=True) as stream:
        ct.launch(stream, grid, saxpy, (2.5, x, y, out, TILE))
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record(stream)
        for _ in range(10):
            ct.launch(stream, grid, saxpy, (2.5, x, y, out, TILE))
        end.record(stream)
        end.synchronize()
    print(f"saxpy: {cp.cuda.get_elapsed_time(begin, end) / 10:.3f} ms")
    cp.testing.assert_allclose(out, 2.5 * x + y, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(cp.asnumpy(out), 2.5 * x.get() + y.get(), rtol=1e-5, atol=1e-5)
    error = cp.abs(out - (2.5 * x + y)).max()
    print(f"largest error {float(error):.2e} of mean {cp.mean(out).item():.3f}")

    values = cp.random.randint(0, 16, 1 << 14, dtype=cp.int32)
    counts = cp.zeros(16, dtype=cp.int32)
    ct.launch(cp.cuda.get_current_stream(), (values.size // TILE,), histogram, (values, counts, TILE))
    cp.cuda.Stream.null.synchronize()
    assert (counts == cp.bincount(values, minlength=16)).all()
    pool.free_all_blocks()
    print(f"pool: {pool.used_bytes()} bytes")


if __name__ == "__main__":
    main()
