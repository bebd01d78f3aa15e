"""`ct.launch` on a target: arguments of every kind, specialisation, and the switch itself."""

import inspect
import threading
import time
from dataclasses import dataclass
from typing import Annotated

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

import cuda.tile as ct
from cuda.tile import launch as launch_by_name

from tileir import UnsupportedError, cutile
from tileir.cutile.arrays import ArrayLayouts, shared
from tileir.cutile.errors import Place
from tileir.runtime.arrays import described


@pytest.fixture(params=["interp", "cpu"], autouse=True, scope="module")
def target(request):
    with cutile.on(request.param):
        yield request.param


@ct.kernel
def double(x, out, n: ct.Constant[int]):
    ct.store(out, (ct.bid(0),), ct.load(x, (ct.bid(0),), (n,)) * 2)


@ct.kernel
def double_rows(x, out):
    ct.store(out, (ct.bid(0), 0), ct.load(x, (ct.bid(0), 0), (1, 8)) * 2)


def specialisations(kernel) -> int:
    return sum(len(made._made) for made in vars(kernel)["_tileir_specialisations"].values())


DTYPES = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, np.int8, np.int16, np.int32, np.int64]
DTYPES += [np.uint8, np.uint16, np.uint32, np.uint64]


class TestArrays:
    @pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
    def test_numpy_and_ml_dtypes(self, dtype):
        x = np.arange(16).astype(dtype)
        out = np.zeros_like(x)
        ct.launch(None, (1,), double, (x, out, 16))
        np.testing.assert_array_equal(out, x * dtype(2))

    def test_eight_bit_floats_go_through(self):
        @ct.kernel
        def copy(x, out):
            ct.store(out, (0,), ct.load(x, (0,), (16,)).astype(ct.float32))

        for dtype in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
            x, out = np.arange(16).astype(dtype), np.zeros(16, np.float32)
            ct.launch(None, (1,), copy, (x, out))
            np.testing.assert_array_equal(out, x.astype(np.float32))

    def test_torch_tensors(self):
        torch = pytest.importorskip("torch", reason="needs torch")
        for dtype in (torch.float32, torch.bfloat16, torch.int64):
            x = torch.arange(32).to(dtype)
            out = torch.zeros_like(x)
            ct.launch(0, (2,), double, (x, out, 16))
            assert torch.equal(out, x * 2)

    def test_anything_with_dlpack_on_the_cpu(self):
        class Lent:
            def __init__(self, array):
                self._array = array

            def __dlpack__(self, **options):
                return self._array.__dlpack__()

            def __dlpack_device__(self):
                return self._array.__dlpack_device__()

        x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
        ct.launch(None, (1,), double, (Lent(x), Lent(out), 16))
        np.testing.assert_array_equal(out, x * 2)

    def test_strided_parts_and_transposed_views(self):
        whole, out = np.arange(256, dtype=np.float32).reshape(16, 16), np.zeros((8, 8), np.float32)
        for x in (whole[::2, ::2], whole[1:9, 3:11].T, np.asfortranarray(whole[:8, :8])):
            ct.launch(None, (8,), double_rows, (x, out))
            np.testing.assert_array_equal(out, x * 2)
            back = np.zeros((16, 16), np.float32)[::2, ::2]
            ct.launch(None, (8,), double_rows, (x, back))
            np.testing.assert_array_equal(back, x * 2)

    @pytest.mark.filterwarnings("ignore:.*the (dynamic extent|index of dimension)")
    def test_arrays_of_no_elements(self):
        @ct.kernel
        def total(x, out):
            t = ct.load(x, (0,), (16,), padding_mode=ct.PaddingMode.ZERO)
            ct.store(out, (0,), ct.full((1,), ct.sum(t) + x.shape[0], ct.float32))

        out = np.ones(1, np.float32)
        ct.launch(None, (1,), total, (np.zeros(0, np.float32), out))
        assert out[0] == 0

    def test_arrays_of_rank_zero(self):
        @ct.kernel
        def add_one(x):
            ct.scatter(x, (), ct.gather(x, ()) + 1)

        x = np.array(3.0, np.float32)
        ct.launch(None, (1,), add_one, (x,))
        assert x == 4

    def test_an_array_at_an_odd_address_is_another_specialisation(self):
        @ct.kernel
        def fresh(x, out):
            ct.store(out, (0,), ct.load(x, (0,), (16,)) + 1)

        memory = np.arange(64, dtype=np.float32)
        memory = memory[-(memory.ctypes.data // 4) % 4 :]
        out = np.zeros(16, np.float32)
        for x in (memory[:32], memory[16:48], memory[1:33], memory[:31]):
            ct.launch(None, (1,), fresh, (x, out))
            np.testing.assert_array_equal(out, x[:16] + 1)
        assert specialisations(fresh) == 3  # aligned, at an odd address, of an odd length

    def test_an_axis_of_one_element_may_have_any_stride(self):
        @ct.kernel
        def squeezed(x, y, out):
            t = ct.load(x, (0, 0, 0), (4, 1, 4)).reshape((4, 4)) + ct.load(y, (0, 0), (4, 1))
            ct.store(out, (0, 0), t)

        whole, out = np.arange(60, dtype=np.float32).reshape(4, 3, 5), np.zeros((4, 4), np.float32)
        x, y = whole[:, 1:2, :4], whole[:, 0, :1]
        ct.launch(None, (1,), squeezed, (x, y, out))
        np.testing.assert_array_equal(out, x[:, 0] + y)

    def test_only_what_the_library_compiles_for_makes_another_kernel(self):
        pytest.importorskip("cuda.tile", "1.6", reason="static strides and kernels for extents of 1 came with 1.6")

        @ct.kernel
        def first_stride(x: Annotated[ct.Array, ct.ArrayAnnotation(static_stride_dims=(0,))]):
            ct.store(x, (0, 0), ct.full((1, 1), x.strides[0], x.dtype))

        wide = np.zeros((16, 64), np.float32)
        for x in (wide[:, :16], wide[:, :32:2]):
            ct.launch(None, (1,), first_stride, (x,))
            assert x[0, 0] == 64
        assert specialisations(first_stride) == 1  # whatever the other stride is
        for x in (wide[:1, :16], np.zeros((16, 16), np.float32)):
            ct.launch(None, (1,), first_stride, (x,))
        assert specialisations(first_stride) == 3  # an extent of 1, another stride

    def test_one_array_in_two_places(self):
        @ct.kernel
        def shift(x, y):
            for i in range(4):
                ct.store(y, (i,), ct.load(x, (i,), (4,)) + 1)

        x = np.zeros(20, np.float32)
        ct.launch(None, (1,), shift, (x[:16], x[4:]))
        np.testing.assert_array_equal(x, np.repeat([0, 1, 2, 3, 4], 4))

    def test_what_is_no_array_is_refused_by_name(self):
        out = np.zeros(16, np.float32)
        with pytest.raises(TypeError, match=r"kernel 'double', argument 'x': expected a number.*got NoneType"):
            ct.launch(None, (1,), double, (None, out, 16))
        with pytest.raises(TypeError, match="argument 'x': expected an array of an element type that cuTile"):
            ct.launch(None, (1,), double, (np.zeros(16, complex), out, 16))
        with pytest.raises(
            ValueError, match=r"argument 'out': expected a writable array, as 'store_view_tko' at .*py:"
        ):
            ct.launch(None, (1,), double, (out, np.broadcast_to(out[:1], 16), 16))
        with pytest.raises(ValueError, match="argument 'x': expected an array without negative strides"):
            ct.launch(None, (1,), double, (out[::-1], out, 16))

    def test_a_number_with_code_of_its_own_counts_as_the_number_that_it_is(self):
        class Resizing(int):
            def __int__(self):
                x.resize(1 << 20, refcheck=False)
                return 7

        @ct.kernel
        def fill(x, n):
            ct.store(x, (0,), ct.full((4,), n, ct.int32))

        x = np.zeros(4, np.int32)
        ct.launch(None, (1,), fill, (x, Resizing(5)))
        assert x.tolist() == [5] * 4

    def test_a_tensor_whose_storage_was_freed_is_refused_by_name(self):
        torch = pytest.importorskip("torch", reason="torch is not installed")
        out, x = np.zeros(16, np.float32), torch.zeros(16)
        for _ in range(3):
            ct.launch(None, (1,), double, (x, out, 16))
        x.untyped_storage().resize_(0)
        with pytest.raises(
            ValueError, match="argument 'x': expected an array whose memory is there, got one whose storage"
        ):
            ct.launch(None, (1,), double, (x, out, 16))

    def test_a_tensor_that_torch_negates_when_it_is_read_is_refused_by_name(self):
        torch = pytest.importorskip("torch", reason="torch is not installed")
        out = np.zeros(16, np.float32)
        with pytest.raises(TypeError, match=r"argument 'x': expected .* \(pass x.resolve_neg\(\)\)"):
            ct.launch(None, (1,), double, (torch._neg_view(torch.zeros(16)), out, 16))


class TestReadOnlyArrays:
    def test_they_are_taken_where_the_kernel_writes_nothing(self):
        out = np.zeros(16, np.float32)
        ct.launch(None, (1,), double, (np.frombuffer(np.full(16, 3, np.float32).tobytes(), np.float32), out, 16))
        assert (out == 6).all()

    def test_in_a_list_they_are_taken_where_no_array_of_a_list_is_written(self):
        @ct.kernel
        def total(arrays, out):
            ct.store(out, (0,), ct.load(arrays[0], (0,), (4,)) + ct.load(arrays[1], (0,), (4,)))

        @ct.kernel
        def clear(arrays):
            ct.store(arrays[0], (0,), ct.zeros((4,), ct.float32))

        out, read = np.zeros(4, np.float32), np.ones(4, np.float32)
        read.flags.writeable = False
        ct.launch(None, (1,), total, ([read, np.ones(4, np.float32)], out))
        assert out.tolist() == [2, 2, 2, 2]
        with pytest.raises(ValueError, match=r"argument 'arrays': expected a writable array, as 'store_view_tko' at"):
            ct.launch(None, (1,), clear, ([out, read],))


class TestOtherArguments:
    def test_numbers(self):
        @ct.kernel
        def numbers(out, a, b, c, wide: ct.ScalarInt64):
            ct.store(out, (0,), ct.full((1,), a + b, ct.float64))
            ct.store(out, (1,), ct.full((1,), c, ct.float64))
            ct.store(out, (2,), ct.full((1,), wide, ct.float64))

        out = np.zeros(3)
        ct.launch(None, (1,), numbers, (out, 3, 2.5, True, 1 << 40))
        np.testing.assert_array_equal(out, [5.5, 1, 1 << 40])
        with pytest.raises(OverflowError, match=r"argument 'a': expected an integer that fits int32 \(ct.ScalarInt64"):
            ct.launch(None, (1,), numbers, (out, 1 << 31, 2.5, True, 0))
        with pytest.raises(TypeError, match=r"argument 'a': expected a number.*got numpy.int32"):
            ct.launch(None, (1,), numbers, (out, np.int32(1), 2.5, True, 0))

    def test_constants_of_different_type_are_different_kernels(self):
        @ct.kernel
        def constant(out, k: ct.Constant):
            ct.store(out, (0,), ct.full((1,), k, ct.float32))

        out = np.zeros(1, np.float32)
        for value in (1, True, 1.0, 2, float("nan"), float("nan"), -0.0, 0.0):
            ct.launch(None, (1,), constant, (out, value))
            np.testing.assert_array_equal(out, np.float32(value))
        assert specialisations(constant) == 7
        with pytest.raises(TypeError, match="argument 'k': expected a constant"):
            ct.launch(None, (1,), constant, (out, out))

    def test_lists_of_arrays(self):
        @ct.kernel
        def sums(xs, out):
            total = ct.zeros((4, 4), ct.float32)
            for i in range(len(xs)):
                total += ct.load(xs[i], (0, 0), (4, 4))
            ct.store(out, (0, 0), total)

        memory = np.arange(100, dtype=np.float32).reshape(10, 10)
        out = np.zeros((4, 4), np.float32)
        for xs in ([memory[:4, :4]], [memory[2:6, 1:5], memory[:8:2, 2:6].copy(), memory[:4, :4].T]):
            ct.launch(None, (1,), sums, (xs, out))
            np.testing.assert_array_equal(out, sum(xs))
        for size, begin in ((4, 0), (4, 1), (4, 0), (5, 0), (4, 2)):  # plain ones, of the same layouts and of others
            xs = [one[begin:][: size * size].reshape(size, size) for one in (memory.ravel() * 2, memory.ravel() + size)]
            ct.launch(None, (1,), sums, (xs, out))
            np.testing.assert_array_equal(out, (xs[0] + xs[1])[:4, :4])
        with pytest.raises(TypeError, match="argument 'xs': expected a list of at least one array"):
            ct.launch(None, (1,), sums, ([], out))
        with pytest.raises(TypeError, match=r"^Arrays in list vary in rank .*argument 'xs'"):
            ct.launch(None, (1,), sums, ([memory, memory[0]], out))

    def test_products_of_lists_whose_results_are_factors_later(self):
        @ct.kernel
        def chain(left, right, out, size: ct.Constant[int]):
            for number in range(len(left)):
                a, b, c = left[number], right[number], out[number]
                for i in range(ct.num_tiles(c, 0, (size, size))):
                    for j in range(ct.num_tiles(c, 1, (size, size))):
                        total = ct.zeros((size, size), ct.float32)
                        for k in range(ct.num_tiles(a, 1, (size, size))):
                            x, y = ct.load(a, (i, k), (size, size)), ct.load(b, (k, j), (size, size))
                            total = ct.mma(x, y, total)
                        ct.store(c, (i, j), total)

        a, b = np.random.default_rng(0).integers(-1, 2, (2, 96, 96)).astype(np.float32)
        c, d = np.zeros((2, 96, 96), np.float32)
        first = a.copy()
        ct.launch(None, (1,), chain, ([a, c, a], [b, b, b], [c, a, d], 32))
        np.testing.assert_array_equal(c, first @ b)
        np.testing.assert_array_equal(a, c @ b)
        np.testing.assert_array_equal(d, a @ b)

    @pytest.mark.parametrize("order", ["rows", "columns", "pairs of rows"])
    def test_products_of_a_block_that_walks_over_tiles(self, order):
        @ct.kernel
        def walk(a, b, c, size: ct.Constant[int], height: ct.Constant[int]):
            across = ct.num_tiles(c, 1, (size, size))
            for number in range(ct.num_tiles(c, 0, (size, size)) * across):
                band, within = number // (height * across), number % (height * across)
                i, j = band * height + within % height, within // height
                total = ct.zeros((size, size), ct.float32)
                for k in range(ct.num_tiles(a, 1, (size, size))):
                    x, y = ct.load(a, (i, k), (size, size)), ct.load(b, (k, j), (size, size))
                    total = ct.mma(x, y, total)
                ct.store(c, (i, j), total)

        numbers = np.random.default_rng(0).integers(-1, 2, (2, 512, 128)).astype(np.float32)
        a, b = np.ascontiguousarray(numbers[0].T), numbers[1]
        for _ in range(2):
            c = np.zeros((128, 128), np.float32)
            ct.launch(None, (1,), walk, (a, b, c, 32, {"rows": 1, "columns": 4, "pairs of rows": 2}[order]))
            np.testing.assert_array_equal(c, a @ b)
            a[40:] += 1

    def test_tuples_of_anything_and_tuples_by_annotation(self):
        @ct.kernel
        def mixed(inputs, shape: ct.Constant, pairs: tuple[ct.Constant[int], ct.Array], out):
            x, factor, (y,) = inputs
            n, z = pairs
            t = ct.load(x, (0,), shape) * factor + ct.load(y, (0,), shape) * n + ct.load(z, (0,), shape)
            ct.store(out, (0,), t)

        x, y, z = np.random.default_rng(0).random((3, 16)).astype(np.float32)
        out = np.zeros(16, np.float32)
        ct.launch(None, (1,), mixed, ((x, 2.0, (y,)), (16,), (3, z), out))
        np.testing.assert_allclose(out, x * 2 + y * 3 + z, rtol=1e-6)
        with pytest.raises(TypeError, match=r"argument 'pairs': expected a tuple of 2 items, got one of 3"):
            ct.launch(None, (1,), mixed, ((x, 2.0, (y,)), (16,), (3, z, 1), out))
        with pytest.raises(TypeError, match=r"argument 'shape\[0\]': expected a constant"):
            ct.launch(None, (1,), mixed, ((x, 2.0, (y,)), (x,), (3, z), out))

    def test_static_shapes_and_strides_and_wide_indices(self):
        pytest.importorskip("cuda.tile", "1.6", reason="static strides came with cuda-tile 1.6")
        Fixed = Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0,), static_stride_dims=(0, -1))]

        @ct.kernel
        def fixed(x: Fixed, y: ct.IndexedWithInt64[ct.Array]):
            ct.static_assert(x.shape[0] == 8 and x.strides == (16, 2))
            ct.store(y, (0, 0), ct.load(x, (0, 0), (x.shape[0], 8)))

        x, y = np.arange(128, dtype=np.float32).reshape(8, 16), np.zeros((8, 8), np.float32)
        ct.launch(None, (1,), fixed, (x[:, ::2], y))
        np.testing.assert_array_equal(y, x[:, ::2])

    def test_dataclasses_and_defaults_inside_a_kernel(self):
        @dataclass(frozen=True)
        class Affine:
            factor: int
            offset: int = 1

        def applied(t, affine, again=False):
            t = t * affine.factor + affine.offset
            return t + t if again else t

        @ct.kernel
        def by_dataclass(x, factor):
            t = ct.load(x, (0,), (8,))
            ct.store(x, (0,), applied(t, Affine(factor=factor), again=True))

        x = np.arange(8, dtype=np.int32)
        ct.launch(None, (1,), by_dataclass, (x, 3))
        np.testing.assert_array_equal(x, 2 * (np.arange(8) * 3 + 1))
        with pytest.raises(TypeError, match="argument 'factor': expected a number"):
            ct.launch(None, (1,), by_dataclass, (x, Affine(1)))

    def test_the_number_of_arguments_and_the_grid(self):
        x = np.zeros(16, np.float32)
        with pytest.raises(TypeError, match=r"^Kernel expects 3 arguments but 2 were given \(kernel 'double'"):
            ct.launch(None, (1,), double, (x, x))
        with pytest.raises(TypeError, match="expects a tuple as the fourth argument, got list"):
            ct.launch(None, (1,), double, [x, x, 16])
        with pytest.raises(TypeError, match=r"^Grid must be a tuple .*expected a tuple as the grid, got int"):
            ct.launch(None, 1, double, (x, x, 16))
        with pytest.raises(ValueError, match=r"^Grid dimensions must be at most 3, got length 4"):
            ct.launch(None, (1, 1, 1, 1), double, (x, x, 16))
        with pytest.raises(TypeError, match="expects a tile kernel as the third argument, got function"):
            ct.launch(None, (1,), lambda: None, ())
        ct.launch(None, (), double, (x, x, 16))


