"""Tiles of views, each in the way that its view and its ordering allow: as a box of the tensor, or element by element.

Knows: which of the two ways. Does not know: either of them (`cpu.memory.boxes`, `cpu.memory.gather`).
"""

from __future__ import annotations

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.analysis.loads import is_box
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.ahead import ask_ahead
from tileir.cpu.memory.boxes import box, load_box, store_box
from tileir.cpu.memory.checks import check_box, check_gather
from tileir.cpu.memory.gather import gather, load_gather, store_gather, update_gather
from tileir.ir.attributes import AtomicMode


def load_tile(lowering: Lowering, load: MemoryAccess) -> None:
    """Bind the result to the tile of the view."""
    assert load.result is not None
    view = lowering.tile_view(load.address)
    if is_box(load):
        place = box(lowering, view, load.indices, view.type.tile_shape)
        check_box(lowering, load, view, place)
        load_box(lowering, load.result, view, place)
    else:
        where = gather(lowering, view, load.indices)
        check_gather(lowering, load, view.type.tile, where)
        tile = load_gather(lowering, view.type.tile, where, view.type.padding, load.ordering)
        lowering.values[load.result] = tile


def store_tile(lowering: Lowering, store: MemoryAccess) -> None:
    """Write the tile of the view."""
    assert store.value is not None
    tile, view = lowering.tile(store.value), lowering.tile_view(store.address)
    if is_box(store):
        place = box(lowering, view, store.indices, view.type.tile_shape)
        check_box(lowering, store, view, place)
        ask_ahead(lowering, store)
        store_box(lowering, store.op, tile, place)
    else:
        where = gather(lowering, view, store.indices)
        check_gather(lowering, store, tile.type, where)
        store_gather(lowering, tile, where, store.ordering)


def update_tile(lowering: Lowering, update: MemoryAccess, mode: AtomicMode) -> None:
    """Combine a tile into that of the view."""
    assert update.value is not None
    tile, where = lowering.tile(update.value), gather(lowering, lowering.tile_view(update.address), update.indices)
    check_gather(lowering, update, tile.type, where)
    update_gather(lowering, tile, where, mode, update.ordering)
