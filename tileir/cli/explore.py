"""``tileir explore``: all outcomes of a small kernel that the memory model allows."""

from __future__ import annotations

import argparse
import json
import sys

from tileir.cli import FAULT, FINE, UsageError, files, programs, show
from tileir.cli.launching import add_kernel, checked, require_arguments, suggestion
from tileir.cli.options import add_level, chosen_target
from tileir.command_line import argument_words
from tileir.command_line.argument_words import chosen_kernel, given_values
from tileir.explore.launch import ITERATIONS, LIMIT, explore, launch_line
from tileir.runtime.module import Kernel


def configure(parser: argparse.ArgumentParser) -> None:
    add_kernel(parser)
    parser.add_argument("arguments", nargs="*", default=[], metavar="ARG", help="arguments of the kernel, see below")
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="number of tile blocks along each axis")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random fills (default 0)")
    parser.add_argument(
        "--iterations", type=int, default=ITERATIONS, metavar="N", help=f"of each loop at most (default {ITERATIONS})"
    )
    parser.add_argument("--limit", type=int, default=LIMIT, metavar="N", help=f"executions at most (default {LIMIT:,})")
    parser.add_argument("--no-mends", action="store_true", help="do not look for changes that mend what is wrong")
    add_level(parser)
    parser.add_argument("--html", metavar="FILE", help="write the report as a page with drawings")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--model", action=_PrintModel, nargs=0, help="print the memory model that is enumerated")
    parser.epilog = f"""\
{argument_words.GRAMMAR}
Without --grid the launch is that of a comment in front of the kernel, such as
  // launch: --grid 2 x=i32[1]:zeros

Other comments there say what is expected of all executions:
  // exists: x = 2 and 1:%flag = 1     one ends so: x is memory, 1:%flag what an access of tile block 1 gave
  // forbidden: 1:%data = 0            none ends so
  // never: race or deadlock           also assert, trap

examples:
  tileir explore examples/litmus/MP1.mlir
  tileir explore examples/mutex.mlir --grid 2 counter=i32[1]:zeros
"""


class _PrintModel(argparse.Action):
    """Prints the model, as ``--help`` prints the help."""

    def __call__(self, parser: argparse.ArgumentParser, *given: object) -> None:
        from tileir.explore.model import model_text

        print(model_text())
        parser.exit()


def run(options: argparse.Namespace) -> int:
    kernel = chosen_kernel(programs.verified(options.file, options), options.kernel)
    grid, words = _launch(kernel, options)
    require_arguments(kernel, programs.words_of(options), "explore", words, grid)
    values = [one.value for one in given_values(kernel, words, options.seed)]
    extents = checked(kernel, chosen_target("interp"), grid, values, True, {})
    try:
        report = explore(
            kernel,
            extents,
            *values,
            iterations=options.iterations,
            limit=options.limit,
            mends=not options.no_mends,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    if options.html is not None:
        files.write(options.html, report.to_html().encode())
    if options.json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        show.diagnostics(str(report), sys.stdout)
    return FINE if report.ok else FAULT


def _launch(kernel: Kernel, options: argparse.Namespace) -> tuple[str, list[str]]:
    """Return the grid and the words of the arguments, of the command line or of the program."""
    if options.grid is not None:
        return options.grid, options.arguments
    words = launch_line(kernel)
    if words is None or "--grid" not in words[:-1]:
        what = "expected a --grid, or a comment '// launch: --grid ...' in front of the kernel, got none"
        raise UsageError(f"{what}\n{suggestion(kernel, programs.words_of(options), 'explore')}")
    at = words.index("--grid")
    return words[at + 1], options.arguments or [*words[:at], *words[at + 2 :]]
