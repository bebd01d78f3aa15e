"""Launching a kernel under the sanitizer.

Knows: how the arguments of a launch become watched memory with names and layouts.
Does not know: what is found (`sanitize`). Imports what runs a kernel only when one is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import tileir.sanitize as _package

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Unpack

    from tileir.host.allocation import Allocation
    from tileir.interp.api import Options
    from tileir.runtime.arguments import Argument, ArrayArgument, Binder, Parameter
    from tileir.runtime.grid import Grid, GridLike
    from tileir.runtime.module import Kernel
    from tileir.runtime.options import Check, LaunchOptions, SanitizedOptions, SanitizerOptions
    from tileir.runtime.targets import Run
    from tileir.sanitize.report import SanitizerReport
    from tileir.sanitize.session import Layout

    Unwritten = Callable[[Allocation], np.ndarray | None]

PACKAGE = _package.__name__
"""Imported before the function that bears its name is, so that the name means the function ever after."""


def sanitize(
    kernel: Kernel,
    grid: GridLike,
    *args: object,
    checks: str | Sequence[str] = "all",
    schedules: int = 1,
    seed: int = 0,
    uninitialized: Sequence[str] = (),
    copy: bool = False,
    **options: Unpack[SanitizedOptions],
) -> SanitizerReport:
    """Run a kernel as a launch on target ``interp`` does, and report what it does wrong.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    grid : int or sequence of int
        Number of tile blocks along each axis.
    *args : object
        Arguments as for a launch. Arrays are changed as by a launch.
    checks : str or sequence of str
        ``"all"``, or kinds of findings (`sanitize.findings.KINDS`).
    schedules : int
        Where accesses synchronise, the launch is run a second time, with the last tile blocks first; numbers above 1
        add as many orders less one at random.
    seed : int
        Seed of these orders.
    uninitialized : sequence of str
        Parameters whose arrays hold nothing yet.
    copy : bool
        Whether the arrays stay as they are.
    **options : object
        Options of the interpreter.

    Returns
    -------
    SanitizerReport
        What was found; ``report.ok`` if nothing is an error.

    Raises
    ------
    TypeError, ValueError
        Before anything runs.
    DiagnosticError
        If the program is not valid.
    UnsupportedError
        If the interpreter cannot run it.
    """
    from tileir.runtime.grid import checked_grid
    from tileir.runtime.launch import bind
    from tileir.runtime.module import required_kernel
    from tileir.runtime.targets import target_named

    target = target_named("interp")
    required_kernel(kernel).module.require_valid()
    extents = checked_grid(grid, kernel.name)
    arguments = bind(kernel, args, target)
    return sanitize_bound(kernel, extents, arguments, checks, schedules, seed, uninitialized, copy, {**options})


def sanitize_bound(
    kernel: Kernel,
    grid: Grid,
    arguments: Sequence[Argument],
    checks: str | Sequence[str] = "all",
    schedules: int = 1,
    seed: int = 0,
    uninitialized: Sequence[str] = (),
    copy: bool = False,
    options: LaunchOptions | None = None,
    unwritten: Unwritten | None = None,
) -> SanitizerReport:
    """`sanitize` for a checked grid and bound arguments. `unwritten` masks the bytes of memory that nobody has written
    yet; None if there are none."""
    from tileir.runtime.arguments import ArrayArgument
    from tileir.runtime.interpreter import rank_zero_tile, settings_of
    from tileir.runtime.memory import give_memory
    from tileir.runtime.options import positive
    from tileir.sanitize.findings import chosen_kinds
    from tileir.sanitize.known_launch import known_launch, proof_of, quiet_of
    from tileir.sanitize.memory import WatchedMemory
    from tileir.sanitize.run import SanitizedLaunch, sanitized

    positive("schedules", schedules)
    kinds = chosen_kinds(checks if isinstance(checks, str) else list(checks))
    settings = _settings(settings_of(True, options or {}))
    arrays = {argument.name: argument for argument in arguments if isinstance(argument, ArrayArgument)}
    unknown = [name for name in uninitialized if name not in arrays]
    if unknown:
        raise ValueError(
            f"uninitialized: expected names of {', '.join(arrays) or 'no array'}, got {', '.join(unknown)}"
        )
    storage = kernel.module.globals
    memory = WatchedMemory((), storage.addresses)
    give_memory(memory, arguments, storage)
    layouts = {argument.name: _layout(argument) for argument in _all_arrays(list(arrays.values()))}
    values = [rank_zero_tile(argument) for argument in arguments]
    known = known_launch(kernel, grid, arguments)
    quiet = quiet_of(kernel, known)
    fresh = [] if unwritten is None else memory.unwritten(unwritten)
    launch = SanitizedLaunch(kernel.module, kernel.entry, grid, values, memory, layouts, settings, quiet, fresh)
    before = [one.copy() for one in memory.written()] if copy else []
    try:
        report = sanitized(launch, kinds, schedules, seed, uninitialized)
        return replace(
            report, prove=lambda: (proof_of(kernel, known, True).report(kernel.name, report.sources, report),)
        )
    finally:
        for one, content in zip(memory.written(), before):
            one[...] = content


class SanitizingTarget:
    """Target ``interp`` under the sanitizer: every run hands its report to `report`."""

    name = "interp"
    description = "the reference interpreter under the sanitizer"
    gives_output = True

    def __init__(
        self,
        report: Callable[[SanitizerReport], None],
        settings: SanitizerOptions,
        unwritten: Unwritten | None = None,
    ) -> None:
        """`unwritten`: see `sanitize_bound`."""
        from tileir.runtime.interpreter import Interpreter
        from tileir.runtime.options import SanitizerOptions, require_known

        require_known(settings, SanitizerOptions, "interp under the sanitizer")
        self.devices: tuple[str, ...] = Interpreter.devices
        self._usual = Interpreter()
        self._report = report
        self._own = settings
        self._unwritten = unwritten

    def binder(self, parameter: Parameter) -> Binder:
        return self._usual.binder(parameter)

    def prepare(self, kernel: Kernel, check: Check, options: LaunchOptions) -> Run:
        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            found = sanitize_bound(kernel, grid, arguments, options=options, unwritten=self._unwritten, **self._own)
            self._report(found)

        return run


def _settings(settings: Options) -> Options:
    if settings.mode != "default" or settings.seed is not None:
        raise TypeError("sanitize: 'mode' is its own; orders of tile blocks are chosen by schedules= and seed=")
    return settings


def _all_arrays(arguments: list[ArrayArgument]) -> list[ArrayArgument]:
    return [one for argument in arguments for one in (argument, *argument.reaches)]


def _layout(argument: ArrayArgument) -> Layout:
    from tileir.sanitize.session import Layout

    array = argument.array
    return Layout(array.address, array.shape, array.strides, array.itemsize)
