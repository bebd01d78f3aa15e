"""The target ``cpu``: native code on the memory of this process.

Knows: how arguments become the slots that native code reads, and the options of the target. Does not know: how code is
made (`cpu.program`) or run (`cpu.execution`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.cache import shared_cache
from tileir.cpu.execution import HostCall, Runner, Settings
from tileir.cpu.pool import default_threads
from tileir.cpu.program import Program, compiled
from tileir.interp import extern
from tileir.interp.api import Options
from tileir.interp.failures import assertion_text
from tileir.interp.printing import formatter
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.ops.extension import ExternElementwise, Func
from tileir.ops.misc import PrintTko
from tileir.runtime.arguments import Argument, ArrayArgument, Binder, Parameter, PointerArgument, binder
from tileir.runtime.arrays import CPU
from tileir.runtime.grid import Grid
from tileir.runtime.module import Kernel
from tileir.runtime.targets import Run
from tileir.text.printer import items_text

_OPTIONS = ("max_iterations", "output", "threads")


class Native:
    """Compiles kernels with LLVM. Memory accesses are not checked."""

    name = "cpu"
    description = "native code through LLVM; memory accesses are not checked"
    devices = (CPU,)
    gives_output = True

    def binder(self, parameter: Parameter) -> Binder:
        return binder(parameter, self.devices, self.name)

    def prepare(self, kernel: Kernel, check: bool, options: dict[str, object]) -> Run:
        """Options: ``threads`` (default: ``TILEIR_NUM_THREADS`` or the processors of this process); ``output``, where
        `print_tko` writes (a text stream or a function; standard output by default); ``max_iterations`` of a `loop` in
        one tile block before it counts as hanging (unlimited by default).
        """
        prepared = kernel.prepared("cpu", lambda: _Prepared(kernel))
        _require_registered(prepared.program)
        settings = prepared.settings(options) if options else prepared.usual

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            prepared.run(grid, arguments, settings)

        return run


class _Prepared:
    """A compiled kernel; `usual` are the settings of launches without options."""

    def __init__(self, kernel: Kernel) -> None:
        self._source = kernel.module.source
        self._globals = tuple(kernel.module.globals.addresses.values())
        self.program = program_of(kernel)
        self._runner = Runner(self.program, len(kernel.parameters) + len(self._globals))
        self.usual = self.settings({})

    def settings(self, options: dict[str, object]) -> Settings:
        unknown = options.keys() - set(_OPTIONS)
        if unknown:
            raise TypeError(f"target 'cpu' has no option {', '.join(sorted(unknown))}: it has {', '.join(_OPTIONS)}")
        threads = _positive("threads", options.get("threads"))
        return Settings(
            default_threads() if threads is None else threads,
            _host(options.get("output")),
            assertion_text,
            self._source,
            _positive("max_iterations", options.get("max_iterations")),
        )

    def run(self, grid: Grid, arguments: Sequence[Argument], settings: Settings) -> None:
        self._runner.run(grid, [*map(_slot, arguments), *self._globals], settings)


def program_of(kernel: Kernel) -> Program:
    """The compiled kernel, from the cache if it is there. Raises UnsupportedError for what has no native code."""
    module = kernel.module
    functions = [item for item in module.items if isinstance(item, Func)]
    text = items_text(module, [kernel.entry, *functions])
    return compiled(kernel.entry, functions, tuple(module.globals.addresses), text, shared_cache())


def _positive(name: str, value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: expected a positive integer, got {value!r}")
    if value < 1:
        raise ValueError(f"{name}: expected a positive integer, got {value}")
    return value


def _host(output: object) -> HostCall:
    """What native code leaves to the host: printing to `output`, the functions that `tileir.register_extern` names."""
    settings = Options(output=output)  # type: ignore[arg-type]

    def call(op: Op, tiles: list[np.ndarray]) -> np.ndarray | None:
        if isinstance(op, ExternElementwise):
            elements = [value.type.element for value in op.args]
            return extern.apply(op.symbol, tuple(tiles), elements, op.result.type.element)
        assert isinstance(op, PrintTko)
        text, _ = formatter(op.text, [value.type.element for value in op.args])
        settings.write(text(tiles))
        return None

    return call


def _require_registered(program: Program) -> None:
    """Raise UnsupportedError for a function of the host that nobody has registered."""
    for op in program.prints:
        if isinstance(op, ExternElementwise) and not extern.is_registered(op.symbol):
            what = f"'{op.spec.name}': no host function is registered as '{op.symbol}'"
            raise UnsupportedError(what, TARGET.name, op.loc)


def _slot(argument: Argument) -> int:
    """The 8 bytes of an argument: an address, or a scalar in the low bytes."""
    if isinstance(argument, ArrayArgument):
        return argument.array.address
    if isinstance(argument, PointerArgument):
        return argument.pointer.address
    return int.from_bytes(argument.value.tobytes(), "little")


TARGET = Native()
