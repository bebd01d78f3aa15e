"""A kernel takes the values that fit each parameter, and refuses everything else."""

import array as stdlib_array
import ctypes
import math
import operator
import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tileir
from tileir.ir import types as t
from tileir.ir.storage import DTYPES
from tileir.runtime import memory
from tileir.runtime.arguments import DoesNotFit, ScalarArgument, scalar
from tileir.runtime.arrays import TORCH_DTYPES, described
from tileir.runtime.module import bind, target_named

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")

POINTEES = [element for element in t.NUMBERS if element is not t.F4E2M1FN]


def kernel(*parameters):
    """A kernel that does nothing, with parameters of these types."""
    written = ", ".join(f"%p{index}: {ty}" for index, ty in enumerate(parameters))
    return tileir.parse(f"entry @k({written}) {{ return }}")["k"]


def increment(element="i32"):
    """A kernel that adds 1 to the first four elements of an array."""
    return tileir.parse(f"""
entry @k(%a: tile<ptr<{element}>>) {{
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<4xi32>
  %tv = make_tensor_view %a, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
  %v = make_partition_view %tv : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
  %x, %t = load_view_tko weak %v[%zero]
      : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
  %y = addi %x, %one : tile<4xi32>
  %u = store_view_tko weak %y, %v[%zero] token = %t
      : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
  return
}}
""")["k"]


def refused(error, ty, value):
    with pytest.raises(error) as caught:
        kernel("tile<i8>", ty).launch(1, 0, value, target="interp")
    text = str(caught.value)
    place = f"kernel @k, parameter 1 'p1' ({ty}): expected "
    assert text.startswith(place)
    expected, got = text.removeprefix(place).rsplit(", got ", 1)
    return expected, got


class TestArrays:
    @pytest.mark.parametrize("element", POINTEES, ids=lambda e: e.name)
    def test_the_dtype_of_the_element_type_is_taken(self, element):
        kernel(f"tile<ptr<{element.name}>>").launch(1, np.zeros(4, DTYPES[element]), target="interp")

    @pytest.mark.parametrize(
        ("element", "dtype"),
        [
            ("i1", np.uint8),
            ("i1", np.int8),
            ("i8", np.uint8),
            ("i16", np.uint16),
            ("i32", np.uint32),
            ("i64", np.uint64),
            ("tf32", np.float32),
            ("f8E8M0FNU", np.uint8),
            ("f4E2M1FN", np.uint8),
            ("fnv8E5M3FNU", np.uint8),
        ],
    )
    def test_dtypes_of_the_same_bits_that_are_taken_too(self, element, dtype):
        kernel(f"tile<ptr<{element}>>").launch(1, np.zeros(4, dtype), target="interp")

    @pytest.mark.parametrize(
        ("element", "dtype", "got"),
        [
            ("f32", np.float64, "an array of float64"),
            ("f32", np.int32, "an array of int32"),
            ("i32", np.float32, "an array of float32"),
            ("i32", np.int64, "an array of int64"),
            ("i8", np.bool_, "an array of bool"),
            ("f16", ml_dtypes.bfloat16, "an array of bfloat16"),
            ("f8E4M3FN", np.uint8, "an array of uint8"),
            ("f8E5M2", ml_dtypes.float8_e4m3fn, "an array of float8_e4m3fn"),
            ("f4E2M1FN", ml_dtypes.float4_e2m1fn, "an array of float4_e2m1fn, which takes a byte per element"),
            ("f32", np.dtype(">f4"), "an array of >f4 in the byte order of another machine"),
            ("f64", np.complex64, "an array of complex64"),
            ("i64", object, "an array of object"),
            ("i8", "S1", "an array of |S1"),
        ],
    )
    def test_any_other_dtype_is_refused(self, element, dtype, got):
        assert refused(TypeError, f"tile<ptr<{element}>>", np.zeros(4, dtype))[1] == got

    def test_what_was_expected_is_named(self):
        assert refused(TypeError, "tile<ptr<i32>>", np.zeros(1))[0] == "an array of int32 or uint32"
        packed = "an array of uint8 with two elements to a byte, the even one in the low nibble"
        assert refused(TypeError, "tile<ptr<f4E2M1FN>>", np.zeros(1))[0] == packed

    @pytest.mark.parametrize(
        ("value", "got"),
        [
            (5, "the integer 5 (wrap an address in tileir.Pointer)"),
            (2.5, "2.5"),
            (None, "None"),
            (True, "True"),
            ([1.0, 2.0], "list, whose memory cannot be used in place"),
            ("text", "str, whose memory cannot be used in place"),
            (np.float32(1), "np.float32(1.0)"),
            (object(), "object, whose memory cannot be used in place"),
            (
                np.ma.array(np.zeros(4, np.float32), mask=[True, False, False, True]),
                "a masked array, whose mask the kernel would not see (pass its data, or what filled(0) gives)",
            ),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_what_is_no_array_is_refused(self, value, got):
        if np.lib.NumpyVersion(np.__version__) < "2.0.0" and isinstance(value, np.generic):
            got = "1.0"
        assert refused(TypeError, "tile<ptr<f32>>", value)[1] == got

    @pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (4, 1, 2)])
    def test_any_shape_is_taken(self, shape):
        kernel("tile<ptr<f32>>").launch(1, np.zeros(shape, np.float32), target="interp")

    def test_arrays_are_changed_in_place(self):
        array = np.arange(4, dtype=np.int32)
        increment().launch(1, array, target="interp")
        assert array.tolist() == [1, 2, 3, 4]

    def test_a_masked_array_is_refused_by_a_kernel_that_has_run(self):
        kernel, array = increment(), np.zeros(4, np.int32)
        for _ in range(4):
            kernel.launch(1, array, target="cpu")
        with pytest.raises(TypeError, match="a masked array"):
            kernel.launch(1, np.ma.array(array), target="cpu")
        assert array.tolist() == [4] * 4

    def test_a_subclass_of_ndarray_is_an_array(self):
        array = np.arange(4, dtype=np.int32).view(np.recarray)
        increment().launch(1, array, target="interp")
        assert array.tolist() == [1, 2, 3, 4]


