"""Launches again with arguments of the same looks, on a target that takes plain slots.

Knows: the looks of the usual arguments (all that a kernel is compiled for, read off an array in few steps), and the
Python code that finds out in few steps whether arguments have known looks, and what they pass. For a tensor and a
number it is

    def slots(arguments):
        try:
            a0, a1, = arguments
            if type(a0) is not tensor or a0.dtype is not dtype0 or a0.shape != shape0 or a0.stride() != strides0:
                return None
            if not a0.is_cpu or a0.layout is not strided or a0.is_neg():
                return None
            p0 = a0.data_ptr()
            if p0 % 16:
                return None
            e0 = p0 + reach0
            if type(a1) is not int or not -2147483648 <= a1 < 2147483648:
                return None
        except UNUSUAL:
            return None
        return (p0, *scalars0, a1 & 4294967295), (p0, e0, e0)

Does not know: what a kernel is compiled for (`keys`), nor any error: arguments that are not usual, or have memory in
common, take the long way (`signature`).

Usual are torch tensors and NumPy arrays in the memory of this process, integers and floats that are passed, and
integers and truth values that are constants. Every launch looks at them anew.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from tileir.cutile.arrays import DIVISOR, reach
from tileir.runtime.arguments import Argument, ArrayArgument, ScalarArgument
from tileir.runtime.native_slots import Slots, lent_as, slots_function, slots_source
from tileir.runtime.targets import SlotRun

LIMIT = 1024
"""Plans kept: a program that never repeats a shape must not fill the memory."""
MOST_PAIRS = 6
"""Pairs of arrays that are compared one by one."""
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
        if kind is not np.ndarray:
            return None
        try:
            other = lent_as(value.dtype)
            return ctypes.addressof(ctypes.c_char.from_buffer(value if other is None else value.view(other)))
        except (TypeError, ValueError, BufferError):
            return None

    def _is_tensor(self, kind: type) -> bool:
        """Whether this is the class of torch's tensors, which is remembered then."""
        torch: Any = sys.modules.get("torch")
        if torch is None or kind is not getattr(torch, "Tensor", None):
            return False
        self.tensor, self.strided = kind, torch.strided
        return True


class Plan:
    """What arguments of these looks pass, and what runs the kernel in `file` for which. `passed` are the arguments of
    the entry that each of them adds; nothing for constants.
    """

    def __init__(
        self, looker: Looker, arguments: Sequence[Any], passed: Sequence[Sequence[Argument]], start: SlotRun, file: str
    ) -> None:
        self.start, self.file = start, file
        self._names: dict[str, object] = {"tensor": looker.tensor, "strided": looker.strided}
        given = enumerate(zip(arguments, passed))
        self._pieces = [_piece_of(str(index), value, added) for index, (value, added) in given]

    @cached_property
    def slots(self) -> Callable[[Sequence[object]], tuple[Slots, Slots] | None]:
        """Finds what is passed, and the bounds of its memory; None if arguments look otherwise, a number does not fit,
        or arrays have memory in common. Made when it is first asked for.
        """
        names = self._names | {name: value for piece in self._pieces for name, value in piece.names.items()}
        made: Callable[[Sequence[object]], tuple[Slots, Slots] | None]
        made = slots_function(_source(self._pieces), names | {"overlap": _overlap})
        return made


@dataclass(frozen=True)
class _Piece:
    """What the code does with one argument: after the statements, `values` are what it passes; it is an array if it has
    a `number`. `names` are what the statements refer to.
    """

    statements: str
    values: tuple[str, ...] = ()
    names: dict[str, object] = field(default_factory=dict)
    number: str | None = None


def _source(pieces: Sequence[_Piece]) -> str:
    """The code. It names what depends on shapes, so that it is the same for many."""
    arrays = [piece.number for piece in pieces if piece.number is not None]
    values = "".join(f"{value}, " for piece in pieces for value in piece.values)
    bounds = "".join(f"p{number}, e{number}, e{number}, " for number in arrays)
    result = f"""\
if {_shared(arrays)}:
    return None
return ({values}), ({bounds})
"""
    return slots_source([piece.statements for piece in pieces], result)


