"""Elements in memory: the raw form of each element type, and an access to such elements that is to be checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tileir.host.address_space import DescribedAccess
from tileir.ir import types as t
from tileir.ir.diagnostics import Coordinates
from tileir.ir.storage import DTYPES, bits_dtype
from tileir.ir.types import ElementType, PaddingValue

Convert = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Cell:
    """One element in memory: `raw` is the dtype its bytes are read as, `size` their number.

    ``shift`` is log2 of the size. ``to_tile`` turns raw values into a new tile value, ``to_memory`` a tile value into
    raw ones; ``plain`` says that both change nothing, so that a copy is all a load needs.
    """

    element: ElementType
    raw: np.dtype
    dtype: np.dtype
    size: int
    shift: int
    to_tile: Convert
    to_memory: Convert
    plain: bool


def _same(values: np.ndarray) -> np.ndarray:
    return values


def _bytes_to_bool(raw: np.ndarray) -> np.ndarray:
    return raw != 0


def _bool_to_bytes(values: np.ndarray) -> np.ndarray:
    return values.view(np.uint8)


def _words_to_tf32(raw: np.ndarray) -> np.ndarray:
    return (raw & np.uint32(t.TF32_MASK)).view(np.float32)


def _tf32_to_words(values: np.ndarray) -> np.ndarray:
    return values.view(np.uint32)


def _low_nibble(raw: np.ndarray) -> np.ndarray:
    return (raw & np.uint8(15)).view(DTYPES[t.F4E2M1FN])


def _nibble_to_byte(values: np.ndarray) -> np.ndarray:
    return values.view(np.uint8)


_SPECIAL: dict[ElementType, tuple[np.dtype, Convert, Convert]] = {
    t.I1: (np.dtype(np.uint8), _bytes_to_bool, _bool_to_bytes),
    t.TF32: (np.dtype(np.uint32), _words_to_tf32, _tf32_to_words),
    t.F4E2M1FN: (np.dtype(np.uint8), _low_nibble, _nibble_to_byte),
}


def _cell(element: ElementType) -> Cell:
    dtype = DTYPES[element]
    raw, to_tile, to_memory = _SPECIAL.get(element, (dtype, _same, _same))
    size = raw.itemsize
    return Cell(element, raw, dtype, size, size.bit_length() - 1, to_tile, to_memory, element not in _SPECIAL)


CELLS: dict[ElementType, Cell] = {element: _cell(element) for element in t.NUMBERS}


def padding_value(element: ElementType, padding: PaddingValue | None) -> np.generic | None:
    """Return the element that stands outside a view: zero without a padding value; None if the type lacks the value."""
    bits = element.padding_bits(padding or PaddingValue.ZERO)
    if bits is None:
        return None
    value: np.generic = np.array(bits, bits_dtype(element)).reshape(1).view(DTYPES[element])[0]
    return value


class CheckedAccess(NamedTuple):
    """A memory access and its tile block; `verb` is ``load``, ``store`` or ``update``."""

    cell: Cell
    block: Coordinates | None
    verb: str

    @property
    def write(self) -> bool:
        return self.verb != "load"

    @property
    def described(self) -> DescribedAccess:
        """The access in the words of a message."""
        return DescribedAccess(self.cell.element, self.block, self.verb)


def lane_index(position: int, shape: tuple[int, ...], mask: np.ndarray | None) -> tuple[int, ...]:
    """Return the index in the tile of the element at `position` of the flattened addresses that `mask` chose."""
    if mask is not None:
        position, shape = int(np.flatnonzero(mask)[position]), mask.shape
    return tuple(int(index) for index in np.unravel_index(position, shape)) if shape else ()