class OnlyArrayInterface:
    def __init__(self, array):
        self.array = array

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


class OnlyDLPack:
    def __init__(self, array, versioned=True):
        self.array = array
        self.versioned = versioned

    def __dlpack__(self, *, max_version=None, **options):
        if max_version is None:
            return self.array.__dlpack__()
        if not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(max_version=max_version)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Claiming:
    """An object with a DLPack capsule that says whatever it is told to."""

    def __init__(self, array, shape, strides=None, byte_offset=0):
        sizes = (ctypes.c_int64 * 8)(*shape), (ctypes.c_int64 * 8)(*strides or ())
        data, steps = array.ctypes.data, ctypes.addressof(sizes[1]) if strides else 0
        head = struct.pack(
            "<QiiiBBHQQQ", data, 1, 0, len(shape), 2, 32, 1, ctypes.addressof(sizes[0]), steps, byte_offset
        )
        self.tensor = ctypes.create_string_buffer(head + bytes(16))
        self.kept = array, sizes

    def __dlpack__(self, **options):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self):
        return 1, 0


class Boastful(np.ndarray):
    """An array that says that it is longer than it is, and somewhere else."""

    elsewhere = np.zeros(64, np.int32)
    shape = property(lambda self: (1 << 20,))
    nbytes = property(lambda self: 1 << 22)
    __array_interface__ = property(lambda self: {**self.elsewhere.__array_interface__, "shape": (1 << 20,)})


class OnCuda:
    def __dlpack__(self, **options):
        raise AssertionError("memory of another device must not be asked for")

    def __dlpack_device__(self):
        return 2, 1


class OnCudaInterface:
    __cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3}


