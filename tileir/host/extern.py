"""The host's scalar functions that `experimental$extern_elementwise` may call.

Knows: the table of names, and how a function of Python numbers is applied to tiles.
Does not know: operations.

The table is the one thing in the interpreter that lives as long as the process: a host registers a function once, for
every module that will ask for it by name.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.ir.attributes import Rounding
from tileir.ir.shown import shown
from tileir.ir.storage import bits_dtype
from tileir.ir.types import F64, I1, ElementType, PointerType
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
    """Raises ValueError for an empty name, TypeError for no name and for something that cannot be called."""
    if not isinstance(symbol, str):
        raise TypeError(f"symbol: expected a name, got {type(symbol).__name__}")
    if not symbol:
        raise ValueError("symbol: expected a name, got ''")
    if not callable(function):
        raise TypeError(f"function: expected a callable for symbol '{shown(symbol)}', got {type(function).__name__}")


def is_registered(symbol: str) -> bool:
    return symbol in _externs


def apply(symbol: str, tiles: tuple[np.ndarray, ...], elements: list[Element], result: Element) -> np.ndarray:
    """The function registered for `symbol`, of each tuple of elements."""
    function = _externs[symbol]
    lists = [np.ravel(_numbers(tile, element)).tolist() for tile, element in zip(tiles, elements)]
    return tile_of([function(*numbers) for numbers in zip(*lists)], result).reshape(np.shape(tiles[0]))


def _numbers(tile: np.ndarray, element: Element) -> np.ndarray:
    if isinstance(element, ElementType) and element.is_float:
        return widened(np.asarray(tile), element)
    return np.asarray(tile).astype(np.int8) if element is I1 else np.asarray(tile)


def tile_of(numbers: list[Number], element: Element) -> np.ndarray:
    """The numbers as elements of a tile: rounded to nearest even, or wrapped."""
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
