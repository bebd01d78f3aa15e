"""``tileir explain``: what a diagnostic code means, with a wrong and a mended program.

Knows: where the explanations are and how they are shown. Does not know: what they say (`tileir/explain`).
"""

from __future__ import annotations

import argparse
import difflib
import re
from pathlib import Path

import tileir
from tileir.cli import FINE, UsageError, show

_FOLDER = Path(tileir.__file__).parent / "explain"
_PROGRAM = re.compile(r"(?m)^```mlir (wrong|mended)\n")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", nargs="?", metavar="CODE", help="such as E0203; without it, all codes are listed")
    parser.epilog = """\
examples:
  tileir explain E0203
  tileir explain                                # every code in a line
"""


def run(options: argparse.Namespace) -> int:
    if options.code is None:
        for code in codes():
            print(f"{code}  {title(code)}")
        return FINE
    text = explanation(_known(options.code.upper()))
    show.page(text)
    return FINE


def codes() -> list[str]:
    """Every code that has an explanation."""
    return sorted(path.stem for path in _FOLDER.glob("[EW]*.md"))


def title(code: str) -> str:
    """The explanation's first line, without the code."""
    with (_FOLDER / f"{code}.md").open(encoding="utf-8") as stream:
        return stream.readline().partition(":")[2].strip()


def explanation(code: str) -> str:
    """The page of a code, as Markdown, in which each program says whether it is wrong."""
    text = (_FOLDER / f"{code}.md").read_text(encoding="utf-8")
    return _PROGRAM.sub(lambda match: f"{match[1].capitalize()}:\n\n```mlir\n", text)


def _known(code: str) -> str:
    known = codes()
    if code not in known:
        close = difflib.get_close_matches(code, known, 3)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise UsageError(f"no diagnostic has the code '{code}'{hint} ('tileir explain' lists all codes)")
    return code
