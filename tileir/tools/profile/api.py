"""`tileir.profile`: a launch on native code, and where its time goes.

Knows: what a profile is asked for, and where its parts come from. Does not know: how it is measured
(`tools.profile.measure`) or shown (`tools.profile.table`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.cache import shared_cache
from tileir.cpu.run.profiling import kept_peaks
from tileir.runtime.arguments import Argument
from tileir.runtime.grid import Grid, GridLike, checked_grid
from tileir.runtime.module import Kernel, bind, required_kernel, target_named
from tileir.runtime.options import LaunchOptions, seconds
from tileir.tools.places import ProgramLines
from tileir.tools.profile.measure import measured_launch
from tileir.tools.profile.shown import LaunchProfile, profile_of

SECONDS = 0.5
"""Time under samples, if nobody says otherwise."""


def profile(
    kernel: Kernel,
    grid: GridLike,
    *args: object,
    threads: int | None = None,
    seconds: float = SECONDS,
    trace: bool = False,
) -> LaunchProfile:
    """Run a kernel on native code, again and again, and find where the time goes. Arrays end as after one launch.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    grid : int or sequence of int
        Number of tile blocks along each axis.
    *args : object
        Arguments as for a launch on target ``cpu``.
    threads : int or None
        How many threads run tile blocks; None: as for a launch.
    seconds : float
        About how long the launch is repeated under samples; it runs four times at least.
    trace : bool
        Whether to keep when each tile block ran, for `LaunchProfile.trace`.

    Returns
    -------
    LaunchProfile
        Time, operations, bytes and flops by operation, line and loop.

    Raises
    ------
    TypeError, ValueError
        Before anything runs.
    DiagnosticError
        If the program is not valid.
    UnsupportedError
        If target ``cpu`` cannot run it.
    Trap
        For a fault of the run.
    """
    required_kernel(kernel).module.require_valid()
    extents = checked_grid(grid, kernel.name)
    arguments = bind(kernel, args, target_named("cpu"))
    options: LaunchOptions = {} if threads is None else {"threads": threads}
    return profile_bound(kernel, extents, arguments, options, seconds, trace)


def profile_bound(
    kernel: Kernel,
    grid: Grid,
    arguments: Sequence[Argument],
    options: LaunchOptions,
    duration: float = SECONDS,
    trace: bool = False,
    new_peaks: bool = False,
) -> LaunchProfile:
    """`profile` for a checked grid and bound arguments; `new_peaks`: measure the machine's peaks again."""
    length = seconds("seconds", duration) or SECONDS
    found = measured_launch(kernel, grid, arguments, options, length, trace)
    lines = ProgramLines(kernel.module)
    peaks = kept_peaks(found.threads, shared_cache(), new_peaks)
    return profile_of(kernel.name, grid, found, lines, peaks)
