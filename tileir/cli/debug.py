"""``tileir debug``: step through a launch."""

from __future__ import annotations

import argparse

from tileir.cli import FINE, UsageError
from tileir.cli.launching import add_launch, checked, launched_kernel
from tileir.cli.options import add_level, chosen_target
from tileir.runtime import cli_arguments
from tileir.runtime.cli_arguments import given_values


def configure(parser: argparse.ArgumentParser) -> None:
    add_launch(parser)
    parser.add_argument("--block", action="append", metavar="X,Y,Z", help="run only this tile block (again for more)")
    parser.add_argument("--command", "-x", action="append", default=[], help="a command to begin with (again for more)")
    parser.add_argument("--dap", action="store_true", help="speak the Debug Adapter Protocol on standard streams")
    add_level(parser)
    parser.epilog = f"""\
{cli_arguments.GRAMMAR}
The launch runs on the interpreter and stops in front of its first operation. 'help' lists the commands.

examples:
  tileir debug examples/vector_add.mlir --grid 2 a=f32[2000]:randn b=f32[2000]:ones c=f32[2000]:zeros n=2000
  tileir debug kernel.mlir --grid 8 x=f32[512]:arange --block 3 -x 'break 12 if %i == 2' -x continue
"""


def run(options: argparse.Namespace) -> int:
    kernel = launched_kernel(options, "debug")
    values = [one.value for one in given_values(kernel, options.arguments, options.seed)]
    grid = checked(kernel, chosen_target("interp"), options.grid, values, True, {})
    blocks = None if options.block is None else [_block(text, grid) for text in options.block]
    if options.dap:
        from tileir.tools.debug.adapter import serve

        serve(kernel, grid, values, blocks)
        return FINE
    from tileir.tools.debug.terminal import debug

    return debug(kernel, grid, values, blocks, options.command)


def _block(text: str, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    try:
        x, y, z = (*map(int, text.split(",")), 0, 0)[:3]
    except ValueError:
        raise UsageError(f"--block: expected a tile block such as 3,4, got '{text}'") from None
    if not (0 <= x < grid[0] and 0 <= y < grid[1] and 0 <= z < grid[2]):
        raise UsageError(f"--block: expected a tile block of the grid {grid}, got '{text}'")
    return x, y, z
