"""Inputs for kernels, made from the types of the parameters alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tileir.ir import types as t
from tileir.ir.storage import DTYPES
from tileir.runtime.module import Kernel

ELEMENTS = 1 << 13
"""The size of every array."""
ALIGNMENT = 256
EXTENTS = (8, 16, 5, 1, 33, 0, 64, 3)
EDGES = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, 65519.0, 1e-7, -1.0, 0.1, 1.0)
"""Their number is a prime, as that of `_integer_edges`, so that `_paired` meets all pairs."""
STYLES = ("small numbers", "pairs of edge values", "small numbers, arrays given twice", "all numbers and edge values")
STRIDE = 7
"""Elements by which the pairs of one trial are ahead of those of the one before: short tiles meet others each time."""
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
        style = STYLES[number % len(STYLES)]
        extent = EXTENTS[number % len(EXTENTS)]
        shared: dict[t.ElementType, np.ndarray] = {}
        arguments: list[object] = []
        for position, parameter in enumerate(kernel.parameters):
            assert isinstance(parameter.type, t.TileType), "a parameter of an entry is a tile"
            element = parameter.type.element
            if isinstance(element, t.PointerType):
                made = _array(element.pointee, style, random, position, STRIDE * (number + seed))
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


def _array(element: t.ElementType, style: str, random: np.random.Generator, position: int, start: int) -> np.ndarray:
    """Return an array for the parameter at `position`, aligned for any promise."""
    edges: Sequence[float] = EDGES
    numbers: np.ndarray
    if element is t.I1:
        return aligned(random.integers(0, 2, ELEMENTS).astype(DTYPES[element]))
    if element.is_int:
        half = 1 << (element.bits - 1)
        edges = _integer_edges(element.bits)
        span = (-half, half - 1) if "edge" in style else (0, min(15, half - 1))
        numbers = random.integers(*span, ELEMENTS, endpoint=True)
    else:
        numbers = random.standard_normal(ELEMENTS)
    if "pairs" in style:
        numbers = np.array(edges, numbers.dtype)[_paired(position, start, len(edges))]
    elif "edge" in style:
        numbers = np.where(random.integers(0, 3, ELEMENTS) == 0, random.choice(edges, ELEMENTS), numbers)
    with np.errstate(all="ignore"):
        return aligned(numbers.astype(DTYPES[element]))


def _integer_edges(bits: int) -> tuple[int, ...]:
    half = 1 << (bits - 1)
    return (half - 1, -half, -1, 0, 1, 2, -2, 3, -3, 7, bits - 1, min(bits, half - 1), 1 - half)


def _paired(position: int, start: int, count: int) -> np.ndarray:
    """Return indices of `count` values. Two arrays have all pairs of values, at the same places of ``count**2``."""
    step = start % count**2 + np.arange(ELEMENTS)
    found: np.ndarray = (step + position * (step // count)) % count
    return found


def aligned(array: np.ndarray) -> np.ndarray:
    """Return a copy of an array of one dimension, at an address that is a multiple of `ALIGNMENT`."""
    raw = np.zeros(array.nbytes + ALIGNMENT, np.uint8)
    skip = -raw.ctypes.data % ALIGNMENT
    copy: np.ndarray = raw[skip : skip + array.nbytes].view(array.dtype)
    copy[:] = array
    return copy
