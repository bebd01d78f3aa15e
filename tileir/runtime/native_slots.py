"""The slots of a native launch straight from its arguments, if they are of the usual kinds.

Knows: what of the rules of `arguments` and `native_memory` such arguments need, and the Python code that looks at those
of one kernel in few steps, so that a second launch costs little. For ``%a: tile<ptr<f32>>, %n: tile<i32>`` it is

    def slots(arguments):
        try:
            a0, a1, = arguments
            if type(a0) is ndarray:
                if a0.dtype is not dtype0 and a0.dtype not in dtypes0:
                    return None
                p0 = address_of(lent(a0))
            else:
                p0 = tensor0(a0)
            e0 = p0 + a0.nbytes
            if type(a1) is not int or not -2147483648 <= a1 < 4294967296:
                return None
        except UNUSUAL:
            return None
        return (p0, a1 & 4294967295, p0, e0, e0, 0, 0)

Does not know: any other argument, and no error: whatever is not usual is left to these two, which say what is wrong.

Usual are NumPy arrays that are contiguous, writable and not empty, torch tensors likewise, and Python's integers and
floats that fit. Everything is looked up anew in every launch: an array may have been moved, or made read-only.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from textwrap import indent
from types import CodeType
from typing import Any

import numpy as np

from tileir.ir import types as t
from tileir.runtime.arguments import Parameter, accepted_dtypes
from tileir.runtime.arrays import TORCH_DTYPES
from tileir.runtime.native_memory import bounds_of_globals
from tileir.runtime.storage import GlobalStorage

Slots = tuple[int, ...]
UNUSUAL = TypeError, ValueError, BufferError, OverflowError
"""What the code raises for unusual arguments. Memory is lent by arrays that are contiguous, writable and not empty."""
NAMES: dict[str, object] = {
    "UNUSUAL": UNUSUAL,
    "address_of": ctypes.addressof,
    "lent": ctypes.c_char.from_buffer,
    "ndarray": np.ndarray,
}
"""What the code for any parameters refers to."""


class QuickSlots:
    """The slots of arguments for a kernel with these parameters, in a module with these globals."""

    def __init__(self, parameters: Sequence[Parameter], storage: GlobalStorage) -> None:
        self._parameters = parameters
        self._globals = tuple(storage.addresses.values())
        self._end = (*bounds_of_globals(storage), 0, 0)

    @cached_property
    def of(self) -> Callable[[Sequence[object]], Slots | None]:
        """Finds all slots (`native_memory.NativeArguments`) of arguments; None if one is not a usual one, or missing.

        The function is made for these parameters when it is first asked for.
        """
        pieces = [_piece_of(parameter.type, parameter.index) for parameter in self._parameters]
        names = {name: value for piece in pieces for name, value in piece.names.items()}
        made: Callable[[Sequence[object]], Slots | None] = slots_function(
            _source(pieces, self._globals, self._end), names
        )
        return made

    def whole(self, values: Slots, bounds: Slots) -> Slots:
        """All slots, of those of the arguments and the bounds of their memory."""
        return values + self._globals + bounds + self._end


def slots_function(source: str, names: Mapping[str, object]) -> Callable[..., Any]:
    """The function ``slots`` of some code, which refers to `NAMES` and `names`."""
    scope = {**NAMES, **names}
    exec(_code(source), scope)
    made: Callable[..., Any] = scope["slots"]  # type: ignore[assignment]
    return made


@lru_cache(maxsize=256)
def _code(source: str) -> CodeType:
    """Compiled once for all kernels, and all shapes of arrays, that have the same."""
    return compile(source, "<slots of a launch>", "exec")


@dataclass(frozen=True)
class _Piece:
    """What the code does with one argument: after the statements `value` is its slot, and `bounds` are those of its
    memory. `names` are what the statements refer to beside `NAMES`.
    """

    statements: str
    value: str = "0"
    bounds: tuple[str, ...] = ()
    names: dict[str, object] = field(default_factory=dict)


def _source(pieces: Sequence[_Piece], globals: Slots, end: Slots) -> str:
    """The code."""
    bounds = (bound for piece in pieces for bound in piece.bounds)
    slots = [*(piece.value for piece in pieces), *map(str, globals), *bounds, *map(str, end)]
    return slots_source([piece.statements for piece in pieces], f"return ({', '.join(slots)})\n")


def slots_source(statements: Sequence[str], result: str) -> str:
    """The code of ``slots``: the statements for each argument, which leave where it is not usual, then `result`."""
    taken = "".join(f"a{index}, " for index in range(len(statements))) or "()"
    return f"""
