"""``tileir explain``: what a diagnostic code or a finding means, with a wrong and a mended program.

Knows: how the explanations are shown. Does not know: where they are, nor what they say (`tileir/explain`).
"""

from __future__ import annotations

import argparse
import difflib
import re

from tileir.cli import FINE, UsageError, show
from tileir.explain import codes, explain, findings

_PROGRAM = re.compile(r"(?m)^```mlir (wrong|mended)\n")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", nargs="?", metavar="CODE", help="such as E0203 or race; without it, all are listed")
    parser.epilog = """\
examples:
  tileir explain E0203
  tileir explain missing-token                  # a finding of 'tileir sanitize'
  tileir explain                                # every code and finding in a line
"""


def run(options: argparse.Namespace) -> int:
    if options.code is None:
        for code in [*codes(), *findings()]:
            print(f"{code}  {title(code)}")
        return FINE
    text = explanation(_known(options.code))
    show.page(text)
    return FINE


def title(code: str) -> str:
    """The explanation's first line, without the code."""
    return _page(code).partition("\n")[0].partition(":")[2].strip()


def explanation(code: str) -> str:
    """The page of a code, as Markdown, in which each program says whether it is wrong."""
    return _PROGRAM.sub(lambda match: f"{match[1].capitalize()}:\n\n```mlir\n", _page(code))


def _page(code: str) -> str:
    found = explain(code)
    assert found is not None, f"no page for {code}"
    return found


def _known(code: str) -> str:
    if code.lower() in findings():
        return code.lower()
    known, code = codes(), code.upper()
    if code not in known:
        close = difflib.get_close_matches(code, known, 3)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise UsageError(f"no diagnostic has the code '{code}'{hint} ('tileir explain' lists all codes)")
    return code
