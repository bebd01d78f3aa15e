"""The reference interpreter: runs an entry over a grid on NumPy.

Knows: the rules of all chapters, and how a launch is carried out.
Does not know: what arguments a user may give (`runtime`): values come as tiles of rank 0, memory as `interp.memory`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from tileir.interp import (
    atomics,
    control,
    conversion,
    core,
    extension,
    floating,
    integer,
    matmul,
    misc,
    multimem,
    pointers,
    reduction,
    views,
)
from tileir.interp.api import BlockState, Coordinates, KernelWarning, LaunchState, Options
from tileir.interp.memory import Memory
from tileir.interp.numerics.reuse import keep_freed_memory
from tileir.interp.prepare import Tables
from tileir.interp.prepare import prepare as prepare_with
from tileir.interp.program import Program
from tileir.interp.scheduler import Running, coordinates, run_all
from tileir.ir.core import Module
from tileir.ir.loc import FileLoc, file_position
from tileir.ir.rules import joined
from tileir.ops.module import Entry

TABLES = Tables(
    pure=joined(
        conversion.rules,
        core.pure,
        extension.pure,
        floating.rules,
        integer.rules,
        matmul.pure,
        pointers.pure,
        views.pure,
    ),
    effects=joined(
        atomics.effects,
        control.effects,
        core.effects,
        extension.effects,
        matmul.effects,
        misc.effects,
        multimem.effects,
        pointers.effects,
        views.effects,
    ),
    regions=reduction.regions,
    controls=control.controls,
    strict=joined(conversion.strict, core.strict, integer.strict),
)


def prepare(module: Module, entry: Entry, options: Options) -> Program:
    """The entry of a verified module, ready to run any number of times with these options' mode.

    Raises `UnsupportedError` for a host function that is not registered and for recursive calls.
    """
    return prepare_with(module, entry, TABLES, options.strict)


def execute(program: Program, grid: Coordinates, arguments: Sequence[object], memory: Memory, options: Options) -> None:
    """Run every tile block of the grid. Raises `Trap`; warnings are issued when the launch ends, however it ends."""
    keep_freed_memory()
    launch = LaunchState(program.name, grid, memory, options, program.source)
    function = program.function

    def start(block: Coordinates) -> Running:
        state = BlockState(block, launch)
        return state, function.body.run(function.frame(arguments), state)

    try:
        with np.errstate(all="ignore"):
            run_all(coordinates(grid), start, options.seed)
    finally:
        for warning in launch.warnings.values():
            _issue(warning)


def _issue(warning: KernelWarning) -> None:
    """At the line of the program's own source where debug info names one, so that Python shows that line."""
    place = file_position(warning.loc)
    if isinstance(place, FileLoc) and place.line > 0:
        # Python keeps in the registry what it has said, in ours as it would in that file's.
        registry = globals().setdefault("__warningregistry__", {})
        warnings.warn_explicit(warning, None, place.file, place.line, registry=registry)
    else:
        warnings.warn(warning, stacklevel=3)


def run(
    module: Module, entry: Entry, grid: Coordinates, arguments: Sequence[object], memory: Memory, options: Options
) -> None:
    """Prepare and execute an entry of a verified module."""
    execute(prepare(module, entry, options), grid, arguments, memory, options)
