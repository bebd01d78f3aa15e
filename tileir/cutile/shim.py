"""CUDA asked for, CPU given: for scripts written for a GPU, on a machine without one.

Knows: which of torch's names for CUDA are answered and how, and that a missing `cupy` is NumPy in its clothes
(`shim_cupy`).
Does not know: cuTile. Opt-in, says so once, and lasts until the process ends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

from tileir.cutile.timing import Event, Stream

_NOTICE = "tileir: --cuda-as-cpu: whatever asks for CUDA here gets the CPU; times are those of the CPU"
CAPABILITY = (10, 0)
"""The compute capability that scripts are told."""


def cuda_as_cpu() -> None:
    """Map `torch.cuda`, ``device="cuda"`` and a missing `cupy` to the CPU. A second call does nothing."""
    if find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            return
        _shim_torch(torch)
    if find_spec("cupy") is None:
        from tileir.cutile.shim_cupy import cupy

        sys.modules.update(cupy())
    print(_NOTICE, file=sys.stderr)


# ---------------------------------------------------------------- torch


def _shim_torch(torch: Any) -> None:
    for name, stand_in in _cuda_functions().items():
        setattr(torch.cuda, name, stand_in)
    torch.Generator = _generator(torch)
    torch.set_default_device = _on_cpu(torch.set_default_device)
    _mode(torch).__enter__()


def _generator(torch: Any) -> type:
    """Torch's generator of random numbers, on the CPU whatever is asked for; a class, as annotations want one."""

    class Generator(torch.Generator):
        def __new__(cls, device: object = "cpu") -> Any:
            return super().__new__(cls, device=_device(device))

    return Generator


def _mode(torch: Any) -> Any:
    """What sees every call of torch: CUDA devices among its arguments become the CPU."""
    from torch.overrides import TorchFunctionMode

    moves = {torch.Tensor.cuda: torch.Tensor.cpu}
    is_cuda = torch.Tensor.is_cuda.__get__

    class CudaAsCpu(TorchFunctionMode):
        def __torch_function__(
            self, function: Callable[..., Any], types: object, args: tuple = (), kwargs: dict | None = None
        ) -> Any:
            if function == is_cuda:
                return True
            if function in moves:
                return moves[function](args[0])
            return _on_cpu(function)(*args, **(kwargs or {}))

    return CudaAsCpu()


def _on_cpu(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with the CPU wherever an argument is a CUDA device."""

    def call(*args: Any, **kwargs: Any) -> Any:
        options = {name: _device(value) for name, value in kwargs.items()}
        return function(*map(_device, args), **options)

    return call


def _device(value: Any) -> Any:
    if isinstance(value, str):
        return "cpu" if value == "cuda" or value.startswith("cuda:") else value
    if type(value).__name__ == "device" and getattr(value, "type", None) == "cuda":
        return type(value)("cpu")
    return value


def _cuda_functions() -> dict[str, object]:
    """Stand-ins for what scripts use of `torch.cuda`."""
    return {
        **dict.fromkeys(_WITHOUT_EFFECT, _nothing),
        **dict.fromkeys(_COUNTS, _zero),
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "get_device_name": lambda device=None: "CPU (tileir)",
        "get_device_capability": lambda device=None: CAPABILITY,
        "get_device_properties": lambda device=None: _properties(),
        "Event": Event,
        "Stream": Stream,
        "current_stream": lambda device=None: Stream(),
        "default_stream": lambda device=None: Stream(),
        "stream": _within,
        "device": _within,
        "mem_get_info": lambda device=None: (_memory(), _memory()),
    }


_WITHOUT_EFFECT = (
    "synchronize",
    "set_device",
    "empty_cache",
    "init",
    "manual_seed",
    "manual_seed_all",
    "reset_peak_memory_stats",
    "set_stream",
    "ipc_collect",
)
_COUNTS = ("current_device", "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")


def _nothing(*args: object, **kwargs: object) -> None:
    """Nothing is pending here, and nothing is to be chosen."""


def _zero(*args: object, **kwargs: object) -> int:
    return 0


@contextmanager
def _within(*args: object, **kwargs: object) -> Iterator[None]:
    yield


def _properties() -> SimpleNamespace:
    major, minor = CAPABILITY
    return SimpleNamespace(
        name="CPU (tileir)",
        major=major,
        minor=minor,
        total_memory=_memory(),
        multi_processor_count=os.cpu_count() or 1,
        warp_size=32,
        L2_cache_size=1 << 20,
    )


def _memory() -> int:
    """The bytes of memory of this machine, or 8 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 << 30
