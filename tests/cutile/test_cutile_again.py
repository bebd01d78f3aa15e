"""A kernel is compiled again where anything differs that it is compiled for, and only there."""

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

import cuda.tile as ct

import tileir
from tileir import cutile
from tileir.cutile.cache import Specialisations


@pytest.fixture(autouse=True)
def target():
    with cutile.on("cpu"):
        yield


@pytest.fixture
def compiled(monkeypatch):
    """Return the number of kernels compiled since the last call."""
    count = []
    make = Specialisations._make

    def counted(self, *arguments):
        count.append(arguments)
        return make(self, *arguments)

    monkeypatch.setattr(Specialisations, "_make", counted)
    return lambda: len([count.pop() for _ in range(len(count))])


@ct.kernel
def scaled(x, out, factor, shift, n: ct.Constant[int]):
    ct.store(out, (ct.bid(0),), ct.load(x, (ct.bid(0),), (n,)) * factor + shift)


def arrays(count=16, dtype=np.float32):
    return np.arange(count).astype(dtype), np.zeros(count, dtype)


def launch(x, out, factor=2.0, shift=1, n=16, grid=(1,)):
    ct.launch(None, grid, scaled, (x, out, factor, shift, n))


def test_other_arrays_and_numbers_of_the_same_layout_are_not_compiled_for(compiled):
    launch(*arrays())
    compiled()
    for factor, shift in ((0.1, -3), (1e30, 2**31 - 1), (-0.0, 0)):
        x, out = arrays()
        launch(x, out, factor, shift)
        np.testing.assert_allclose(out, x * np.float32(factor) + np.float32(shift), rtol=1e-6)
    assert compiled() == 0


@pytest.mark.parametrize(
    ("x", "out"),
    [
        (np.arange(20, dtype=np.float32)[1:17], np.zeros(16, np.float32)),
        (np.arange(32, dtype=np.float32)[::2], np.zeros(16, np.float32)),
        (np.arange(12, dtype=np.float32), np.zeros(12, np.float32)),
        (np.arange(16, dtype=np.float32), np.zeros(16, np.float64)),
    ],
    ids=["another alignment", "strides", "another extent", "another type"],
)
def test_arrays_laid_out_otherwise_are_compiled_for(compiled, x, out):
    launch(*arrays())
    compiled()
    launch(x, out)
    assert compiled() == 1
    np.testing.assert_array_equal(out, (x * 2 + 1).astype(out.dtype))


def test_tensors_are_compiled_for_once_with_any_strides(compiled):
    torch = pytest.importorskip("torch", reason="needs torch")
    for x in (torch.arange(16.0), torch.arange(32.0)[::2]):
        for times in range(2):
            out = torch.zeros(16)
            launch(x, out)
            assert torch.equal(out, x * 2 + 1)
            assert compiled() == 0 or times == 0


def test_constants_are_told_apart_by_type(compiled):
    @ct.kernel
    def added(out, one: ct.Constant):
        ct.store(out, (0,), ct.full((4,), 2, ct.float32) + one)

    for constant in (1, True, 1, True, 3):
        out = np.zeros(4, np.float32)
        ct.launch(None, (1,), added, (out, constant))
        np.testing.assert_array_equal(out, np.full(4, 2 + int(constant), np.float32))
    assert compiled() == 3


def test_memory_in_common_is_compiled_for(compiled):
    x, out = arrays()
    launch(x, out)
    compiled()
    launch(x, x)
    assert compiled() == 1
    np.testing.assert_array_equal(x, np.arange(16, dtype=np.float32) * 2 + 1)


def test_layouts_may_alternate(compiled):
    torch = pytest.importorskip("torch", reason="needs torch")
    long = np.arange(20, dtype=np.float32)
    for times in range(3):
        for x in (long[:16], long[1:17], long[:12].copy(), torch.arange(16.0), torch.arange(17.0)[1:]):
            out = np.zeros(len(x), np.float32)
            launch(x, out, 2.0, times)
            np.testing.assert_array_equal(out, np.asarray(x) * 2 + times)
        assert compiled() == 0 or times == 0


def test_arrays_of_narrow_floats_are_compiled_for_once(compiled):
    @ct.kernel
    def copied(x, out):
        ct.store(out, (0,), ct.load(x, (0,), (16,)))

    values = np.arange(16).astype(ml_dtypes.bfloat16)
    for times in range(2):
        out = np.zeros(16, ml_dtypes.bfloat16)
        ct.launch(None, (1,), copied, (values, out))
        np.testing.assert_array_equal(out, values)
        assert compiled() == (times == 0)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        ct.launch(None, (1,), copied, (values, out))


def test_memory_in_common_is_found_among_many_arrays(compiled):
    @ct.kernel
    def sums(a, b, c, d, out):
        ct.store(
            out, (0,), ct.load(a, (0,), (4,)) + ct.load(b, (0,), (4,)) + ct.load(c, (0,), (4,)) + ct.load(d, (0,), (4,))
        )

    whole = np.arange(20, dtype=np.float32)
    parts = [whole[4 * part :][:4] for part in range(5)]
    for given in (parts, parts[::-1], [parts[0], parts[1], parts[1], parts[2], parts[3]]):
        expected = sum(array.copy() for array in given[:4])
        ct.launch(None, (1,), sums, tuple(given))
        np.testing.assert_array_equal(given[4], expected)
    assert compiled() == 2


def test_arrays_that_touch_have_nothing_in_common(compiled):
    launch(*arrays())
    compiled()
    both = np.zeros(32, np.float32)
    launch(both[:16], both[16:])
    assert compiled() == 0


def test_errors_are_those_of_a_first_launch(compiled):
    x, out = arrays()
    launch(x, out)
    compiled()
    with pytest.raises(OverflowError, match="int32"):
        launch(x, out, shift=1 << 31)
    with pytest.raises(ValueError, match="Grid"):
        ct.launch(None, (1 << 24,), scaled, (x, out, 2.0, 1, 16))
    with pytest.raises(TypeError, match="Kernel expects 5 arguments"):
        ct.launch(None, (1,), scaled, (x, out, 2.0, 1))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        launch(x, out)
    assert compiled() == 0


def test_infinities_and_nans_go_through():
    for factor in (1.0, float("inf"), float("nan"), 1e300):
        x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
        launch(x, out, factor)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(out, x * np.float32(factor) + np.float32(1))


def test_a_fault_is_shown_at_its_line_in_a_second_launch_too():
    @ct.kernel
    def checked(x, limit):
        ct.assert_(ct.load(x, (0,), (16,)) < limit, "too large")  # noqa: PT009

    x, _ = arrays()
    for limit in (16, 17):
        ct.launch(None, (1,), checked, (x, limit))
    with pytest.raises(tileir.Trap, match="too large") as trap:
        ct.launch(None, (1,), checked, (x, 15))
    assert "ct.assert_(ct.load(x" in str(trap.value)


def test_what_is_told_of_launches_is_told_of_each():
    told = []
    with cutile.on("cpu", told=told.append):
        for _ in range(3):
            launch(*arrays())
    assert told == ["scaled"] * 3
