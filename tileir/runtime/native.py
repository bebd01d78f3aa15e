"""The target ``cpu``: native code on the memory of this process.

Knows: how arguments become the slots that native code reads, and the options of the target. Does not know: how code is
made (`cpu.run.program`) or run (`cpu.run.execution`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tileir.cache import shared_cache
from tileir.cpu.emit.record import ENTRY, CheckLevel
from tileir.cpu.run.execution import Runner
from tileir.cpu.run.launch import HostCall, Settings
from tileir.cpu.run.program import NativeProgram, compiled
from tileir.cpu.run.threads import default_threads
from tileir.host import extern
from tileir.host.limits import MAX_ITERATIONS
from tileir.host.output import Output, write
from tileir.host.printing import formatter
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.shown import shown
from tileir.ir.types import PointerType
from tileir.ops.extension import ExternElementwise
from tileir.ops.misc import PrintTko
from tileir.runtime.arguments import Argument, Binder, Parameter, binder
from tileir.runtime.arrays import CPU
from tileir.runtime.grid import Grid
from tileir.runtime.module import Kernel, Run
from tileir.runtime.native_memory import NativeArguments
from tileir.runtime.native_source import source_of
from tileir.runtime.options import (
    Check,
    LaunchOptions,
    NativeOptions,
    check_level,
    flag,
    listener,
    optimizes,
    positive,
    require_known,
    seconds,
    writer,
)

NO_OPTIONS: LaunchOptions = {}
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
        ``progress``, a function that is told now and then how many tile blocks are done, of how many; ``debug_info``:
        whether debuggers and `perf` are told the lines of the code, which is that of the program as it is then;
        ``optimize``: whether the program is rewritten exactly before it becomes code (the default; never for strict
        checks, which look for what rewrites leave out).
        """
        prepared = _launches(kernel, _LEVELS[check_level(check)], options)
        return prepared.runs(prepared.settings(options) if options else prepared.usual)


class NativeLaunches:
    """Launches of a compiled kernel; `usual` are the settings of those without options."""

    def __init__(self, kernel: Kernel, program: NativeProgram) -> None:
        self._source = kernel.module.source
        self._storage = kernel.module.globals
        self.program = program
        globals = len(self._storage.placed)
        memories = globals + sum(isinstance(argument.tile.element, PointerType) for argument in kernel.entry.body.args)
        self._runner = Runner(self.program, len(kernel.parameters) + globals + ENTRY * memories + 3)
        self.usual = self.settings({})

    def settings(self, options: LaunchOptions) -> Settings:
        require_known(options, NativeOptions, Native.name)
        threads = positive("threads", options.get("threads"))
        return Settings(
            default_threads() if threads is None else threads,
            _host(writer("output", options.get("output"))),
            positive("max_iterations", options.get("max_iterations")) or MAX_ITERATIONS,
            self._source,
            seconds("timeout", options.get("timeout")),
            listener("progress", options.get("progress")),
        )

    def runs(self, settings: Settings) -> Run:
        program, storage, start = self.program, self._storage, self._runner.run

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            if program.prints:
                _require_registered(program)
            given = NativeArguments(arguments, storage)
            start(grid, given.slots, settings, given.access_fault)

        return run


def _launches(kernel: Kernel, checks: CheckLevel, options: LaunchOptions = NO_OPTIONS) -> NativeLaunches:
    """Compiled on first use."""
    make = _maker(options) if options else program_of
    return kernel.memo(("cpu", checks, make), lambda: NativeLaunches(kernel, make(kernel, checks)))


def _maker(options: LaunchOptions) -> Callable[[Kernel, CheckLevel], NativeProgram]:
    """What makes the program of a launch. Raises TypeError for options that are no bool."""
    rewrites = optimizes(options)
    if flag("debug_info", options.get("debug_info")):
        from tileir.runtime.instrumenting import described_program

        return described_program
    return program_of if rewrites else plain_program_of


def program_of(kernel: Kernel, checks: CheckLevel = CheckLevel.ON) -> NativeProgram:
    """The compiled kernel, from the cache if it is there. Raises UnsupportedError for what has no native code.

    It is rewritten exactly before, but for strict checks, which look for what rewrites leave out.
    """
    return compiled(source_of(kernel, checks, rewrites=checks is not CheckLevel.STRICT), shared_cache())


def plain_program_of(kernel: Kernel, checks: CheckLevel = CheckLevel.ON) -> NativeProgram:
    """The kernel compiled as it is, likewise."""
    return compiled(source_of(kernel, checks, rewrites=False), shared_cache())


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
