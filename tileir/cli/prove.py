"""``tileir prove``: what holds of a kernel for every run, and what does not."""

from __future__ import annotations

import argparse
import json
import sys

from tileir.cli import FAULT, FINE, programs, show
from tileir.cli.launching import add_kernel, checked, require_arguments
from tileir.cli.options import add_level, chosen_target
from tileir.command_line import argument_words
from tileir.command_line.argument_words import chosen_kernel, given_values
from tileir.runtime.grid import Grid
from tileir.runtime.module import Kernel
from tileir.sanitize.launch import prove


def configure(parser: argparse.ArgumentParser) -> None:
    add_kernel(parser)
    parser.add_argument("arguments", nargs="*", default=[], metavar="ARG", help="arguments of the kernel, see below")
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="number of tile blocks along each axis")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random fills (default 0)")
    parser.add_argument("--no-run", action="store_true", help="do not run the kernel to confirm or to decide")
    add_level(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.epilog = f"""\
Without arguments the verdicts are about any; with them, and without --grid, about any grid.

{argument_words.GRAMMAR}
examples:
  tileir prove examples/softmax.mlir
  tileir prove examples/vector_add.mlir --grid 2 a=f32[2000]:randn b=f32[2000]:ones c=f32[2000]:zeros n=2000
"""


def run(options: argparse.Namespace) -> int:
    kernel = chosen_kernel(programs.verified(options.file, options), options.kernel)
    if _is_given(options):
        require_arguments(kernel, programs.words_of(options), "prove", options.arguments, options.grid)
    values = [one.value for one in given_values(kernel, options.arguments, options.seed)] if _is_given(options) else []
    grid = _grid(kernel, options.grid, values)
    report = prove(kernel, grid, *values, run=not options.no_run, output=sys.stderr)
    if options.json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        show.diagnostics(str(report), sys.stdout)
    return FINE if report.ok else FAULT


def _is_given(options: argparse.Namespace) -> bool:
    """Return whether there are arguments or a grid; a grid alone needs arguments."""
    return bool(options.arguments) or options.grid is not None


def _grid(kernel: Kernel, grid: str | None, values: list) -> Grid | None:
    if not values and kernel.parameters:
        return None
    found = checked(kernel, chosen_target("interp"), grid or "1", values, True, {})
    return None if grid is None else found
