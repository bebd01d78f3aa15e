"""``tileir profile``: where the time of a launch goes, by line."""

from __future__ import annotations

import argparse

from tileir.cli import FINE, UsageError, files, show
from tileir.cli.launching import add_launch, checked, launched_kernel
from tileir.cli.options import add_level, chosen_target
from tileir.cli.progress import progress_line
from tileir.command_line import argument_words
from tileir.command_line.argument_words import given_values
from tileir.runtime.module import bind
from tileir.runtime.options import LaunchOptions
from tileir.tools.profile.api import SECONDS, profile_bound
from tileir.tools.profile.table import text


def configure(parser: argparse.ArgumentParser) -> None:
    add_launch(parser)
    parser.add_argument("--threads", type=int, metavar="N", help="how many threads run tile blocks")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="S", help=f"time under samples (default {SECONDS})"
    )
    parser.add_argument("--all", action="store_true", help="show every line of every file")
    parser.add_argument("--json", action="store_true", help="write the profile as JSON instead of a table")
    parser.add_argument("--roofline", metavar="FILE.svg", help="draw the roofline into this file")
    parser.add_argument("--trace", metavar="FILE.json", help="write when each tile block ran, for Perfetto or Chrome")
    parser.add_argument("--new-peaks", action="store_true", help="measure the machine's peaks again")
    add_level(parser)
    parser.epilog = f"""\
{argument_words.GRAMMAR}
The launch runs on native code: once to count, then again and again under samples. Arrays end as after one launch.

examples:
  tileir profile examples/softmax.mlir --grid 200 x=f32[200,1024]:randn y=f32[200,1024] rows=200 columns=1024
  tileir profile kernel.mlir --grid 8,8 a=f32[512,512]:randn --roofline roofline.svg --trace trace.json
"""


def run(options: argparse.Namespace) -> int:
    kernel = launched_kernel(options, "profile")
    values = [one.value for one in given_values(kernel, options.arguments, options.seed)]
    target = chosen_target("cpu")
    settings: LaunchOptions = {} if options.threads is None else {"threads": options.threads}
    grid = checked(kernel, target, options.grid, values, True, settings)
    bound = bind(kernel, values, target)
    try:
        with progress_line(kernel.name, target, settings):
            traced = options.trace is not None
            found = profile_bound(kernel, grid, bound, settings, options.seconds, traced, options.new_peaks)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if options.roofline is not None:
        files.write(options.roofline, found.svg)
    if options.trace is not None:
        files.write(options.trace, found.trace)
    show.line(found.json if options.json else text(found, options.all))
    return FINE
