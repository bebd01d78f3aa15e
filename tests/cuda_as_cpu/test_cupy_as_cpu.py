"""The stand-in for cupy, as scripts use cupy."""

import numpy as np
import pytest

from tileir.cuda_as_cpu.cupy_module import cupy
from tileir.cuda_as_cpu.timing import Stream
from tileir.ir.diagnostics import UnsupportedError

MODULES = cupy()
cp = MODULES["cupy"]


def test_arrays_are_cupys_also_as_sums_and_elements():
    x = cp.arange(6, dtype=cp.float32).reshape(2, 3)
    made = [x @ x.T, x.sum(), x.mean(), x[0], x[0, 0], cp.sum(x), cp.exp(x), *cp.meshgrid(x[0], x[1]), x.argmax()]
    made += [cp.linalg.svd(x).S, cp.fft.fft(x), cp.add.reduce(x), cp.random.randn(2), *x.max(axis=1)]
    assert [type(one) for one in made] == [cp.ndarray] * len(made)
    assert type(x.sum().get()) is np.ndarray and x.sum().item() == float(x.sum()) == 15 and f"{x.mean():.1f}" == "2.5"
    assert type(cp.asnumpy(x)) is np.ndarray and not np.shares_memory(cp.asnumpy(x), x)
    assert str(x[0]) == "[0. 1. 2.]"
    assert [cp.get_array_module(one) for one in (x, x.get())] == [cp, np]
    assert not isinstance(x.get(), cp.ndarray)
    x.set(np.ones((2, 3)))
    cp.testing.assert_array_equal(x, np.ones((2, 3)))


@pytest.mark.parametrize("name", ["randn", "rand", "random", "standard_normal", "normal", "uniform"])
def test_random_numbers_have_the_type_that_is_asked_for(name):
    arguments = {"normal": (0.0, 1.0, 5), "uniform": (0.0, 1.0, 5)}.get(name, (5,))
    assert getattr(cp.random, name)(*arguments, dtype=cp.float32).dtype == np.float32
    assert getattr(cp.random, name)(*arguments).dtype == np.float64
    generator = cp.random.RandomState(3)
    if hasattr(generator, name):
        assert type(getattr(generator, name)(*arguments, dtype=cp.float32)) is cp.ndarray


def test_generators_repeat_and_integers_keep_their_type():
    first, second = (cp.random.default_rng(7).standard_normal(4, dtype=cp.float32) for _ in range(2))
    assert (first == second).all() and first.dtype == np.float32
    assert cp.random.randint(0, 9, 4, dtype=np.int32).dtype == np.int32


def test_memory_has_addresses_and_pools():
    x = cp.zeros(3)
    assert x.data.ptr == x.ctypes.data and x.device == cp.cuda.Device(0)
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    assert pool is cp.get_default_memory_pool() and pool.used_bytes() == pool.total_bytes() == 0
    cp.get_default_pinned_memory_pool().free_all_blocks()
    cp.cuda.set_allocator(cp.cuda.MemoryPool().malloc)
    pinned = np.frombuffer(cp.cuda.alloc_pinned_memory(16), np.float32, 4)
    assert pinned.shape == (4,)


def test_memory_is_shared_through_dlpack():
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(3)
    for shared in (cp.from_dlpack(tensor), cp.fromDlpack(torch.utils.dlpack.to_dlpack(tensor)), cp.asarray(tensor)):
        assert type(shared) is cp.ndarray
        shared += 1
    assert tensor.tolist() == [3, 3, 3]
    assert torch.from_dlpack(cp.ones(3)).tolist() == torch.utils.dlpack.from_dlpack(cp.ones(3).toDlpack()).tolist()


def test_the_runtime_streams_and_events_answer():
    runtime = cp.cuda.runtime
    assert runtime.getDeviceCount() == 1 and runtime.getDeviceProperties(0)["multiProcessorCount"] >= 1
    assert runtime.memGetInfo() == cp.cuda.Device().mem_info and runtime.runtimeGetVersion() >= 12000
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    with cp.cuda.Device(0), cp.cuda.Stream(non_blocking=True) as stream:
        begin.record(stream)
        end.record()
        end.synchronize()
    assert cp.cuda.get_elapsed_time(begin, end) >= 0 and stream.done
    timed = MODULES["cupyx.profiler"].benchmark(cp.sum, (cp.ones(3),), n_repeat=5)
    assert timed.gpu_times.shape == (1, 5) and str(timed).startswith("sum")
    total = cp.zeros(2)
    MODULES["cupyx"].scatter_add(total, cp.array([0, 0, 1]), 1.0)
    assert total.tolist() == [2, 1]


@pytest.mark.parametrize("name", ["ElementwiseKernel", "ReductionKernel", "RawKernel", "RawModule"])
def test_kernels_of_cuda_are_refused_by_name(name):
    with pytest.raises(UnsupportedError, match=rf"cupy\.{name}: its code is CUDA C\+\+"):
        getattr(cp, name)("T x", "T y", "y = x", "copy")


def test_what_cupy_lacks_here_is_said_by_name():
    with pytest.raises(
        AttributeError, match="module 'cupy' has no attribute 'nothing' \\(as CPU it is NumPy's module\\)"
    ):
        _ = cp.nothing
    with pytest.raises(UnsupportedError, match="begin_capture: launches and NumPy's work run at once"):
        Stream().begin_capture()


def test_functions_can_be_fused():
    @cp.fuse()
    def double(x):
        return 2 * x

    assert cp.fuse(double)(cp.ones(2)).tolist() == [2, 2]
