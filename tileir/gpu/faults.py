"""Reports of the drivers, in our words.

Knows: which of its errors is whose fault. Does not know: how it is called (`gpu.driver`).
"""

from __future__ import annotations

import re

from tileir.gpu.arch import Vendor
from tileir.ir.diagnostics import Trap, UnsupportedError

_OF_A_KERNEL = {
    "ILLEGAL_ADDRESS": "accessed memory that is not there",
    "MISALIGNED_ADDRESS": "accessed memory at an address that is not aligned",
    "ILLEGAL_INSTRUCTION": "ran an instruction that this GPU lacks",
    "INVALID_ADDRESS_SPACE": "accessed memory of the wrong kind",
    "INVALID_PC": "jumped to where there is no code",
    "HARDWARE_STACK_ERROR": "overflowed its stack",
    "LAUNCH_FAILED": "failed",
    "LAUNCH_FAILURE": "failed",
    "LAUNCH_TIMEOUT": "ran longer than this machine allows",
    "LAUNCH_TIME_OUT": "ran longer than this machine allows",
    "ASSERT": "stopped at an assertion",
    "TENSOR_MEMORY_LEAK": "did not free its tensor memory",
}
"""Errors of code that ran, which the driver reports at some later call and at every call after that."""

_OF_THE_CODE = (
    "INVALID_IMAGE",
    "INVALID_KERNEL_FILE",
    "SHARED_OBJECT_INIT_FAILED",
    "NO_BINARY_FOR_GPU",
    "INVALID_SOURCE",
    "UNSUPPORTED_PTX_VERSION",
    "NOT_FOUND",
)
"""Errors of code that was not accepted."""


def failure(vendor: Vendor, name: str, text: str, doing: str) -> Exception:
    """The exception for the driver's error `name`, which it describes as `text`, met while `doing` something."""
    short, target = _short(name), vendor.value
    if short in _OF_A_KERNEL:
        what = f"a kernel {_OF_A_KERNEL[short]}; this process can no longer use the GPU"
        return Trap(f"{what} (noticed while {doing}: {name})")
    said = f"{name}: {text}" if text else name
    if short == "OUT_OF_MEMORY":
        return UnsupportedError(f"not enough GPU memory: failed at {doing} ({name})", target)
    if short == "LAUNCH_OUT_OF_RESOURCES":
        hint = "the kernel needs more registers or threads than a block can have: use smaller tiles"
        return UnsupportedError(f"failed at {doing}: {hint} ({name})", target)
    if short in _OF_THE_CODE:
        hint = "the driver may be too old for this code; 'tileir info' shows its version"
        return UnsupportedError(f"failed at {doing}: the driver refused it ({said}); {hint}", target)
    return UnsupportedError(f"failed at {doing} ({said})", target)


def _short(name: str) -> str:
    """An error without its prefix, as CUDA writes it: ``hipErrorNoBinaryForGpu`` is ``NO_BINARY_FOR_GPU``."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removeprefix("hipError"))
    return words.upper() if name.startswith("hipError") else name.removeprefix("CUDA_ERROR_")
