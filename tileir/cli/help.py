"""``tileir help``: what a verb does and takes."""

from __future__ import annotations

import argparse

from tileir.cli import FINE, VERBS, top_parser, verb_parser


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("verb", nargs="?", choices=tuple(VERBS), metavar="VERB", help=", ".join(VERBS))
    parser.epilog = """\
examples:
  tileir help
  tileir help run
"""


def run(options: argparse.Namespace) -> int:
    (top_parser() if options.verb is None else verb_parser(options.verb)).print_help()
    return FINE
