"""Two programs on the same inputs: equal bits, or the first difference."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tileir.analysis.effects import accesses_of
from tileir.explore.launch import explore
from tileir.fuzz.trials import Trial
from tileir.host.printing import ignored
from tileir.interp import machine
from tileir.interp.api import Options
from tileir.interp.memory import Memory
from tileir.interp.observer import LastWriter
from tileir.ir.diagnostics import Coordinates, Trap, UnsupportedError
from tileir.runtime.grid import GridLike, checked_grid
from tileir.runtime.interpreter import rank_zero_tile
from tileir.runtime.memory import give_memory
from tileir.runtime.module import Kernel, bind, target_named
from tileir.runtime.options import Check
from tileir.sanitize.launch import sanitize

if TYPE_CHECKING:
    from tileir.explore.report import ExplorationReport

MAX_ITERATIONS = 1 << 16
"""Iterations of a tile block before a launch counts as one without a result."""


@dataclass(frozen=True)
class LaunchResult:
    """The result of a launch: its arrays, its output line by line, and the trap that ended it."""

    arrays: tuple[np.ndarray, ...]
    printed: tuple[str, ...]
    trap: Trap | None


@dataclass(frozen=True)
class Difference:
    """The first place where two launches differ, and the inputs on which they do."""

    trial: Trial
    what: str
    index: tuple[int, ...] = ()
    block: Coordinates | None = None
    values: tuple[str, str] = ("", "")

    def __str__(self) -> str:
        place = f"{self.what}[{', '.join(map(str, self.index))}]" if self.index else self.what
        writer = "" if self.block is None else f", written by tile block ({', '.join(map(str, self.block))})"
        return f"{place}{writer}: {self.values[0]} and {self.values[1]} (grid {self.trial.grid}, {self.trial.text})"


@dataclass(frozen=True)
class Comparison:
    """The outcome of some trials: `compared` launches had a result to compare, `undefined` had none."""

    compared: int
    undefined: int
    difference: Difference | None = None

    @property
    def equal(self) -> bool:
        return self.difference is None and self.compared > 0


REFINED = 4
"""Launches of each program that the sanitizer looks at."""
EXPLORED, MOST_BLOCKS = 300, 3
"""Executions of each program that are enumerated at most, and tile blocks of a launch for which they are."""
FEW_ELEMENTS = 16
"""Elements that a launch accesses for which so many executions are enumerated."""


def compare(
    first: Kernel, second: Kernel, inputs: Iterable[Trial], target: str = "interp", ulps: int = 0, refine: bool = False
) -> Comparison:
    """Launch both kernels on all inputs, up to the first difference.

    Bits are compared, but any NaN equals any other, and floats may differ by `ulps` units in the last place. Inputs on
    which the first kernel traps, or on which a difference comes with a fault that the sanitizer finds in it (a race, an
    undefined value), say nothing. With `refine`, what the second program may do and the first may not is a difference
    too (`_added_behaviour`).
    """
    compared = undefined = 0
    same: list[Trial] = []
    for trial in inputs:
        one = launched(first, trial, target)
        if one.trap is not None:
            undefined += 1
            continue
        found = _difference(first, trial, one, launched(second, trial, target), ulps)
        if found is not None and not is_defined(first, trial):
            undefined += 1
            continue
        compared += 1
        if found is not None:
            return Comparison(compared, undefined, _with_block(found, second, trial))
        same.append(trial)
    return Comparison(compared, undefined, _added_behaviour(first, second, same[:REFINED]) if refine else None)


def launched(kernel: Kernel, trial: Trial, target: str, check: Check = True) -> LaunchResult:
    """Launch on the arrays as they are, and put back what was in them."""
    before = [array.copy() for array in trial.arrays]
    printed: list[str] = []
    trap = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kernel.launch(
                trial.grid,
                *trial.arguments,
                target=target,
                check=check,
                output=printed.append,
                max_iterations=MAX_ITERATIONS,
            )
        except Trap as error:
            trap = error
    after = tuple(array.copy() for array in trial.arrays)
    for array, content in zip(trial.arrays, before):
        array[...] = content
    return LaunchResult(after, tuple(sorted("".join(printed).splitlines())), trap)


def is_defined(kernel: Kernel, trial: Trial) -> bool:
    """Return whether the sanitizer finds nothing wrong."""
    report = sanitize(kernel, trial.grid, *trial.arguments, copy=True, output=ignored, max_iterations=MAX_ITERATIONS)
    return report.ok


def _added_behaviour(first: Kernel, second: Kernel, same: Sequence[Trial]) -> Difference | None:
    """Return a fault or an outcome that the second program has on one of these trials and the first has not.

    The sanitizer looks for faults (races of a lost token, accesses of a lost bound). Of small launches with accesses
    that are not weak, all executions that the memory model allows are compared by what arrays hold after them.
    """
    for trial in same:
        if (fault := _fault(second, trial)) is not None and is_defined(first, trial):
            return Difference(trial, "faults", values=("none", fault))
    small = next((trial for trial in same if 1 < prod(trial.grid) <= MOST_BLOCKS), None)
    if small is None or not (_communicates(first) and _communicates(second)):
        return None
    return _added_outcome(first, second, small)


def _added_outcome(first: Kernel, second: Kernel, trial: Trial) -> Difference | None:
    """Return what arrays hold after some execution of the second program, and after none of the first."""
    one, two = _explored(first, trial), _explored(second, trial)
    if one is None or two is None or one.faults:
        return None
    if two.faults:
        return Difference(trial, "faults", values=("none", two.faults[0].message or two.faults[0].kind))
    names = [parameter.name for parameter in first.parameters]
    before, after = _final_values(one, first, names), _final_values(two, second, names)
    # An element that some execution leaves alone is compared by the launches, which have run already.
    common = sorted(set.intersection(*(set(values) for values in (*before, *after))))
    held = [{", ".join(f"{name} = {values[name]}" for name in common) for values in all} for all in (before, after)]
    added = sorted(held[1] - held[0])
    return Difference(trial, "outcomes", values=("never", added[0])) if added else None


def _final_values(report: ExplorationReport, kernel: Kernel, names: Sequence[str]) -> list[dict[str, str]]:
    """Return the elements of arrays after each outcome, by the `names` that parameters have in the first program.

    Values of operations, such as ``1:%flag``, are left out: only the program that has them can tell of them.
    """
    renamed = {parameter.name: name for parameter, name in zip(kernel.parameters, names)}
    found: list[dict[str, str]] = []
    for values in (values for outcome in report.outcomes for values in report.exchanged(outcome)):
        parts = ((*name.partition("["), value) for name, value in values.items() if ":%" not in name)
        found.append(
            {f"{renamed.get(array, array)}{bracket}{rest}": str(value) for array, bracket, rest, value in parts}
        )
    return found


def _fault(kernel: Kernel, trial: Trial) -> str | None:
    """Return the first error that the sanitizer finds, or None."""
    report = sanitize(kernel, trial.grid, *trial.arguments, copy=True, output=ignored, max_iterations=MAX_ITERATIONS)
    return next((finding.message for finding in report if finding.severity == "error"), None)


def _communicates(kernel: Kernel) -> bool:
    """Return whether a kernel has accesses that are not weak."""
    return any(access.is_strong for access in accesses_of(kernel.entry))


def _explored(kernel: Kernel, trial: Trial) -> ExplorationReport | None:
    """Return all executions of a launch; None if it cannot be explored, or not to the end.

    The time for an execution grows as the square of the elements that it accesses, so that fewer are enumerated then.
    """
    elements = prod(trial.grid) * sum(access.tile.count for access in accesses_of(kernel.entry))
    limit = max(1, EXPLORED * FEW_ELEMENTS**2 // max(FEW_ELEMENTS, elements) ** 2)
    try:
        report = explore(kernel, trial.grid, *trial.arguments, limit=limit, mends=False)
    except (UnsupportedError, ValueError):
        return None
    return report if report.complete else None


def _difference(kernel: Kernel, trial: Trial, one: LaunchResult, two: LaunchResult, ulps: int) -> Difference | None:
    if two.trap is not None:
        return Difference(trial, "the launch", values=("no trap", str(two.trap)))
    for name, first, second in zip(_names(kernel, trial), one.arrays, two.arrays):
        wrong = np.flatnonzero(~equal(first, second, ulps))
        if wrong.size:
            index = tuple(map(int, np.unravel_index(wrong[0], first.shape)))
            return Difference(trial, name, index, values=(_shown(first[index]), _shown(second[index])))
    if one.printed != two.printed:
        lines = (line for line in zip((*one.printed, ""), (*two.printed, "")) if line[0] != line[1])
        return Difference(trial, "the output", values=next(lines, ("", "")))
    return None


def _names(kernel: Kernel, trial: Trial) -> list[str]:
    """Return the names of the parameters that the arrays were given for first."""
    names: dict[int, str] = {}
    for parameter, value in zip(kernel.parameters, trial.arguments):
        if isinstance(value, np.ndarray):
            names.setdefault(id(value), parameter.name)
    return list(names.values())


def _shown(value: np.generic) -> str:
    return f"{value} (0x{int.from_bytes(value.tobytes(), 'little'):0{2 * value.nbytes}x})"


def equal(first: np.ndarray, second: np.ndarray, ulps: int = 0) -> np.ndarray:
    """Return a mask of equal elements: equal bits, two NaN, or floats at most `ulps` units in the last place apart."""
    bits = f"u{first.dtype.itemsize}"
    same: np.ndarray = first.view(bits) == second.view(bits)
    if first.dtype.kind in "iub":
        return same
    with np.errstate(all="ignore"):
        numbers, others = first.astype(np.float64), second.astype(np.float64)
    same |= np.isnan(numbers) & np.isnan(others)
    if ulps:
        same |= (_distance(first, second) <= ulps) & ~np.isnan(numbers) & ~np.isnan(others)
    return same


def _distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return floats between two floats, by the order of their patterns."""
    places = [_place(array) for array in (first, second)]
    return np.abs(places[0] - places[1])


