"""``tileir run``: run a kernel on arrays and look at the results."""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
import time
import warnings
from functools import partial
from math import prod

import numpy as np

from tileir.cli import FINE, UsageError, files, show
from tileir.cli.launching import (
    add_launch,
    add_settings,
    checked,
    launch,
    launched_kernel,
    needs_child,
    settings_of,
    shared,
    survived,
)
from tileir.cli.options import add_level, check_of, chosen_target
from tileir.cli.progress import progress_line
from tileir.cli.show import Coloured, Justify, abbreviating
from tileir.command_line import argument_words, fill
from tileir.command_line.argument_words import Given, given_values
from tileir.ir.escaping import shown
from tileir.runtime.grid import Grid
from tileir.runtime.module import Kernel, Target, placed
from tileir.runtime.options import Check, LaunchOptions

_COLUMNS: dict[str, Justify] = {
    "array": "left",
    "shape": "right",
    "type": "left",
    "min": "right",
    "max": "right",
    "mean": "right",
    "crc-32": "left",
    "": "left",
}


def configure(parser: argparse.ArgumentParser) -> None:
    add_launch(parser)
    parser.add_argument("--print", action="append", default=[], metavar="NAME", help="print this array afterwards")
    parser.add_argument("--save", action="append", default=[], metavar="NAME=FILE", help="save this array as .npy")
    add_settings(parser)
    parser.add_argument(
        "--mode",
        choices=("default", "strict", "off"),
        help="target interp: strict also stops at undefined behaviour that has a usual result; off gives no warnings",
    )
    text = "target interp: start tile blocks in an order of their own, and switch between them at random"
    parser.add_argument("--schedule-seed", type=int, metavar="N", help=text)
    text = "print the result as JSON; what the kernel prints goes to standard error"
    parser.add_argument("--json", action="store_true", help=text)
    add_level(parser)
    parser.epilog = f"""\
{argument_words.GRAMMAR}
examples:
  tileir run examples/vector_add.mlir --grid 2 a=f32[2000]:randn b=f32[2000]:ones c=f32[2000]:zeros n=2000
  tileir run kernel.mlir --kernel scale --grid 4 f32[1024]:arange 0.5 --print x --save x=scaled.npy
"""


def run(options: argparse.Namespace) -> int:
    kernel = launched_kernel(options, "run")
    target = chosen_target(options.target)
    given = given_values(kernel, options.arguments, options.seed)
    check, settings = check_of(options), settings_of(options)
    if options.mode is not None:
        settings["mode"] = options.mode
    if options.schedule_seed is not None:
        settings["seed"] = options.schedule_seed
    output = sys.stderr if options.json else abbreviating(sys.stdout)
    if output is not None and target.name != "cuda:tileiras":
        settings["output"] = output
    saves = dict(map(_save, options.save))
    if needs_child(target, check):
        given = shared(given)
    with placed(target, [one.value for one in given]) as values:
        grid = checked(kernel, target, options.grid, values, check, settings)
        for name in [*options.print, *saves]:
            _array_named(name, given)
        action = partial(_launch, kernel, target, grid, values, check, settings)
        seconds = survived(kernel, action) if needs_child(target, check) else action()
    for name, file in saves.items():
        files.write(file, _npy(_array_named(name, given).array))
    if options.json:
        print(json.dumps(_as_data(kernel, grid, given, seconds, options.print), indent=2))
        return FINE
    _show(kernel.name, grid, given, seconds)
    for name in options.print:
        one = _array_named(name, given)
        print(f"{shown(name)} =\n{fill.shown(one.array, one.element)}")
    return FINE


def _save(entry: str) -> tuple[str, str]:
    name, equals, file = entry.partition("=")
    if not (name and equals and file):
        raise UsageError(f"--save: expected NAME=FILE such as {name or 'x'}={name or 'x'}.npy, got '{entry}'")
    return name, file


def _array_named(name: str, given: list[Given]) -> Given:
    found = next((one for one in given if one.name == name and one.before is not None), None)
    if found is None:
        arrays = ", ".join(one.name for one in given if one.before is not None)
        raise UsageError(f"no array '{name}'; there are {arrays or 'none'}")
    return found


# ---------------------------------------------------------------- the launch, and after it


def _launch(
    kernel: Kernel, target: Target, grid: Grid, values: list[object], check: Check, settings: LaunchOptions
) -> float:
    """Return the seconds that the launch took. Warnings of the kernel are shown, also when it traps."""
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with progress_line(kernel.name, target, settings):
                launch(kernel, target, grid, values, check, settings)
        finally:
            sys.stdout.flush()
            for warning in caught:
                show.diagnostics(f"warning: {warning.message}", sys.stderr)
    return time.perf_counter() - begin


def _npy(array: np.ndarray) -> bytes:
    """Return the content of a .npy file."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _show(kernel: str, grid: Grid, given: list[Given], seconds: float) -> None:
    blocks = prod(grid)
    show.line(f"@{shown(kernel)}: {blocks} tile block{'' if blocks == 1 else 's'} in {seconds * 1e3:.1f} ms")
    rows = [_row(one, one.before) for one in given if one.before is not None]
    if rows:
        show.print_table(show.table(_COLUMNS, rows))


def _as_data(kernel: Kernel, grid: Grid, given: list[Given], seconds: float, printed: list[str]) -> dict[str, object]:
    """Return a launch as JSON: what it was, and each array afterwards, with its elements if they were asked for."""
    arrays = [_array_data(one, one.name in printed) for one in given if one.before is not None]
    return {"kernel": kernel.name, "grid": list(grid), "seconds": seconds, "arrays": arrays}


def _array_data(one: Given, whole: bool) -> dict[str, object]:
    found = fill.summary(one.array, one.element)
    data: dict[str, object] = {"name": one.name, "type": one.element.name}
    data["shape"] = list(fill.shape(one.array, one.element))
    if found is not None:
        numbers = {"min": found.low, "max": found.high, "mean": found.mean}
        data |= {name: _finite(number) for name, number in numbers.items()}
        data |= {"crc32": found.checksum, "written": found.checksum != one.before}
    if whole:
        data["elements"] = [_finite(number) for number in fill.numbers(one.array, one.element).ravel().tolist()]
    return data


def _finite(number: float | int) -> float | int | str:
    """Return a number as JSON has it; infinities and NaN as words."""
    return number if math.isfinite(number) else str(number)


def _row(one: Given, before: str) -> list[str | Coloured]:
    array, found = one.array, fill.summary(one.array, one.element)
    shape = "x".join(map(str, fill.shape(array, one.element))) or "scalar"
    if found is None:
        return [one.name, shape, one.element.name, "", "", "", "", "empty"]
    numbers = [_number(found.low), _number(found.high), _number(found.mean)]
    change = "" if found.checksum == before else "written"
    return [one.name, shape, one.element.name, *numbers, found.checksum, Coloured(change, "green")]


def _number(value: float | int) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)
