"""``tileir demo``: run the example programs on real arrays and compare with NumPy."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import tileir
from tileir.cli import FAULT, FINE, UsageError, files, show
from tileir.cli.launching import launch
from tileir.cli.options import add_target, chosen_target
from tileir.cli.show import Coloured, Justify
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES, largest_error
from tileir.runtime.grid import GridLike, checked_grid
from tileir.runtime.module import Kernel, Target, placed
from tileir.runtime.options import LaunchOptions

Arguments = dict[str, np.ndarray | np.generic]

_COLUMNS: dict[str, Justify] = {
    "example": "left",
    "grid": "right",
    "time": "right",
    "largest error": "right",
    "allowed": "right",
    "": "left",
}


@dataclass(frozen=True)
class Outcome:
    """The outcome of one example; `fault` is the error that stopped it, or the fault of its output."""

    example: Example
    seconds: float
    error: float
    fault: str | None = None

    @property
    def right(self) -> bool:
        return self.fault is None and self.error <= self.example.tolerance


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples to run (default: all)")
    parser.add_argument("--list", action="store_true", help="list the examples and where they are")
    parser.add_argument("--copy", metavar="FOLDER", help="write the example programs to a folder")
    add_target(parser)
    parser.epilog = """\
examples:
  tileir demo
  tileir demo softmax attention
  tileir demo --copy my-kernels
"""


def run(options: argparse.Namespace) -> int:
    chosen = _chosen(options.names)
    target = chosen_target(options.target)  # imported before anything is timed
    if options.list:
        for example in chosen:
            print(f"{example.name:18} {example.path}")
        return FINE
    if options.copy is not None:
        return _copy(chosen, Path(options.copy))
    outcomes = list(_outcomes(chosen, target))
    _show(outcomes)
    return FINE if all(outcome.right for outcome in outcomes) else FAULT


def _chosen(names: list[str]) -> list[Example]:
    known = {example.name: example for example in EXAMPLES}
    for name in names:
        if name not in known:
            raise UsageError(f"no example '{name}'; there are {', '.join(known)}")
    return [known[name] for name in names] or list(EXAMPLES)


def _copy(examples: list[Example], folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder '{folder}': {files.reason(error)}") from None
    for path in sorted({example.path for example in examples}):
        files.write(str(folder / path.name), path.read_bytes())
        print(folder / path.name)
    return FINE


def _outcomes(examples: list[Example], target: Target) -> Iterator[Outcome]:
    """Run the examples, with a progress bar on standard error."""
    columns = (TextColumn("{task.description:18}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(file=sys.stderr)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(examples))
        for example in examples:
            progress.update(task, description=example.name)
            yield _outcome(example, target)
            progress.advance(task)


def _outcome(example: Example, target: Target) -> Outcome:
    """Run an example twice, each time on new arrays: once to have it prepared, once for the clock and the check."""
    kernel = tileir.load(example.path)[example.kernel]
    grid = example.grid(example.sizes)
    try:
        _launch(kernel, target, grid, _arguments(example), _ignore)
        arguments = _arguments(example)
        answer = example.answer(arguments)
        lines: list[str] = []
        seconds = _launch(kernel, target, grid, arguments, lines.append)
    except (tileir.Trap, tileir.DiagnosticError, tileir.UnsupportedError) as error:
        return Outcome(example, math.nan, math.nan, str(error))
    wrong = _wrong_output(example, "".join(lines)) if target.gives_output else None
    return Outcome(example, seconds, largest_error(arguments, answer), wrong)


def _launch(
    kernel: Kernel, target: Target, grid: GridLike, arguments: Arguments, output: Callable[[str], object]
) -> float:
    """Return the seconds that a launch took."""
    with placed(target, list(arguments.values())) as values:
        begin = time.perf_counter()
        settings: LaunchOptions = {"output": output} if target.gives_output else {}
        launch(kernel, target, checked_grid(grid, kernel.name), values, True, settings)
        return time.perf_counter() - begin


def _arguments(example: Example) -> Arguments:
    return example.arguments(example.sizes, np.random.default_rng(0))


def _ignore(text: str) -> None:
    pass


def _wrong_output(example: Example, printed: str) -> str | None:
    """Return the difference of the lines printed from those expected, which may come in any order; None without one."""
    expected, got = example.printed(example.sizes), printed.splitlines()
    return None if sorted(got) == sorted(expected) else f"expected {len(expected)} other lines, got {got}"


def _show(outcomes: list[Outcome]) -> None:
    show.print_table(show.table(_COLUMNS, [_row(outcome) for outcome in outcomes]))
    for outcome in outcomes:
        if outcome.fault is not None:
            show.line(f"{outcome.example.name}: {outcome.fault}")
    wrong = sum(not outcome.right for outcome in outcomes)
    total = sum(outcome.seconds for outcome in outcomes if outcome.fault is None)
    verdict = f"{wrong} of {len(outcomes)} examples are wrong" if wrong else f"{len(outcomes)} examples are right"
    print(f"{verdict}, {total:.2f} s in kernels")


def _row(outcome: Outcome) -> list[str | Coloured]:
    example = outcome.example
    verdict = Coloured("right", "green") if outcome.right else Coloured("wrong", "bold red")
    shown = "exact" if outcome.error == 0 else f"{outcome.error:.1e}"
    allowed = f"{example.tolerance:.1e}" if example.tolerance else "exact"
    grid = " x ".join(map(str, example.grid(example.sizes)))
    return [example.name, grid, f"{outcome.seconds * 1e3:.1f} ms", shown, allowed, verdict]
