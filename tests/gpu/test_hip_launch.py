"""Launches on the target ``hip`` compute: the HIP runtime of the tests runs AMD's machine code on the hsaco machine."""

from __future__ import annotations

import sys
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
pytest.importorskip("tinygrad", reason="needs tinygrad, whose tables decode AMD's instructions")

import tileir
from tests.gpu import hip_standin
from tests.gpu.hip_standin import HipStandin
from tests.runtime.test_gpu_arrays import DLPack
from tileir.examples.checks import EXAMPLES, largest_error
from tileir.runtime.arrays import _torch_device
from tileir.runtime.gpu import Gpu
from tileir.runtime.gpu_routes import OpenRoute
from tileir.runtime.module import placed, target_named

pytestmark = pytest.mark.skipif(
    hip_standin.reason_not_to_build() is not None, reason=str(hip_standin.reason_not_to_build())
)
SCALE = """entry @k(%p: tile<ptr<f32>>, %factor: tile<f32>, %n: tile<i32>) {
  %lanes = iota : tile<64xi32>
  %block, %y, %z = get_tile_block_id : tile<i32>
  %width = constant <i32: 64> : tile<i32>
  %first = muli %block, %width : tile<i32>
  %first1 = reshape %first : tile<i32> -> tile<1xi32>
  %firsts = broadcast %first1 : tile<1xi32> -> tile<64xi32>
  %at = addi %firsts, %lanes : tile<64xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n1 : tile<1xi32> -> tile<64xi32>
  %inside = cmpi less_than %at, %ns, signed : tile<64xi32> -> tile<64xi1>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %ps = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %places = offset %ps, %at : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %read, %t0 = load_ptr_tko weak %places, %inside : tile<64xptr<f32>>, tile<64xi1> -> tile<64xf32>, token
  %factor1 = reshape %factor : tile<f32> -> tile<1xf32>
  %factors = broadcast %factor1 : tile<1xf32> -> tile<64xf32>
  %scaled = mulf %read, %factors : tile<64xf32>
  %t1 = store_ptr_tko weak %places, %scaled, %inside token = %t0 : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
  return
}"""
TELLING = """entry @k(%n: tile<i32>) {
  %t = print_tko "n = %d\\n", %n : tile<i32> -> token
  %zero = constant <i32: 0> : tile<i32>
  %fine = cmpi less_than %zero, %n, signed : tile<i32> -> tile<i1>
  assert %fine, "positive" : tile<i1>
  return
}"""


@pytest.fixture(scope="module")
def hip(tmp_path_factory) -> HipStandin:
    return hip_standin.opened(hip_standin.build(tmp_path_factory.mktemp("hip")))


@pytest.fixture(autouse=True)
def target(hip, monkeypatch) -> Gpu:
    """The target, whose driver is that of the standin."""
    found = Gpu("hip", "", hip.driver, OpenRoute)
    monkeypatch.setattr(
        "tileir.runtime.module.target_named", lambda name: found if name == "hip" else target_named(name)
    )
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    hip.launches.clear()
    return found


@pytest.fixture
def memory(target):
    """An array on the device."""
    return target.placed(np.arange(200, dtype=np.float32))


def scaled(target, kernel, given, array, **options) -> np.ndarray:
    kernel.launch(4, given, 0.5, 200, target="hip", **options)
    found = np.zeros(200, np.float32)
    target.fetch(array, found)
    return found


HALVES = np.arange(200, dtype=np.float32) / 2


@pytest.mark.parametrize("name", ["vector_add", "reduction"])
def test_an_example_gives_what_numpy_gives(target, name):
    (example,) = [one for one in EXAMPLES if one.name == name or one.path.stem == name][:1]
    sizes = {key: min(value, 200) for key, value in example.sizes.items()}
    given = example.arguments(sizes, np.random.default_rng(1))
    answer = example.answer(given)
    arrays = {key: value for key, value in given.items() if isinstance(value, np.ndarray)}
    copies = {key: target.placed(value) for key, value in arrays.items()}
    kernel = tileir.load(example.path)[example.kernel]
    kernel.launch(example.grid(sizes), *(given | copies).values(), target="hip")
    for key, copy in copies.items():
        target.fetch(copy, arrays[key])
    assert largest_error(given, answer) <= example.tolerance


