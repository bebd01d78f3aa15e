"""A launch as the words of a command line describe it: ``tileir run`` and ``tileir bench``.

Knows: which kernel, which grid and which values the options and arguments mean, and that they fit together.
Does not know: the words that describe arguments (`arguments`, `fill`), nor what is done with a launch.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from tileir.cli import UsageError, arguments, child, files, fill
from tileir.cli.arguments import ArrayWord, FileWord, Word
from tileir.cli.options import add_checks, add_gpu_options, add_target, gpu_options_of, limits_of
from tileir.cli.progress import clear_line
from tileir.cli.signature import Signature, listed
from tileir.ir import types as t
from tileir.ir.diagnostics import Trap
from tileir.runtime.arguments import Parameter
from tileir.runtime.grid import Grid, checked_grid
from tileir.runtime.launch import bind, launch_kernel
from tileir.runtime.module import Kernel, Module
from tileir.runtime.options import Check, LaunchOptions
from tileir.runtime.targets import DeviceTarget, Target

T = TypeVar("T")


@dataclass(frozen=True)
class Given:
    """The argument of a parameter. `before` is the checksum of an array before the launch, None for a scalar."""

    name: str
    element: t.ElementType
    value: np.ndarray | int | float
    before: str | None

    @property
    def array(self) -> np.ndarray:
        assert isinstance(self.value, np.ndarray)
        return self.value


def add_kernel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="text or bytecode; - is standard input")
    parser.add_argument("--kernel", metavar="NAME", help="which entry (needed if the program has several)")


def add_launch(parser: argparse.ArgumentParser) -> None:
    add_kernel(parser)
    parser.add_argument("arguments", nargs="*", metavar="ARG", help="arguments of the kernel, see below")
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="number of tile blocks along each axis")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random fills (default 0)")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Where a launch runs, and how."""
    add_target(parser)
    add_checks(parser)
    parser.add_argument("--threads", type=int, metavar="N", help="target cpu: how many threads run tile blocks")
    add_gpu_options(parser)


def settings_of(options: argparse.Namespace) -> LaunchOptions:
    """The options of the launch among `add_settings` that are given."""
    settings: LaunchOptions = {**limits_of(options), **gpu_options_of(options)}
    if options.threads is not None:
        settings["threads"] = options.threads
    return settings


def chosen_kernel(module: Module, name: str | None) -> Kernel:
    kernels = module.kernels
    if name is None and len(kernels) == 1:
        return next(iter(kernels.values()))
    found = kernels.get(name.removeprefix("@")) if name is not None else None
    if found is None:
        known = ", ".join(kernels) or "none"
        said = "say which kernel with --kernel" if name is None else f"no kernel '{name}'"
        raise UsageError(f"{said}; the program has {known}")
    return found


def launched_kernel(options: argparse.Namespace, verb: str) -> Kernel:
    """The kernel of a launch by `verb`. Without a grid or arguments, UsageError says what the kernel takes."""
    module = files.verified(options.file, options.level)
    kernel = chosen_kernel(module, options.kernel)
    lacking = arguments.missing(options.arguments, [parameter.name for parameter in kernel.parameters])
    if options.grid is not None and not lacking:
        return kernel
    signature = Signature(kernel)
    what = ["a --grid"] if options.grid is None else []
    what += [f"arguments for {listed(lacking)}"] if lacking else []
    command = signature.command(verb, options.file, len(module.kernels) > 1)
    raise UsageError(f"expected {' and '.join(what)}, got none\n  {signature.text}\n  for example: {command}")


def given_values(kernel: Kernel, words: list[str], seed: int) -> list[Given]:
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


def checked(
    kernel: Kernel, target: Target, grid: str, values: Sequence[object], check: Check, settings: LaunchOptions
) -> Grid:
    """The grid, when it and the values are what the kernel takes, and the settings those of the target."""
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
    """Whether a launch may end the process that it runs in: native code without checks."""
    return check is False and target.name == "cpu" and child.POSSIBLE


def shared(given: Sequence[Given]) -> list[Given]:
    """The same arguments with arrays whose contents a child process can change."""
    return [replace(one, value=child.shared(one.array)) if one.before is not None else one for one in given]


def survived(kernel: Kernel, action: Callable[[], T]) -> T:
    """The result of `action`, which launches a kernel in a child process. Raises Trap if that dies."""
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
    if isinstance(target, DeviceTarget):
        target.finish()
