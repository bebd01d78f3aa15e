"""Results of targets in random runs lie inside those that the explorer allows.

Every litmus test without a race, and every right algorithm, is launched again and again; the final memory, with all
reads in array ``out``, must be an outcome of the explorer.

    python -m tests.explore.conformance --runs 10000        on both targets, each program in both
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

import tileir
from tests.explore.launched import explored_kernel, launch_of, only
from tests.explore.programs import SLOTS, text
from tests.explore.rows import ROWS
from tileir.examples import FOLDER
from tileir.runtime.module import Kernel

TARGETS = ("interp", "cpu")
Memory = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Conforming:
    """A program that is launched; its text begins with the launch."""

    name: str
    kernel: Kernel

    @property
    def initial(self) -> tuple[tuple[int, ...], list[object]]:
        return launch_of(self.kernel)

    def allowed(self) -> frozenset[Memory]:
        """Return the allowed final contents of memory."""
        _, values = self.initial
        before = dict(self.memory(values))
        report = explored_kernel(self.kernel, mends=False)
        assert report.complete and not report.faults, str(report)
        found = ({name: value for name, value in one.values.items() if ":%" not in name} for one in report.outcomes)
        return frozenset(tuple(sorted({**before, **values}.items())) for values in found)

    def run(self, target: str, seed: int) -> Memory:
        grid, values = self.initial
        if target == "interp":
            self.kernel.launch(grid, *values, target="interp", seed=seed)
        else:
            self.kernel.launch(grid, *values, target="cpu", threads=2 + seed % 3)
        return self.memory(values)

    def memory(self, values: list[object]) -> Memory:
        """Every element of every array, by the name that the explorer gives it."""
        found: dict[str, int] = {}
        for parameter, array in zip(self.kernel.parameters, values):
            assert isinstance(array, np.ndarray)
            for index, value in enumerate(array.tolist()):
                found[parameter.name if array.size == 1 else f"{parameter.name}[{index}]"] = value
        return tuple(sorted(found.items()))


@cache
def programs() -> dict[str, Conforming]:
    return {one.name: one for one in (*_litmus(), *_algorithms())}


def _litmus() -> Iterator[Conforming]:
    for name, row in ROWS.items():
        if row.verdict != "UB":
            found = row.program
            launch = f"// launch: {found.launch} out=i32[{SLOTS * len(found.blocks)}]:zeros\n"
            yield Conforming(name, only(tileir.parse(launch + text(found, outputs=True), f"{name}.mlir")))


def _algorithms() -> Iterator[Conforming]:
    for path in sorted((FOLDER / "concurrent").glob("*.mlir")):
        first = next(iter(tileir.load(path).kernels.values()))
        yield Conforming(path.stem, first)


def stray(program: Conforming, target: str, seeds: range) -> set[Memory]:
    """Return the results of a target that are not allowed."""
    allowed = program.allowed()
    return {found for seed in seeds if (found := program.run(target, seed)) not in allowed}


def main() -> int:
    parser = argparse.ArgumentParser(description="compare random runs with what the explorer allows")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--only", default="", help="programs whose name begins so")
    options = parser.parse_args()
    wrong = 0
    for name, program in programs().items():
        for target in TARGETS if name.startswith(options.only) else ():
            found = stray(program, target, range(options.runs))
            wrong += bool(found)
            print(f"{name} on {target}: {options.runs} runs, {len(found)} outcomes that are not allowed", flush=True)
            for memory in found:
                print(f"  {dict(memory)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
