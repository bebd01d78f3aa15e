"""The reference interpreter: runs an entry over a grid on NumPy."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import cache

import numpy as np

from tileir.host import limits
from tileir.host.kernel_warnings import issue
from tileir.interp import (
    arithmetic,
    atomics,
    control,
    conversion,
    core,
    extension,
    matmul,
    misc,
    pointers,
    reduction,
    shapes,
    views,
)
from tileir.interp.api import BlockState, LaunchState, Options
from tileir.interp.compact import CompactPreparation
from tileir.interp.memory import Memory
from tileir.interp.prepare import UNOBSERVED, Observer, Preparation, RuleTables
from tileir.interp.prepare import prepare as prepare_with
from tileir.interp.program import Flow, PreparedProgram
from tileir.interp.scheduler import Running, Watch, coordinates, run_all
from tileir.ir.core import Module
from tileir.ir.diagnostics import Coordinates
from tileir.ir.rules import joined
from tileir.ops.module import Entry

TABLES = RuleTables(
    pure=joined(
        arithmetic.rules,
        conversion.rules,
        core.pure,
        extension.pure,
        matmul.pure,
        pointers.pure,
        shapes.pure,
        views.pure,
    ),
    effects=joined(
        atomics.effects,
        control.effects,
        core.effects,
        extension.effects,
        matmul.effects,
        misc.effects,
        pointers.effects,
        views.effects,
    ),
    regions=joined(extension.regions, reduction.regions),
    controls=control.controls,
    strict=joined(arithmetic.strict, conversion.strict, core.strict),
)
_LARGEST_RAISED = 1 << 24


def prepare(module: Module, entry: Entry, options: Options, observer: Observer = UNOBSERVED) -> PreparedProgram:
    """Return the entry of a verified module, ready to run any number of times with these options' mode and this
    observer.

    Raises `UnsupportedError` for a host function that is not registered and for recursive calls.
    """
    plain = options.strict or observer is not UNOBSERVED
    return prepare_with(module, entry, TABLES, options.strict, observer, Preparation if plain else CompactPreparation)


def execute(
    program: PreparedProgram,
    grid: Coordinates,
    arguments: Sequence[object],
    memory: Memory,
    options: Options,
    observer: Observer = UNOBSERVED,
    blocks: Iterable[Coordinates] | None = None,
) -> None:
    """Run the tile blocks of the grid, or only `blocks`.

    Raises `Trap`; warnings are issued when the launch ends, however it ends.
    """
    _keep_freed_memory()
    launch = LaunchState(program.name, grid, memory, options, program.source)
    function = program.function

    def start(block: Coordinates) -> Running:
        state = BlockState(block, launch)
        flow = function.body.run(function.frame(arguments), state)
        return state, flow if observer is UNOBSERVED else _observed(flow, state, observer)

    try:
        limits.launch_begins(launch)
        with np.errstate(all="ignore"):
            run_all(coordinates(grid) if blocks is None else blocks, start, Watch(launch), options.seed)
    finally:
        limits.launch_ends(launch)
        for warning in launch.warnings.values():
            issue(warning)


def _observed(flow: Flow, block: BlockState, observer: Observer) -> Generator[None, None, None]:
    """Yield a tile block that tells an observer when it begins, runs and ends."""
    observer.block = block
    observer.block_begins(block)
    while True:
        observer.block = block
        try:
            next(flow)
        except StopIteration:
            break
        finally:
            observer.block = None
        yield
    observer.block_ends(block)


def run(
    module: Module, entry: Entry, grid: Coordinates, arguments: Sequence[object], memory: Memory, options: Options
) -> None:
    """Prepare and execute an entry of a verified module."""
    execute(prepare(module, entry, options), grid, arguments, memory, options)


@cache
def _keep_freed_memory() -> None:
    """Let arrays of up to 16 MiB reuse freed memory instead of asking the system for zeroed pages each time.

    Done once in a process. glibc raises its thresholds for mapping and for trimming to the largest mapped chunk freed
    so far (mallopt(3)), so one untouched array does it; without, the intermediate arrays of an exact multiply-add cost
    six times the arithmetic. Elsewhere this does nothing.
    """
    np.empty(_LARGEST_RAISED, np.uint8)
