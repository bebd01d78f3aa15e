"""``tileir explain``: what a diagnostic code, a finding or an operation means."""

from __future__ import annotations

import argparse
import difflib
import re

from tileir.cli import FINE, UsageError, show
from tileir.explain import codes, explain, findings
from tileir.text.reference import operation_page

_PROGRAM = re.compile(r"(?m)^```mlir (wrong|mended)\n")


def configure(parser: argparse.ArgumentParser) -> None:
    text = "such as E0203, race or mulf; without it, all codes and findings are listed"
    parser.add_argument("names", nargs="*", metavar="CODE|OPERATION", help=text)
    parser.epilog = """\
examples:
  tileir explain E0203
  tileir explain E0203 E0305
  tileir explain missing-token                  # a finding of 'tileir sanitize'
  tileir explain mulf                           # an operation
  tileir explain                                # every code and finding in a line
"""


def run(options: argparse.Namespace) -> int:
    if not options.names:
        for code in [*codes(), *findings()]:
            print(f"{code}  {title(code)}")
    for text in [_page_about(name) for name in options.names]:
        show.page(text)
    return FINE


def _page_about(name: str) -> str:
    """Return the page of a code, a finding or an operation."""
    from tileir.text.reading.hints import PREFIX, spellings

    if name.lower() in findings():
        return explanation(name.lower())
    if name.upper() in codes():
        return explanation(name.upper())
    operation = spellings().get(name.removeprefix(PREFIX))
    if operation is not None:
        return operation_page(operation)
    known = [*codes(), *findings(), *spellings()]
    close = difflib.get_close_matches(name, known, 3) or difflib.get_close_matches(name.upper(), known, 3)
    hint = f"; did you mean {', '.join(close)}?" if close else ""
    raise UsageError(f"no code, finding or operation is called '{name}'{hint} ('tileir explain' lists all codes)")


def title(code: str) -> str:
    """Return the explanation's first line, without the code."""
    return _page(code).partition("\n")[0].partition(":")[2].strip()


def explanation(code: str) -> str:
    """Return the page of a code, as Markdown, in which each program says whether it is wrong."""
    return _PROGRAM.sub(lambda match: f"{match[1].capitalize()}:\n\n```mlir\n", _page(code))


def _page(code: str) -> str:
    found = explain(code)
    assert found is not None, f"no page for {code}"
    return found
