"""The target ``cpu``: native code on the memory of this process.

Knows: how arguments become the slots that native code reads, and the options of the target. Does not know: how code is
made (`cpu.run.program`) or run (`cpu.run.execution`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.cache import shared_cache
from tileir.cpu.lowering.state import CheckLevel
from tileir.cpu.run.execution import Runner
from tileir.cpu.run.launch import HostCall, Settings
from tileir.cpu.run.pool import default_threads
from tileir.cpu.run.program import NativeProgram, NativeSource, compiled
from tileir.host import extern
from tileir.host.limits import MAX_ITERATIONS
from tileir.host.output import Output, write
from tileir.host.printing import formatter
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.shown import shown
from tileir.ir.types import PointerType
from tileir.ops.calls import Func
from tileir.ops.extension import ExternElementwise
from tileir.ops.misc import PrintTko
from tileir.ops.module import Entry
from tileir.runtime.arguments import Argument, Binder, Parameter, binder
from tileir.runtime.arrays import CPU
from tileir.runtime.exact import exact_kernel
from tileir.runtime.grid import Grid
from tileir.runtime.module import Kernel, Module
from tileir.runtime.native_memory import NativeArguments
from tileir.runtime.options import (
    Check,
    LaunchOptions,
    NativeOptions,
    check_level,
    optimizes,
    positive,
    require_known,
    seconds,
)
from tileir.runtime.targets import Run
from tileir.text.printer import items_text

_LEVELS = {False: CheckLevel.OFF, True: CheckLevel.ON, "strict": CheckLevel.STRICT}


class Native:
    """Compiles kernels with LLVM; a launch checks memory accesses and promises unless it is told not to."""

    name = "cpu"
    description = "native code through LLVM; memory accesses are checked unless told otherwise"
    devices = (CPU,)
    gives_output = True

    def binder(self, parameter: Parameter) -> Binder:
        return binder(parameter, self.devices, self.name)

    def prepare(self, kernel: Kernel, check: Check, options: LaunchOptions) -> Run:
        """Options: ``threads`` (default: ``TILEIR_NUM_THREADS`` or the processors of this process); ``output``, where
        `print_tko` writes (a text stream or a function; standard output by default); ``max_iterations`` of one tile
        block in its loops before it counts as hanging (default: `host.limits.MAX_ITERATIONS`); ``timeout`` in seconds;
        ``progress``, a function that is told now and then how many tile blocks are done, of how many; ``optimize``:
        rewrite the program exactly before it becomes code (the default; never for strict checks, which look for what
        rewrites leave out).
        """
        checks = _LEVELS[check_level(check)]
        rewrites = optimizes(options) and checks is not CheckLevel.STRICT
        prepared = kernel.prepared(("cpu", checks, rewrites), lambda: _Prepared(kernel, checks, rewrites))
        _require_registered(prepared.program)
        settings = prepared.settings(options) if options else prepared.usual

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            prepared.run(grid, arguments, settings)

        return run


class _Prepared:
    """A compiled kernel; `usual` are the settings of launches without options."""

    def __init__(self, kernel: Kernel, checks: CheckLevel, rewrites: bool) -> None:
        self._source = kernel.module.source
        self._storage = kernel.module.globals
        self._globals = tuple(self._storage.addresses.values())
        self.program = program_of(kernel, checks, rewrites)
        memories = len(self._globals) + sum(
            isinstance(argument.tile.element, PointerType) for argument in kernel.entry.body.args
        )
        self._runner = Runner(self.program, len(kernel.parameters) + len(self._globals) + 3 * memories + 2)
        self.usual = self.settings({})

    def settings(self, options: LaunchOptions) -> Settings:
        require_known(options, NativeOptions, Native.name)
        threads = positive("threads", options.get("threads"))
        return Settings(
            default_threads() if threads is None else threads,
            _host(options.get("output")),
            positive("max_iterations", options.get("max_iterations")) or MAX_ITERATIONS,
            self._source,
            seconds("timeout", options.get("timeout")),
            options.get("progress"),
        )

    def run(self, grid: Grid, arguments: Sequence[Argument], settings: Settings) -> None:
        self._runner.run(grid, NativeArguments(arguments, self._storage, self._globals), settings)


def program_of(kernel: Kernel, checks: CheckLevel = CheckLevel.ON, rewrites: bool = True) -> NativeProgram:
    """The compiled kernel, from the cache if it is there. Raises UnsupportedError for what has no native code."""
    return compiled(source_of(kernel, checks, rewrites), shared_cache())


def source_of(kernel: Kernel, checks: CheckLevel, rewrites: bool) -> NativeSource:
    """The source that code of a kernel is made of."""

    def items() -> tuple[Entry, list[Func]]:
        made = exact_kernel(kernel) if rewrites else kernel
        return made.entry, _functions(made.module)

    text = items_text(kernel.module, [kernel.entry, *_functions(kernel.module)])
    return NativeSource(kernel.name, text, tuple(kernel.module.globals.addresses), checks, items, rewrites)


def _functions(module: Module) -> list[Func]:
    return [item for item in module.items if isinstance(item, Func)]


def _host(output: Output) -> HostCall:
    """Services of the host for native code: printing to `output`, the functions that `tileir.register_extern` names."""

    def call(op: Op, tiles: list[np.ndarray]) -> np.ndarray | None:
        if isinstance(op, ExternElementwise):
            elements = [value.type.element for value in op.args]
            return extern.apply(op.symbol, tuple(tiles), elements, op.result.type.element)
        assert isinstance(op, PrintTko)
        text, _ = formatter(op.text, [value.type.element for value in op.args])
        write(output, text(tiles))
        return None

    return call


def _require_registered(program: NativeProgram) -> None:
    """Raise UnsupportedError for a function of the host that nobody has registered."""
    for op in program.prints:
        if isinstance(op, ExternElementwise) and not extern.is_registered(op.symbol):
            what = f"'{op.spec.name}': no host function is registered as '{shown(op.symbol)}'"
            raise UnsupportedError(what, Native.name, op.loc)
