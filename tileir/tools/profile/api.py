"""``tileir.profile``: measure a launch and report its time by line."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path

from tileir.cache import shared_cache
from tileir.cpu.run.profiling import Peaks, kept_peaks
from tileir.ir.diagnostics import Coordinates
from tileir.runtime.arguments import Argument
from tileir.runtime.grid import Grid, GridLike, checked_grid
from tileir.runtime.module import Kernel, bind, required_kernel, target_named
from tileir.runtime.options import LaunchOptions, seconds
from tileir.tools.profile.measure import LaunchMeasurement, measured_launch
from tileir.tools.profile.report import ProfileReport, counts_of, sums_of, trace
from tileir.tools.profile.roofline import roofline
from tileir.tools.profile.table import text
from tileir.tools.program_lines import ProgramLines


class LaunchProfile(ProfileReport):
    """The profile of a launch on native code. Notebooks show its table and its roofline."""

    @property
    def svg(self) -> str:
        """The roofline: a document in SVG."""
        return roofline(self)

    @property
    def trace(self) -> str:
        """Tile blocks and threads in Chrome's trace format. Raises UnsupportedError if the launch was not traced."""
        return trace(self)

    def save_trace(self, path: str | Path) -> Path:
        """Write the trace to a file."""
        target = Path(path)
        target.write_text(self.trace, encoding="utf-8")
        return target

    @property
    def json(self) -> str:
        """Return everything as JSON text."""
        return json.dumps(self.to_json(), indent=1)

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.svg}"


def profile_of(
    kernel: str, grid: Coordinates, found: LaunchMeasurement, lines: ProgramLines, peaks: Peaks
) -> LaunchProfile:
    """Return the profile that the numbers of a measurement make."""
    counts = counts_of(found)
    return LaunchProfile(
        kernel,
        grid,
        found.threads,
        found.runs,
        found.seconds,
        peaks,
        [(op, sums_of(op, counts.get(op, 0), found)) for op in found.ops],
        lines,
        found.seconds_elsewhere,
        found.blocks,
        found.notes,
    )


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
    """Profile for a checked grid and bound arguments; `new_peaks`: measure the machine's peaks again."""
    length = seconds("seconds", duration) or SECONDS
    found = measured_launch(kernel, grid, arguments, options, length, trace)
    lines = ProgramLines(kernel.module)
    peaks = kept_peaks(found.threads, shared_cache(), new_peaks)
    return profile_of(kernel.name, grid, found, lines, peaks)
