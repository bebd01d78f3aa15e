"""``tileir.view``: record a launch and make its page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tileir.host.printing import ignored
from tileir.ir.diagnostics import Coordinates, Trap, UnsupportedError
from tileir.runtime.arguments import Argument
from tileir.runtime.grid import Grid, GridLike
from tileir.runtime.module import Kernel
from tileir.sanitize.findings import Finding
from tileir.sanitize.launch import sanitize_bound
from tileir.tools.documents import document
from tileir.tools.interpreted import bound_arguments, placed, run_listened
from tileir.tools.program_lines import ProgramLines
from tileir.tools.view.data import ArrayValues, page_data
from tileir.tools.view.record import Recorder, usually_watched

if TYPE_CHECKING:
    from tileir.tools.profile.measure import LaunchMeasurement

_HEIGHT = 820


def page(data: dict[str, Any]) -> str:
    """Return the whole document."""
    title = html.escape(f"@{data['kernel']}, grid {' x '.join(map(str, data['grid']))}")
    return document(__package__, data, TITLE=title)


def embedded(document: str) -> str:
    """Return the document inside another one, such as a notebook."""
    quoted = html.escape(document, quote=True)
    return f'<iframe srcdoc="{quoted}" style="width:100%;height:{_HEIGHT}px;border:1px solid #8884"></iframe>'


PATIENCE, SAMPLED = 10.0, 0.2
"""Seconds that a launch on native code may take, and those for which samples are taken of it."""
MOST_SANITIZED = 1 << 22
"""Elements of arrays up to which a launch is looked at by the sanitizer too, if nobody says otherwise."""


@dataclass(frozen=True)
class LaunchView:
    """The picture of a launch: `data` is what the page shows, `trap` has ended the launch. Notebooks show the page."""

    data: dict[str, Any]
    trap: Trap | None = None

    @property
    def html(self) -> str:
        """The page: one document that needs nothing else."""
        return page(self.data)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file."""
        target = Path(path)
        target.write_text(self.html, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        return embedded(self.html)


def view(
    kernel: Kernel,
    grid: GridLike,
    *args: object,
    blocks: Sequence[Coordinates] | None = None,
    findings: bool | None = None,
    time: bool = False,
) -> LaunchView:
    """Run a kernel on the interpreter, as a launch there does, and picture what it did.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    grid : int or sequence of int
        Number of tile blocks along each axis.
    *args : object
        Arguments as for a launch.
    blocks : sequence of tuple of int, or None
        The tile blocks, ``(x, y, z)``, whose values are kept; None: all of up to 16, or else the first, the middle and
        the last.
    findings : bool or None
        Whether to show those of the sanitizer, which runs the launch once more, on copies; None: if the arrays are
        small.
    time : bool
        Whether to show the time of lines and tile blocks on native code, where the launch runs some times before, on
        the same arrays, which are put back.

    Returns
    -------
    LaunchView
        The picture. A trap is in it, and is not raised.

    Raises
    ------
    TypeError, ValueError
        Before anything runs.
    DiagnosticError
        If the program is not valid.
    UnsupportedError
        If the interpreter cannot run it.
    """
    extents, arguments = bound_arguments(kernel, grid, args)
    return view_bound(kernel, extents, arguments, blocks, findings, time)


def view_bound(
    kernel: Kernel,
    grid: Grid,
    arguments: Sequence[Argument],
    blocks: Sequence[Coordinates] | None = None,
    findings: bool | None = None,
    time: bool = False,
) -> LaunchView:
    """View for a checked grid and bound arguments."""
    notes: list[str] = []
    timed = _timed(kernel, grid, arguments, notes) if time else None
    launch = placed(kernel, grid, arguments)
    size = sum(prod(one.array.shape) for one in launch.arrays)
    wanted = size <= MOST_SANITIZED if findings is None else findings
    found: list[Finding] = []
    if wanted:
        found += sanitize_bound(kernel, grid, arguments, copy=True, options={"output": ignored})
    chosen = usually_watched(grid) if blocks is None else [_inside(block, grid) for block in blocks]
    recorder = Recorder(launch, frozenset(chosen))
    before = [ArrayValues.of(picture) for picture in recorder.record.pictures]
    trap = None
    try:
        run_listened(launch, recorder)
    except Trap as error:
        trap = error
    lines = ProgramLines(kernel.module)
    for op in recorder.record.ops:
        lines.of(op)
    notes += [] if wanted else ["the sanitizer has not looked at this launch"]
    return LaunchView(page_data(kernel.name, grid, recorder.record, lines, before, found, notes, trap, timed), trap)


def _timed(kernel: Kernel, grid: Grid, arguments: Sequence[Argument], notes: list[str]) -> LaunchMeasurement | None:
    """Return the launch measured on native code, which leaves its arrays as they are; None, with a note, without
    one."""
    try:
        from tileir.tools.profile.measure import MOST_TRACED, measured_launch

        traced = prod(grid) <= MOST_TRACED
        found = measured_launch(kernel, grid, arguments, {"timeout": PATIENCE}, SAMPLED, traced, keep=True)
    except (ImportError, Trap, UnsupportedError) as error:
        what = str(getattr(error, "what", None) or getattr(error, "message", error))
        notes.append(f"no time on native code: {what}")
        return None
    notes += found.notes
    return found


def _inside(block: Sequence[int], grid: Grid) -> Coordinates:
    """Return a tile block of the grid. Raises ValueError for one outside."""
    x, y, z = (*block, 0, 0, 0)[:3]
    if not (0 <= x < grid[0] and 0 <= y < grid[1] and 0 <= z < grid[2] and 1 <= len(block) <= 3):
        raise ValueError(f"blocks: expected tile blocks of the grid {grid}, got {tuple(block)}")
    return x, y, z
