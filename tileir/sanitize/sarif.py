"""Findings and diagnostics as SARIF 2.1.0, which code hosts and editors show at the lines concerned.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tileir.ir.diagnostics import Diagnostic
from tileir.ir.loc import Location
from tileir.sanitize.findings import KINDS, Finding, place_json

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Iterable[Finding]) -> dict[str, Any]:
    """Return the log of a sanitized launch."""
    return _log("tileir sanitize", KINDS, [_finding(finding) for finding in findings])


def diagnostics_sarif(diagnostics: Iterable[Diagnostic], titles: Mapping[str, str]) -> dict[str, Any]:
    """Return the log of a check; `titles` say what each code means."""
    return _log("tileir check", titles, [_diagnostic(diagnostic) for diagnostic in diagnostics])


def _log(tool: str, rules: Mapping[str, str], results: list[dict[str, Any]]) -> dict[str, Any]:
    described = [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()]
    run = {"tool": {"driver": {"name": tool, "rules": described}}, "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _finding(finding: Finding) -> dict[str, Any]:
    text = ". ".join(filter(None, (finding.message, finding.why, finding.hint)))
    result = _result(finding.kind, finding.severity, text, finding.loc)
    if finding.other is not None:
        result["relatedLocations"] = _related(finding.other, finding.other_role)
    return result


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    text = ". ".join(filter(None, (diagnostic.message, diagnostic.hint)))
    result = _result(diagnostic.code, diagnostic.severity, text, diagnostic.loc)
    related = [place for note in diagnostic.notes for place in _related(note.loc, note.message)]
    return {**result, "relatedLocations": related} if related else result


def _result(rule: str, level: str, text: str, loc: Location) -> dict[str, Any]:
    return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": _locations(loc)}


def _related(loc: Location, text: str) -> list[dict[str, Any]]:
    return [{**place, "message": {"text": text}} for place in _locations(loc)]


def _locations(loc: Location) -> list[dict[str, Any]]:
    place = place_json(loc)
    if place["file"] is None:
        return []
    region = {"startLine": max(1, place["line"]), "startColumn": max(1, place["column"])}
    return [{"physicalLocation": {"artifactLocation": {"uri": place["file"]}, "region": region}}]
