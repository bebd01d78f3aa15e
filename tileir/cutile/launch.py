"""What stands in for the library's launch while cuTile runs on a tileir target.

Knows: how the library's entry points are replaced and put back, and what a launch does: bind, find or compile, run.
Does not know: arguments (`signature`), compilation (`cache`), targets.

The state is in the library alone: `cuda.tile.launch` is a method of a `Launcher` while a target is enabled.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from tileir.cutile.cache import Cache, Specialisation
from tileir.cutile.signature import Binding, OnGpu
from tileir.runtime.grid import Grid, checked_grid
from tileir.runtime.targets import DeviceTarget, target_named

if TYPE_CHECKING:
    from cuda.tile import kernel as TileKernel

Function = Callable[..., object]


class Launcher:
    """A target, and the library's functions that it replaces."""

    def __init__(self, target: str, gpu: bool, options: dict[str, object]) -> None:
        """``gpu``: launches on arrays of a GPU that the target does not use go to the library. What is installed now is
        removed.

        Raises `UnsupportedError` for a target that is not there, ImportError without cuda-tile.
        """
        from cuda.tile import _cext, kernel

        self.target = target
        self._kernel_type: type = kernel
        self._gpu = gpu
        self._target = target_named(target)
        self._cache = Cache(self._target, options)
        before = installed()
        if before is not None:
            before.remove()
        self._original_launch: Function = _cext.launch
        self._original_benchmark: Function = _cext._benchmark
        self._replacements: list[tuple[Function, Function]] = [
            (_cext.launch, self.launch),
            (_cext._benchmark, self.benchmark),
            (_cext._export_ipc_benchmark_payload, self.no_payload),
        ]

    def install(self) -> None:
        _rebind(self._replacements)

    def remove(self) -> None:
        _rebind([(replacement, original) for original, replacement in self._replacements])

    # ------------------------------------------------------------ the replacements

    def launch(
        self,
        stream: object,
        grid: tuple[int, ...],
        kernel: TileKernel,
        kernel_args: tuple,
        /,
        *,
        programmatic_dependent_launch: bool = False,
    ) -> None:
        """`cuda.tile.launch` on the target. Only GPUs have streams: elsewhere the kernel has run when this returns."""
        try:
            found, extents, binding = self._ready(grid, kernel, kernel_args)
        except OnGpu as place:
            self._require_gpu(place)
            # cuda-tile 1.5 has no such option, and takes no keyword.
            options = {"programmatic_dependent_launch": True} if programmatic_dependent_launch else {}
            self._original_launch(stream, grid, kernel, kernel_args, **options)
            return
        found.run(extents, binding, stream)

    def benchmark(
        self, stream: object, grid: tuple[int, ...], kernel: TileKernel, kernel_args: tuple, flush_l2: bool = True, /
    ) -> object:
        """Microseconds of one run, for `cuda.tile.tune`; compiling is not counted."""
        try:
            found, extents, binding = self._ready(grid, kernel, kernel_args)
        except OnGpu as place:
            self._require_gpu(place)
            return self._original_benchmark(stream, grid, kernel, kernel_args, flush_l2)
        return self._seconds(lambda: found.run(extents, binding, stream)) * 1e6

    def _seconds(self, action: Callable[[], object]) -> float:
        if isinstance(self._target, DeviceTarget):
            return self._target.seconds(action)
        begin = time.perf_counter()
        action()
        return time.perf_counter() - begin

    def no_payload(self, *arguments: object) -> None:
        """A benchmark with a time limit runs in this process too: nothing is sent to another one."""

    def _ready(
        self, grid: tuple[int, ...], kernel: TileKernel, arguments: tuple
    ) -> tuple[Specialisation, Grid, Binding]:
        if not isinstance(kernel, self._kernel_type):
            raise TypeError(f"cuda.tile.launch: expected a tile kernel, got {type(kernel).__name__}")
        if not isinstance(arguments, tuple):
            raise TypeError(f"cuda.tile.launch: expected a tuple of arguments, got {type(arguments).__name__}")
        known = self._cache.of(kernel)
        key, binding = known.parameters.bind(arguments)
        return known.find(kernel, key), self._extents(grid, known.parameters.kernel), binding

    def _extents(self, grid: tuple[int, ...], kernel: str) -> Grid:
        if not isinstance(grid, tuple):
            raise TypeError(f"kernel '{kernel}': expected a tuple as the grid, got {type(grid).__name__}")
        return checked_grid(grid or (1,), kernel)

    def _require_gpu(self, place: OnGpu) -> None:
        if not self._gpu:
            raise ValueError(f"expected arrays in the memory of this machine, got one on {place}") from None


def installed() -> Launcher | None:
    """The launcher that the library calls now; None if it launches by itself."""
    tile = sys.modules.get("cuda.tile")
    owner = getattr(getattr(tile, "launch", None), "__self__", None)
    return owner if isinstance(owner, Launcher) else None


def _rebind(pairs: list[tuple[Function, Function]]) -> None:
    """Put each new function in the place of the old one in every module that has it.

    So `from cuda.tile import launch` follows, also where it was imported before.
    """
    replacement = {id(old): new for old, new in pairs}
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType):
            for name in [name for name, value in list(vars(module).items()) if id(value) in replacement]:
                setattr(module, name, replacement[id(vars(module)[name])])
