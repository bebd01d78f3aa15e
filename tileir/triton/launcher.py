"""Launches of a kernel as Triton makes them, on the target that its driver has chosen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from tileir.cuda_as_cpu.timing import capture
from tileir.frontend.tracebacks import at_python_line, trimmed
from tileir.host.stages import first_call
from tileir.ir.diagnostics import Trap
from tileir.runtime.grid import checked_grid
from tileir.runtime.module import Run
from tileir.runtime.native import NativeRun
from tileir.triton.arguments import KernelArguments
from tileir.triton.program import loaded_kernel, relocate

if TYPE_CHECKING:
    from tileir.frontend.chosen import Chosen

Hook = Callable[[object], object]


class Chooser(Protocol):
    """Triton's driver, as far as launches need it."""

    chosen: Chosen


class TritonKernel:
    """A kernel that Triton has loaded; it is made ready for a target when it is first launched there."""

    def __init__(self, name: str, content: bytes) -> None:
        self.kernel = loaded_kernel(content, name)
        self._runs: dict[Chosen, Run] = {}

    def run_on(self, chosen: Chosen, taken: KernelArguments) -> Run:
        """Return what launches the kernel; native code takes most tensors as they are."""
        found = self._runs.get(chosen)
        if found is None:
            with first_call(self.kernel.name):
                found = chosen.target.prepare(self.kernel, chosen.check, chosen.options)
            if isinstance(found, NativeRun) and taken.are_plain:
                found = found.in_storages(taken.bind_passed)
            self._runs[chosen] = found
        return found


class Launcher:
    """The object that Triton calls to launch one kernel; Triton has made a `TritonKernel` of it."""

    def __init__(self, driver: Chooser, source: Any, metadata: Any) -> None:
        self._driver, self._name, self._signature = driver, metadata.name, source.signature
        self._file = _file_of(source)
        self._arguments: KernelArguments | None = None

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: object,
        loaded: TritonKernel,
        packed_metadata: object,
        launch_metadata: object,
        enter: Hook | None,
        leave: Hook | None,
        /,
        *arguments: object,
    ) -> None:
        __tracebackhide__ = True
        if enter is not None:
            enter(launch_metadata)
        try:
            self._launch((x, y, z), loaded, arguments)
            steps = capture.get()
            if steps is not None:
                again = partial(self, x, y, z, stream, loaded, packed_metadata, launch_metadata, enter, leave)
                steps.append(partial(again, *arguments))
        except Trap as trap:
            raise trimmed(at_python_line(trap, self._file or self._name)) from None
        except Exception as error:
            raise trimmed(error)  # noqa: B904 - it is the same error
        if leave is not None:
            leave(launch_metadata)

    def _launch(self, grid: tuple[int, int, int], loaded: TritonKernel, arguments: tuple[object, ...]) -> None:
        if 0 in grid:
            return
        chosen = self._driver.chosen
        if chosen.told is not None:
            chosen.told(self._name)
        if chosen.dump is not None:
            chosen.dump.write(loaded.kernel, self._name)
        taken = self._arguments
        if taken is None:
            if self._file is not None:
                relocate(loaded.kernel, self._file)
            taken = self._arguments = KernelArguments(loaded.kernel, self._signature)
        run, values = loaded.run_on(chosen, taken), taken.passed(arguments)
        if not (taken.are_plain and isinstance(run, NativeRun) and run.direct(grid, values)):
            run(checked_grid(grid, self._name), taken.bind_passed(values))


def _file_of(source: Any) -> str | None:
    """Return the file of a kernel's function: a kernel of TTIR has none, nor one that a process of Inductor's made."""
    function = getattr(getattr(source, "fn", None), "fn", None)
    return None if function is None else str(function.__code__.co_filename)
