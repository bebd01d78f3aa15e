"""Passes as a person watches them: dumps, tables of rewrites, counts and times.

Knows: what is shown of a step. Does not know: any pass.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from tileir.cli import show
from tileir.ir.core import Module
from tileir.ir.diagnostics import place_text
from tileir.passes.description import op_text, values_text
from tileir.passes.row import Change
from tileir.passes.running import Step
from tileir.text.printer import to_text
from tileir.verify import verify

Rows = list[list[str]]


class Watching:
    """Is told of every step, and shows what `options` ask for on `stream`."""

    def __init__(
        self, options: argparse.Namespace, stream: TextIO, check: Callable[[Step], None] | None = None
    ) -> None:
        self.options = options
        self.stream = stream
        self.check = check
        self.steps: list[Step] = []

    def __call__(self, step: Step) -> None:
        self.steps.append(step)
        if self.options.print_ir_after_all or step.name in (self.options.print_ir_after or ()):
            print(f"// -----// IR Dump After {step.name} //----- //", file=self.stream)
            print(to_text(step.after, debug=self.options.debug, level=self.options.level), file=self.stream)
        if self.options.verify_each and step.changes:
            verify(step.after, self.options.level).raise_if_errors()
        if self.check is not None and step.changes:
            self.check(step)

    def summary(self, before: Module, after: Module) -> None:
        """Show the tables, when all passes have run."""
        if self.options.explain:
            self._explain()
        if self.options.stats:
            self._count(before, after)
        if self.options.time_passes:
            self._time()

    def _explain(self) -> None:
        rows: Rows = [[*_change(change)] for step in self.steps for change in step.changes]
        columns = ("pass", "row", "place", "before", "after")
        show.print_table(show.table(dict.fromkeys(columns, "left"), rows), self.stream)

    def _count(self, before: Module, after: Module) -> None:
        counts = Counter((c.row.pass_name, c.row.name) for step in self.steps for c in step.changes)
        rows: Rows = [[name, row, str(count)] for (name, row), count in sorted(counts.items())]
        show.print_table(show.table({"pass": "left", "row": "left", "times": "right"}, rows), self.stream)
        sizes = [sum(1 for _ in module.walk()) for module in (before, after)]
        show.line(f"operations: {sizes[0]} before, {sizes[1]} after", self.stream)

    def _time(self) -> None:
        seconds: dict[str, float] = {}
        for step in self.steps:
            seconds[step.name] = seconds.get(step.name, 0.0) + step.seconds
        total = sum(seconds.values()) or 1.0
        longest = sorted(seconds.items(), key=lambda entry: -entry[1])
        rows: Rows = [[name, f"{time * 1e3:.3f}", f"{100 * time / total:.0f} %"] for name, time in longest]
        show.print_table(show.table({"pass": "left", "ms": "right", "share": "right"}, rows), self.stream)


def _change(change: Change) -> tuple[str, str, str, str, str]:
    place = place_text(change.before.loc)
    after = values_text(change.after) if change.after else "-"
    return change.row.pass_name, change.row.name, place, op_text(change.before), after
