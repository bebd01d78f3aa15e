"""Arrays in the memory of a GPU as arguments, described without one: CUDA's array interface, DLPack, torch."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import tileir
from tileir.runtime.arguments import ArrayArgument, PointerArgument, binder
from tileir.runtime.arrays import Array, _Tensor, _Versioned, described

CUDA = ("cuda",)
ADDRESS = 1 << 40


def parameter(ty):
    return tileir.parse(f"entry @k(%p: tile<{ty}>) {{ return }}")["k"].parameters[0]


class Interface:
    """An array with CUDA's array interface; `more` are entries beside the usual ones, `device` is CuPy's."""

    def __init__(self, shape=(4, 8), typestr="<f4", readonly=False, device=None, **more):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (ADDRESS, readonly), "version": 3}
        self.__cuda_array_interface__ |= more
        if device is not None:
            self.device = SimpleNamespace(id=device)


class DLPack:
    """An array with DLPack's protocol that says it is on a GPU."""

    def __init__(
        self, code=2, bits=32, shape=(4, 8), strides=None, device=(2, 1), versioned=True, flags=0, address=ADDRESS
    ):
        self.device, self.versioned, self.asked = device, versioned, []
        self.extents = (ctypes.c_int64 * len(shape))(*shape)
        self.steps = None if strides is None else (ctypes.c_int64 * len(shape))(*strides)
        tensor = _Tensor(address, device, len(shape), (code, bits, 1), self.extents, self.steps, 64)
        self.managed = _Versioned(1, 1, None, None, flags, tensor) if versioned else tensor
        self.name = b"dltensor_versioned" if versioned else b"dltensor"

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, **options):
        if options and not self.versioned:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.asked.append(stream)
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(("PyCapsule_New", ctypes.pythonapi))(ctypes.addressof(self.managed), self.name, None)


class TestArrayInterface:
    def test_what_it_says(self):
        array = described(Interface(device=1), CUDA)
        assert (array.address, array.shape, array.dtype, array.device) == (ADDRESS, (4, 8), np.float32, "cuda:1")
        assert (array.strides, array.contiguous, array.writable) == ((32, 4), True, True)

    def test_strides_and_an_owner_that_does_not_tell_its_device(self):
        array = described(Interface(strides=(64, 4)), CUDA)
        assert (array.strides, array.contiguous, array.device) == ((64, 4), False, "cuda")

    def test_it_becomes_the_argument_of_a_gpu_target(self):
        argument = binder(parameter("ptr<f32>"), CUDA, "cuda")(Interface())
        assert isinstance(argument, ArrayArgument)
        assert argument.array.address == ADDRESS

    @pytest.mark.parametrize(
        ("value", "error", "got"),
        [
            (Interface(typestr="<f8"), TypeError, "an array of float64"),
            (np.zeros(4, np.float32), ValueError, "an array on device cpu"),
            ([1.0], TypeError, "list, whose memory cannot be used in place"),
            (5, TypeError, "the integer 5 (wrap an address in tileir.Pointer)"),
        ],
    )
    def test_what_is_refused(self, value, error, got):
        with pytest.raises(error) as caught:
            binder(parameter("ptr<f32>"), CUDA, "cuda")(value)
        assert "kernel @k, parameter 0 'p' (tile<ptr<f32>>): expected" in str(caught.value)
        assert got in str(caught.value)

    def test_a_read_only_array_is_taken_where_nothing_is_written(self):
        text = """entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
          %v, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
          %u = store_ptr_tko weak %q, %v : tile<ptr<f32>>, tile<f32> -> token
        }"""
        read, written = tileir.parse(text)["k"].parameters
        assert binder(read, CUDA, "cuda")(Interface(readonly=True)).array.address == ADDRESS
        with pytest.raises(ValueError, match=r"expected a writable array, as 'store_ptr_tko' at .* a read-only one"):
            binder(written, CUDA, "cuda")(Interface(readonly=True))

    def test_a_null_address_is_refused(self):
        for value in (Interface(data=(0, False)), DLPack(address=None)):
            with pytest.raises(
                ValueError, match="expected an array whose memory is there, got one whose storage was freed"
            ):
                binder(parameter("ptr<f32>"), CUDA, "cuda")(value)

    def test_both_sides_are_named_when_the_memory_is_another(self):
        with pytest.raises(
            ValueError, match="memory of device cpu, which target 'cpu' uses, got an array on device cuda:1"
        ):
            binder(parameter("ptr<f32>"), ("cpu",), "cpu")(Interface(device=1))
        with pytest.raises(
            ValueError, match="memory of device cuda, which target 'cuda' uses, got an array on device cpu"
        ):
            binder(parameter("ptr<f32>"), CUDA, "cuda")(np.zeros(4, np.float32))


