"""``tileir run``: run a kernel on arrays and look at the results.

Knows: which kernel, which grid, which arrays are printed and saved, and the table of results.
Does not know: the words that describe arguments (`arguments`, `fill`), nor how a kernel is launched (`runtime`).
"""

from __future__ import annotations

import argparse
import io
import sys
import time
import warnings
from dataclasses import dataclass
from math import prod

import numpy as np

from tileir.cli import FINE, UsageError, arguments, files, fill, show
from tileir.cli.arguments import ArrayWord, FileWord, Word
from tileir.cli.options import add_level, add_target, chosen_target
from tileir.ir import types as t
from tileir.runtime.arguments import Parameter
from tileir.runtime.grid import Grid, checked_grid
from tileir.runtime.launch import bind, launch_kernel
from tileir.runtime.module import Kernel, Module
from tileir.runtime.targets import Target

_COLUMNS = {
    "array": "left",
    "shape": "right",
    "type": "left",
    "min": "right",
    "max": "right",
    "mean": "right",
    "crc-32": "left",
    "": "left",
}

Settings = dict[str, object]
"""Options of the target."""


@dataclass(frozen=True)
class Given:
    """What a parameter is given. `before` is the checksum of an array before the launch, None for a scalar."""

    name: str
    element: t.ElementType
    value: np.ndarray | int | float
    before: str | None

    @property
    def array(self) -> np.ndarray:
        assert isinstance(self.value, np.ndarray)
        return self.value


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="text or bytecode; - is standard input")
    parser.add_argument("arguments", nargs="*", metavar="ARG", help="arguments of the kernel, see below")
    parser.add_argument("--kernel", metavar="NAME", help="which entry (needed if the program has several)")
    parser.add_argument("--grid", required=True, metavar="X[,Y[,Z]]", help="number of tile blocks along each axis")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random fills (default 0)")
    parser.add_argument("--print", action="append", default=[], metavar="NAME", help="print this array afterwards")
    parser.add_argument("--save", action="append", default=[], metavar="NAME=FILE", help="save this array as .npy")
    add_target(parser)
    parser.add_argument(
        "--mode",
        choices=("default", "strict", "off"),
        help="target interp: strict also stops at undefined behaviour that has a usual result; off gives no warnings",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="target cpu: how many threads run tile blocks")
    add_level(parser)
    parser.epilog = f"""\
{arguments.GRAMMAR}
examples:
  tileir run examples/vector_add.mlir --grid 2 a=f32[2000]:randn b=f32[2000]:ones c=f32[2000]:zeros n=2000
  tileir run kernel.mlir --kernel scale --grid 4 f32[1024]:arange 0.5 --print x --save x=scaled.npy
"""


def run(options: argparse.Namespace) -> int:
    kernel = _kernel(files.verified(options.file, options.level), options.kernel)
    target = chosen_target(options.target)
    given = _given(kernel, options.arguments, options.seed)
    settings = {name: value for name, value in (("mode", options.mode), ("threads", options.threads)) if value}
    grid = _checked(kernel, target, options.grid, given, settings)
    saves = {name: file for name, _, file in (entry.partition("=") for entry in options.save)}
    for name in [*options.print, *saves]:
        _array_named(name, given)
    seconds = _launch(kernel, target, grid, given, settings)
    for name, file in saves.items():
        files.write(file, _npy(_array_named(name, given).array))
    _show(kernel.name, grid, given, seconds)
    for name in options.print:
        one = _array_named(name, given)
        print(f"{name} =\n{fill.shown(one.array, one.element)}")
    return FINE


# ---------------------------------------------------------------- before the launch


def _kernel(module: Module, name: str | None) -> Kernel:
    kernels = module.kernels
    if name is None and len(kernels) == 1:
        return next(iter(kernels.values()))
    found = kernels.get(name.removeprefix("@")) if name is not None else None
    if found is None:
        known = ", ".join(kernels) or "none"
        said = "say which kernel with --kernel" if name is None else f"no kernel '{name}'"
        raise UsageError(f"{said}; the program has {known}")
    return found


