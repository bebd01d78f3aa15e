"""What NVIDIA's Python packages answer with ``--cuda-as-cpu``."""

import importlib.util
from pathlib import Path

import pytest

from tests.processes import run_python
from tileir.cuda_as_cpu import has_gpu
from tileir.cuda_as_cpu.bindings import Device

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")
pytestmark = pytest.mark.skipif(has_gpu(), reason="a GPU is there: nothing is mapped")

BINDINGS = """\
from cuda.bindings import driver, runtime

def check(result):
    status, *values = result
    assert int(status) == 0, status
    return values[0] if values else None

check(driver.cuInit(0))
device = check(driver.cuDeviceGet(0))
name = check(driver.cuDeviceGetName(64, device)).rstrip(b"\\0").decode()
attribute = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
count = check(driver.cuDeviceGetAttribute(attribute, device))
properties = check(runtime.cudaGetDeviceProperties(check(runtime.cudaGetDevice())))
assert count == properties.multiProcessorCount == check(
    runtime.cudaDeviceGetAttribute(runtime.cudaDeviceAttr.cudaDevAttrMultiProcessorCount, 0)
)
assert int(driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_ECC_ENABLED, device)[0]) != 0
check(runtime.cudaDeviceSynchronize())
print(name, check(driver.cuDeviceGetCount()), check(runtime.cudaGetDeviceCount()), properties.major)
try:
    driver.cuMemAlloc(16)
except Exception as error:
    print("NVIDIA driver" in str(error))
"""


def test_the_driver_and_the_runtime_know_one_device(tmp_path: Path):
    if importlib.util.find_spec("cuda.bindings") is None:
        pytest.skip("needs the package cuda-bindings")
    path = tmp_path / "bindings.py"
    path.write_text(BINDINGS)
    done = run_python("-m", "tileir.cutile", "--cuda-as-cpu", path)
    assert done.stdout == "CPU (tileir) 1 1 10\nTrue\n", done.stderr


def test_the_device_of_cuda_core_is_the_cpu():
    device = Device()
    device.set_current()
    assert device.compute_capability == (device.compute_capability.major, 0) and device.arch == "100"
    assert device.properties.warp_size == 32
    assert device.create_stream().handle == 0
    with pytest.raises(AttributeError, match="the CPU has no property 'ecc_enabled' of a device"):
        _ = device.properties.ecc_enabled
