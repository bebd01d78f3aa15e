"""CUDA asked for, CPU given: for programs written for a GPU, on a machine without one.

Knows: which libraries are answered, each as soon as it is imported: torch (`torch_functions`, `torch_cuda`,
`torch_packages`, `graphs`), cuTile itself (`device`), the bindings of CUDA (`bindings`), and a missing `cupy`
(`cupy_module`: NumPy in its clothes).
Does not know: targets of kernels. Opt-in, and lasts until the process ends; it holds for every thread.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

from tileir.cuda_as_cpu.bindings import answer_core, answer_driver, answer_runtime
from tileir.cuda_as_cpu.cupy_module import CupyFinder
from tileir.cuda_as_cpu.device import answer_library
from tileir.cuda_as_cpu.torch_cuda import answer_torch_cuda
from tileir.cuda_as_cpu.torch_functions import take_cuda_for_cpu
from tileir.cuda_as_cpu.torch_packages import answer_torch_packages
from tileir.host.patching import when_imported

NOTICE = "tileir: --cuda-as-cpu: whatever asks for CUDA here gets the CPU; times are those of the CPU"
"""Said once to whoever asked for it."""


@cache
def cuda_as_cpu() -> bool:
    """Map CUDA to the CPU, for good. Gives whether that was done: not where there is a GPU."""
    if has_gpu():
        return False
    when_imported("torch", take_cuda_for_cpu)
    when_imported("torch", answer_torch_packages)
    when_imported("torch", answer_torch_cuda)
    when_imported("cuda.tile", answer_library)
    when_imported("cuda.bindings.driver", answer_driver)
    when_imported("cuda.bindings.runtime", answer_runtime)
    when_imported("cuda.core", answer_core)
    when_imported("cuda.core.experimental", answer_core)
    # Triton's driver for NVIDIA asks torch whether there is a device, and is told so.
    os.environ.setdefault("TRITON_DEFAULT_BACKEND", "cpu")
    # Last of all: a cupy that is installed is found before.
    sys.meta_path.append(CupyFinder())
    return True


def was_asked_for() -> bool:
    """Return whether this process has requested the stand-in, applied or not."""
    return cuda_as_cpu.cache_info().currsize > 0


def has_gpu() -> bool:
    """Return whether NVIDIA's driver finds a device."""
    count = ctypes.c_int(0)
    for name in ("libcuda.so.1", "nvcuda.dll"):
        try:
            driver = ctypes.CDLL(name)
        except OSError:
            continue
        return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    return False
