"""The report of an exploration.

Knows: the forms of a report, and what it is as data.
Does not know: what is in it (`results`), how the other forms look (`text`, `page`, `svg`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tileir.explore.outcomes import merged_outcomes
from tileir.explore.page import report_page
from tileir.explore.results import Exploration, FaultFound
from tileir.explore.search import Execution
from tileir.explore.svg import drawing
from tileir.explore.text import execution_text, report_text
from tileir.explore.view import ShownExecution
from tileir.explore.words import WHY, fault_message
from tileir.ir.diagnostics import place_text


@dataclass
class ExplorationReport(Exploration):
    """An exploration in every form: ``str(report)`` is its text.

    An execution, as an outcome or a fault has one as its ``witness``, is drawn by `to_svg` and listed by `to_text`.
    """

    def __str__(self) -> str:
        return report_text(self)

    def to_html(self) -> str:
        """One page with a drawing for each fault and each outcome that no interleaving has."""
        return report_page(self)

    def to_svg(self, execution: Execution) -> str:
        """The graph of an execution as a drawing."""
        return drawing(ShownExecution(execution, self.names))

    def to_text(self, execution: Execution) -> str:
        """The graph of an execution as text."""
        return "\n".join(execution_text(execution, self))

    def to_json(self) -> dict[str, Any]:
        verdicts = [
            {"line": one.line.line, "text": str(one.line), "holds": one.holds, "reason": one.reason}
            for one in self.verdicts
        ]
        outcomes = [
            {"values": one.values, "executions": one.executions, "interleaving": not one.surprising}
            for one in merged_outcomes(self)
        ]
        data: dict[str, Any] = {"ok": self.ok, "kernel": self.kernel, "grid": list(self.grid)}
        data |= {"executions": self.executions, "complete": self.complete, "outcomes": outcomes}
        data |= {"faults": [self._fault_json(fault) for fault in self.faults], "verdicts": verdicts}
        return data | {"mends": [mend.to_json() for mend in self.mends]}

    def _fault_json(self, fault: FaultFound) -> dict[str, Any]:
        return {
            "kind": fault.kind,
            "message": fault_message(fault, self),
            "place": place_text(fault.loc),
            "other": None if fault.other is None else place_text(fault.other),
            "because": WHY.get(fault.why),
            "blocks": [list(block) for block in fault.blocks],
        }