def _given(kernel: Kernel, words: list[str], seed: int) -> list[Given]:
    parameters = kernel.parameters
    found = arguments.assigned(words, [parameter.name for parameter in parameters])
    random = np.random.default_rng(abs(seed))
    return [_value(parameter, word, random) for parameter, word in zip(parameters, found)]


def _value(parameter: Parameter, word: Word, random: np.random.Generator) -> Given:
    element, is_pointer = _element(parameter)
    if isinstance(word, ArrayWord):
        array = fill.array(word, random)
        return Given(parameter.name, word.element, array, fill.checksum(array))
    if isinstance(word, FileWord):
        array = fill.loaded(word, element)
        return Given(parameter.name, element, array, fill.checksum(array))
    if is_pointer:
        raise UsageError(
            f"parameter '{parameter.name}' is a {parameter.type!r}: expected an array such as "
            f"{element.name}[64]:zeros, got a number"
        )
    try:
        return Given(parameter.name, element, fill.scalar(word, element), None)
    except UsageError as error:
        raise UsageError(f"parameter '{parameter.name}': {error}") from None


def _element(parameter: Parameter) -> tuple[t.ElementType, bool]:
    """The element type of a parameter or of what it points to, and whether it is a pointer."""
    ty = parameter.type
    if isinstance(ty, t.TileType):
        return (ty.element.pointee, True) if isinstance(ty.element, t.PointerType) else (ty.element, False)
    raise UsageError(f"parameter '{parameter.name}': a launch cannot pass a {ty!r}")


def _checked(kernel: Kernel, target: Target, grid: str, given: list[Given], settings: Settings) -> Grid:
    """The grid, when it and the arguments are what the kernel takes, and the settings those of the target."""
    try:
        extents = [int(extent) for extent in grid.split(",")]
    except ValueError:
        raise UsageError(f"--grid: expected 1 to 3 positive integers such as 4,2, got '{grid}'") from None
    try:
        found = checked_grid(extents, kernel.name)
        bind(kernel, [one.value for one in given], target)
        target.prepare(kernel, True, settings)
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None
    return found


def _array_named(name: str, given: list[Given]) -> Given:
    found = next((one for one in given if one.name == name and one.before is not None), None)
    if found is None:
        arrays = ", ".join(one.name for one in given if one.before is not None)
        raise UsageError(f"no array '{name}'; there are {arrays or 'none'}")
    return found


# ---------------------------------------------------------------- the launch, and after it


def _launch(kernel: Kernel, target: Target, grid: Grid, given: list[Given], settings: Settings) -> float:
    """Seconds that the launch took. What the kernel warns of is shown, also when it traps."""
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            launch_kernel(kernel, grid, [one.value for one in given], target.name, True, settings)
        finally:
            sys.stdout.flush()
            for warning in caught:
                show.diagnostics(f"warning: {warning.message}", sys.stderr)
    return time.perf_counter() - begin


def _npy(array: np.ndarray) -> bytes:
    """The content of a .npy file."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _show(kernel: str, grid: Grid, given: list[Given], seconds: float) -> None:
    blocks = prod(grid)
    print(f"@{kernel}: {blocks} tile block{'' if blocks == 1 else 's'} in {seconds * 1e3:.1f} ms")
    rows = [_row(one, one.before) for one in given if one.before is not None]
    if rows:
        show.print_table(show.table(_COLUMNS, rows))


def _row(one: Given, before: str) -> list[str | show.Text]:
    array, found = one.array, fill.summary(one.array, one.element)
    shape = "x".join(map(str, fill.shape(array, one.element))) or "scalar"
    if found is None:
        return [one.name, shape, one.element.name, "", "", "", "", "empty"]
    numbers = [_number(found.low), _number(found.high), _number(found.mean)]
    change = "" if found.checksum == before else "written"
    return [one.name, shape, one.element.name, *numbers, found.checksum, show.Text(change, "green")]


def _number(value: float | int) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)
