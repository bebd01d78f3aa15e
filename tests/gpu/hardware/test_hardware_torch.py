"""Tensors and streams of torch on a GPU: in place, in order with torch's own work, by every protocol that they have."""

from __future__ import annotations

from typing import Any

import pytest

import tileir
from tests.gpu.hardware.hardware_device import Device
from tests.gpu.hardware.test_hardware_host import SUM
from tileir.examples import FOLDER


@pytest.fixture
def torch(device: Device) -> Any:
    """torch; on the CPU when the tests are rehearsed."""
    found = pytest.importorskip("torch", reason="needs torch: pip install torch")
    if not device.rehearsal and not found.cuda.is_available():
        pytest.skip("needs a torch that is built for CUDA")
    return found


def place(device: Device) -> str:
    return "cpu" if device.rehearsal else "cuda"


def kernel_of(text: str) -> tileir.Kernel:
    return tileir.parse(text)["k"]


def test_tensors_are_used_in_place(device: Device, torch: Any) -> None:
    a, b = (torch.arange(1000, device=place(device), dtype=torch.float32) for _ in range(2))
    device.launch(kernel_of(SUM), (4,), a, b, 1000)
    assert torch.equal(b, 2 * a)
    device.launch(kernel_of(SUM), (4,), a[4:260], b[8:264], 256)
    expected = 2 * a
    expected[8:264] += a[4:260]
    assert torch.equal(b, expected)


@pytest.mark.parametrize("name", ["int8", "int32", "float16", "bfloat16", "float64", "bool"])
def test_element_types_have_the_same_name_in_both(device: Device, torch: Any, name: str) -> None:
    element = {"int8": "i8", "int32": "i32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "bool": "i1"}[name]
    text = f"""entry @k(%a: tile<ptr<{element}>>, %b: tile<ptr<{element}>>) {{
      %x, %t = load_ptr_tko weak %a : tile<ptr<{element}>> -> tile<{element}>, token
      %u = store_ptr_tko weak %b, %x token=%t : tile<ptr<{element}>>, tile<{element}> -> token
      return
    }}"""
    a = torch.ones(4, dtype=getattr(torch, name), device=place(device))
    b = torch.zeros_like(a)
    device.launch(kernel_of(text), (1,), a, b)
    assert b.tolist() == [1, 0, 0, 0]


class _OnlyDlpack:
    """A tensor that is known by DLPack only."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __dlpack__(self, **options: Any) -> Any:
        return self._tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()


def test_arrays_with_dlpack_are_taken(device: Device, torch: Any) -> None:
    a, b = (torch.arange(256, device=place(device), dtype=torch.float32) for _ in range(2))
    device.launch(kernel_of(SUM), (1,), _OnlyDlpack(a), _OnlyDlpack(b), 256)
    assert torch.equal(b, 2 * a)


class _OnlyInterface:
    """A tensor that is known by CUDA's array interface only."""

    def __init__(self, tensor: Any) -> None:
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__


def test_arrays_with_the_interface_of_cuda_are_taken(gpu: Device, torch: Any) -> None:
    a, b = (torch.arange(256, device="cuda", dtype=torch.float32) for _ in range(2))
    gpu.launch(kernel_of(SUM), (1,), _OnlyInterface(a), _OnlyInterface(b), 256)
    assert torch.equal(b, 2 * a)


def test_launches_are_in_order_with_the_work_of_torch(gpu: Device, torch: Any) -> None:
    """On a stream of torch's without a word about it: each launch uses what torch has just begun to compute."""
    kernel, count = kernel_of(SUM), 1 << 20
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a = torch.ones(count, device="cuda")
        b = torch.zeros(count, device="cuda")
        for number in range(20):
            a.fill_(number)
            kernel.launch(count // 256, a, b, count, target=gpu.name)
            b.mul_(2)
    stream.synchronize()
    expected = 0
    for number in range(20):
        expected = 2 * (expected + number)
    assert (b == expected).all()


def test_a_stream_of_torch_can_be_named(gpu: Device, torch: Any) -> None:
    stream = torch.cuda.Stream()
    a, b = (torch.arange(256, device="cuda", dtype=torch.float32) for _ in range(2))
    torch.cuda.synchronize()
    kernel_of(SUM).launch(1, a, b, 256, target=gpu.name, stream=stream)
    stream.synchronize()
    assert torch.equal(b, 2 * a)


def test_memory_of_the_host_is_refused(gpu: Device, torch: Any) -> None:
    with pytest.raises(ValueError, match="an array on device cpu"):
        kernel_of(SUM).launch(1, torch.ones(256), torch.ones(256, device="cuda"), 256, target=gpu.name)


def test_a_product_agrees_with_torch(device: Device, torch: Any) -> None:
    m, n, k = (128, 128, 64) if device.rehearsal else (1000, 1024, 768)
    torch.manual_seed(1)
    a, b = (torch.randn(shape, device=place(device), dtype=torch.float16) for shape in ((m, k), (n, k)))
    c = torch.zeros((m, n), device=place(device))
    kernel = tileir.load(FOLDER / "gemm_views.mlir")["gemm_views"]
    device.launch(kernel, (-(-m // 128), -(-n // 128)), a, b, c, m, n, k, k, k, n)
    exact = a.double() @ b.double().T
    assert float((c.double() - exact).abs().max() / exact.abs().max()) <= 1e-5
