"""Arguments of the entries of the golden programs: one table for every target.

No entry has undefined behaviour on its arguments, unless that is the point, with the odd numbers in the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from math import hypot
from pathlib import Path

import ml_dtypes  # noqa: F401  (gives NumPy the narrow dtypes)
import numpy as np

import tileir
from tileir.ir import types as t
from tileir.ir.storage import DTYPES

FOLDER = Path(__file__).parent
ELEMENTS = 8192
"""The size of every array."""
ALIGNMENT = 128
tileir.register_extern("hypot", hypot)
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38, 65519.0, -1.0, 0.5)


@dataclass(frozen=True)
class Run:
    """One launch of an entry: scalar arguments by parameter name, and the grid."""

    scalars: dict[str, object] = field(default_factory=dict)
    grid: tuple[int, ...] = (1,)


USUAL = (Run(), Run({"flag": False, "mask": False, "n": 5, "a": -7, "b": 3, "x": -2.5, "byte": -100, "word": -99999}))
"""For entries that the table does not name."""
NUMBERS: dict[str, object] = {"flag": True, "mask": True, "x": 0.75, "a": 100, "b": -3}
"""Scalar arguments that a run does not name, by parameter name; any other is 1."""

RUNS: dict[str, tuple[Run, ...]] = {
    "floats.modes": (Run({"x": 1.1, "y": 3.3, "z": -0.7}), Run({"x": 1e-39, "y": -3e38, "z": 2e38})),
    "assumptions.promises": (Run({"n": 0}),),
    "assumptions.names": (Run({"n": 4}), Run({"n": 8, "flag": False})),
    "atomics.integers": (Run({"v": 5}), Run({"v": -3, "mask": False})),
    "atomics.swaps": (Run({"old": 0, "new": 7}), Run({"old": 9, "new": 7, "mask": False})),
    "atomics.through_views": (Run({"i": 1, "j": 2}), Run({"i": 7, "j": 8}), Run({"i": 7, "j": -1})),
    "atomics.counter": (Run(), Run(grid=(5, 4))),
    "control.triangle": (Run({"n": 0}), Run({"n": 100})),
    "control.halvings": (Run({"n": 0}), Run({"n": 100})),
    "control.loops": (Run({"n": 2}),),
    "debugged.scale": (Run({"n": 3}),),
    "extensions.rows": (Run({"c": 3}), Run({"c": 15}), Run({"c": 16})),
    "globals.lookup": (Run({"i": 3}),),
    "hints.tuned": (Run({"i": 0}), Run({"i": 7}), Run({"i": 8})),
    "legacy.early": (Run({"n": 16}),),
    "matmul.gemm": (Run({"k": 32}, (2, 3)), Run({"k": 40}, (2, 3))),
    "memory.loads": (Run({"n": 3}), Run({"n": 8})),
    "memory.copy": (Run(grid=(16,)),),
    "multicast.replicas": (Run({"i": 1, "n": 64}),),
    "multicast.pointers": (Run({"i": 7}),),
    "names.nested": (Run({"n": 3}), Run({"n": 1, "flag": False})),
    "preview.linked": (),
    "printing.hello": (Run(), Run({"flag": False})),
    "shapes.cutting": (Run({"i": 1, "j": 0}), Run({"i": 2, "j": 0})),
    "newer.inserting": (Run({"i": 0, "j": 1}), Run({"i": 3, "j": 0})),
    "newer.powers": (Run({"x": 1.5, "n": -3, "h": 0.5, "m": 4}), Run({"x": -2.0, "n": 0, "m": -1})),
    "newer.promised": (Run({"i": 1}),),
    "views.tensors": (Run({"n": 5, "ld": 16}),),
    "views.partitions": (Run({"i": 7, "j": 7}), Run({"i": 7, "j": 8}), Run({"i": -1, "j": 0})),
    "views.strided": (Run({"i": 1}), Run({"i": 15}), Run({"i": -1})),
    "views.gathered": (Run({"c": 3, "d": 15}), Run({"c": 15, "d": -1})),
    "views.double": (Run({"rows": 21, "columns": 37}, (3, 3)),),
}
"""The runs of an entry, by module and entry name."""


def programs() -> Iterator[tuple[str, str]]:
    """Every golden program: the name of its file, and its text."""
    for path in sorted(FOLDER.glob("*.mlir")):
        for text in path.read_text(encoding="utf-8").split("\n// -----"):
            yield path.stem, text


@cache
def runs() -> tuple[tuple[str, str, str, Run], ...]:
    """Every run: the name of its file, the text of the program, the name of the entry, the run."""
    found = []
    for file, text in programs():
        module = tileir.parse(text, file)
        name = module.op.attributes["sym_name"]
        for entry in module.kernels:
            found += [(file, text, entry, run) for run in RUNS.get(f"{name}.{entry}", USUAL)]
    return tuple(found)


def arguments(kernel: tileir.Kernel, run: Run) -> list[object]:
    """The arguments of a launch, the same each time."""
    return [_argument(parameter.name, parameter.type, run) for parameter in kernel.parameters]


def _argument(name: str, type: t.Type, run: Run) -> object:
    assert isinstance(type, t.TileType)
    if isinstance(type.element, t.PointerType):
        return data(type.element.pointee)
    return run.scalars.get(name, NUMBERS.get(name, 1))


def data(element: t.ElementType, count: int = ELEMENTS) -> np.ndarray:
    """Random numbers, every seventeenth a special one; aligned for any promise. The first is small and positive."""
    random = np.random.default_rng(7)
    if element is t.I1:
        numbers = random.integers(0, 2, count)
    elif element.is_int:
        numbers = random.integers(-100, 100, count)
    else:
        numbers = random.standard_normal(count)
        special = numbers[16::17]
        special[:] = np.resize(SPECIAL, special.size)
    numbers[0] = 1
    with np.errstate(all="ignore"):
        return aligned(numbers.astype(DTYPES[element]))


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy at an address that is a multiple of `ALIGNMENT`."""
    raw = np.zeros(array.nbytes + ALIGNMENT, np.uint8)
    skip = -raw.ctypes.data % ALIGNMENT
    copy = raw[skip : skip + array.nbytes].view(array.dtype)
    copy[:] = array.ravel()
    return copy.reshape(array.shape)
