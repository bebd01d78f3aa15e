"""The result of exploring a launch, and its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from tileir.explore.results import Exploration, FaultFound, OutcomeFound
from tileir.explore.search import Execution
from tileir.explore.text import (
    WHY,
    count_text,
    equal_text,
    execution_text,
    fault_message,
    left_out_text,
    mend_title,
    merged_outcomes,
    report_text,
    shown_values,
    surprises,
    values_text,
    verdict_text,
)
from tileir.explore.view import ShownExecution, drawing
from tileir.ir.diagnostics import place_text
from tileir.ir.escaping import shown_line
from tileir.ir.loc import Location, SourceLoc

_STYLE = """\
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse } td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top }
code, pre { font: 13px/1.45 ui-monospace, monospace } pre { overflow-x: auto }
section { border-top: 1px solid #8886; margin-top: 1.5rem } svg { max-width: 100%; height: auto }
.bad { color: #d0402f } .good { color: #1a8a3c } .line { opacity: .5; user-select: none } .at { background: #d0402f33 }
"""


def report_page(report: Exploration) -> str:
    """Return the whole page."""
    title = escape(f"tileir explore: @{shown_line(report.kernel)}")
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style></head><body>',
        f"<h1>{title}, grid {','.join(map(str, report.grid))}</h1>",
        *_summary(report),
        *_outcomes(report),
        *(part for fault in report.faults for part in _fault(fault, report)),
        *(part for outcome in surprises(report) for part in _surprise(outcome, report)),
        *_mends(report),
        *_program(report),
        "</body></html>",
        "",
    ]
    return "\n".join(parts)


def _summary(report: Exploration) -> Iterator[str]:
    yield f"<p>{escape(count_text(report.executions, 'execution'))} that the memory model allows.</p>"
    yield from (f"<p>{escape(line)}.</p>" for line in equal_text(report))
    for line in left_out_text(report):
        yield f'<p class="bad">{escape(line)}</p>'
    for verdict in report.verdicts:
        kind = "good" if verdict.holds else "bad"
        yield f'<p class="{kind}">{escape(verdict_text(verdict))}</p>'


def _outcomes(report: Exploration) -> Iterator[str]:
    yield "<h2>Outcomes</h2><table><tr><th>outcome</th><th>executions</th><th></th></tr>"
    for values, count, surprising in merged_outcomes(report):
        weak = '<span class="bad">no interleaving</span>' if surprising else ""
        yield f"<tr><td><code>{escape(values_text(values))}</code></td><td>{count:,}</td><td>{weak}</td></tr>"
    yield "</table>"


def _fault(fault: FaultFound, report: Exploration) -> Iterator[str]:
    yield f'<section><h2 class="bad">{fault.kind}: {escape(fault_message(fault, report))}</h2><ul>'
    for loc in filter(None, (fault.loc, fault.other)):
        yield f"<li><code>{escape(place_text(loc))}</code> {_quoted(loc)}</li>"
    yield "</ul>"
    if fault.why:
        yield f"<p>{escape(WHY[fault.why])}</p>"
    yield from _drawn(fault, report)
    yield "</section>"


def _surprise(outcome: OutcomeFound, report: Exploration) -> Iterator[str]:
    values = values_text(shown_values(outcome, report))
    yield f"<section><h2>no interleaving gives <code>{escape(values)}</code></h2>"
    yield from _drawn(outcome, report)
    yield "</section>"


def _drawn(found: FaultFound | OutcomeFound, report: Exploration) -> Iterator[str]:
    marked = [event.key for event in found.events] if isinstance(found, FaultFound) else []
    yield drawing(ShownExecution(found.witness, report.names), marked)
    text = "\n".join(execution_text(found.witness, report))
    yield f"<details><summary>as text</summary><pre>{escape(text)}</pre></details>"


def _mends(report: Exploration) -> Iterator[str]:
    for number, mend in enumerate(report.mends):
        steps = "".join(f"<li><code>{escape(step)}</code></li>" for step in mend.steps)
        yield f'<section><h2 class="good">{escape(mend_title(mend, number))}</h2><ul>{steps}</ul></section>'


def _quoted(loc: Location) -> str:
    if not isinstance(loc, SourceLoc):
        return ""
    return f"<code>{escape(shown_line(loc.source.line(loc.file_loc.line).strip()))}</code>"


def _program(report: Exploration) -> Iterator[str]:
    places = [loc for fault in report.faults for loc in (fault.loc, fault.other)]
    marked = {loc.file_loc.line for loc in places if isinstance(loc, SourceLoc)}
    for source in report.sources:
        yield f"<section><h2>{escape(shown_line(source.name))}</h2><pre>"
        for number, line in enumerate(source.text.splitlines(), 1):
            text = f'<span class="line">{number:4} </span>{escape(shown_line(line))}'
            yield f'<span class="at">{text}</span>' if number in marked else text
        yield "</pre></section>"


@dataclass
class ExplorationReport(Exploration):
    """An exploration in every form: ``str(report)`` is its text.

    An execution, as an outcome or a fault has one as its ``witness``, is drawn by `to_svg` and listed by `to_text`.
    """

    def __str__(self) -> str:
        return report_text(self)

    def to_html(self) -> str:
        """Return a page with a drawing for each fault and each outcome that no interleaving has."""
        return report_page(self)

    def to_svg(self, execution: Execution) -> str:
        """Return the graph of an execution as a drawing."""
        return drawing(ShownExecution(execution, self.names))

    def to_text(self, execution: Execution) -> str:
        """Return the graph of an execution as text."""
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