class TestSpecialisation:
    def test_a_second_launch_compiles_nothing(self):
        @ct.kernel
        def fresh(x, n: ct.Constant[int]):
            ct.store(x, (0,), ct.full((n,), 1, x.dtype))

        for dtype in (np.float32, np.int32):
            for n in (8, 16):
                for _ in range(3):
                    ct.launch(None, (1,), fresh, (np.zeros(16, dtype), n))
        assert specialisations(fresh) == 4

    def test_targets_keep_their_kernels_apart(self, target):
        @ct.kernel
        def fresh(x):
            ct.store(x, (0,), ct.load(x, (0,), (16,)) + 1)

        x = np.zeros(16, np.float32)
        for _ in range(2):
            for name in ("interp", "cpu"):
                with cutile.on(name):
                    ct.launch(None, (1,), fresh, (x,))
        assert specialisations(fresh) == 2 and x[0] == 4

    def test_hints_and_their_values_by_target_make_no_difference(self):
        @ct.kernel(num_ctas=ct.ByTarget(sm_100=2, default=1), occupancy=4, opt_level=2)
        def hinted(x):
            ct.store(x, (0,), ct.load(x, (0,), (16,), latency=3, allow_tma=False) + 1)

        x = np.zeros(16, np.float32)
        ct.launch(None, (1,), hinted, (x,))
        ct.launch(None, (1,), hinted.replace_hints(occupancy=8), (x,))
        assert x[0] == 2

    def test_tuning_finds_the_best_of_the_search_space(self):
        x = np.arange(64, dtype=np.float32)
        out = np.zeros_like(x)
        result = ct.tune.exhaustive_search(
            [16, 32, 24],
            0,
            lambda n: (ct.cdiv(64, n),),
            double,
            lambda n: (x, out, n),
            lambda n: {"occupancy": 2},
            quiet=True,
            single_run_timeout_sec=60,
        )
        assert result.best.config in (16, 32) and result.best.mean_us > 0
        assert [config for config, _, _ in result.failures] == [24]  # no power of two
        np.testing.assert_array_equal(out, x * 2)

    def test_an_endless_configuration_is_skipped_when_its_time_is_up(self):
        @ct.kernel
        def counts(x, step: ct.Constant[int]):
            n = 0
            while n < 8:
                n += step
            ct.store(x, (0,), ct.full((1,), n, ct.int32))

        def search(*space):
            return ct.tune.exhaustive_search(
                space, 0, lambda step: (1,), counts, lambda step: (x, step), quiet=True, single_run_timeout_sec=0.2
            )

        x = np.zeros(1, np.int32)
        found = search(0, 4)
        assert found.best.config == 4 and x[0] == 8
        ((config, kind, text),) = found.failures
        # cuda-tile 1.5 gives the name of the kind.
        assert (config, getattr(kind, "__name__", kind)) == (0, "TileLaunchTimeoutError")
        assert text == "CUDA kernel launch exceeded timeout 0.2 sec"
        with pytest.raises(ValueError, match=r"No valid config found.*\n.*\nTileLaunchTimeoutError: "):
            search(0)

    def test_configurations_that_differ_only_in_hints_are_measured_once(self, target, capsys):
        launched = []

        def arguments(config):
            launched.append(config)
            return x, np.zeros_like(x), config[0]

        x = np.arange(64, dtype=np.float32)
        space = [(size, ctas) for size in (16, 24, 32) for ctas in (1, 2)]
        found = ct.tune.exhaustive_search(
            space, 0, lambda one: (ct.cdiv(64, one[0]),), double, arguments, lambda one: {"num_ctas": one[1]}
        )
        assert {measure.config for measure in found.successes} == {one for one in space if one[0] != 24}
        assert [config for config, *_ in found.failures] == [(24, 1), (24, 2)]
        assert len({measure.mean_us for measure in found.successes}) == 2
        assert [launched.count((size, 2)) for size in (16, 32)] == [1, 1]  # to see what it does
        text = capsys.readouterr().err
        assert text.startswith("tileir: cuda.tile.tune on this machine: 0.5 s for each configuration instead of 5 s")
        assert text.endswith("of 6 configurations 3 differ in more than hints, which have no effect here\n")

    def test_a_timed_run_gives_its_wall_time_too(self, target):
        from cuda.tile.tune import _tune_utils

        x = np.arange(64, dtype=np.float32)
        more = () if len(inspect.signature(_tune_utils.benchmark_with_timeout).parameters) == 5 else (False,)
        launch = (0, (4,), double, (x, np.zeros_like(x), 16), 60.0, *more)
        microseconds, seconds = _tune_utils.benchmark_with_timeout(*launch)
        assert 0 < microseconds / 1e6 <= seconds

    def test_a_launch_costs_little(self, target):
        """Generous: bench/cutile.py measures it."""
        x, out = np.zeros(16, np.float32), np.zeros(16, np.float32)
        ct.launch(None, (1,), double, (x, out, 16))
        shortest = min(_seconds(lambda: ct.launch(None, (1,), double, (x, out, 16))) for _ in range(200))
        assert shortest < (300e-6 if target == "cpu" else 20e-3)