class TestOtherLibraries:
    def test_array_interface(self):
        array = np.arange(4, dtype=np.int32)
        increment().launch(1, OnlyArrayInterface(array), target="interp")
        assert array.tolist() == [1, 2, 3, 4]

    @pytest.mark.parametrize("versioned", [True, False])
    def test_dlpack(self, versioned):
        array = np.arange(8, dtype=np.int32)[::2]
        described_array = described(OnlyDLPack(array, versioned))
        assert described_array.strides == (8,)
        assert described_array.address == array.ctypes.data
        whole = np.arange(4, dtype=np.int32)
        increment().launch(1, OnlyDLPack(whole, versioned), target="interp")
        assert whole.tolist() == [1, 2, 3, 4]

    def test_memory_that_is_lent_as_a_buffer(self):
        values = stdlib_array.array("i", [1, 2, 3, 4])
        increment().launch(1, values, target="interp")
        assert values.tolist() == [2, 3, 4, 5]
        numbers = (ctypes.c_int * 4)(5, 6, 7, 8)
        increment().launch(1, numbers, target="interp")
        assert list(numbers) == [6, 7, 8, 9]
        data = bytearray(4)
        kernel("tile<ptr<i8>>").launch(1, data, target="interp")
        refused(TypeError, "tile<ptr<i8>>", b"abcd")

    @pytest.mark.parametrize(("value", "device"), [(OnCuda(), "cuda:1"), (OnCudaInterface(), "cuda")])
    def test_memory_of_a_gpu_is_refused(self, value, device):
        expected, got = refused(ValueError, "tile<ptr<f32>>", value)
        assert expected == "memory of device cpu, which target 'interp' uses"
        assert got == f"an array on device {device}"


@pytest.mark.parametrize("target", ["cpu", "interp"])
@pytest.mark.parametrize(
    "claim",
    [
        {"shape": (-8,)},
        {"shape": (-8, -2)},
        {"shape": (-8, -2), "strides": (1, 1)},
        {"shape": (1 << 40, 1 << 40)},
        {"shape": (2**63 - 1,)},
        {"shape": (8,), "strides": (2**63 - 1,)},
        {"shape": (8,), "byte_offset": 1 << 63},
        {"shape": (8,), "byte_offset": (1 << 64) - 4},
    ],
    ids=str,
)
def test_layouts_that_no_memory_has_are_refused(claim, target):
    array = np.zeros(64, np.float32)
    ready = kernel("tile<ptr<f32>>")
    ready.launch(1, Claiming(array, (8,)), target=target)
    with pytest.raises(ValueError, match=r"'p0' .*: expected an array that lies in this process's memory, got one of"):
        ready.launch(1, Claiming(array, **claim), target=target)


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_an_array_of_a_subclass_is_taken_as_what_it_is(target):
    ready, array = increment(), np.zeros(8, np.int32)
    for _ in range(3):
        ready.launch(1, array[:4].view(Boastful), target=target)
    assert array.tolist() == [3, 3, 3, 3, 0, 0, 0, 0] and not Boastful.elsewhere.any()


@needs_torch
class TestTorch:
    @pytest.mark.parametrize("element", [e for e in POINTEES if e is not t.FNV8E5M3FNU], ids=lambda e: e.name)
    def test_tensors_of_every_element_type_that_torch_has(self, element):
        name = next(name for name, dtype in TORCH_DTYPES.items() if dtype == DTYPES[element])
        dtype = getattr(torch, name.removeprefix("torch."), None)
        if dtype is None:
            pytest.skip(f"this torch has no {name}")
        kernel(f"tile<ptr<{element.name}>>").launch(1, torch.zeros(4, dtype=torch.uint8).to(dtype), target="interp")

    def test_tensors_are_changed_in_place(self):
        tensor = torch.arange(4, dtype=torch.int32)
        increment().launch(1, tensor, target="interp")
        assert tensor.tolist() == [1, 2, 3, 4]

    def test_only_the_elements_of_a_strided_tensor_may_be_touched(self):
        whole = torch.zeros(8, dtype=torch.int32)
        with pytest.raises(tileir.Trap, match="no element of the array lies there"):
            increment().launch(1, whole[::2], target="interp")
        increment().launch(1, whole[2:6], target="interp")
        assert whole.tolist() == [0, 0, 1, 1, 1, 1, 0, 0]

    def test_a_wrong_dtype_is_named_as_torch_names_it(self):
        assert (
            refused(TypeError, "tile<ptr<f32>>", torch.zeros(4, dtype=torch.float64))[1] == "an array of torch.float64"
        )
        assert (
            refused(TypeError, "tile<ptr<f32>>", torch.zeros(4, dtype=torch.complex64))[1]
            == "an array of torch.complex64"
        )

    def test_tensors_that_are_no_plain_memory_are_refused(self):
        refused(TypeError, "tile<ptr<f32>>", torch.zeros(4, 4).to_sparse())
        refused(ValueError, "tile<ptr<f32>>", torch.zeros(4, device="meta"))
        negated = torch.zeros(4, dtype=torch.complex64).conj().imag
        assert negated.is_neg()
        assert "x.resolve_neg()" in refused(TypeError, "tile<ptr<f32>>", negated)[1]
        torch.vmap(lambda row: refused(TypeError, "tile<ptr<f32>>", row) and row)(torch.zeros(4, 4))

    def test_a_detached_tensor_and_an_empty_one(self):
        detached = torch.zeros(4, requires_grad=True).detach()
        kernel("tile<ptr<f32>>", "tile<ptr<f32>>").launch(1, detached, torch.zeros(0), target="interp")

    def test_tensors_of_rank_0_are_numbers(self):
        bound = bind(kernel("tile<i32>", "tile<f32>"), [torch.tensor(7), torch.tensor(1.5)], target_named("interp"))
        assert [argument.value for argument in bound] == [7, 1.5]


