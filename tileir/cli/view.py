"""``tileir view``: a picture of a launch, as a page."""

from __future__ import annotations

import argparse

from tileir.cli import FAULT, FINE, UsageError, files, show
from tileir.cli.launching import add_launch, checked, launched_kernel
from tileir.cli.options import add_level, chosen_target
from tileir.command_line import argument_words
from tileir.command_line.argument_words import given_values
from tileir.ir.escaping import shown
from tileir.tools.view.api import view


def configure(parser: argparse.ArgumentParser) -> None:
    add_launch(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="where the page goes, such as launch.html")
    parser.add_argument(
        "--block", action="append", metavar="X,Y,Z", help="keep the values of this tile block (may be given again)"
    )
    sanitizer = parser.add_mutually_exclusive_group()
    sanitizer.add_argument("--sanitize", action="store_true", default=None, help="look for faults, large arrays or not")
    sanitizer.add_argument("--no-sanitize", dest="sanitize", action="store_false", help="look for no faults")
    parser.add_argument("--no-time", dest="time", action="store_false", help="do not run it on native code too")
    add_level(parser)
    parser.epilog = f"""\
{argument_words.GRAMMAR}
The page needs nothing but a browser. The launch runs on the interpreter, and on native code for the time of its lines.

examples:
  tileir view examples/vector_add.mlir --grid 2 a=f32[2000]:randn b=f32[2000]:ones c=f32[2000]:zeros n=2000 -o add.html
  tileir view kernel.mlir --grid 8,8 a=f32[512,512]:randn --block 3,4 -o launch.html
"""


def run(options: argparse.Namespace) -> int:
    kernel = launched_kernel(options, "view")
    if options.output is None:
        raise UsageError(f"-o: expected a file for the page, such as -o {shown(kernel.name)}.html")
    values = [one.value for one in given_values(kernel, options.arguments, options.seed)]
    grid = checked(kernel, chosen_target("interp"), options.grid, values, True, {})
    try:
        blocks = None if options.block is None else [_block(text) for text in options.block]
        found = view(kernel, grid, *values, blocks=blocks, findings=options.sanitize, time=options.time)
    except ValueError as error:
        raise UsageError(str(error)) from None
    files.write(options.output, found.html)
    faults = [one["message"] for one in found.data["findings"] if one["severity"] == "error"]
    if not faults:
        return FINE
    show.line(f"{options.output} shows faults, the first: {faults[0]}")
    return FAULT


def _block(text: str) -> tuple[int, int, int]:
    try:
        x, y, z = (*map(int, text.split(",")), 0, 0)[:3]
    except ValueError:
        raise UsageError(f"--block: expected a tile block such as 3,4, got '{text}'") from None
    return x, y, z
