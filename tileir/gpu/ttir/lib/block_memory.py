"""Memory that each block of the grid has for itself.

Knows: where in the memory of all blocks a part of one block lies. Does not know: what it is for, nor who allocates it
(`gpu.launch`).
"""

from __future__ import annotations

from tileir.gpu.ttir.ir.code import I32, TtirValue
from tileir.gpu.ttir.lib import scalars
from tileir.gpu.ttir.lowering import HIDDEN_ALIGNMENT, BlockMemory, TtirLowering

BLOCK_MEMORY = BlockMemory(0)
"""Stands for the memory of blocks while its size is not known yet."""


def block_memory(lowering: TtirLowering, size: int) -> TtirValue:
    """The address of `size` more bytes that this block has for itself, a multiple of `HIDDEN_ALIGNMENT`."""
    before, own = lowering.block_memory, -(-size // HIDDEN_ALIGNMENT) * HIDDEN_ALIGNMENT
    lowering.block_memory += own
    return _part(lowering, before, own)


def _part(lowering: TtirLowering, before: int, size: int) -> TtirValue:
    """Behind `before` bytes for every block: that of `size` bytes for each which belongs to this block."""
    blocks, own = _grid(lowering)
    base = lowering.parameter(BLOCK_MEMORY)
    skipped = scalars.product(lowering, blocks, scalars.number(lowering, before))
    offset = scalars.product(lowering, own, scalars.number(lowering, size))
    return scalars.moved(lowering, base, scalars.total(lowering, skipped, offset))


def _grid(lowering: TtirLowering) -> tuple[TtirValue, TtirValue]:
    """The number of blocks, and the linear number of this one."""
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


def aligned(lowering: TtirLowering, address: TtirValue, alignment: int) -> TtirValue:
    """The next multiple of `alignment`."""
    build = lowering.build
    number = build.cast("tt.ptr_to_int", address, "i64")
    up = build.op(
        "arith.andi",
        build.op("arith.subi", scalars.number(lowering, 0), number),
        scalars.number(lowering, alignment - 1),
    )
    return scalars.moved(lowering, address, up)
