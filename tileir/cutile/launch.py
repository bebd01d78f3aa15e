"""The stand-in for the library's launch while cuTile runs on a tileir target.

The library's entry points are replaced and put back. A launch binds its arguments, finds or compiles the kernel, and
runs it.

The only state is in the library: `cuda.tile.launch` is a method of a `LaunchReplacement` while a target is enabled.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, cast

from tileir.cuda_as_cpu.timing import capture
from tileir.cutile.arrays import compiles_for_one
from tileir.cutile.cache import Specialisation, SpecialisationCache, Specialisations
from tileir.cutile.errors import cutile_type_name
from tileir.cutile.export import newest_version
from tileir.cutile.grid import cutile_grid
from tileir.cutile.keys import constraints
from tileir.cutile.signature import Binding, KernelParameters, OnGpu
from tileir.cutile.tuning import search, size_of
from tileir.frontend.chosen import Chosen
from tileir.frontend.tracebacks import trimmed
from tileir.host.patching import Function, rebind, when_imported
from tileir.ir.diagnostics import LaunchTimeout
from tileir.runtime.grid import Grid, GridLike
from tileir.runtime.module import DeviceTarget, Kernel, target_named
from tileir.runtime.options import Check, LaunchOptions, check_level

if TYPE_CHECKING:
    from cuda.tile import kernel as TileKernel
    from cuda.tile.compilation import CallingConvention

_CALL = "launch(stream, grid, kernel, kernel_args, /, *, programmatic_dependent_launch=False)"


_SWITCHING = threading.RLock()
"""Is held while functions are replaced."""


class LaunchReplacement:
    """A chosen target, and the library's functions that it replaces."""

    _original_launch: Function
    _original_benchmark: Function
    _original_timed_benchmark: Callable[..., tuple[object, float | None]]
    _original_search: Callable[..., Any]
    _original_constraints: Callable[..., list[Any]]

    def __init__(self, chosen: Chosen, gpu: bool) -> None:
        """``gpu``: launches on arrays of a GPU that the target does not use go to the library.

        Raises ImportError without cuda-tile.
        """
        from cuda.tile import _cext, kernel
        from cuda.tile.tune import _tune, _tune_utils

        self.chosen = chosen
        self._kernel_type: type = kernel
        self._gpu = gpu
        self._target = chosen.target
        self._has_streams = isinstance(self._target, DeviceTarget)
        self._cache = SpecialisationCache(chosen.target, chosen.check, chosen.options)
        before = installed()
        library: list[Any] = [
            _cext.launch,
            _cext._benchmark,
            _tune_utils.benchmark_with_timeout,
            _tune.exhaustive_search,
            _cext.get_parameter_constraints_from_pyargs,
        ]
        self._originals: list[Any] = library if before is None else before._originals
        (
            self._original_launch,
            self._original_benchmark,
            self._original_timed_benchmark,
            self._original_search,
            self._original_constraints,
        ) = self._originals
        self._functions: list[Function] = [
            self.launch,
            self.benchmark,
            self.benchmark_with_timeout,
            self.exhaustive_search,
            self.constraints,
        ]

    def install(self) -> None:
        """Call these functions, in place of the library's or of the replacement before: other threads that launch
        meanwhile meet one or the other."""
        with _SWITCHING:
            before = installed()
            rebind(list(zip(self._originals if before is None else before._functions, self._functions)))
            _keep_from_dynamo()
            if before is not None:
                before.chosen.end()
            self.chosen.begin()

    def remove(self) -> None:
        with _SWITCHING:
            self.chosen.end()
            rebind(list(zip(self._functions, self._originals)))

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
        """Launch as `cuda.tile.launch`, on the target. Only GPUs have streams: elsewhere the kernel has run when this
        returns."""
        __tracebackhide__ = True
        try:
            found, extents, binding = self._ready(grid, kernel, kernel_args)
            found.run(extents, binding, self._options_on(stream))
            steps = capture.get()
            if steps is not None:
                steps.append(partial(self.launch, stream, grid, kernel, kernel_args))
        except OnGpu as place:
            self._require_gpu(place)
            # cuda-tile 1.5 has no such option, and takes no keyword.
            options = {"programmatic_dependent_launch": True} if programmatic_dependent_launch else {}
            self._original_launch(stream, grid, kernel, kernel_args, **options)
        except Exception as error:
            raise trimmed(error)  # noqa: B904 - it is the same error

    def benchmark(
        self, stream: object, grid: tuple[int, ...], kernel: TileKernel, kernel_args: tuple, flush_l2: bool = True, /
    ) -> object:
        """Return the microseconds of one run, for `cuda.tile.tune`; compiling is not counted."""
        __tracebackhide__ = True
        try:
            return self._microseconds(grid, kernel, kernel_args, self._options_on(stream))
        except OnGpu as place:
            self._require_gpu(place)
            return self._original_benchmark(stream, grid, kernel, kernel_args, flush_l2)
        except Exception as error:
            raise trimmed(error)  # noqa: B904 - it is the same error

    def benchmark_with_timeout(
        self, stream: object, grid: tuple[int, ...], kernel: TileKernel, pyargs: tuple, timeout_sec: float, *more: bool
    ) -> tuple[object, float | None]:
        """Return the microseconds of a run that may take `timeout_sec`, in this process, and its seconds with
        compiling; on a GPU it may take as long as it likes.

        Raises the library's TileLaunchTimeoutError, in its words.
        """
        __tracebackhide__ = True
        from cuda.tile.tune._tune_utils import TileLaunchTimeoutError

        try:
            begin = time.perf_counter()
            taken = self._microseconds(grid, kernel, pyargs, self._options_on(stream, timeout_sec))
            return taken, time.perf_counter() - begin
        except LaunchTimeout:
            raise TileLaunchTimeoutError(f"CUDA kernel launch exceeded timeout {timeout_sec} sec") from None
        except OnGpu as place:
            self._require_gpu(place)
            return self._original_timed_benchmark(stream, grid, kernel, pyargs, timeout_sec, *more)
        except Exception as error:
            raise trimmed(error)  # noqa: B904 - it is the same error

    def exhaustive_search(self, *args: Any, **kwargs: Any) -> Any:
        """Search as `cuda.tile.tune.exhaustive_search`; where there is no GPU as `tuning.search`."""
        __tracebackhide__ = True
        if not self._has_streams:
            try:
                return search(self._original_search, self._meaning, *args, **kwargs)
            except OnGpu as place:
                self._require_gpu(place)
        return self._original_search(*args, **kwargs)

    def _meaning(self, grid: tuple[int, ...], kernel: TileKernel, arguments: tuple) -> Hashable:
        """Return what a launch does: its kernel without hints, the grid, shapes and numbers."""
        _, extents, key, _ = self.bound(grid, kernel, arguments)
        return kernel._annotated_function.pyfunc, extents, key, tuple(map(size_of, arguments))

    def constraints(self, kernel: TileKernel, arguments: tuple, convention: CallingConvention, /) -> list[Any]:
        """Return the signature that `KernelSignature.from_kernel_args` makes of arguments, for any calling
        convention."""
        parameters = KernelParameters(
            kernel, self._target.devices, for_one=convention.version > 1 and compiles_for_one()
        )
        try:
            key, _ = parameters.bind(arguments)
        except OnGpu as place:
            self._require_gpu(place)
            return self._original_constraints(kernel, arguments, convention)
        return constraints(key)

    def _microseconds(
        self, grid: tuple[int, ...], kernel: TileKernel, arguments: tuple, options: LaunchOptions
    ) -> float:
        found, extents, binding = self._ready(grid, kernel, arguments)
        return self._seconds(lambda: found.run(extents, binding, options)) * 1e6

    def _seconds(self, action: Callable[[], object]) -> float:
        if isinstance(self._target, DeviceTarget):
            return self._target.seconds(action)
        begin = time.perf_counter()
        action()
        return time.perf_counter() - begin

    def _options_on(self, stream: object, timeout: float | None = None) -> LaunchOptions:
        """Return the options that a launch adds to those of the target. GPUs have streams, and no way to end a
        kernel."""
        if self._has_streams:
            return {} if stream is None else {"stream": stream}
        return {} if timeout is None else {"timeout": timeout}

    def _ready(
        self, grid: tuple[int, ...], kernel: TileKernel, arguments: tuple
    ) -> tuple[Specialisation, Grid, Binding]:
        found, extents, key, binding = self.bound(grid, kernel, arguments)
        if self.chosen.told is not None:
            self.chosen.told(found.parameters.kernel)
        specialisation = found.find(kernel, key)
        if self.chosen.dump is not None:
            self.chosen.dump.write(specialisation.entry, found.parameters.kernel, newest_version())
        return specialisation, extents, binding

    def bound(
        self, grid: tuple[int, ...], kernel: TileKernel, arguments: tuple
    ) -> tuple[Specialisations, Grid, tuple, Binding]:
        """Bind a launch: its grid, the key of what it compiles for, and what it passes.

        Raises the kinds of errors that the library raises, with texts that begin with its own, and `OnGpu`.
        """
        if not isinstance(kernel, self._kernel_type):
            raise TypeError(f"{_CALL} expects a tile kernel as the third argument, got {cutile_type_name(kernel)}")
        if not isinstance(arguments, tuple):
            raise TypeError(f"{_CALL} expects a tuple as the fourth argument, got {cutile_type_name(arguments)}")
        found = self._cache.of(kernel)
        extents = cutile_grid(grid, found.parameters.kernel)
        return found, extents, *found.parameters.bind(arguments)

    def _require_gpu(self, place: OnGpu) -> None:
        if not self._gpu:
            raise ValueError(f"expected arrays in the memory of this machine, got one on {place}") from None


