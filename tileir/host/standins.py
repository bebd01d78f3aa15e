"""Functions of the host that stand in for code which `preview$call` links in (spec: calls#preview-call).

Knows: the table of names, what a stand-in is given, and what it may give.
Does not know: operations. Like that of `host.extern` the table lives as long as the process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tileir.host.extern import require_function, tile_of
from tileir.ir.attributes import ArrayAttr, Attribute, IntegerAttr, StringAttr, TypeAttr
from tileir.ir.storage import dtype_of
from tileir.ir.types import TileType

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
    """The function registered under `symbol`."""
    return _stand_ins.get(symbol)


def constant_of(attribute: Attribute) -> Constant:
    """A constant of a call as a stand-in sees it."""
    if isinstance(attribute, ArrayAttr):
        return tuple(map(constant_of, attribute))
    if isinstance(attribute, TypeAttr):
        return attribute.value.text
    assert isinstance(attribute, IntegerAttr | StringAttr)
    return attribute.value


def tiles_of(given: object, types: Sequence[TileType]) -> tuple[np.ndarray, ...]:
    """What a stand-in gave, as tiles of these types. Raises ValueError for anything else."""
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
