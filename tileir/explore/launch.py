"""Exploration of a launch under the memory model: `tileir.explore`.

The explorer is imported when something is explored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tileir.analysis.effects import reachable
from tileir.ir.loc import SourceLoc
from tileir.ir.types import ElementType, PointerType, TileType, checked_cast
from tileir.ops.module import Global
from tileir.runtime.arguments import Argument, ArrayArgument
from tileir.runtime.grid import GridLike, checked_grid
from tileir.runtime.memory import give_memory
from tileir.runtime.module import Kernel, Module, bind, required_kernel, target_named
from tileir.runtime.options import positive

if TYPE_CHECKING:
    from tileir.explore.conditions import VerdictLine
    from tileir.explore.names import ElementLayout, LaunchNames
    from tileir.explore.report import ExplorationReport

ITERATIONS = 4
LIMIT = 100_000


def explore(
    kernel: Kernel, grid: GridLike, *args: object, iterations: int = ITERATIONS, limit: int = LIMIT, mends: bool = True
) -> ExplorationReport:
    """Enumerate all executions of a small launch that the memory model allows, and report what they come to.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    grid : int or sequence of int
        Number of tile blocks along each axis.
    *args : object
        Arguments as for a launch. Arrays are read and never written.
    iterations : int
        How many iterations of each `loop` that changes something are explored.
    limit : int
        How many executions are explored at most; the report says when that was not all.
    mends : bool
        Whether the weakest changes of orderings, scopes and tokens are sought after which nothing is wrong.

    Returns
    -------
    ExplorationReport
        The outcomes, verdicts and faults.

    Raises
    ------
    TypeError, ValueError
        Before anything is explored, also for a verdict line that cannot be read.
    DiagnosticError
        If the program is not valid.
    UnsupportedError
        If it cannot be explored.
    """
    from tileir.explore.explorer import ExploredLaunch, explored
    from tileir.explore.memory import AnsweringMemory
    from tileir.explore.names import LaunchNames
    from tileir.runtime.interpreter import rank_zero_tile

    positive("iterations", iterations)
    positive("limit", limit)
    required_kernel(kernel).module.require_valid()
    extents = checked_grid(grid, kernel.name)
    arguments = bind(kernel, args, target_named("interp"))
    storage = kernel.module.globals
    memory = AnsweringMemory((), storage.addresses)
    give_memory(memory, arguments, storage)
    values = [rank_zero_tile(argument) for argument in arguments]
    kernel = kernel.memo("simplified", lambda: _simplified(kernel))
    launch = ExploredLaunch(kernel.module, kernel.entry, extents, values, memory, iterations)
    names = LaunchNames(memory, _layouts(kernel, arguments), launch.blocks, extents)
    return explored(launch, names, _verdict_lines(kernel, names), limit, mends)


SIMPLIFYING = ("canonicalise", "cse", "canonicalise")


def _simplified(kernel: Kernel) -> Kernel:
    """Return the kernel with values in their simplest form: what ``r - r + 1`` gives does not depend on r."""
    from tileir.interp.evaluation import evaluated
    from tileir.passes.pipeline import PASSES
    from tileir.passes.running import Context, run

    passes = [PASSES[name] for name in SIMPLIFYING]
    return Module.of(run(kernel.module, passes, Context(evaluated, exact=True), once=True))[kernel.name]


def launch_line(kernel: Kernel) -> list[str] | None:
    """Return the words of the launch that a comment in front of a kernel describes; None if there is none."""
    from tileir.explore.conditions import launch_words

    return None if kernel.module.source is None else launch_words(kernel.module.source.text, *_extent(kernel))


def _verdict_lines(kernel: Kernel, names: LaunchNames) -> list[VerdictLine]:
    from tileir.explore.conditions import verdict_lines

    if kernel.module.source is None:
        return []
    ops = list(reachable(kernel.entry))
    return verdict_lines(kernel.module.source.text, *_extent(kernel), lambda name: names.canonical(name, ops))


def _extent(kernel: Kernel) -> tuple[int, int]:
    """Return the text from the previous kernel to this one; to the end for the last one, and from the start for the
    first.

    Nothing for a kernel that debug information places elsewhere.
    """
    assert kernel.module.source is not None, "asked of a program with a text"
    loc, text = kernel.entry.loc, kernel.module.source.text
    if not isinstance(loc, SourceLoc):
        return 0, 0
    places = (one.entry.loc for one in kernel.module.kernels.values())
    starts = sorted(place.offset for place in places if isinstance(place, SourceLoc))
    begin = max((start for start in starts if start < loc.offset), default=0)
    return begin, len(text) if loc.offset == starts[-1] else loc.offset


def _layouts(kernel: Kernel, arguments: Sequence[Argument]) -> dict[str, ElementLayout]:
    """Return the layouts of arrays and globals in memory, by their names in messages."""
    from tileir.explore.names import ElementLayout

    found: dict[str, ElementLayout] = {}
    for parameter, argument in zip(kernel.parameters, arguments):
        if isinstance(argument, ArrayArgument):
            array, pointer = argument.array, checked_cast(checked_cast(parameter.type, TileType).element, PointerType)
            found[argument.name] = ElementLayout(array.address, array.shape, array.strides, pointer.pointee)
    for item in kernel.module.items:
        if isinstance(item, Global):
            type, address = item.value.type, kernel.module.globals.addresses[item.sym_name]
            element = checked_cast(type.element, ElementType)
            found[f"@{item.sym_name}"] = ElementLayout(
                address, type.shape, _strides(type.shape, element.byte_size), element
            )
    return found


def _strides(shape: Sequence[int], size: int) -> list[int]:
    strides = []
    for extent in reversed(shape):
        strides.append(size)
        size *= extent
    return strides[::-1]