def freed(begin=0):
    """A tensor whose storage has been given up, as libraries do that keep parameters elsewhere meanwhile."""
    tensor = torch.zeros(5000, dtype=torch.int32)[begin:]
    tensor.untyped_storage().resize_(0)
    return tensor


def fake():
    """A tensor that has a shape only."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.zeros(4, dtype=torch.int32)


@needs_torch
@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
@pytest.mark.parametrize("target", ["cpu", "interp"])
@pytest.mark.parametrize("make", [freed, lambda: freed(3), lambda: freed(4000), fake])
def test_an_array_without_its_memory_is_refused(make, target):
    ready = increment()
    ready.launch(1, torch.zeros(4, dtype=torch.int32), target=target)
    with pytest.raises(ValueError) as caught:
        ready.launch(1, make(), target=target)
    assert str(caught.value) == (
        "kernel @k, parameter 0 'a' (tile<ptr<i32>>): expected an array whose memory is there, "
        "got one whose storage was freed, or whose file was cut"
    )


class Resizing:
    """A number that moves an array when it is asked for."""

    def __init__(self, array):
        self.array = array

    def __index__(self):
        self.array.resize(1 << 20, refcheck=False)
        return 1


class ResizingInt32(Resizing, np.int32):
    def __new__(cls, array):
        return np.int32.__new__(cls, 1)


class ResizingArray(Resizing):
    """An array that moves another one when it is asked for."""

    mine = np.zeros(4, np.int32)

    @property
    def __array_interface__(self):
        operator.index(self)
        return self.mine.__array_interface__


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_an_array_is_looked_at_after_the_objects_whose_own_code_may_move_it(target):
    text = """entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %n: tile<i32>) {
      %u = store_ptr_tko weak %a, %n : tile<ptr<i32>>, tile<i32> -> token
    }"""
    ready = tileir.parse(text)["k"]
    for number in range(3):
        array = np.zeros(4, np.int32)
        ready.launch(1, array, ResizingArray(array), number + 1, target=target)
        assert array.size == 1 << 20 and array[0] == number + 1


@pytest.mark.parametrize("number", [Resizing, ResizingInt32])
@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_an_array_is_looked_at_after_the_numbers_whose_own_code_may_move_it(number, target):
    text = """entry @k(%a: tile<ptr<i32>>, %n: tile<i32>) {
      %u = store_ptr_tko weak %a, %n : tile<ptr<i32>>, tile<i32> -> token
      return
    }"""
    ready = tileir.parse(text)["k"]
    for _ in range(3):
        array = np.zeros(4, np.int32)
        ready.launch(1, array, number(array), target=target)
        assert array.size == 1 << 20 and array[0] == 1


class TestPointer:
    def test_it_stands_for_the_memory_at_its_address(self):
        array = np.arange(4, dtype=np.int32)
        increment().launch(1, tileir.Pointer(array.ctypes.data), target="interp")
        increment().launch(1, tileir.Pointer(array.ctypes.data, array.nbytes), target="interp")
        assert array.tolist() == [2, 3, 4, 5]

    def test_a_size_is_a_limit(self):
        array = np.arange(4, dtype=np.int32)
        with pytest.raises(tileir.Trap, match="load of i32 at byte offset 12 of 'a': it has bytes 0 to 11"):
            increment().launch(1, tileir.Pointer(array.ctypes.data, 12), target="interp")

    def test_without_a_size_it_is_held_to_the_array_of_the_launch_it_lies_in(self):
        two = tileir.parse("""
entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>) {
  %ten = constant <i32: 10> : tile<i32>
  %p = offset %b, %ten : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %x, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
  return
}
""")["k"]
        whole = np.zeros(64, np.int32)
        with pytest.raises(tileir.Trap, match="load of i32 at byte offset 44 of 'a'"):
            two.launch(1, whole[:8], tileir.Pointer(whole[1:].ctypes.data), target="interp")

    @pytest.mark.parametrize("target", ["interp", "cpu"])
    @pytest.mark.parametrize("size", [None, 8])
    @pytest.mark.parametrize("address", [0, 8, 1 << 63, (1 << 64) - 64])
    def test_an_address_without_memory_is_a_trap(self, address, size, target):
        words = f"load of i32 at address {address:#x}, which is in no memory given to the kernel"
        with pytest.raises(tileir.Trap, match=words):
            increment().launch(1, tileir.Pointer(address, size), target=target)

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            ((-1,), ValueError),
            ((1 << 64,), ValueError),
            ((1.5,), TypeError),
            ((8, -1), ValueError),
            (("a",), TypeError),
        ],
    )
    def test_what_is_no_address_is_refused(self, arguments, error):
        with pytest.raises(error):
            tileir.Pointer(*arguments)

    def test_it_is_no_number(self):
        refused(TypeError, "tile<i64>", tileir.Pointer(8))


class TestIntegers:
    @pytest.mark.parametrize("element", [t.I4, t.I8, t.I16, t.I32, t.I64], ids=lambda e: e.name)
    def test_what_a_signed_integer_holds_fits(self, element):
        half = 1 << (element.bits - 1)
        for number in (-half, -1, 0, half - 1):
            value = scalar(number, element)
            assert value.dtype == DTYPES[element]
            assert int(value) == number
        for number in (-half - 1, half, 2 * half - 1, 2 * half):
            with pytest.raises(DoesNotFit):
                scalar(number, element)

    @pytest.mark.parametrize("bits", [8, 16, 32, 64])
    def test_an_unsigned_number_of_the_width_gives_its_bits(self, bits):
        element, half = t.ELEMENTS[f"i{bits}"], 1 << bits - 1
        for value in (np.dtype(f"u{bits // 8}").type(2 * half - 1), np.array(half, f"u{bits // 8}")):
            assert int(scalar(value, element)) == int(value) - 2 * half

    def test_an_unsigned_number_of_another_width_is_a_number(self):
        with pytest.raises(DoesNotFit):
            scalar(np.uint64(3_000_000_000), t.I32)
        assert int(scalar(np.uint32(3_000_000_000), t.I64)) == 3_000_000_000

    @pytest.mark.parametrize("target", ["interp", "cpu"])
    @pytest.mark.parametrize("value", [3_000_000_000, -3_000_000_000, np.int64(3_000_000_000)])
    def test_a_launch_refuses_a_number_that_does_not_fit(self, target, value):
        with pytest.raises(ValueError, match="expected an integer that fits i32, got") as caught:
            kernel("tile<i32>").launch(1, value, target=target)
        assert ("(np.uint32(3000000000) passes its bits)" in str(caught.value)) == (
            value == 3_000_000_000 and type(value) is int
        )

    @pytest.mark.parametrize("value", [7, np.int8(7), np.uint64(7), np.array(7), np.array(7, np.int16)])
    def test_python_and_numpy_integers(self, value):
        assert scalar(value, t.I32) == 7

    def test_a_bool_is_0_or_1(self):
        assert scalar(True, t.I32) == 1
        assert scalar(np.True_, t.I8) == 1

    @pytest.mark.parametrize(("value", "held"), [(True, True), (False, False), (np.True_, True), (1, True), (0, False)])
    def test_i1_takes_bools(self, value, held):
        assert scalar(value, t.I1) == held
        assert scalar(value, t.I1).dtype == np.bool_

    def test_i1_takes_nothing_else(self):
        assert refused(ValueError, "tile<i1>", 2) == ("a bool, 0 or 1 that fits i1", "2")
        assert refused(TypeError, "tile<i1>", 1.0) == ("a bool, 0 or 1", "float 1.0")

    @pytest.mark.parametrize("value", [1.0, np.float32(1), "1", None, [1], 1j, np.array([1]), np.zeros(3, np.int32)])
    def test_what_is_no_integer_is_refused(self, value):
        assert refused(TypeError, "tile<i32>", value)[0] == "an integer"

    def test_one_that_does_not_fit_is_shown(self):
        assert refused(ValueError, "tile<i8>", 300) == ("an integer that fits i8", "300")
        assert refused(ValueError, "tile<i64>", 1 << 400)[1].endswith("...")


class TestFloats:
    @pytest.mark.parametrize("element", [e for e in t.FLOATS if e is not t.F4E2M1FN], ids=lambda e: e.name)
    def test_numbers_become_the_nearest_of_the_type(self, element):
        value = scalar(1.5 if element is not t.F8E8M0FNU else 2, element)
        assert np.asarray(value).dtype == DTYPES[element]

    def test_values(self):
        assert scalar(1.5, t.F32) == np.float32(1.5)
        assert scalar(3, t.F64) == 3.0
        assert scalar(np.float16(0.1), t.F16) == np.float16(0.1)
        assert scalar(ml_dtypes.bfloat16(2.5), t.BF16) == 2.5
        assert scalar(1 + 2.0**-11, t.TF32) == 1.0
        assert int(scalar(1.0, t.FNV8E5M3FNU)) == 15 << 3
        assert scalar(np.array(2.5), t.F32) == 2.5
        assert scalar(True, t.F32) == 1.0

    def test_rounding_happens_once(self):
        just_above_a_tie = 1 + 2.0**-8 + 2.0**-40
        assert float(scalar(just_above_a_tie, t.BF16)) == 1 + 2.0**-7

    def test_infinities_and_nan_where_the_type_has_them(self):
        assert math.isinf(scalar(-math.inf, t.F16))
        assert math.isnan(float(scalar(math.nan, t.F8E4M3FN)))
        with pytest.raises(DoesNotFit):
            scalar(math.inf, t.F8E4M3FN)

    @pytest.mark.parametrize(
        ("number", "element"),
        [
            (1e39, t.F32),
            (65520, t.F16),
            (-1e300, t.BF16),
            (500, t.F8E4M3FN),
            (0, t.F8E8M0FNU),
            (-1, t.F8E8M0FNU),
            (-1, t.FNV8E5M3FNU),
            (10**400, t.F64),
            (10**400, t.F32),
        ],
    )
    def test_a_finite_number_that_would_become_another_does_not_fit(self, number, element):
        with pytest.raises(DoesNotFit):
            scalar(number, element)

    @pytest.mark.parametrize(
        ("number", "element"), [(3.4028235e38, t.F32), (65519.9, t.F16), (448, t.F8E4M3FN), (2.0**127, t.F8E8M0FNU)]
    )
    def test_the_largest_fit(self, number, element):
        assert math.isfinite(float(scalar(number, element)))

    @pytest.mark.parametrize("value", ["1.0", None, 1j, [1.0], np.zeros(2)])
    def test_what_is_no_number_is_refused(self, value):
        assert refused(TypeError, "tile<f32>", value)[0] == "a number"


def test_all_kinds_of_parameters_in_one_launch():
    bound = bind(
        kernel("tile<ptr<f32>>", "tile<i8>", "tile<i1>", "tile<i16>", "tile<f16>", "tile<f8E5M2>"),
        [np.zeros(3, np.float32), np.uint8(200), True, -3, 0.5, 2],
        target_named("interp"),
    )
    values = [argument.value for argument in bound if isinstance(argument, ScalarArgument)]
    assert [float(value) for value in values] == [-56, 1, -3, 0.5, 2]


@pytest.mark.skipif(not Path(memory.PROC_MAPS).exists(), reason="this system has no such table")
def test_a_mapping_is_the_same_asked_for_and_looked_up(tmp_path, monkeypatch):
    own = np.zeros(1 << 22, np.uint8)
    code = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value
    addresses = [own.ctypes.data, code, 8, (1 << 64) - 1]
    asked = [memory.mapping_at(address) for address in addresses]
    table = tmp_path / "maps"
    table.write_text(Path(memory.PROC_MAPS).read_text())
    monkeypatch.setattr(memory, "PROC_MAPS", str(table))
    assert asked == [memory.mapping_at(address) for address in addresses]
    assert [found and found.writable for found in asked] == [True, False, None, None]
