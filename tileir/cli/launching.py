"""A launch as the words of a command line describe it: ``tileir run`` and ``tileir bench``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from tileir.cli import UsageError, programs
from tileir.cli.options import add_checks, add_gpu_options, add_optimize, add_target, gpu_options_of, limits_of
from tileir.cli.progress import clear_line
from tileir.command_line import argument_words
from tileir.command_line.argument_words import Given, chosen_kernel
from tileir.host import child
from tileir.ir.diagnostics import Trap
from tileir.ir.escaping import shown
from tileir.runtime.grid import Grid, checked_grid
from tileir.runtime.module import Kernel, Target, bind, launch_kernel
from tileir.runtime.options import Check, LaunchOptions

T = TypeVar("T")
_ALSO = {"view": " -o launch.html"}
"""Options of verbs that a launch is not all of."""


def add_kernel(parser: argparse.ArgumentParser, needs_file: bool = True) -> None:
    nargs = None if needs_file else "?"
    parser.add_argument("file", nargs=nargs, metavar="FILE", help="text or bytecode; - is standard input")
    parser.add_argument("--kernel", metavar="NAME", help="which entry (needed if the program has several)")
    programs.add_signature(parser)


def add_launch(parser: argparse.ArgumentParser, needs_file: bool = True) -> None:
    add_kernel(parser, needs_file)
    parser.add_argument("arguments", nargs="*", default=[], metavar="ARG", help="arguments of the kernel, see below")
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="number of tile blocks along each axis")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random fills (default 0)")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the options for where and how a launch runs."""
    add_target(parser)
    add_checks(parser)
    parser.add_argument("--threads", type=int, metavar="N", help="target cpu: how many threads run tile blocks")
    text = "target cpu: tell gdb and perf the lines of the code"
    parser.add_argument("--debug-info", action="store_true", help=text)
    add_optimize(parser)
    add_gpu_options(parser)


def settings_of(options: argparse.Namespace) -> LaunchOptions:
    """Return the options of the launch among `add_settings` that are given."""
    settings: LaunchOptions = {**limits_of(options), **gpu_options_of(options)}
    if options.threads is not None:
        settings["threads"] = options.threads
    if options.debug_info:
        settings["debug_info"] = True
    if not options.optimize:
        settings["optimize"] = False
    return settings


def launched_kernel(options: argparse.Namespace, verb: str) -> Kernel:
    """Return the kernel of a launch by `verb`. Where its grid or arguments are missing, UsageError says what it
    takes."""
    kernel = chosen_kernel(programs.verified(options.file, options), options.kernel)
    require_grid(kernel, programs.words_of(options), verb, options.arguments, options.grid)
    return kernel


def require_grid(kernel: Kernel, program: Sequence[str], verb: str, words: Sequence[str], grid: str | None) -> None:
    """Raise UsageError, with what the kernel takes, without a grid or an argument for each parameter."""
    _require(kernel, program, verb, words, grid, grid is None)


def require_arguments(
    kernel: Kernel, program: Sequence[str], verb: str, words: Sequence[str], grid: str | None
) -> None:
    """Check the arguments of a launch that needs no grid."""
    _require(kernel, program, verb, words, grid, False)


def _require(
    kernel: Kernel, program: Sequence[str], verb: str, words: Sequence[str], grid: str | None, lacks_grid: bool
) -> None:
    names = [parameter.name for parameter in kernel.parameters]
    lacking = argument_words.missing(words, names)
    if lacking or lacks_grid:
        given = _parts(grid is not None, [name for name in names if words and name not in lacking])
        got = f"only {given}" if given else "none"
        raise UsageError(f"expected {_parts(lacks_grid, lacking)}, got {got}\n{suggestion(kernel, program, verb)}")


def _parts(grid: bool, names: Sequence[str]) -> str:
    parts = ["a --grid"] if grid else []
    parts += [f"{'arguments' if len(names) > 1 else 'an argument'} for {_listed(names)}"] if names else []
    return " and ".join(parts)


def _listed(words: Sequence[str]) -> str:
    """Return the names as a list such as ``'a', 'b'``."""
    return ", ".join(f"'{shown(word)}'" for word in words)


def suggestion(kernel: Kernel, program: Sequence[str], verb: str) -> str:
    """Return the parameters of the kernel and a command to copy. A launch with all its arguments needs no analyses."""
    from tileir.command_line.signature import Signature

    signature = Signature(kernel)
    command = signature.command(verb, program, len(kernel.module.kernels) > 1) + _ALSO.get(verb, "")
    return f"  {signature.text}\n  for example: {command}"


def checked(
    kernel: Kernel, target: Target, grid: str, values: Sequence[object], check: Check, settings: LaunchOptions
) -> Grid:
    """Return the grid, when it and the values are what the kernel takes, and the settings those of the target."""
    try:
        extents = [int(extent) for extent in grid.split(",")]
    except ValueError:
        raise UsageError(f"--grid: expected 1 to 3 positive integers such as 4,2, got '{grid}'") from None
    try:
        found = checked_grid(extents, kernel.name)
        bind(kernel, values, target)
        target.prepare(kernel, check, settings)
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None
    return found


def needs_child(target: Target, check: Check) -> bool:
    """Return whether a launch may kill its process: native code without checks."""
    return check is False and target.name == "cpu" and child.POSSIBLE


def shared(given: Sequence[Given]) -> list[Given]:
    """Return the arguments with arrays whose contents a child process can change."""
    return [replace(one, value=child.shared(one.array)) if one.before is not None else one for one in given]


def survived(kernel: Kernel, action: Callable[[], T]) -> T:
    """Return the result of `action`, which launches a kernel in a child process. Raises Trap if that dies."""
    try:
        return child.in_child(action)
    except child.ChildDied as died:
        clear_line()
        message = f"the process that ran the kernel without checks died: {died.how}; --check names the fault"
        raise Trap(message, kernel=kernel.name) from None


def launch(
    kernel: Kernel, target: Target, grid: Grid, values: Sequence[object], check: Check, settings: LaunchOptions
) -> None:
    """Run a kernel to its end."""
    launch_kernel(kernel, grid, values, target.name, check, settings)
    target.finish()
