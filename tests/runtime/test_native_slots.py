"""The shorter way of a native launch: its slots are those of the long way, and what is not usual it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tileir.ir.storage import DTYPES
from tileir.ir.types import ELEMENTS
from tileir.runtime.launch import bind
from tileir.runtime.native_memory import NativeArguments
from tileir.runtime.native_slots import QuickSlots
from tileir.runtime.targets import target_named

TEXT = """
cuda_tile.module @m {
  global @table <i32: [1, 2, 3, 4]> : tile<4xi32>
  global constant @fixed <i32: 7> : tile<2xi32>
  entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<i8>>, %i: tile<i32>, %s: tile<i8>, %w: tile<i64>, %x: tile<f32>,
           %d: tile<f64>, %bit: tile<ptr<i1>>) { return }
}
"""
USUAL = (np.zeros((3, 5), np.float32), np.zeros(7, np.int8), -5, 255, 1 << 63, 0.1, 0.2, np.zeros(2, np.bool_))
VALUES = [(2, 0), (2, 2**31 - 1), (2, -(2**31)), (2, 2**32 - 1), (3, -128), (3, 127), (4, -1), (4, 2**64 - 1)]
FLOATS = [(5, -0.0), (5, float("inf")), (5, -float("inf")), (5, 3.4e38), (5, 1e-46), (5, 1e-40), (6, -1.5), (6, 5e-324)]
ARRAYS = [
    (0, np.zeros((), np.float32)),
    (0, np.arange(60, dtype=np.float32)[10:50]),
    (1, np.zeros(3, np.uint8)),
    (7, np.zeros(3, np.uint8)),
]


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


UNUSUAL = [
    (0, np.zeros(3, np.float64)),
    (0, np.zeros(3, ">f4")),
    (0, np.zeros(0, np.float32)),
    (0, np.zeros((4, 4), np.float32)[:, ::2]),
    (0, np.zeros((4, 5), np.float32).T),
    (0, read_only(np.zeros(4, np.float32))),
    (0, np.ma.zeros(4, np.float32)),
    (0, tileir.Pointer(4096)),
    (0, [1.0]),
    (0, None),
    (2, True),
    (2, np.int32(3)),
    (2, 1 << 32),
    (2, -(1 << 31) - 1),
    (2, 1.0),
    (5, 3.5e38),
    (5, float("nan")),
    (5, 1),
    (5, np.float32(1)),
]


@pytest.fixture(scope="module")
def kernel() -> tileir.Kernel:
    return tileir.parse(TEXT)["k"]


def given(position: int, value: object) -> tuple:
    return (*USUAL[:position], value, *USUAL[position + 1 :])


def quick_slots(kernel: tileir.Kernel, arguments: tuple) -> tuple[int, ...] | None:
    return QuickSlots(kernel.parameters, kernel.module.globals).of(arguments)


def slots(kernel: tileir.Kernel, arguments: tuple) -> tuple[int, ...]:
    """The last one is the address of further entries, of which there are none."""
    found = NativeArguments(bind(kernel, arguments, target_named("cpu")), kernel.module.globals).slots
    assert found[-2] == 0
    return (*found[:-1], 0)


@pytest.mark.parametrize(("position", "value"), [(0, USUAL[0]), *VALUES, *FLOATS, *ARRAYS], ids=str)
def test_the_slots_are_those_of_the_long_way(kernel, position, value):
    arguments = given(position, value)
    assert quick_slots(kernel, arguments) == slots(kernel, arguments)


@pytest.mark.parametrize(("position", "value"), UNUSUAL, ids=str)
def test_what_is_not_usual_is_left_alone(kernel, position, value):
    assert quick_slots(kernel, given(position, value)) is None


def test_a_wrong_number_of_arguments_is_left_alone(kernel):
    assert quick_slots(kernel, USUAL[:-1]) is None and quick_slots(kernel, (*USUAL, 1)) is None


def test_tensors_are_usual_if_they_are_plain_memory(kernel):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    plain = torch.zeros(3, 4)
    assert quick_slots(kernel, given(0, plain)) == slots(kernel, given(0, plain))
    assert quick_slots(kernel, given(1, torch.zeros(3, dtype=torch.uint8))) is not None
    negated = torch.imag(torch.zeros(4, dtype=torch.complex64).conj())
    unusual = [plain.T, plain.double(), torch.zeros(0), plain.clone().requires_grad_(), negated.resolve_conj()]
    unusual += [plain.to_sparse(), plain.to("meta"), torch.nn.Parameter(plain.clone())]
    assert [quick_slots(kernel, given(0, tensor)) for tensor in unusual] == [None] * len(unusual)


def test_an_array_that_has_become_read_only_is_refused_again():
    text = """entry @put(%a: tile<ptr<f32>>, %x: tile<f32>) {
      %t = store_ptr_tko weak %a, %x : tile<ptr<f32>>, tile<f32> -> token
    }"""
    kernel = tileir.parse(text)["put"]
    array = np.zeros(1, np.float32)
    kernel.launch(1, array, 1.5)
    kernel.launch(1, array, 2.5, threads=1)
    assert array[0] == 2.5
    with pytest.raises(ValueError, match="read-only"):
        kernel.launch(1, read_only(array), 3.5)
    assert array[0] == 2.5


def test_a_fault_names_the_array_in_a_second_launch_too():
    text = """entry @far(%a: tile<ptr<f32>>, %at: tile<i32>) {
      %p = offset %a, %at : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %v, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    }"""
    kernel = tileir.parse(text)["far"]
    array = np.zeros(4, np.float32)
    kernel.launch(1, array, 3)
    with pytest.raises(tileir.Trap, match="byte offset 16") as trap:
        kernel.launch(1, array, 4)
    assert trap.value.array == "a"


def test_options_and_grids_are_checked_in_a_second_launch_too(kernel):
    kernel.launch(1, *USUAL)
    for threads in (0, -1, True, 1.5, "2"):
        with pytest.raises((TypeError, ValueError), match="threads"):
            kernel.launch(1, *USUAL, threads=threads)
    with pytest.raises(ValueError, match="grid"):
        kernel.launch(0, *USUAL)
    with pytest.raises(TypeError, match="ways"):
        kernel.launch(1, *USUAL, ways=3)


@pytest.mark.parametrize("name", ["bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU"])
def test_arrays_of_narrow_floats_are_usual_though_numpy_lends_none_of_their_memory(name):
    kernel = tileir.parse(f"entry @k(%a: tile<ptr<{name}>>) {{ return }}")["k"]
    array = np.zeros((4, 2), DTYPES[ELEMENTS[name]])
    assert quick_slots(kernel, (array,)) == slots(kernel, (array,))
    unusual = [array.T, array[:, :1], array[:0], np.zeros(4, np.float64), read_only(array.copy())]
    assert [quick_slots(kernel, (one,)) for one in unusual] == [None] * len(unusual)
    kernel.launch(1, array)
    kernel.launch(1, array)
