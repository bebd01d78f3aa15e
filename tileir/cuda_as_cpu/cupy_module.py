"""A `cupy` that is NumPy, for scripts that import it on a machine without CUDA.

It adds the parts of cupy that typical scripts use beyond NumPy: arrays with ``get``, `asnumpy`, streams, events,
devices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

from tileir.cuda_as_cpu.timing import Event, Stream


class ndarray(np.ndarray):
    """A NumPy array that can be asked to come to the CPU, where it is."""

    def get(self, *args: object, **kwargs: object) -> np.ndarray:
        return np.array(self, copy=True, subok=False)


class CpuDevice:
    """The only device there is."""

    compute_capability = "100"
    id = 0

    def __init__(self, device: int = 0) -> None:
        """Accept any number as the name of the device."""

    def synchronize(self) -> None:
        """Do nothing, as nothing is ever pending."""

    def use(self) -> None:
        """Do nothing, as the only device is in use."""

    def __enter__(self) -> CpuDevice:
        return self

    def __exit__(self, *error: object) -> None:
        """Leave errors to the caller."""


class CupyFinder(MetaPathFinder, Loader):
    """An import hook that gives `cupy`."""

    @cached_property
    def _modules(self) -> dict[str, ModuleType]:
        return cupy()

    def find_spec(self, name: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] != "cupy" or name not in self._modules:
            return None
        return ModuleSpec(name, self, is_package=name == "cupy")

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing, as the module is created complete."""


class _LikeNumPy(ModuleType):
    """A module of NumPy whose functions give arrays with ``get``."""

    def __init__(self, name: str, original: object) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self._original = original

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._original, name)
        return _giving(found) if callable(found) and not isinstance(found, type) else found


def cupy() -> dict[str, ModuleType]:
    """Return the modules to be imported as `cupy`, by name."""
    top = _LikeNumPy("cupy", np)
    cuda = ModuleType("cupy.cuda")
    found = {
        "cupy": top,
        "cupy.cuda": cuda,
        "cupy.random": _LikeNumPy("cupy.random", np.random),
        "cupy.linalg": _LikeNumPy("cupy.linalg", np.linalg),
    }
    for name, value in {
        "cuda": cuda,
        "random": found["cupy.random"],
        "linalg": found["cupy.linalg"],
        "ndarray": ndarray,
        "asnumpy": lambda array, *args, **kwargs: np.array(array, copy=True, subok=False),
        "get_array_module": lambda *args: top,
    }.items():
        setattr(top, name, value)
    for name, value in _cuda().items():
        setattr(cuda, name, value)
    return found


def _cuda() -> dict[str, object]:
    return {
        "Device": CpuDevice,
        "Stream": Stream,
        "Event": Event,
        "get_current_stream": lambda *args: Stream.null,
        "get_elapsed_time": lambda begin, end: begin.elapsed_time(end),
        "is_available": lambda: True,
    }


def _giving(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result.view(ndarray) if type(result) is np.ndarray else result

    return call
