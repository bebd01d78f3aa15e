"""``tileir sanitize``: run a kernel under the sanitizer and show what it found."""

from __future__ import annotations

import argparse
import json
import sys

from tileir.cli import FAULT, FINE, UsageError, files, show
from tileir.cli.launching import add_launch, checked, launched_kernel
from tileir.cli.options import add_format, add_level, chosen_target
from tileir.command_line import argument_words
from tileir.command_line.argument_words import given_values
from tileir.sanitize.findings import KINDS
from tileir.sanitize.launch import sanitize


def configure(parser: argparse.ArgumentParser) -> None:
    add_launch(parser)
    parser.add_argument("--checks", default="all", metavar="KIND[,KIND]", help="which kinds of findings (default: all)")
    parser.add_argument("--schedules", type=int, default=1, metavar="N", help="N - 1 more orders of tile blocks")
    text = "seed of the orders of tile blocks (default 0)"
    parser.add_argument("--schedule-seed", type=int, default=0, metavar="N", help=text)
    parser.add_argument("--uninitialized", default="", metavar="NAME[,NAME]", help="arrays that nobody has written yet")
    add_level(parser)
    add_format(parser)
    parser.add_argument("--html", metavar="FILE", help="write the report as a page, too")
    kinds = "\n".join(f"  {kind:16} {text}" for kind, text in KINDS.items())
    parser.epilog = f"""\
{argument_words.GRAMMAR}
kinds of findings:
{kinds}

examples:
  tileir sanitize examples/vector_add.mlir --grid 2 a=f32[2000]:randn b=f32[2000]:ones c=f32[2000]:zeros n=2000
  tileir sanitize kernel.mlir --grid 4 x=f32[64]:zeros --schedules 4 --uninitialized x
"""


def run(options: argparse.Namespace) -> int:
    kernel = launched_kernel(options, "sanitize")
    given = given_values(kernel, options.arguments, options.seed)
    values = [one.value for one in given]
    grid = checked(kernel, chosen_target("interp"), options.grid, values, True, {})
    try:
        report = sanitize(
            kernel,
            grid,
            *values,
            checks=_names(options.checks),
            schedules=options.schedules,
            seed=options.schedule_seed,
            uninitialized=_names(options.uninitialized),
            output=sys.stderr,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    if options.html is not None:
        files.write(options.html, report.to_html())
    if options.format == "text":
        show.diagnostics(str(report), sys.stdout)
    else:
        print(json.dumps(report.to_json() if options.format == "json" else report.to_sarif(), indent=2))
    return FINE if report.ok else FAULT


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]
