"""Elements of f4E2M1FN in memory: two per byte, the even one in the low nibble (spec: views#index-mapping)."""

from __future__ import annotations

import numpy as np

from tileir.interp.accesses import CheckedAccess
from tileir.interp.cells import CELLS
from tileir.interp.memory import Memory
from tileir.ir import types as t
from tileir.ir.diagnostics import Coordinates
from tileir.ir.storage import DTYPES

ONE = np.int64(1)
LOW, HIGH = np.uint8(0x0F), np.uint8(0xF0)
FOUR = np.uint8(4)


def _byte_addresses(base: int, offsets: np.ndarray) -> np.ndarray:
    return np.uint64(base) + (offsets >> ONE).view(np.uint64)


def load(memory: Memory, base: int, offsets: np.ndarray, block: Coordinates) -> np.ndarray:
    """The elements at `offsets` (int64, counting elements from address `base`)."""
    raw = memory.read(_byte_addresses(base, offsets), CheckedAccess(CELLS[t.F4E2M1FN], block, "load"))
    return np.where(offsets & ONE, raw >> FOUR, raw & LOW).view(DTYPES[t.F4E2M1FN])


def store(memory: Memory, base: int, offsets: np.ndarray, values: np.ndarray, block: Coordinates) -> None:
    """Write `values` at `offsets`. The two elements of a byte are not written at once: first all even ones."""
    places = memory.resolve(_byte_addresses(base, offsets).ravel(), CheckedAccess(CELLS[t.F4E2M1FN], block, "store"))
    memory.changes += 1
    bits, odd = values.view(np.uint8).ravel(), (offsets & ONE == 1).ravel()
    for part in places:
        lanes = slice(None) if part.lanes is None else part.lanes
        _write(part.flat, part.where, bits[lanes], ~odd[lanes], HIGH, np.uint8(0))
        _write(part.flat, part.where, bits[lanes], odd[lanes], LOW, FOUR)


def _write(
    flat: np.ndarray, where: np.ndarray | int, bits: np.ndarray, chosen: np.ndarray, kept: np.uint8, shift: np.uint8
) -> None:
    """Put the chosen `bits`, moved up by `shift`, beside the `kept` ones of their bytes."""
    places = np.asarray(where)[chosen]
    flat[places] = (flat[places] & kept) | (bits[chosen] << shift)
