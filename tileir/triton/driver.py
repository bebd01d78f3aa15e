"""The driver that Triton finds as the module `driver` of its backend ``cpu``.

Triton imports it when it is itself imported, so slow imports are made where they are needed.
"""

from __future__ import annotations

import os
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from tileir.host.patching import when_imported
from tileir.triton.patches import patch_tuner

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from tileir.frontend.chosen import Chosen
    from tileir.triton.launcher import Launcher, TritonKernel

NAME = "cpu"
WARP = 32
"""Scripts count in warps."""

# One of the modules that Triton imports once its runtime is complete.
when_imported("triton.testing", patch_tuner)


class CpuDriver(DriverBase):
    """Runs kernels on the target that is chosen (`frontend.chosen`), native code by default."""

    def __init__(self) -> None:
        from tileir.triton.patches import patch_triton

        patch_triton(self.is_active())
        self.utils = CpuUtils()
        self.chosen: Chosen = self.usual()

    @staticmethod
    def usual() -> Chosen:
        """Return native code, with the usual checks."""
        from tileir.frontend.chosen import DEFAULT, Chosen
        from tileir.runtime.module import target_named

        return Chosen("triton", target_named(DEFAULT))

    def choose(self, chosen: Chosen) -> None:
        self.chosen.end()
        self.chosen = chosen
        chosen.begin()

    @classmethod
    def is_active(cls) -> bool:
        """Return whether kernels run here by default: no other driver has a device, or this one is named."""
        from triton.backends import backends

        if os.environ.get("TRITON_DEFAULT_BACKEND") == NAME:
            return True
        return not any(backend.driver.is_active() for name, backend in backends.items() if name != NAME)

    @cached_property
    def launcher_cls(self) -> Callable[[object, object], Launcher]:
        from tileir.triton.launcher import Launcher

        return partial(Launcher, self)

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return GPUTarget(NAME, NAME, WARP)

    def get_active_torch_device(self) -> torch.device:
        import torch

        return torch.device(NAME)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: object) -> None:
        """Do nothing, as there is only one device."""

    def get_current_stream(self, device: object) -> int:
        return 0

    def get_device_capability(self, device: object = None) -> tuple[int, int]:
        return (0, 0)

    # ------------------------------------------------------------ benchmarks

    def get_device_interface(self) -> Any:
        from tileir.cuda_as_cpu import timing

        return timing

    def get_benchmarker(self) -> Any:
        from triton.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """Return enough memory to evict everything else from the processor's caches."""
        import torch

        return torch.empty(2 * _last_cache() // 4, dtype=torch.int32)

    def clear_cache(self, cache: torch.Tensor) -> None:
        # Not by torch, whose threads would still spin beside the kernel that is measured.
        cache.numpy().fill(0)


def _last_cache() -> int:
    """Return the bytes of the processor's last cache, or 32 MiB where the system does not say."""
    try:
        return os.sysconf("SC_LEVEL3_CACHE_SIZE") or 32 << 20
    except (AttributeError, ValueError, OSError):
        return 32 << 20


class CpuUtils:
    """The functions that Triton calls on a driver to load kernels, and scripts on a device."""

    def load_binary(
        self, name: str, content: bytes, shared: int, device: int
    ) -> tuple[TritonKernel, TritonKernel, int, int, int]:
        """Return a kernel, twice (as module and as function), with registers, spills and the threads of a block."""
        from tileir.triton.launcher import TritonKernel

        loaded = TritonKernel(name, content)
        return loaded, loaded, 1, 0, 1 << 20

    def unload_module(self, module: TritonKernel) -> None:
        """Do nothing, as an unreferenced module is freed."""

    def get_device_properties(self, device: object) -> dict[str, int]:
        """Return sizes as of a GPU, where kernels are chosen by them; one multiprocessor for each processor."""
        from tileir.cuda_as_cpu.device import DeviceProperties

        of = DeviceProperties()
        return {
            "max_shared_mem": of.shared_memory_per_block_optin,
            "max_num_regs": of.regs_per_multiprocessor,
            "multiprocessor_count": of.multi_processor_count,
            "warpSize": WARP,
            "sm_clock_rate": of.clock_rate,
            "mem_clock_rate": of.memory_clock_rate,
            "mem_bus_width": of.memory_bus_width,
        }
