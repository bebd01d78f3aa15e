"""The device that torch, cupy and cuTile report to programs.

Its compute capability is a GPU's, and so are sizes by which kernels are chosen; sizes of memory are this machine's. It
answers cuTile's questions to a driver.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from types import ModuleType

from tileir.host.patching import Function, rebind

CAPABILITY = (10, 0)
"""The compute capability."""
DRIVER = (13, 4)
"""The version of CUDA that the driver is for."""
MAX_GRID = (0x7FFFFFFF, 65535, 65535)
NAME = "CPU (tileir)"


def memory() -> int:
    """Return the bytes of memory of this machine, or 8 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 << 30


@dataclass(frozen=True)
class DeviceProperties:
    """Properties as from `torch.cuda.get_device_properties`; sizes of shared resources follow from the capability."""

    name: str = NAME
    major: int = CAPABILITY[0]
    minor: int = CAPABILITY[1]
    total_memory: int = field(default_factory=memory)
    multi_processor_count: int = field(default_factory=lambda: os.cpu_count() or 1)
    max_threads_per_block: int = 1024
    max_threads_per_multi_processor: int = 2048
    regs_per_multiprocessor: int = 65536
    shared_memory_per_block: int = 48 << 10
    shared_memory_per_block_optin: int = 227 << 10
    shared_memory_per_multiprocessor: int = 228 << 10
    warp_size: int = 32
    L2_cache_size: int = 1 << 20
    clock_rate: int = 1_000_000
    memory_clock_rate: int = 1_000_000
    memory_bus_width: int = 64
    is_integrated: int = 1
    is_multi_gpu_board: int = 0
    gcnArchName: str = NAME
    uuid: str = "00000000-0000-0000-0000-000000000000"


def answer_library(tile: ModuleType) -> None:
    """Let `cuda.tile` know of a GPU; `get_sm_arch` and whatever compiles for the present device follow."""
    from cuda.tile import _cext

    answers: dict[str, Function] = {
        "get_compute_capability": lambda device_id=0: CAPABILITY,
        "get_driver_version": lambda: DRIVER,
        "_get_max_grid_size": lambda device_id: MAX_GRID,
        "_synchronize_context": lambda: None,
    }
    rebind([(getattr(_cext, name), answer) for name, answer in answers.items() if hasattr(_cext, name)])
