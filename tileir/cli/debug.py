"""``tileir debug``: step through a launch."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tileir.cli import FINE, UsageError
from tileir.cli.launching import add_launch, checked, launched_kernel
from tileir.cli.options import add_level, chosen_target
from tileir.command_line import argument_words
from tileir.command_line.argument_words import given_values
from tileir.runtime.grid import Grid
from tileir.runtime.module import Kernel


def configure(parser: argparse.ArgumentParser) -> None:
    add_launch(parser, needs_file=False)
    parser.add_argument("--block", action="append", metavar="X,Y,Z", help="run only this tile block (again for more)")
    parser.add_argument("--command", "-x", action="append", default=[], help="a command to begin with (again for more)")
    parser.add_argument("--dap", action="store_true", help="speak the Debug Adapter Protocol on standard streams")
    add_level(parser)
    parser.epilog = f"""\
{argument_words.GRAMMAR}
The launch runs on the interpreter and stops in front of its first operation. 'help' lists the commands.

examples:
  tileir debug examples/vector_add.mlir --grid 2 a=f32[2000]:randn b=f32[2000]:ones c=f32[2000]:zeros n=2000
  tileir debug kernel.mlir --grid 8 x=f32[512]:arange --block 3 -x 'break 12 if %i == 2' -x continue
  tileir debug --dap                            # the editor's launch request names program, grid and arguments
"""


def run(options: argparse.Namespace) -> int:
    if options.dap:
        from tileir.tools.debug.adapter import DebugLaunch, serve

        launch = None if options.file is None else DebugLaunch(*_launch(options))
        serve(lambda request: DebugLaunch(*_launch(_requested(options, request))), launch)
        return FINE
    if options.file is None:
        raise UsageError("expected a FILE, got none (only with --dap, the editor names it)")
    from tileir.tools.debug.terminal import debug

    return debug(*_launch(options), options.command)


_Launch = tuple[Kernel, Grid, Sequence[object], list[Grid] | None]


def _launch(options: argparse.Namespace) -> _Launch:
    kernel = launched_kernel(options, "debug")
    values = [one.value for one in given_values(kernel, options.arguments, options.seed)]
    grid = checked(kernel, chosen_target("interp"), options.grid, values, True, {})
    return kernel, grid, values, None if options.block is None else [_block(text, grid) for text in options.block]


_FIELDS = {"program": str, "kernel": str, "grid": str, "arguments": list, "block": str, "seed": int}


def _requested(options: argparse.Namespace, request: dict[str, object]) -> argparse.Namespace:
    """Return the options that an editor's launch request stands for. Raises UsageError."""
    given = {name: request[name] for name in _FIELDS if request.get(name) is not None}
    wrong = [name for name, value in given.items() if not isinstance(value, _FIELDS[name])]
    words = given.get("arguments")
    if wrong or "program" not in given or (isinstance(words, list) and not all(isinstance(one, str) for one in words)):
        form = '"program": "FILE", "grid": "X,Y,Z", "arguments": ["ARG", ...]'
        raise UsageError(f"launch: expected {form}, got another {wrong[0] if wrong else 'program or arguments'}")
    made = {**vars(options), **given, "file": given["program"]}
    if "block" in given:
        made["block"] = [given["block"]]
    return argparse.Namespace(**made)


def _block(text: str, grid: Grid) -> Grid:
    try:
        x, y, z = (*map(int, text.split(",")), 0, 0)[:3]
    except ValueError:
        raise UsageError(f"--block: expected a tile block such as 3,4, got '{text}'") from None
    if not (0 <= x < grid[0] and 0 <= y < grid[1] and 0 <= z < grid[2]):
        raise UsageError(f"--block: expected a tile block of the grid {grid}, got '{text}'")
    return x, y, z