@cache
def _keep_from_dynamo() -> None:
    """Let `torch.compile` call a launch as it is, and not trace what a launch does."""
    when_imported("torch._dynamo.trace_rules", _skip_launches)


def _skip_launches(rules: Any) -> None:
    for package in iter_modules([str(Path(__file__).parents[1])], "tileir."):
        if package.ispkg and package.name != "tileir.cuda_as_cpu":
            rules.add(package.name)


def installed() -> LaunchReplacement | None:
    """Return the launcher that the library currently calls; None for its own."""
    tile = sys.modules.get("cuda.tile")
    owner = getattr(getattr(tile, "launch", None), "__self__", None)
    return owner if isinstance(owner, LaunchReplacement) else None


Run = Callable[[str, GridLike, Sequence[object]], None]
"""Launches a kernel on the target of a name, over a grid, with arguments."""


def kernel_runner(kernel: Kernel | TileKernel, check: Check, options: LaunchOptions) -> Run:
    """Return the function that launches a kernel, of Tile IR or of cuTile Python, where no target is enabled.

    Raises TypeError for what is no kernel.
    """
    check = check_level(check)
    if isinstance(kernel, Kernel):
        return lambda target, grid, arguments: kernel.launch(grid, *arguments, target=target, check=check, **options)
    try:
        from cuda.tile import kernel as kernel_type
    except ImportError:
        raise TypeError(f"kernel: expected a kernel, got {type(kernel).__name__}") from None
    if not isinstance(kernel, kernel_type):
        raise TypeError(f"kernel: expected a kernel of Tile IR or of cuTile Python, got {type(kernel).__name__}")
    launcher = cache(lambda name: LaunchReplacement(Chosen("cutile", target_named(name), check, options), gpu=False))

    def run(target: str, grid: GridLike, arguments: Sequence[object]) -> None:
        launcher(target).launch(None, cast("tuple[int, ...]", grid), kernel, tuple(arguments))

    return run
