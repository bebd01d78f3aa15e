"""Programs explored as the command does it: with the launch that a comment says."""

from __future__ import annotations

from pathlib import Path

import tileir
from tests.explore.programs import Program, text
from tileir.command_line.argument_words import given_values
from tileir.explore.launch import launch_line
from tileir.explore.report import ExplorationReport
from tileir.runtime.module import Kernel, Module


def explored_file(path: Path, name: str | None = None, **options: object) -> ExplorationReport:
    module = tileir.load(path)
    return explored_kernel(module[name] if name else only(module), **options)


def explored_text(source: str, **options: object) -> ExplorationReport:
    return explored_kernel(only(tileir.parse(source, "program.mlir")), **options)


def explored_program(found: Program, **options: object) -> ExplorationReport:
    return explored_text(f"// launch: {found.launch}\n{text(found)}", **options)


def only(module: Module) -> Kernel:
    (kernel,) = module.kernels.values()
    return kernel


def explored_kernel(kernel: Kernel, **options: object) -> ExplorationReport:
    grid, values = launch_of(kernel)
    return tileir.explore(kernel, grid, *values, **options)  # type: ignore[arg-type]


def launch_of(kernel: Kernel) -> tuple[tuple[int, ...], list[object]]:
    """The grid and the arguments that a comment in front of a kernel says."""
    words = launch_line(kernel)
    assert words is not None and words[0] == "--grid", "a comment says how the program is launched"
    grid = tuple(int(extent) for extent in words[1].split(","))
    return grid, [one.value for one in given_values(kernel, words[2:], 0)]
