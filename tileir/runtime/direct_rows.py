"""Rows of a plan: what direct launches are told of the parameters of a kernel.

Knows: which arguments are usual for a parameter, by the rules of `arguments` and `native_memory`. Does not know: how
they are looked at (`cpu.emit.direct_arguments`), nor any other argument: whatever is not usual is left to these two,
which say what is wrong.

Usual are NumPy arrays that are writable, not empty and do not run backwards, torch tensors likewise, and integers and
floats, Python's and NumPy's, that fit. Everything is looked up anew in every launch: an array may have been moved, or
made read-only.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache

import numpy as np

from tileir.cpu.emit import direct_record
from tileir.cpu.emit.direct_record import ROW, WORD
from tileir.cpu.emit.record import SLOTS
from tileir.cpu.run.direct_runs import DirectRows
from tileir.ir import types as t
from tileir.runtime import dlpack
from tileir.runtime.arguments import Parameter, accepted_dtypes
from tileir.runtime.storage import GlobalStorage

Row = tuple[int, ...]
UNUSUAL: Row = (direct_record.UNUSUAL,)
_FLOATS = {t.F32: direct_record.SINGLE, t.F64: direct_record.DOUBLE}
_NO_CODE = 0xFFFF_FFFF
_TWO_F4 = 17 | 4 << 8 | 2 << 16
"""DLPack's code of two f4E2M1FN in a byte."""
_MOST_CODES = 4


class SlotPlaces:
    """The places of slots in the record of a launch: of `count` arguments, the globals, the bounds of `memories`."""

    def __init__(self, count: int, memories: int, storage: GlobalStorage) -> None:
        self._storage, self._memories, self._count = storage, memories, count
        self._bounds = count + len(storage.addresses)

    def value(self, index: int) -> int:
        """That of an argument."""
        return SLOTS + WORD * index

    def bounds(self, memory: int) -> int:
        """That of the bounds of one of the memories of arguments."""
        return SLOTS + WORD * (self._bounds + 3 * memory)

    def slots(self, values: Sequence[int]) -> tuple[int, ...]:
        """All slots, those of arguments with these values."""
        globals = tuple(self._storage.addresses.values())
        return (*values, *globals, *[0] * (3 * self._memories), *self._storage.bounds, 0, 0)


def rows_of(parameters: Sequence[Parameter], storage: GlobalStorage) -> DirectRows:
    """The rows for the parameters of a kernel in a module with these globals."""
    pointers = [index for index, parameter in enumerate(parameters) if _pointee(parameter.type) is not None]
    places = SlotPlaces(len(parameters), len(pointers), storage)
    rows = []
    for index, parameter in enumerate(parameters):
        bounds = places.bounds(pointers.index(index)) if index in pointers else 0
        rows.append(_row(parameter.type, places.value(index), bounds))
    kept = [accepted for index in pointers if (accepted := _dtypes(_pointee(parameters[index].type)))]
    return DirectRows(packed_rows(rows), len(rows), places.slots([0] * len(rows)), kept)


def packed_rows(rows: Sequence[Row]) -> bytes:
    """Rows as they lie in a plan."""
    return b"".join(struct.pack(f"<{ROW}q", *row, *[0] * (ROW - len(row))) for row in rows)


def integer_row(slot: int, bits: int, unsigned: bool) -> Row:
    """A row for Python's integers that fit so many bits with a sign; if they may be `unsigned`, without one too, and
    NumPy's likewise."""
    most = (1 << bits if unsigned else 1 << bits - 1) - 1
    mask = -1 if bits == 64 else (1 << bits) - 1
    return (direct_record.INTEGER, slot, int(unsigned), id(int), -(1 << bits - 1), min(most, (1 << 63) - 1), mask)


def single_row(slot: int) -> Row:
    """A row for floats that are rounded to f32."""
    return (direct_record.SINGLE, slot)


def code_of(dtype: np.dtype) -> int:
    """DLPack's code of a dtype, its width and one lane; one that nothing has if there is none."""
    return _codes().get(dtype, _NO_CODE)


@cache
def _codes() -> dict[np.dtype, int]:
    return {dtype: code | bits << 8 | 1 << 16 for (code, bits), dtype in dlpack.DTYPES.items()}


def _pointee(type: t.Type) -> t.ElementType | None:
    """What a parameter points to; None for one that is no pointer."""
    if isinstance(type, t.TileType) and not type.shape and isinstance(type.element, t.PointerType):
        return type.element.pointee
    return None


@cache
def _dtypes(element: t.ElementType) -> tuple[np.dtype, ...]:
    """The dtypes of arrays for a pointer; one tuple for each element type, as rows refer to it."""
    return accepted_dtypes(element)


def _row(type: t.Type, slot: int, bounds: int) -> Row:
    pointee = _pointee(type)
    if pointee is not None:
        return _array_row(_dtypes(pointee), slot, bounds)
    element = type.element if isinstance(type, t.TileType) and not type.shape else None
    if element in _FLOATS:
        return (_FLOATS[element], slot, 1)
    if element in (t.I8, t.I16, t.I32, t.I64):
        return integer_row(slot, element.bits, unsigned=True)
    return UNUSUAL


def _array_row(dtypes: tuple[np.dtype, ...], slot: int, bounds: int) -> Row:
    codes = [code_of(dtype) for dtype in dtypes]
    if np.dtype(np.uint8) in dtypes:
        codes.append(_TWO_F4)
    codes += [_NO_CODE] * (_MOST_CODES - len(codes))
    packed = struct.unpack("<2q", struct.pack(f"<{_MOST_CODES}I", *codes))
    return (direct_record.ARRAY, slot, bounds, id(dtypes[0]), id(dtypes), dtypes[0].itemsize, *packed)
