"""Functions of the host that kernels call by name: scalar functions, and stand-ins for code that is linked in.

`experimental$extern_elementwise` calls the first, `preview$call` the second (spec: calls#preview-call). The two tables
live as long as the process: a host registers a function once, for every module that will ask for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tileir.ir.attributes import ArrayAttr, Attribute, IntegerAttr, Rounding, StringAttr, TypeAttr
from tileir.ir.escaping import shown
from tileir.ir.storage import bits_dtype, dtype_of
from tileir.ir.types import F64, I1, ElementType, PointerType, TileType
from tileir.numerics.formats import encoded, widened

Number = int | float
Extern = Callable[..., Number]
"""Takes one Python number per operand: a float, an integer by its signed reading (i1: 0 or 1), an address."""
Element = ElementType | PointerType

_externs: dict[str, Extern] = {}


def register_extern(symbol: str, function: Extern) -> None:
    """Let kernels call a function of the host; it replaces an earlier one of that name.

    Parameters
    ----------
    symbol : str
        The name by which `experimental$extern_elementwise` asks for it.
    function : callable
        Takes one Python number per operand and returns a number, which is rounded to nearest even, or wrapped, to the
        element type of the result.

    Raises
    ------
    ValueError
        For an empty name.
    TypeError
        For something that cannot be called.
    """
    require_function(symbol, function)
    _externs[symbol] = function


def require_function(symbol: str, function: object) -> None:
    """Check a name. Raises ValueError for an empty one, TypeError for no name and for something that cannot be
    called."""
    if not isinstance(symbol, str):
        raise TypeError(f"symbol: expected a name, got {type(symbol).__name__}")
    if not symbol:
        raise ValueError("symbol: expected a name, got ''")
    if not callable(function):
        raise TypeError(f"function: expected a callable for symbol '{shown(symbol)}', got {type(function).__name__}")


def is_registered(symbol: str) -> bool:
    return symbol in _externs


def apply(symbol: str, tiles: tuple[np.ndarray, ...], elements: list[Element], result: Element) -> np.ndarray:
    """Return the function registered for `symbol`, of each tuple of elements."""
    function = _externs[symbol]
    lists = [np.ravel(_numbers(tile, element)).tolist() for tile, element in zip(tiles, elements)]
    return tile_of([function(*numbers) for numbers in zip(*lists)], result).reshape(np.shape(tiles[0]))


def _numbers(tile: np.ndarray, element: Element) -> np.ndarray:
    if isinstance(element, ElementType) and element.is_float:
        return widened(np.asarray(tile), element)
    return np.asarray(tile).astype(np.int8) if element is I1 else np.asarray(tile)


def tile_of(numbers: list[Number], element: Element) -> np.ndarray:
    """Return the numbers as elements of a tile: rounded to nearest even, or wrapped."""
    if isinstance(element, PointerType):
        return np.array([int(number) % (1 << 64) for number in numbers], np.uint64)
    if element.is_float:
        exact = np.array(numbers, np.float64)
        return exact if element is F64 else encoded(exact, element, Rounding.NEAREST_EVEN)
    if element is I1:
        return np.array([int(number) != 0 for number in numbers])
    bits = bits_dtype(element)
    patterns = [int(number) % (1 << 8 * bits.itemsize) for number in numbers]
    return np.array(patterns, bits).view(f"i{bits.itemsize}")


# ---------------------------------------------------------------- stand-ins


StandIn = Callable[..., object]
Constant = int | str | tuple["Constant", ...]

_stand_ins: dict[str, StandIn] = {}


def register_stand_in(symbol: str, function: StandIn) -> None:
    """Let a function of the host run where kernels call code that is linked in; it replaces an earlier one.

    The interpreter calls it for each tile block that reaches the call.

    Parameters
    ----------
    symbol : str
        The name that `preview$call` calls, without the ``@``.
    function : callable
        Takes the constants of the call (integers, strings, the text of types, tuples of these), then its tiles as NumPy
        arrays that it must not write to; tokens are left out. Gives one array for each result that is a tile, several
        as a tuple; None where there is none. Numbers of another dtype are rounded to nearest even, or wrapped.

    Raises
    ------
    ValueError
        For an empty name.
    TypeError
        For something that cannot be called.
    """
    require_function(symbol, function)
    _stand_ins[symbol] = function


def stand_in(symbol: str) -> StandIn | None:
    """Return the function registered under `symbol`."""
    return _stand_ins.get(symbol)


def constant_of(attribute: Attribute) -> Constant:
    """Return a constant of a call as a stand-in sees it."""
    if isinstance(attribute, ArrayAttr):
        return tuple(map(constant_of, attribute))
    if isinstance(attribute, TypeAttr):
        return attribute.value.text
    assert isinstance(attribute, IntegerAttr | StringAttr)
    return attribute.value


def tiles_of(given: object, types: Sequence[TileType]) -> tuple[np.ndarray, ...]:
    """Return the result of a stand-in as tiles of these types. Raises ValueError for anything else."""
    parts = given if isinstance(given, tuple) else () if given is None and not types else (given,)
    if len(parts) != len(types):
        raise ValueError(f"expected {len(types)} arrays, got {len(parts)}")
    return tuple(_tile(part, type) for part, type in zip(parts, types))


def _tile(part: object, type: TileType) -> np.ndarray:
    try:
        array = np.asarray(part)
    except Exception as error:  # NumPy has many ways to say that something is no array
        raise ValueError(f"expected an array for {type!r}, got {part.__class__.__name__}") from error
    if array.shape != type.shape:
        raise ValueError(f"expected an array of shape {type.shape} for {type!r}, got {array.shape}")
    if array.dtype == dtype_of(type.element):
        return array.copy()
    if array.dtype.kind not in "biuf":
        raise ValueError(f"expected an array of numbers for {type!r}, got dtype {array.dtype}")
    return np.asarray(tile_of(array.ravel().tolist(), type.element), dtype_of(type.element)).reshape(type.shape)