def _shared(arrays: Sequence[str]) -> str:
    """The question whether two arrays have memory in common."""
    pairs = list(combinations(arrays, 2))
    if len(pairs) > MOST_PAIRS:
        return f"overlap([{', '.join(f'(p{number}, e{number})' for number in arrays)}])"
    return " or ".join(f"p{one} < e{other} and p{other} < e{one}" for one, other in pairs) or "False"


def _overlap(spans: list[tuple[int, int]]) -> bool:
    spans.sort()
    last = spans[0][1]
    for begin, end in spans[1:]:
        if begin < last:
            return True
        last = end
    return False


def _piece_of(number: str, value: Any, added: Sequence[Argument]) -> _Piece:
    """The piece for arguments that look like `value`, which adds these arguments of the entry."""
    if not added:
        return _constant(number, value)
    first = added[0]
    if isinstance(first, ArrayArgument):
        scalars = tuple(argument.bits for argument in added[1:])
        return _array(number, value, reach(first.array), first.array.address % DIVISOR == 0, scalars)
    assert isinstance(first, ScalarArgument)
    dtype = first.value.dtype
    return _float(number) if dtype == np.float32 else _integer(number, 8 * dtype.itemsize)


def _constant(number: str, value: object) -> _Piece:
    statements = """\
if type(a{n}) is not type{n} or a{n} != constant{n}:
    return None
"""
    return _Piece(statements.format(n=number), (), {f"type{number}": type(value), f"constant{number}": value})


def _array(number: str, value: Any, size: int, aligned: bool, scalars: Slots) -> _Piece:
    is_array = type(value) is np.ndarray
    other = lent_as(value.dtype) if is_array else None
    statements = (_NUMPY if is_array else _TENSOR) + (_ALIGNED if aligned else _UNALIGNED)
    names = {
        f"dtype{number}": value.dtype,
        f"shape{number}": value.shape,
        f"strides{number}": value.strides if is_array else value.stride(),
        f"reach{number}": size,
        f"scalars{number}": scalars,
        f"lent_as{number}": other,
    }
    return _Piece(
        statements.format(n=number, view="" if other is None else f".view(lent_as{number})"),
        (f"p{number}", f"*scalars{number}"),
        names,
        number,
    )


_NUMPY = """\
if type(a{n}) is not ndarray or a{n}.dtype != dtype{n} or a{n}.shape != shape{n} or a{n}.strides != strides{n}:
    return None
p{n} = address_of(lent(a{n}{view}))
e{n} = p{n} + reach{n}
"""
_TENSOR = """\
if type(a{n}) is not tensor or a{n}.dtype is not dtype{n} or a{n}.shape != shape{n} or a{n}.stride() != strides{n}:
    return None
if not a{n}.is_cpu or a{n}.layout is not strided or a{n}.is_neg():
    return None
p{n} = a{n}.data_ptr()
e{n} = p{n} + reach{n}
"""
_ALIGNED = f"""\
if p{{n}} % {DIVISOR}:
    return None
"""
_UNALIGNED = f"""\
if not p{{n}} % {DIVISOR}:
    return None
"""


def _integer(number: str, bits: int) -> _Piece:
    limit, mask = 1 << bits - 1, (1 << bits) - 1
    statements = f"""\
if type(a{number}) is not int or not {-limit} <= a{number} < {limit}:
    return None
"""
    return _Piece(statements, (f"a{number} & {mask}",))


def _float(number: str) -> _Piece:
    statements = """\
if type(a{n}) is not float or a{n} != a{n}:
    return None
(a{n},) = unpack_float(pack_float(a{n}))
"""
    names: dict[str, object] = {"pack_float": struct.Struct("<f").pack, "unpack_float": struct.Struct("<I").unpack}
    return _Piece(statements.format(n=number), (f"a{number}",), names)