class TestArrays:
    def test_of_torch_for_rocm(self, target, memory, monkeypatch):
        tensor = TorchTensor(memory.address)
        version = SimpleNamespace(hip="6.4.0")
        cuda = SimpleNamespace(
            is_initialized=lambda: True, current_stream=lambda ordinal: SimpleNamespace(cuda_stream=7)
        )
        torch = SimpleNamespace(Tensor=TorchTensor, strided=STRIDED, version=version, cuda=cuda, _C=SimpleNamespace())
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.setattr("tileir.runtime.arrays._torch_device", cache(_torch_device.__wrapped__))  # another torch
        kernel = tileir.parse(SCALE)["k"]
        assert np.array_equal(scaled(target, kernel, tensor, memory), HALVES)
        assert np.array_equal(scaled(target, kernel, tensor, memory), HALVES / 2)

    def test_of_cupy_for_rocm(self, target, memory, monkeypatch, hip):
        runtime, stream = SimpleNamespace(is_hip=True), SimpleNamespace(ptr=33)
        cuda = SimpleNamespace(runtime=runtime, get_current_stream=lambda: stream)
        monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
        assert np.array_equal(scaled(target, tileir.parse(SCALE)["k"], cupy_array(memory.address), memory), HALVES)
        assert hip.launches[-1].stream == 33

    @pytest.mark.parametrize("versioned", [True, False])
    def test_of_any_library_with_dlpack(self, target, memory, versioned):
        value = DLPack(shape=(200,), device=(10, 0), versioned=versioned)
        (value.managed.tensor if versioned else value.managed).data = memory.address - 64
        assert np.array_equal(scaled(target, tileir.parse(SCALE)["k"], value, memory), HALVES)
        assert value.asked == [0]

    @pytest.mark.parametrize(
        ("array", "place"), [(np.zeros(200, np.float32), "cpu"), (DLPack(shape=(200,), device=(2, 0)), "cuda:0")]
    )
    def test_of_another_device_are_refused(self, array, place):
        words = f"memory of device rocm, which target 'hip' uses, got an array on device {place}"
        with pytest.raises(ValueError, match=words):
            tileir.parse(SCALE)["k"].launch(4, array, 0.5, 200, target="hip")

    def test_those_of_cupy_for_cuda_are_refused(self, memory, monkeypatch):
        cuda = SimpleNamespace(runtime=SimpleNamespace(is_hip=False))
        monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
        with pytest.raises(ValueError, match="got an array on device cuda:0"):
            tileir.parse(SCALE)["k"].launch(4, cupy_array(memory.address), 0.5, 200, target="hip")


class TestLaunches:
    def test_the_stream_of_the_caller(self, target, memory, hip):
        scaled(target, tileir.parse(SCALE)["k"], memory, memory, stream=SimpleNamespace(cuda_stream=77))
        assert hip.launches[-1].stream == 77

    def test_arguments_of_each_alignment_have_code_of_their_own(self, target, memory, hip):
        kernel = tileir.parse(SCALE)["k"]
        for address, count in [(memory.address, 160), (memory.address + 4, 160), (memory.address, 161)]:
            kernel.launch(1, tileir.Pointer(address), 1.0, count, target="hip")
        prepared = kernel.memo(("hip", True), lambda: None)
        assert len(prepared._launchers) == 3

    def test_warps_are_waves(self, target, memory, hip):
        assert np.array_equal(scaled(target, tileir.parse(SCALE)["k"], memory, memory, warps=2), HALVES)
        assert hip.launches[-1].threads == 64

    def test_what_blocks_print_and_assert(self):
        kernel, printed = tileir.parse(TELLING)["k"], []
        kernel.launch(2, 5, target="hip", output=printed.append)
        assert "".join(printed) == "n = 5\n" * 2
        with pytest.raises(tileir.Trap, match="positive"):
            kernel.launch(1, -5, target="hip", output=printed.append)

    def test_an_access_outside_is_a_trap(self, hip, memory):
        with pytest.raises(tileir.Trap, match=r"accessed memory that is not there.*hipErrorIllegalAddress"):
            tileir.parse(SCALE)["k"].launch(1000, memory, 0.5, 64000, target="hip")
        assert hip.fault is not None

    def test_more_threads_than_a_grid_may_have_are_refused(self, memory):
        with pytest.raises(tileir.UnsupportedError, match="the largest that Fake GPU 0 has is"):
            tileir.parse(SCALE)["k"].launch(1 << 23, memory, 0.5, 200, target="hip", warps=32)

    def test_on_the_second_device(self, hip, target):
        with hip.driver.on(1), placed(target, [np.arange(200, dtype=np.float32)]) as (array,):
            assert array.device == "rocm:1"
        assert hip.driver.device().ordinal == 0

    def test_launches_of_one_module_share_its_globals(self, target, hip):
        source = """
        global @count <i32: 40> : tile<1xi32>
        entry @add(%n: tile<i32>) {
          %p = get_global @count : tile<ptr<i32>>
          %old, %t = atomic_rmw_tko relaxed device %p, add, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
          return
        }
        entry @read(%to: tile<ptr<i32>>) {
          %p = get_global @count : tile<ptr<i32>>
          %v, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
          %s = store_ptr_tko weak %to, %v token = %t : tile<ptr<i32>>, tile<i32> -> token
          return
        }"""
        module = tileir.parse(source)
        to, found = target.placed(np.zeros(1, np.int32)), np.zeros(1, np.int32)
        for _ in range(2):
            module["add"].launch(3, 5, target="hip")
        module["read"].launch(1, to, target="hip")
        target.fetch(to, found)
        assert found[0] == 40 + 2 * 3 * 5


class Name(str):
    itemsize = 4


STRIDED = Name("torch.strided")


class TorchTensor:
    """The fields of a tensor of torch for ROCm that a launch looks at."""

    requires_grad = False

    def __init__(self, address: int) -> None:
        self.address, self.shape, self.layout = address, (200,), STRIDED
        self.dtype, self.device = Name("torch.float32"), Name("cuda:0")

    is_neg = is_conj = lambda self: False

    def data_ptr(self) -> int:
        return self.address

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def is_contiguous(self) -> bool:
        return True


def cupy_array(address: int) -> object:
    """An array that says that it is CuPy's."""
    facts = {"shape": (200,), "typestr": "<f4", "data": (address, False), "version": 3}
    made = type("ndarray", (), {"__cuda_array_interface__": facts, "device": SimpleNamespace(id=0)})
    made.__module__ = "cupy"
    return made()
