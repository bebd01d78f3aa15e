"""Launches again with arguments of the same looks, on a target that takes plain slots.

Knows: the looks of the usual arguments (all that a kernel is compiled for, read off an array in few steps), and how an
argument of known looks becomes slots. Does not know: what a kernel is compiled for (`keys`), nor any error: arguments
that are not usual, or have memory in common, take the long way (`signature`).

Usual are torch tensors and NumPy arrays in the memory of this process, integers and floats that are passed, and
integers and truth values that are constants. Every launch looks at them anew.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tileir.cutile.arrays import DIVISOR, reach
from tileir.runtime.arguments import Argument, ArrayArgument, ScalarArgument
from tileir.runtime.grid import Grid
from tileir.runtime.targets import SlotRun

LIMIT = 1024
"""Plans kept: a program that never repeats a shape must not fill the memory."""
Looks = tuple[tuple[object, ...], "list[Any]"]
"""All that the code depends on, and what is passed: addresses and numbers."""


class Looker:
    """Finds the looks of arguments. `constants`: whether each parameter is one; None for one that is a tuple."""

    def __init__(self, constants: Sequence[bool | None]) -> None:
        self._constants = constants
        self._tensor: type | None = None
        """torch's tensors, once one has come."""
        self._strided: object = None

    def looks(self, arguments: Sequence[Any]) -> Looks | None:
        """None if an argument is not a usual one, or if one is missing."""
        if len(arguments) != len(self._constants):
            return None
        seen: list[object] = []
        passed: list[Any] = []
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
                passed.append(value)
            else:
                address = self._address(kind, value)
                if address is None:
                    return None
                strides = value.strides if kind is np.ndarray else value.stride()
                seen += value.dtype, value.shape, strides, address % DIVISOR == 0
                passed.append(address)
        return tuple(seen), passed

    def _address(self, kind: type, value: Any) -> int | None:
        """Of a tensor, or of an array that is contiguous, writable and not empty."""
        if kind is self._tensor or self._is_tensor(kind):
            plain = value.is_cpu and value.layout is self._strided and not value.is_neg()
            return value.data_ptr() if plain else None
        if kind is not np.ndarray:
            return None
        try:
            return ctypes.addressof(ctypes.c_char.from_buffer(value))
        except (TypeError, ValueError, BufferError):
            return None

    def _is_tensor(self, kind: type) -> bool:
        """Whether this is the class of torch's tensors, which is remembered then."""
        torch: Any = sys.modules.get("torch")
        if torch is None or kind is not getattr(torch, "Tensor", None):
            return False
        self._tensor, self._strided = kind, torch.strided
        return True


Step = Callable[[Any, "list[int]", "list[int]", "list[tuple[int, int]]"], bool]
"""Adds what is passed to the values, the bounds and the spans of a launch; false if it does not fit."""


@dataclass(frozen=True)
class Plan:
    """How what is passed becomes the slots of a launch, one step for each, and what runs it."""

    steps: Sequence[Step]
    start: SlotRun

    def run(self, grid: Grid, passed: Sequence[Any], bound: Callable[[], Sequence[Argument]]) -> bool:
        """Run the kernel; false, with nothing done, if a number does not fit, or arrays have memory in common.

        `bound` gives the arguments at full length, for the words of a fault.
        """
        values: list[int] = []
        bounds: list[int] = []
        spans: list[tuple[int, int]] = []
        for step, item in zip(self.steps, passed):
            if not step(item, values, bounds, spans):
                return False
        if len(spans) > 1 and _overlap(spans):
            return False
        self.start(grid, values, bounds, bound)
        return True


def _overlap(spans: list[tuple[int, int]]) -> bool:
    spans.sort()
    last = spans[0][1]
    for begin, end in spans[1:]:
        if begin < last:
            return True
        last = end
    return False


def step_of(arguments: Sequence[Argument]) -> Step:
    """The step for what one parameter passes: an array with its extents and strides, or a number."""
    first = arguments[0]
    if isinstance(first, ArrayArgument):
        return _array(reach(first.array), tuple(argument.bits for argument in arguments[1:]))
    assert isinstance(first, ScalarArgument)
    dtype = first.value.dtype
    return _float if dtype == np.float32 else _integer(8 * dtype.itemsize)


def _array(size: int, scalars: tuple[int, ...]) -> Step:
    def step(address: int, values: list[int], bounds: list[int], spans: list[tuple[int, int]]) -> bool:
        end = address + size
        values += address, *scalars
        bounds += address, end, end
        spans.append((address, end))
        return True

    return step


def _integer(bits: int) -> Step:
    limit, mask = 1 << bits - 1, (1 << bits) - 1

    def step(number: int, values: list[int], bounds: list[int], spans: list[tuple[int, int]]) -> bool:
        values.append(number & mask)
        return -limit <= number < limit

    return step


def _float(number: float, values: list[int], bounds: list[int], spans: list[tuple[int, int]]) -> bool:
    try:
        values += struct.unpack("<I", struct.pack("<f", number))
    except OverflowError:
        return False
    return number == number
