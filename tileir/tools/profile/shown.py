"""The profile of a launch as people see it: a table, a roofline, a trace, JSON.

Knows: which of them there are. Does not know: how one is drawn (`tools.profile.table`, `tools.profile.roofline`,
`tools.profile.trace`), nor what the numbers mean (`tools.profile.report`).
"""

from __future__ import annotations

import html
import json
from pathlib import Path

from tileir.cpu.run.profiling import Peaks
from tileir.ir.diagnostics import Coordinates
from tileir.tools.places import ProgramLines
from tileir.tools.profile.measure import LaunchMeasurement
from tileir.tools.profile.report import ProfileReport, counts_of, sums_of
from tileir.tools.profile.roofline import roofline
from tileir.tools.profile.table import text
from tileir.tools.profile.trace import trace


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
        """Everything as JSON text."""
        return json.dumps(self.to_json(), indent=1)

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.svg}"


def profile_of(
    kernel: str, grid: Coordinates, found: LaunchMeasurement, lines: ProgramLines, peaks: Peaks
) -> LaunchProfile:
    """The profile that the numbers of a measurement make."""
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
