"""The slots of a native launch straight from its arguments, if they are of the usual kinds.

Knows: what of the rules of `arguments` and `native_memory` such arguments need, so that a second launch costs little.
Does not know: any other argument, and no error: whatever is not usual is left to these two, which say what is wrong.

Usual are NumPy arrays that are contiguous, writable and not empty, torch tensors likewise, and Python's integers and
floats that fit. Everything is looked up anew in every launch: an array may have been moved, or made read-only.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tileir.ir import types as t
from tileir.runtime.arguments import Parameter, accepted_dtypes
from tileir.runtime.arrays import TORCH_DTYPES
from tileir.runtime.native_memory import bounds_of_globals
from tileir.runtime.storage import GlobalStorage

Take = Callable[[object, "list[int]", "list[int]"], bool]
"""Adds an argument to the values and to the table of bounds; false, with nothing added, if it is not a usual one."""


class QuickSlots:
    """The slots of arguments for a kernel with these parameters, in a module with these globals."""

    def __init__(self, parameters: Sequence[Parameter], storage: GlobalStorage) -> None:
        self._takes = [_take_of(parameter.type) for parameter in parameters]
        self._globals = tuple(storage.addresses.values())
        self._end = (*bounds_of_globals(storage), 0, 0)

    def of(self, arguments: Sequence[object]) -> tuple[int, ...] | None:
        """All slots (`native_memory.NativeArguments`); None if an argument is not a usual one, or if one is missing."""
        if len(arguments) != len(self._takes):
            return None
        values: list[int] = []
        bounds: list[int] = []
        for take, argument in zip(self._takes, arguments):
            if not take(argument, values, bounds):
                return None
        return (*values, *self._globals, *bounds, *self._end)

    def whole(self, values: Sequence[int], bounds: Sequence[int]) -> tuple[int, ...]:
        """All slots, of those of the arguments and the bounds of their memory."""
        return (*values, *self._globals, *bounds, *self._end)


def _take_of(type: t.Type) -> Take:
    if not isinstance(type, t.TileType) or type.shape:
        return _none
    element = type.element
    if isinstance(element, t.PointerType):
        return _Arrays(element.pointee).take
    if element in _FLOATS:
        return _float(*_FLOATS[element])
    return _integer(element.bits) if element in (t.I8, t.I16, t.I32, t.I64) else _none


def _none(argument: object, values: list[int], bounds: list[int]) -> bool:
    return False


def _integer(bits: int) -> Take:
    least, limit, mask = -(1 << bits >> 1), 1 << bits, (1 << bits) - 1

    def take(argument: object, values: list[int], bounds: list[int]) -> bool:
        if type(argument) is not int or not least <= argument < limit:
            return False
        values.append(argument & mask)
        return True

    return take


_FLOATS = {t.F32: ("<f", "<I"), t.F64: ("<d", "<Q")}
"""How a number is packed, and read again as an unsigned one."""


def _float(packed: str, read: str) -> Take:
    pack, unpack = struct.Struct(packed).pack, struct.Struct(read).unpack

    def take(argument: object, values: list[int], bounds: list[int]) -> bool:
        if type(argument) is not float or argument != argument:
            return False
        try:
            values += unpack(pack(argument))
        except OverflowError:
            return False
        return True

    return take


class _Arrays:
    """Arrays for a pointer parameter."""

    def __init__(self, element: t.ElementType) -> None:
        self._accepted = accepted_dtypes(element)
        self._usual = self._accepted[0]
        self._lent_as = _lent_as(self._usual)
        self._tensor: type | None = None
        """torch's tensors, once one has come."""
        self._tensor_dtypes: frozenset[object] = frozenset()

    def take(self, argument: Any, values: list[int], bounds: list[int]) -> bool:
        kind = type(argument)
        if kind is np.ndarray:
            dtype = argument.dtype
            if dtype is not self._usual and dtype not in self._accepted:
                return False
            try:
                # Memory is lent thus by arrays that are contiguous, writable and not empty.
                begin = _address_of(_lent(argument if self._lent_as is None else argument.view(self._lent_as)))
            except (TypeError, ValueError, BufferError):
                return False
        elif (kind is self._tensor or self._is_tensor(kind)) and self._is_usual(argument):
            begin = argument.data_ptr()
        else:
            return False
        end = begin + argument.nbytes
        values.append(begin)
        bounds += begin, end, end
        return True

    def _is_usual(self, tensor: Any) -> bool:
        return (
            tensor.dtype in self._tensor_dtypes
            and tensor.is_cpu
            and tensor.layout is self._strided
            and tensor.is_contiguous()
            and not (tensor.requires_grad or tensor.is_neg())
            and tensor.nbytes > 0
        )

    def _is_tensor(self, kind: type) -> bool:
        """Whether this is the class of torch's tensors, which is remembered then."""
        torch: Any = sys.modules.get("torch")
        if torch is None or kind is not getattr(torch, "Tensor", None):
            return False
        named = {name: dtype for name, dtype in TORCH_DTYPES.items() if dtype in self._accepted}
        found = (getattr(torch, name.removeprefix("torch."), None) for name in named)
        self._tensor_dtypes = frozenset(dtype for dtype in found if dtype is not None)
        self._strided: object = torch.strided
        self._tensor = kind
        return True


_lent = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


def _lent_as(dtype: np.dtype) -> np.dtype | None:
    """The dtype as which arrays of a dtype lend memory; None: as what they are. Those of narrow floats lend none."""
    array: Any = np.empty(1, dtype)
    try:
        _lent(array)
    except ValueError:
        return np.dtype(f"u{dtype.itemsize}")
    return None
