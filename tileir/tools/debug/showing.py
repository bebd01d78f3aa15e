"""Values in words: tiles with their type, extremes and a part of their elements.

Knows: how much of a value a person is shown. Does not know: which value.
"""

from __future__ import annotations

import numpy as np

from tileir.interp.views import TensorView, TileView
from tileir.ir.types import Type

MOST_ELEMENTS = 64


def shown(value: object, type: Type | None = None) -> str:
    """A value, on one line if it is short."""
    head = "" if type is None else f" : {type.text}"
    if value is None:
        return f"token{head}" if type is not None and type.text == "token" else f"not known{head}"
    if isinstance(value, TensorView):
        return f"{type.text if type else 'tensor view'}, at {value.base:#x}, extents {list(value.shape)}"
    if isinstance(value, TileView):
        return f"{type.text if type else 'view'}, at {value.tensor.base:#x}, extents {list(value.tensor.shape)}"
    tile = np.asarray(value)
    if tile.ndim == 0:
        return f"{_element(tile, type)}{head}"
    return f"{head.removeprefix(' : ') or f'{tile.dtype}{list(tile.shape)}'}{_extremes(tile)}\n{_elements(tile)}"


def _element(tile: np.ndarray, type: Type | None) -> str:
    is_address = type is not None and "ptr<" in type.text
    return hex(int(tile)) if is_address else str(tile[()])


def _extremes(tile: np.ndarray) -> str:
    if not tile.size or tile.dtype == np.bool_:
        return f", {int(tile.sum())} of {tile.size} are true" if tile.dtype == np.bool_ else ""
    with np.errstate(all="ignore"):
        numbers = tile.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    odd = numbers.size - finite.size
    range = f", from {finite.min():g} to {finite.max():g}, mean {finite.mean():g}" if finite.size else ""
    return range + (f", {int(np.isnan(numbers).sum())} nan, {int(np.isinf(numbers).sum())} inf" if odd else "")


def _elements(tile: np.ndarray) -> str:
    with np.printoptions(threshold=MOST_ELEMENTS, edgeitems=3, linewidth=110):
        return str(tile)
