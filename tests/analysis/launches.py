"""Programs that are launched on the interpreter while a test watches: golden programs, examples, random ones,
cuTile's.
"""

from __future__ import annotations

import random
import runpy
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

import tileir
import tileir.examples
from tests.analysis.generated_indices import Generator
from tests.golden.arguments import arguments, programs, runs
from tileir.examples.checks import EXAMPLES
from tileir.fuzz.builder import ProgramBuilder
from tileir.fuzz.draft import STORED, arrays
from tileir.ir import types as t

SCRIPTS = sorted((Path(tileir.examples.__file__).parent / "cutile").glob("*.py"))
STATEMENTS = 12
GRID = (2, 2, 1)
"""Of programs with random indices."""


def launch(kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[object]) -> None:
    """On the interpreter; a trap ends it, and the comparison with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kernel.launch(grid, *args, target="interp", check=False, output=lambda text: None)
        except tileir.Trap:
            return


def golden(file: str) -> None:
    """The programs of one golden file."""
    for name, text, entry, run in runs():
        if name == file:
            kernel = tileir.parse(text)[entry]
            launch(kernel, run.grid, arguments(kernel, run))


GOLDEN = sorted({name for name, _ in programs()})


def examples(names: Iterable[str]) -> None:
    for example in EXAMPLES:
        if example.name in names:
            given = example.arguments(example.sizes, np.random.default_rng(1))
            kernel = tileir.load(example.path)[example.kernel]
            launch(kernel, example.grid(example.sizes), list(given.values()))


def random_program(seed: int) -> None:
    """All kinds of operations, mostly through views."""
    choose: Callable[[Sequence], object] = random.Random(seed).choice
    elements = tuple(dict.fromkeys((t.I32, t.I1, choose(STORED), choose(STORED))))
    launch(tileir.Module.of(ProgramBuilder(choose, elements).program(STATEMENTS))["k"], (1,), arrays(elements))


def random_indices(seed: int) -> None:
    """Addresses by long integer arithmetic."""
    generator = Generator(seed)
    text = generator.program()
    launch(tileir.parse(text)["k"], GRID, generator.arguments())


def cutile_script(script: Path) -> None:
    from tileir import cutile

    with cutile.on("interp"):
        runpy.run_path(str(script), run_name="__main__")
