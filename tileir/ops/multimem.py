"""Operations on multicast memory (13.5): one address stands for a location on each of several GPUs."""

from __future__ import annotations

from tileir.ir.attributes import MemoryOrdering, MemoryScope, MultimemReduction
from tileir.ir.core import Op
from tileir.ir.declare import attr, enum_attr, operand, optional, output, variadic
from tileir.ir.effects import reads, updates, writes
from tileir.ir.fields import AttrKind
from tileir.ir.traits import SEGMENTED
from tileir.ops.constraints import INT_TILE, TILE, TILE_VIEW, TOKEN


class MultimemLoadReduceView(
    Op,
    name="multimem_load_reduce_view_tko",
    opcode=0x7B,
    since="13.5",
    traits=(SEGMENTED, reads("view", result="reduced_values", indices="index", replicated=True)),
):
    """Loads the tile from every replica and gives the reduction of them."""

    memory_ordering_semantics = enum_attr(MemoryOrdering, plain_i32=True)
    memory_scope = enum_attr(MemoryScope, default=None, plain_i32=True)
    reduction = enum_attr(MultimemReduction, default=MultimemReduction.ADD)
    inbounds = attr(AttrKind.BOOL_ARRAY, default=())
    view = operand(TILE_VIEW)
    index = variadic(INT_TILE)
    token = optional(TOKEN)
    reduced_values = output(TILE)
    result_token = output(TOKEN)
    format = (
        "memory($memory_ordering_semantics, $memory_scope) $view `[` $index `]` spaced_token($token) "
        "blank_inbounds($inbounds) attr-dict-with-keyword($reduction) "
        "`:` type($view) index_types($index) tail_type($token) `->` type($reduced_values) `,` type($result_token)"
    )


class MultimemReduceView(
    Op,
    name="multimem_reduce_view_tko",
    opcode=0x7C,
    since="13.5",
    traits=(SEGMENTED, updates("view", value="tile", indices="index", replicated=True)),
):
    """Combines a tile into every replica, element by element atomically."""

    memory_ordering_semantics = enum_attr(MemoryOrdering, plain_i32=True)
    memory_scope = enum_attr(MemoryScope, plain_i32=True)
    reduction = enum_attr(MultimemReduction, default=MultimemReduction.ADD)
    inbounds = attr(AttrKind.BOOL_ARRAY, default=())
    view = operand(TILE_VIEW)
    tile = operand(TILE)
    index = variadic(INT_TILE)
    token = optional(TOKEN)
    result_token = output(TOKEN)
    format = (
        "memory($memory_ordering_semantics, $memory_scope) $view `,` $tile `[` $index `]` spaced_token($token) "
        "blank_inbounds($inbounds) attr-dict-with-keyword($reduction) "
        "`:` type($view) `,` type($tile) index_types($index) tail_type($token) `->` type($result_token)"
    )


class MultimemStoreView(
    Op,
    name="multimem_store_view_tko",
    opcode=0x7D,
    since="13.5",
    traits=(SEGMENTED, writes("view", value="tile", indices="index", replicated=True)),
):
    """Stores a tile to every replica."""

    memory_ordering_semantics = enum_attr(MemoryOrdering, plain_i32=True)
    memory_scope = enum_attr(MemoryScope, default=None, plain_i32=True)
    inbounds = attr(AttrKind.BOOL_ARRAY, default=())
    view = operand(TILE_VIEW)
    tile = operand(TILE)
    index = variadic(INT_TILE)
    token = optional(TOKEN)
    result_token = output(TOKEN)
    format = (
        "memory($memory_ordering_semantics, $memory_scope) $view `,` $tile `[` $index `]` spaced_token($token) "
        "blank_inbounds($inbounds) attr-dict-with-keyword "
        "`:` type($view) `,` type($tile) index_types($index) tail_type($token) `->` type($result_token)"
    )
