"""Loads and stores through affine pointers: one strided box instead of an address for each element.

Knows: when the elements that a mask chooses are such a box. Memory checks the whole box at once; where it says no, the
operation's own function is called with every address, and says what is wrong. Does not know: how memory is checked
(`memory`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.interp.accesses import CheckedAccess
from tileir.interp.api import BlockState
from tileir.interp.cells import CELLS, Cell
from tileir.interp.compact import AffineTile, BoxMask, expanded
from tileir.interp.memory import Memory
from tileir.interp.tiling import are_distinct
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.pointers import LoadPtr, StorePtr

Function = Callable[..., object]
CompactEffectRule = Callable[[Op, Function], Function]
"""``rule(op, plain)`` gives a function of the same operands as `plain`, the operation's own, but compact ones too."""

effects: Rules[CompactEffectRule] = Rules()

_MASKS = (BoxMask, type(None))
"""The masks by which a box is chosen; without a mask it is the whole tile."""


@effects(LoadPtr)
def load_ptr(op: LoadPtr, plain: Function) -> Function:
    cell = CELLS[op.source.tile.pointer.pointee]

    def run(block: BlockState, source: object, mask: object, padding: object, token: None) -> object:
        tile = _loaded(block.memory, source, mask, padding, CheckedAccess(cell, block.id, "load"))
        if tile is not None:
            return tile, None
        return plain(block, expanded(source), expanded(mask), expanded(padding), token)

    return run


@effects(StorePtr)
def store_ptr(op: StorePtr, plain: Function) -> Function:
    cell = CELLS[op.destination.tile.pointer.pointee]

    def run(block: BlockState, destination: object, value: object, mask: object, token: None) -> object:
        tile: np.ndarray = expanded(value)  # type: ignore[assignment]
        if _stored(block.memory, destination, tile, mask, CheckedAccess(cell, block.id, "store")):
            return None
        return plain(block, expanded(destination), tile, expanded(mask), token)

    return run


def _loaded(memory: Memory, source: object, mask: object, padding: object, access: CheckedAccess) -> np.ndarray | None:
    """The tile at these addresses; None if memory has to be asked for each."""
    if not isinstance(source, AffineTile) or not isinstance(mask, _MASKS):
        return None
    cell = access.cell
    if mask is None or mask.full:
        raw = _box(memory, source, None, access)
        return raw if raw is None else _as_tile(raw, cell)
    raw = None if mask.empty else _box(memory, source, mask, access)
    if raw is None and not mask.empty:
        return None
    tile = np.zeros(source.shape, cell.dtype) if padding is None else np.array(expanded(padding))
    if raw is not None:
        tile[mask.selector] = cell.to_tile(raw)
    return tile


def _as_tile(raw: np.ndarray, cell: Cell) -> np.ndarray:
    return raw.copy() if cell.plain else cell.to_tile(raw)


def _stored(memory: Memory, destination: object, tile: np.ndarray, mask: object, access: CheckedAccess) -> bool:
    """Write the elements that the mask chooses, unless memory has to be asked for each address."""
    if not isinstance(destination, AffineTile) or not isinstance(mask, _MASKS):
        return False
    if mask is not None and mask.empty:
        return True
    if mask is not None and mask.full:
        mask = None
    if not are_distinct(destination.strides, destination.shape if mask is None else mask.counts):
        return False
    raw = _box(memory, destination, mask, access)
    if raw is None:
        return False
    raw[...] = access.cell.to_memory(tile if mask is None else tile[mask.selector])
    return True


def _box(memory: Memory, tile: AffineTile, mask: BoxMask | None, access: CheckedAccess) -> np.ndarray | None:
    """The elements at the addresses that the mask chooses, in place."""
    size = access.cell.size
    for stride in tile.strides:
        if stride < 0 or stride % size:
            return None
    if mask is None:
        return memory.window(tile.base, tile.shape, tile.strides, access)
    first = tile.base
    for stride, begin in zip(tile.strides, mask.begin):
        first += stride * begin
    return memory.window(first, mask.counts, tile.strides, access)
