"""Launches again with arguments of the same looks, on a target that native code launches on directly.

Knows: the looks of the usual arguments (all that a kernel is compiled for, read off an array in few steps), and the
rows of the plan of direct launches that find out whether arguments have known looks, and what they pass.
Does not know: what a kernel is compiled for (`keys`), nor any error: arguments that are not usual, or have memory in
common, take the long way (`signature`).

Usual are torch tensors and NumPy arrays in the memory of this process, integers and floats that are passed, and
integers and truth values that are constants. Every launch looks at them anew.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tileir.cpu.emit import direct_record
from tileir.cpu.run.direct_runs import DirectRows
from tileir.cutile.arrays import DIVISOR, reach
from tileir.runtime.arguments import Argument, ArrayArgument, ScalarArgument
from tileir.runtime.arrays import TORCH_DTYPES
from tileir.runtime.direct_rows import UNUSUAL, Row, SlotPlaces, code_of, integer_row, packed_rows, single_row
from tileir.runtime.targets import QuickLaunch

if TYPE_CHECKING:
    from tileir.runtime.module import Kernel

LIMIT = 1024
"""Plans kept: a program that never repeats a shape must not fill the memory."""
Direct = Callable[[], "Callable[[DirectRows], QuickLaunch] | None"]
"""Gives what makes direct launches of rows; None where there are none."""
Looks = tuple[object, ...]
"""All that the code depends on."""


class Looker:
    """Finds the looks of arguments. `constants`: whether each parameter is one; None for one that is a tuple."""

    def __init__(self, constants: Sequence[bool | None]) -> None:
        self._constants = constants
        self.tensor: type | None = None
        """torch's tensors, once one has come."""
        self.strided: object = None
        """Their usual layout."""

    def looks(self, arguments: Sequence[Any]) -> Looks | None:
        """None if an argument is not a usual one, or if one is missing."""
        if len(arguments) != len(self._constants):
            return None
        seen: list[object] = []
        for constant, value in zip(self._constants, arguments):
            kind = type(value)
            if constant:
                if kind is not int and kind is not bool:
                    return None
                seen += kind, value
            elif constant is None:
                return None
            elif kind is int or kind is float:
                seen.append(kind)
            else:
                address = self.address(kind, value)
                if address is None:
                    return None
                strides = value.strides if kind is np.ndarray else value.stride()
                seen += kind, value.dtype, value.shape, strides, address % DIVISOR == 0
        return tuple(seen)

    def address(self, kind: type, value: Any) -> int | None:
        """Of a tensor, or of an array that is contiguous, writable and not empty."""
        if kind is self.tensor or self._is_tensor(kind):
            plain = value.is_cpu and value.layout is self.strided and not value.is_neg()
            return value.data_ptr() if plain else None
        usual = kind is np.ndarray and value.flags.c_contiguous and value.flags.writeable and value.size
        return value.__array_interface__["data"][0] if usual else None

    def _is_tensor(self, kind: type) -> bool:
        """Whether this is the class of torch's tensors, which is remembered then."""
        torch: Any = sys.modules.get("torch")
        if torch is None or kind is not getattr(torch, "Tensor", None):
            return False
        self.tensor, self.strided = kind, torch.strided
        return True


class Plan:
    """Launches with arguments of these looks, for an `entry` in `file`. `passed` are the arguments of the entry that
    each of the `arguments` adds; nothing for constants.
    """

    def __init__(
        self, arguments: Sequence[Any], passed: Sequence[Sequence[Argument]], entry: Kernel, direct: Direct, file: str
    ) -> None:
        self.file = file
        self._direct = direct
        memories = sum(isinstance(argument, ArrayArgument) for added in passed for argument in added)
        self._places = SlotPlaces(len(entry.parameters), memories, entry.module.globals)
        self._kept: list[object] = []
        self._arrays = 0
        self._values: list[int] = []
        self._rows: list[Row] = []
        for value, added in zip(arguments, passed):
            self._rows.append(self._row(value, added, len(self._values)))
            self._values += [argument.bits for argument in added]

    @cached_property
    def launch(self) -> QuickLaunch:
        """``launch(grid, arguments)``; NotImplemented for other arguments. Made when it is first asked for."""
        launches, slots = self._direct(), self._places.slots(self._values)
        if launches is None:
            return lambda grid, arguments: NotImplemented
        rows = packed_rows(self._rows)
        return launches(DirectRows(rows, len(self._rows), slots, self._kept, packed=True, arrays=self._arrays))

    def _row(self, value: Any, added: Sequence[Argument], slot: int) -> Row:
        """The row for arguments that look like `value`, which adds these arguments of the entry from a slot on."""
        if not added:
            return _constant(value)
        first, place = added[0], self._places.value(slot)
        if isinstance(first, ArrayArgument):
            self._arrays += 1
            return self._array(value, first, place, self._places.bounds(self._arrays - 1))
        assert isinstance(first, ScalarArgument)
        dtype = first.value.dtype
        return single_row(place) if dtype == np.float32 else integer_row(place, 8 * dtype.itemsize, unsigned=False)

    def _array(self, value: Any, argument: ArrayArgument, slot: int, bounds: int) -> Row:
        is_array = type(value) is np.ndarray
        strides = value.strides if is_array else value.stride()
        extents = (ctypes.c_int64 * (2 * len(strides)))(*value.shape, *strides)
        dtype = value.dtype if is_array else TORCH_DTYPES[str(value.dtype)]
        self._kept += [extents, dtype]
        looks = (id(dtype), 0) if is_array else (0, code_of(dtype))
        aligned = argument.array.address % DIVISOR == 0
        place = len(strides), ctypes.addressof(extents), reach(argument.array), int(aligned)
        return (direct_record.LAYOUT, slot, bounds, *looks, *place)


def _constant(value: bool | int) -> Row:
    """A row for this constant; those beyond 64 bits are not usual."""
    if not -(1 << 63) <= value < 1 << 63:
        return UNUSUAL
    return (direct_record.CONSTANT, 0, 0, id(type(value)), int(value))
