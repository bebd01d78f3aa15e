"""Memory of a tile block, and elements in the form that they have in memory."""

from __future__ import annotations

from tileir.gpu.executable import BlockMemory
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirValue
from tileir.gpu.ttir.lib import scalars
from tileir.gpu.ttir.lib.words import word_of
from tileir.gpu.ttir.lowering import HIDDEN_ALIGNMENT, TtirLowering
from tileir.ir import types as t
from tileir.ir.core import Op

BLOCK_MEMORY = BlockMemory(0)
"""Stands for the memory of blocks while its size is not known yet."""


def block_memory(lowering: TtirLowering, size: int) -> TtirValue:
    """Return the address of `size` more bytes that this block has for itself, a multiple of `HIDDEN_ALIGNMENT`.

    They lie behind what was taken before for every block of the grid, one block's bytes after the other's.
    """
    before, size = lowering.block_memory, -(-size // HIDDEN_ALIGNMENT) * HIDDEN_ALIGNMENT
    lowering.block_memory += size
    blocks, own = _grid(lowering)
    base = lowering.parameter(BLOCK_MEMORY)
    skipped = scalars.product(lowering, blocks, scalars.number(lowering, before))
    offset = scalars.product(lowering, own, scalars.number(lowering, size))
    return scalars.moved(lowering, base, scalars.total(lowering, skipped, offset))


def _grid(lowering: TtirLowering) -> tuple[TtirValue, TtirValue]:
    """Return the number of blocks, and the linear number of this one."""
    build = lowering.build
    places, extents = (
        [scalars.unsigned(lowering, build.op(name, type=I32, axis=axis)) for axis in range(3)]
        for name in ("tt.get_program_id", "tt.get_num_programs")
    )
    count, own = extents[2], places[2]
    for place, extent in ((places[1], extents[1]), (places[0], extents[0])):
        own = scalars.total(lowering, scalars.product(lowering, own, extent), place)
        count = scalars.product(lowering, count, extent)
    return count, own


def from_memory(build: Builder, element: t.ElementType | t.PointerType, loaded: TtirValue) -> TtirValue:
    """Return elements as tiles hold them, from what was loaded."""
    if element is t.I1:
        return build.compare("ne", loaded, build.integer(loaded.type, 0))
    if element is t.TF32:
        return (word_of(build, loaded) & t.TF32_MASK).as_float("f32")
    return loaded


def to_memory(build: Builder, element: t.ElementType | t.PointerType, tile: TtirValue) -> TtirValue:
    """Return the content of memory for elements as tiles hold them."""
    return build.resized(tile, "i8", signed=False) if element is t.I1 else tile


def padding(lowering: TtirLowering, op: Op, view: t.TileViewType) -> int:
    """Return the bits that elements outside read as, as they would lie in memory; 0 where the view does not say."""
    found = view.element.padding_bits(view.padding or t.PaddingValue.ZERO)
    if found is None:
        assert view.padding is not None
        raise lowering.unsupported(op, f"pads with {view.padding.text}, which {view.element.name} does not have")
    return found