def _place(array: np.ndarray) -> np.ndarray:
    """Return the place of each float among all floats: negative ones count down from 0; as f64 where 64 bits are too
    few."""
    width = 8 * array.dtype.itemsize
    bits = array.view(f"u{array.dtype.itemsize}").astype(np.uint64)
    sign = np.uint64(1 << (width - 1))
    magnitude = (bits & (sign - np.uint64(1))).astype(np.int64)
    return np.where(bits & sign != 0, -magnitude, magnitude).astype(np.float64 if width == 64 else np.int64)


def _with_block(found: Difference, kernel: Kernel, trial: Trial) -> Difference:
    """Return the difference with the tile block that wrote the element last."""
    array = next(
        (value for name, value in zip(_names(kernel, trial), trial.arrays) if name == found.what and found.index), None
    )
    if array is None:
        return found
    address = array.ctypes.data + sum(at * stride for at, stride in zip(found.index, array.strides))
    before = [one.copy() for one in trial.arrays]
    block = _last_writer(kernel, trial.grid, trial.arguments, address)
    for one, content in zip(trial.arrays, before):
        one[...] = content
    return Difference(found.trial, found.what, found.index, block, found.values)


def _last_writer(kernel: Kernel, grid: GridLike, args: Sequence[object], address: int) -> Coordinates | None:
    """Return the tile block that writes the byte at `address` last, on the interpreter; None if none does.

    Arrays are changed as by a launch.
    """
    arguments = bind(kernel, args, target_named("interp"))
    storage = kernel.module.globals
    watch = LastWriter(address)
    memory = Memory((), storage.addresses, watch)
    give_memory(memory, arguments, storage)
    options = Options(mode="off", output=lambda text: None)
    program = machine.prepare(kernel.module, kernel.entry, options)
    with suppress(Trap):
        machine.execute(program, checked_grid(grid, kernel.name), list(map(rank_zero_tile, arguments)), memory, options)
    return watch.writer
