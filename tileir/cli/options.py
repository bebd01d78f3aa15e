"""Options that several verbs have.

Knows: language levels, outputs and targets as options. Does not know: any verb.
"""

from __future__ import annotations

import argparse

from tileir.cli import UsageError
from tileir.ir.versions import NEWEST, VERSIONS
from tileir.runtime.targets import DEFAULT, Target, names, target_named


def add_level(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--level",
        choices=VERSIONS,
        default=NEWEST,
        metavar="VERSION",
        help=f"language version whose rules and spellings apply: {', '.join(VERSIONS)} (default {NEWEST})",
    )


def add_output(parser: argparse.ArgumentParser, what: str, required: bool = False) -> None:
    tail = "" if required else " (default: standard output)"
    parser.add_argument("-o", "--output", metavar="FILE", required=required, help=f"where {what} goes{tail}")


def add_target(parser: argparse.ArgumentParser, default: str = DEFAULT) -> None:
    text = f"where to run (default: {default}); 'tileir info' lists the targets"
    parser.add_argument("--target", default=default, help=text)


def chosen_target(name: str) -> Target:
    """The target of that name. Raises `UnsupportedError` if it cannot be used here."""
    if name not in names():
        raise UsageError(f"no target '{name}'; there are {', '.join(names())}")
    return target_named(name)