class TestDLPack:
    @pytest.mark.parametrize("versioned", [True, False])
    def test_what_it_says(self, versioned):
        value = DLPack(versioned=versioned)
        array = described(value, CUDA)
        assert (array.address, array.shape, array.dtype, array.device) == (ADDRESS + 64, (4, 8), np.float32, "cuda:1")
        assert (array.strides, array.contiguous, array.writable) == ((32, 4), True, True)
        assert value.asked == [1]

    def test_element_types_that_the_array_interface_lacks(self):
        assert described(DLPack(code=4, bits=16), CUDA).dtype == ml_dtypes.bfloat16
        assert described(DLPack(code=10, bits=8), CUDA).dtype == ml_dtypes.float8_e4m3fn

    def test_it_is_asked_where_the_array_interface_does_not_tell_the_type(self):
        both = DLPack(code=4, bits=16)
        both.__cuda_array_interface__ = Interface(typestr="<V2").__cuda_array_interface__
        assert described(both, CUDA).dtype == ml_dtypes.bfloat16

    def test_strides_count_elements_and_arrays_can_be_read_only(self):
        array = described(DLPack(strides=(16, 1), flags=1), CUDA)
        assert (array.strides, array.writable) == ((64, 4), False)

    @pytest.mark.parametrize(("device", "name"), [((10, 0), "rocm:0"), ((2, 0), "cuda:0")])
    def test_memory_that_the_target_does_not_use_is_not_asked_for(self, device, name):
        value = DLPack(device=device)
        assert described(value, ("cpu",)).device == name
        assert value.asked == []


class Name(str):
    itemsize = 4


STRIDED = Name("torch.strided")


class Tensor:
    """The fields of a torch tensor that a launch looks at; `Tensor` stands for the library's own type."""

    requires_grad = False

    def __init__(self, dtype="torch.float32", device="cuda:1", negative=False, layout=STRIDED, address=ADDRESS):
        self.dtype, self.device, self.layout = Name(dtype), Name(device), layout
        self.negative, self.address, self.shape = negative, address, (4, 8)

    def is_neg(self):
        return self.negative

    def is_conj(self):
        return False

    def data_ptr(self):
        return self.address

    def untyped_storage(self):
        return SimpleNamespace(data_ptr=lambda: 0)  # asked for low addresses only: it has been freed

    def stride(self):
        return (8, 1)

    def is_contiguous(self):
        return True


class TestTorch:
    @pytest.fixture(autouse=True)
    def library(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor, strided=STRIDED))

    def bound(self, value, bind=None):
        return (bind or binder(parameter("ptr<f32>"), CUDA, "cuda"))(value)

    def test_it_is_taken_the_long_way_once_and_then_the_short_one(self):
        bind = binder(parameter("ptr<f32>"), CUDA, "cuda")
        assert isinstance(self.bound(Tensor(), bind).value, Array)
        found = self.bound(Tensor(address=ADDRESS + 64), bind)
        assert (found.bits, found.device, type(found.value)) == (ADDRESS + 64, "cuda:1", Tensor)
        assert isinstance(self.bound(Tensor(device="cuda:0"), bind).value, Array)

    def test_the_short_way_refuses_nothing_less(self):
        bind = binder(parameter("ptr<f32>"), CUDA, "cuda")
        self.bound(Tensor(), bind)
        for value, error in [
            (Tensor(dtype="torch.float64"), TypeError),
            (Tensor(device="cpu"), ValueError),
            (Tensor(negative=True), TypeError),
            (Tensor(address=64), ValueError),
            (Tensor(layout=Name("torch.sparse_coo")), TypeError),
        ]:
            with pytest.raises(error, match="kernel @k, parameter 0 'p'"):
                self.bound(value, bind)


def test_raw_addresses_and_numbers():
    pointer = binder(parameter("ptr<f32>"), CUDA, "cuda")(tileir.Pointer(4096))
    assert isinstance(pointer, PointerArgument)
    bind = binder(parameter("i16"), CUDA, "cuda")
    assert [bind(number).bits for number in (-1, np.uint16(65535), 7)] == [65535, 65535, 7]
    for wrong in (65535, -32769, 1.5, "7"):
        with pytest.raises((TypeError, ValueError), match=r"parameter 0 'p' \(tile<i16>\)"):
            bind(wrong)