def _seconds(action) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


class TestTheSwitch:
    def test_names_imported_before_follow_and_come_back(self, target):
        import cuda.tile._cext as library

        assert launch_by_name is not library._benchmark
        x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
        globals()["launch_by_name"](None, (1,), double, (x, out, 16))
        np.testing.assert_array_equal(out, x * 2)
        assert ct.launch is library.launch is globals()["launch_by_name"]
        assert cutile.enabled() == target

    def test_blocks_nest(self, target):
        other = "cpu" if target == "interp" else "interp"
        with cutile.on(other):
            assert cutile.enabled() == other
            cutile.disable()
            assert cutile.enabled() is None and type(ct.launch).__name__ == "builtin_function_or_method"
        assert cutile.enabled() == target

    def test_options_reach_the_target(self):
        @ct.kernel
        def say(x):
            ct.printf("%d", ct.load(x, (0,), (1,)).item())

        heard: list[str] = []
        with cutile.on("interp", output=heard.append):
            ct.launch(None, (1,), say, (np.array([7], np.int32),))
        assert "".join(heard) == "7"

    def test_an_unknown_target_is_refused_and_changes_nothing(self, target):
        with pytest.raises(UnsupportedError, match="no such target"):
            cutile.enable("abacus")
        assert cutile.enabled() == target

    def test_arrays_of_a_gpu_go_to_the_library_unless_told_otherwise(self, target):
        class OnGpu:
            __cuda_array_interface__ = {"shape": (16,), "typestr": "<f4", "data": (1 << 20, False), "version": 3}

        with pytest.raises(Exception, match=r"libcuda|NVIDIA|driver|CUDA"):
            ct.launch(0, (1,), double, (OnGpu(), OnGpu(), 16))
        with (
            cutile.on(target, gpu=False),
            pytest.raises(ValueError, match="in the memory of this machine"),
        ):
            ct.launch(0, (1,), double, (OnGpu(), OnGpu(), 16))


