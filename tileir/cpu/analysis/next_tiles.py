"""Accesses whose place in the next tile block is known: boxes of which the number of the tile block is one index.

Knows: which accesses these are, and that they are small. Does not know: LLVM, nor what is made of it
(`cpu.memory.ahead`).
"""

from __future__ import annotations

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.analysis.loads import is_box
from tileir.ir import types as t
from tileir.ops import core

MOST_BYTES = 1 << 12
"""Bytes of a tile that is asked for: the processor cannot keep up with more of them at a time."""


def next_dimension(access: MemoryAccess) -> int | None:
    """The dimension of a small box along which the next tile block has the next one; None if there is none."""
    type = access.address.type
    if not isinstance(type, t.TileViewType) or not is_box(access):
        return None
    blocks = [index.op if isinstance(index.op, core.GetTileBlockId) else None for index in access.indices]
    found = [at for at, block in enumerate(blocks) if block is not None]
    if len(found) != 1 or type.tile.count * type.element.byte_size > MOST_BYTES:
        return None
    block, index = blocks[found[0]], access.indices[found[0]]
    return found[0] if block is not None and index is block.results[0] else None
