"""A report as one HTML page, which needs nothing else: no scripts, no fonts, no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tileir.ir.diagnostics import shown_place
from tileir.ir.escaping import shown, shown_lines
from tileir.ir.loc import Location, Source
from tileir.sanitize.findings import KINDS, Finding
from tileir.sanitize.text import places, repeats, summary

_STYLE = """\
:root { color-scheme: light dark; --error: #b3261e; --warning: #8a5a00; --line: #8886; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 0; }
details { border: 1px solid var(--line); border-left: .4rem solid var(--error); padding: .6rem 1rem; margin: 1rem 0; }
details.warning { border-left-color: var(--warning); }
summary { cursor: pointer; } summary h2 { display: inline; }
.kind { font-family: ui-monospace, monospace; color: var(--error); } .warning .kind { color: var(--warning); }
pre { overflow-x: auto; background: #8881; padding: .5rem .8rem; }
dt { font-weight: 600; } dd { margin: 0 0 .5rem 0; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .2rem .8rem; border: 1px solid var(--line); }
"""


def page(
    findings: Sequence[Finding], kernel: str, runs: int, sources: tuple[Source, ...], proofs: Sequence[str]
) -> str:
    """Return the whole page. `runs` is the number of schedules, `proofs` are lines about what holds beyond them."""
    title = f"tileir sanitize: @{shown(kernel)}"
    body = [
        f"<h1>{_text(title)}</h1>",
        f"<p>{_text(summary(findings, kernel, runs))}</p>",
        *(f"<p>{_text(line)}</p>" for line in proofs),
        *(line for finding in findings for line in _finding(finding, sources)),
    ]
    head = f'<meta charset="utf-8"><title>{_text(title)}</title><style>\n{_STYLE}</style>'
    return "\n".join(["<!doctype html>", f'<html lang="en"><head>{head}</head><body>', *body, "</body></html>", ""])


def _finding(finding: Finding, sources: tuple[Source, ...]) -> Iterator[str]:
    kind = f'<span class="kind" title="{_text(KINDS[finding.kind])}">{_text(finding.kind)}</span>'
    head = f"<summary><h2>{kind}: {_text(finding.message)}</h2></summary>"
    yield f'<details open class="{_text(finding.severity)}">{head}'
    for loc, text in places(finding):
        yield _place(loc, text, sources)
    yield "<dl>"
    for name, words in (("Why", finding.why), ("Instead", finding.hint), ("Also", "; ".join(repeats(finding)))):
        if words:
            yield f"<dt>{name}</dt><dd>{_text(words)}</dd>"
    yield "</dl></details>"


def _place(loc: Location, text: str, sources: tuple[Source, ...]) -> str:
    first, *excerpt = shown_place(loc, text, sources)
    code = "\n".join(excerpt)
    return f"<p>{_text(first)}</p>" + (f"<pre>{_text(code)}</pre>" if excerpt else "")


def _text(text: str) -> str:
    return escape(shown_lines(text))
