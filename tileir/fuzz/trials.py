"""Inputs for kernels, made from the types of the parameters alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tileir.ir import types as t
from tileir.ir.storage import DTYPES
from tileir.runtime.module import Kernel

ELEMENTS = 1 << 13
"""The size of every array."""
ALIGNMENT = 256
EXTENTS = (8, 16, 5, 1, 33, 0, 64, 3)
EDGES = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, 65519.0, 1e-7, -1.0, 0.1)
GRIDS = ((1, 1, 1), (2, 1, 1), (1, 1, 1), (3, 2, 1), (2, 2, 2))


@dataclass(frozen=True)
class Trial:
    """The grid and the arguments of one launch; `text` says how they were made."""

    grid: tuple[int, ...]
    arguments: tuple[object, ...] = field(repr=False)
    text: str = ""

    @property
    def arrays(self) -> list[np.ndarray]:
        """The arrays, each once."""
        found = {id(value): value for value in self.arguments if isinstance(value, np.ndarray)}
        return list(found.values())


def trials(kernel: Kernel, count: int, seed: int = 0, known: Mapping[str, object] | None = None) -> Iterator[Trial]:
    """Yield launches of a kernel, the same ones for the same seed; `known` scalar arguments keep their value."""
    for number in range(count):
        random = np.random.default_rng((seed, number))
        style = ("small numbers", "edge values", "small numbers, arrays given twice")[number % 3]
        extent = EXTENTS[number % len(EXTENTS)]
        shared: dict[t.ElementType, np.ndarray] = {}
        arguments: list[object] = []
        for parameter in kernel.parameters:
            assert isinstance(parameter.type, t.TileType), "a parameter of an entry is a tile"
            element = parameter.type.element
            if isinstance(element, t.PointerType):
                made = _array(element.pointee, style, random)
                again = shared.setdefault(element.pointee, made)
                arguments.append(again if "twice" in style else made)
            else:
                given = (known or {}).get(parameter.name)
                arguments.append(_scalar(element, extent, style, random) if given is None else given)
        yield Trial(GRIDS[number % len(GRIDS)], tuple(arguments), f"inputs {number} of seed {seed}: {style}")


def _scalar(element: t.ElementType, extent: int, style: str, random: np.random.Generator) -> object:
    if element is t.I1:
        return bool(random.integers(2))
    if element.is_float:
        return float(random.choice(EDGES) if "edge" in style else np.float32(random.standard_normal()))
    half = 1 << (element.bits - 1)
    if "edge" in style and random.integers(4) == 0:
        return int(random.choice((half - 1, -half, -1)))
    return min(extent, half - 1)


def _array(element: t.ElementType, style: str, random: np.random.Generator) -> np.ndarray:
    """Return an array that is aligned for any promise."""
    numbers: np.ndarray
    if element is t.I1:
        numbers = random.integers(0, 2, ELEMENTS)
    elif element.is_int:
        numbers = random.integers(0, 16, ELEMENTS)
        if "edge" in style:
            half = 1 << (element.bits - 1)
            numbers = random.integers(-half, half - 1, ELEMENTS, endpoint=True)
            numbers[::7] = np.resize((half - 1, -half, -1, 0, 1), numbers[::7].size)
    else:
        numbers = random.standard_normal(ELEMENTS)
        if "edge" in style:
            numbers[::3] = np.resize(EDGES, numbers[::3].size)
    with np.errstate(all="ignore"):
        return aligned(numbers.astype(DTYPES[element]))


def aligned(array: np.ndarray) -> np.ndarray:
    """Return a copy of an array of one dimension, at an address that is a multiple of `ALIGNMENT`."""
    raw = np.zeros(array.nbytes + ALIGNMENT, np.uint8)
    skip = -raw.ctypes.data % ALIGNMENT
    copy: np.ndarray = raw[skip : skip + array.nbytes].view(array.dtype)
    copy[:] = array
    return copy
