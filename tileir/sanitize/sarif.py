"""A report as SARIF 2.1.0, which code hosts and editors show at the lines concerned.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileir.ir.loc import Location
from tileir.sanitize.findings import KINDS, Finding, place_json

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the log with one run."""
    rules = [{"id": kind, "shortDescription": {"text": text}} for kind, text in KINDS.items()]
    driver = {"name": "tileir sanitize", "rules": rules}
    results = [_result(finding) for finding in findings]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _result(finding: Finding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "level": finding.severity,
        "message": {"text": ". ".join(filter(None, (finding.message, finding.why, finding.hint)))},
        "locations": _locations(finding.loc),
    }
    if finding.other is not None:
        other = _locations(finding.other)
        result["relatedLocations"] = [{**one, "message": {"text": finding.other_role}} for one in other]
    return result


def _locations(loc: Location) -> list[dict[str, Any]]:
    place = place_json(loc)
    if place["file"] is None:
        return []
    region = {"startLine": max(1, place["line"]), "startColumn": max(1, place["column"])}
    return [{"physicalLocation": {"artifactLocation": {"uri": place["file"]}, "region": region}}]
