"""The report of an exploration.

Knows: the forms of a report. Does not know: what is in it (`results`), how each form looks (`text`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tileir.explore.results import Exploration
from tileir.explore.text import report_json, report_text


@dataclass
class ExplorationReport(Exploration):
    """An exploration as text and as data."""

    def __str__(self) -> str:
        return report_text(self)

    def to_json(self) -> dict[str, Any]:
        return report_json(self)