def test_memory_that_two_arguments_share_is_found(target):
    assert shared([(0, 8, 1), (8, 16, 2), (16, 24, 3)]) == frozenset()
    assert shared([(0, 16, 1), (2, 4, 2), (8, 12, 3), (20, 30, 4)]) == {1, 2, 3}
    assert shared([(0, 16, 1), (0, 16, 1), (4, 4, 2)]) == frozenset()


def test_layouts_do_not_fill_the_memory(target, monkeypatch):
    monkeypatch.setattr(ArrayLayouts, "LIMIT", 4)
    layouts = ArrayLayouts(Place("k", "x", "kernel argument #0"), None, for_one=True)
    for n in range(20):
        layouts.of(described(np.zeros(n + 1, np.float32)))
    assert len(layouts._found) <= 4


def test_other_threads_launch_here_while_the_target_is_switched():
    faults, done = [], threading.Event()

    def launches():
        out = np.zeros(8, np.float32)
        while not done.is_set() and not faults:
            try:
                ct.launch(0, (1,), double, (np.ones(8, np.float32), out, 8))
            except OSError as error:  # the library looks for a driver
                faults.append(error)

    thread = threading.Thread(target=launches)
    thread.start()
    for _ in range(30):
        with cutile.on("interp"):
            pass
    done.set()
    thread.join()
    assert not faults