def slots(arguments):
    try:
        {taken} = arguments
{indent("".join(statements), " " * 8)}
    except UNUSUAL:
        return None
{indent(result, " " * 4)}"""


def _piece_of(type: t.Type, index: int) -> _Piece:
    """The piece for the parameter of that index."""
    if isinstance(type, t.TileType) and not type.shape:
        element = type.element
        if isinstance(element, t.PointerType):
            return _array(element.pointee, index)
        if element in _FLOATS:
            return _float(*_FLOATS[element], f"a{index}")
        if element in (t.I8, t.I16, t.I32, t.I64):
            return _integer(element.bits, f"a{index}")
    return _Piece("return None\n")


def _integer(bits: int, given: str) -> _Piece:
    least, limit, mask = -(1 << bits >> 1), 1 << bits, (1 << bits) - 1
    statements = f"""\
if type({given}) is not int or not {least} <= {given} < {limit}:
    return None
"""
    return _Piece(statements, f"{given} & {mask}")


_FLOATS = {t.F32: ("<f", "<I"), t.F64: ("<d", "<Q")}
"""How a number is packed, and read again as an unsigned one."""


def _float(packed: str, read: str, given: str) -> _Piece:
    pack, unpack = f"pack_{packed[1:]}", f"unpack_{read[1:]}"
    statements = f"""\
if type({given}) is not float or {given} != {given}:
    return None
{given}, = {unpack}({pack}({given}))
"""
    return _Piece(statements, given, names={pack: struct.Struct(packed).pack, unpack: struct.Struct(read).unpack})


def _array(element: t.ElementType, index: int) -> _Piece:
    given, begin, end = f"a{index}", f"p{index}", f"e{index}"
    dtypes = accepted_dtypes(element)
    other = lent_as(dtypes[0])
    lender = given if other is None else f"{given}.view(lent_as{index})"
    statements = f"""\
if type({given}) is ndarray:
    if {given}.dtype is not dtype{index} and {given}.dtype not in dtypes{index}:
        return None
    {begin} = address_of(lent({lender}))
else:
    {begin} = tensor{index}({given})
{end} = {begin} + {given}.nbytes
"""
    names = {
        f"dtype{index}": dtypes[0],
        f"dtypes{index}": dtypes,
        f"lent_as{index}": other,
        f"tensor{index}": _Tensors(dtypes).address,
    }
    return _Piece(statements, begin, (begin, end, end), names)


@cache
def lent_as(dtype: np.dtype) -> np.dtype | None:
    """The dtype as which arrays of a dtype lend memory; None: as what they are. Those of narrow floats lend none."""
    array: Any = np.empty(1, dtype)
    try:
        ctypes.c_char.from_buffer(array)
    except ValueError:
        return np.dtype(f"u{dtype.itemsize}")
    return None


class _Tensors:
    """Tensors of these element types for a pointer parameter."""

    def __init__(self, dtypes: Sequence[np.dtype]) -> None:
        self._accepted = dtypes
        self._tensor: type | None = None
        """torch's tensors, once one has come."""
        self._dtypes: frozenset[object] = frozenset()
        self._strided: object = None

    def address(self, tensor: Any) -> int:
        """Raises TypeError for what is no usual tensor."""
        if (
            (type(tensor) is self._tensor or self._is_tensor(type(tensor)))
            and tensor.dtype in self._dtypes
            and tensor.is_cpu
            and tensor.layout is self._strided
            and tensor.is_contiguous()
            and not (tensor.requires_grad or tensor.is_neg())
            and tensor.nbytes > 0
        ):
            address: int = tensor.data_ptr()
            return address
        raise TypeError

    def _is_tensor(self, kind: type) -> bool:
        """Whether this is the class of torch's tensors, which is remembered then."""
        torch: Any = sys.modules.get("torch")
        if torch is None or kind is not getattr(torch, "Tensor", None):
            return False
        named = {name: dtype for name, dtype in TORCH_DTYPES.items() if dtype in self._accepted}
        found = (getattr(torch, name.removeprefix("torch."), None) for name in named)
        self._dtypes = frozenset(dtype for dtype in found if dtype is not None)
        self._tensor, self._strided = kind, torch.strided
        return True
