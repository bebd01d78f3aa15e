"""Options that several verbs have."""

from __future__ import annotations

import argparse

from tileir.ir.declare import NEWEST, VERSIONS


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


def add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", default="interp", help="where to run (default: interp); 'tileir info' lists them")
