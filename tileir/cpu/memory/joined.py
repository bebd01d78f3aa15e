"""Tiles of joined tile blocks: long rows of memory, read and written where they lie.

Everything is known to be as usual before the first element is stored: accesses stay within their memory, all that is
stored has been loaded, and no element is written before it is read. Otherwise the tile blocks run one by one, and who
traps or needs a copy does so there. At the border of an array rows end, and are left out, where the array does.

Knows: what is asked of the loads and of the store. Does not know: which tile blocks are joined
(`cpu.analysis.coarsening`), nor how rows are written (`cpu.memory.rows`).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.emit.driver import SEPARATELY
from tileir.cpu.emit.elements import I1, I64
from tileir.cpu.emit.emitter import Extent
from tileir.cpu.emit.tiles import Window
from tileir.cpu.lowering.state import JoinedBlocks, Lowering
from tileir.cpu.memory.alias_checks import unaliased
from tileir.cpu.memory.boxes import box
from tileir.cpu.memory.checks import may_access
from tileir.cpu.memory.pointer_boxes import pointer_box
from tileir.cpu.memory.rows import write_rows
from tileir.cpu.memory.spans import Span, span_of_window
from tileir.ir.core import Value


def is_longer(lowering: Lowering, access: MemoryAccess) -> bool:
    """Whether an access is to tiles of joined tile blocks."""
    joined = lowering.joined
    assert joined is not None, "tile blocks are joined"
    return access.op in joined.coarsening.accesses


def load_joined(lowering: Lowering, load: MemoryAccess) -> None:
    """Bind the result to the window of memory."""
    joined, result = lowering.joined, load.result
    assert joined is not None and result is not None, "a load has a result"
    memory, counts, fine = _place(lowering, load, result)
    _separately_unless(lowering, fine)
    joined.covered[result] = counts
    lowering.values[result] = memory


def store_joined(lowering: Lowering, store: MemoryAccess) -> None:
    """Write the elements that lie in the tensor, or that the mask leaves active."""
    joined, value, builder = lowering.joined, store.value, lowering.builder
    assert joined is not None and value is not None, "a store has a value"
    memory, counts, fine = _place(lowering, store, value)
    fine = builder.and_(fine, _all_loaded(lowering, joined, store, counts))

    def written() -> Span:
        return span_of_window(lowering.emit, memory, counts)

    _separately_unless(lowering, builder.and_(fine, unaliased(lowering, store.op, written)))
    dim, tile = joined.coarsening.accesses[store.op], lowering.tile(value)
    read = [lowering.tile(loaded) for loaded in joined.covered if loaded.tile.shape == value.tile.shape]
    windows = [window for window in read if isinstance(window, Window)]
    write_rows(lowering, store.op, memory, tile, dim, counts, windows)


def _place(lowering: Lowering, access: MemoryAccess, tile: Value) -> tuple[Window, tuple[ir.Value, ...], ir.Value]:
    """The memory of the tile, how many elements of each dimension are in, and whether they may be accessed."""
    builder = lowering.builder
    if not access.indices:
        found = pointer_box(lowering, access)
        assert found is not None, "the pointers are a box"
        base = builder.ptrtoint(found.window.base, I64)
        window = Window(tile.tile, found.window.base, found.window.strides, shared=True, known=base)
        harmless = builder.or_(builder.not_(found.last(builder)[1]), may_access(lowering, access, found))
        return window, found.counts, builder.and_(found.regular, harmless)
    view, joined = lowering.tile_view(access.address), lowering.joined
    assert joined is not None, "tile blocks are joined"
    extents = _extents(lowering, joined, access, tile)
    place, fit = box(lowering, view, access.indices, extents), view.tensor.fit
    window = Window(tile.tile, place.base, place.strides, shared=True, known=builder.ptrtoint(place.base, I64))
    return window, place.counts, I1(1) if fit is None else fit.usable(access.writes)


def _extents(lowering: Lowering, joined: JoinedBlocks, access: MemoryAccess, tile: Value) -> Sequence[Extent]:
    """The extents of the box of a view. What is stored may be the same for all tile blocks: its box is longer."""
    shape, dim = tile.tile.shape, joined.coarsening.accesses[access.op]
    count = lowering.builder.mul(joined.count, I64(shape[dim]))
    return [*shape[:dim], count, *shape[dim + 1 :]]


def _separately_unless(lowering: Lowering, fine: ir.Value) -> None:
    lowering.emit.leave_if(lowering.builder.not_(fine), SEPARATELY)


def _all_loaded(lowering: Lowering, joined: JoinedBlocks, store: MemoryAccess, counts: Sequence[ir.Value]) -> ir.Value:
    """An i1: whether each loaded tile covers what is computed from it."""
    builder, dims, found = lowering.builder, joined.coarsening.dims, I1(1)
    assert store.value is not None, "a store has a value"
    for tile, loaded in joined.covered.items():
        needed = list(map(I64, tile.tile.shape))
        if tile.tile.shape == store.value.tile.shape:
            needed = list(counts)
        needed[dims[tile]] = counts[joined.coarsening.accesses[store.op]]
        for have, need in zip(loaded, needed):
            found = builder.and_(found, builder.icmp_unsigned(">=", have, need))
    return found
