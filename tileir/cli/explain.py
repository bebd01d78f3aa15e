"""``tileir explain``: the meaning of a diagnostic code, a finding, an operation or a word of the language."""

from __future__ import annotations

import argparse
import difflib
import re

from tileir.cli import FINE, UsageError, show
from tileir.explain import codes, explain, findings, operation_example, words
from tileir.text.reference import operation_page

_PROGRAM = re.compile(r"(?m)^```mlir (wrong|mended)\n")


def configure(parser: argparse.ArgumentParser) -> None:
    text = "such as E0203, race, mulf or token; without it, all codes, findings and words are listed"
    parser.add_argument("names", nargs="*", metavar="NAME", help=text)
    parser.epilog = """\
examples:
  tileir explain E0203
  tileir explain E0203 E0305
  tileir explain missing-token                  # a finding of 'tileir sanitize'
  tileir explain mulf                           # an operation
  tileir explain token                          # a word of the language
  tileir explain                                # every code, finding and word in a line
"""


def run(options: argparse.Namespace) -> int:
    if not options.names:
        for code in [*codes(), *findings()]:
            print(f"{code}  {title(code)}")
        print(f"words: {', '.join(words())}")
    for text in [_page_about(name) for name in options.names]:
        show.page(text)
    return FINE


def _page_about(name: str) -> str:
    """Return the page of a code, a finding, an operation or a word."""
    from tileir.text.reading.hints import PREFIX, spellings

    if name.lower() in findings():
        return explanation(name.lower())
    if name.upper() in codes():
        return explanation(name.upper())
    operation = spellings().get(name.removeprefix(PREFIX))
    if operation is not None:
        return f"{operation_page(operation)}\n{operation_example(operation.spec.name)}\n"
    word = name.lower().replace("_", " ").replace("-", " ")
    if word in words():
        return words()[word]
    known = [*codes(), *findings(), *spellings(), *words()]
    close = difflib.get_close_matches(name, known, 3) or difflib.get_close_matches(name.upper(), known, 3)
    hint = f"; did you mean {', '.join(close)}?" if close else ""
    raise UsageError(f"no code, finding, operation or word is called '{name}'{hint} ('tileir explain' lists all codes)")


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
