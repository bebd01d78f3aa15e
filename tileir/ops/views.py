"""Views (spec: views#top): tensors in memory and the tiles cut from them."""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering, MemoryScope
from tileir.ir.core import Op
from tileir.ir.declare import attr, enum_attr, hints, operand, optional, output, variadic, variadic_output
from tileir.ir.effects import reads, writes
from tileir.ir.fields import AttrKind
from tileir.ir.traits import NO_MEMORY_EFFECT, PURE, SEGMENTED, DerivedType
from tileir.ops.constraints import (
    GATHER_SCATTER_VIEW,
    INT_TILE,
    PARTITION_VIEW,
    SCALAR_INT,
    SCALAR_POINTER,
    STRIDED_VIEW,
    TENSOR_VIEW,
    TILE,
    TILE_VIEW,
    TOKEN,
)


def _tensor_view_of(type: t.Type) -> t.Type | None:
    return type.tensor_view if isinstance(type, t.TileViewType) else None


_TENSOR_VIEW_INSIDE = DerivedType("tensor_view", "result", _tensor_view_of, "the tensor_view inside the view type")


class _MakeView(Op, traits=(PURE, _TENSOR_VIEW_INSIDE)):
    """Tiles cut from a tensor."""

    tensor_view = operand(TENSOR_VIEW)
    format = "$tensor_view attr-dict `:` type($result)"


class MakeTensorView(Op, name="make_tensor_view", opcode=0x43, hint="tview", traits=(NO_MEMORY_EFFECT, SEGMENTED)):
    """Describes a strided tensor at an address; `?` entries of the type are given by operands, read as unsigned."""

    base = operand(SCALAR_POINTER)
    dynamicShape = variadic(SCALAR_INT)
    dynamicStrides = variadic(SCALAR_INT)
    result = output(TENSOR_VIEW)
    syntax = "make_tensor_view %base, shape = [d, ...], strides = [s, ...] {attrs} : [I ->] tensor_view<...>"


class MakePartitionView(_MakeView, name="make_partition_view", opcode=0x42, hint="pview"):
    """Cuts a tensor into a grid of equal tiles."""

    result = output(PARTITION_VIEW)


class MakeStridedView(_MakeView, name="make_strided_view", opcode=0x74, since="13.3", hint="sview"):
    """Tiles that start at multiples of the traversal strides; they may overlap or leave gaps."""

    result = output(STRIDED_VIEW)


class MakeGatherScatterView(_MakeView, name="make_gather_scatter_view", opcode=0x73, since="13.3", hint="gsview"):
    """Tiles whose positions along one dimension are given by a tile of indices."""

    result = output(GATHER_SCATTER_VIEW)


class GetTensorShape(Op, name="get_tensor_shape", opcode=0x2F, traits=(NO_MEMORY_EFFECT,)):
    """The extents of a tensor view, one result per dimension."""

    src = operand(TENSOR_VIEW)
    extents = variadic_output(SCALAR_INT, name="result")
    format = "$src `:` type($src) `->` repeated_type($result)"


class GetIndexSpaceShape(Op, name="get_index_space_shape", opcode=0x2D, traits=(NO_MEMORY_EFFECT,)):
    """The number of tiles of a view along each tile dimension (of a gather/scatter view: the tensor's extents)."""

    src = operand(TILE_VIEW)
    extents = variadic_output(SCALAR_INT, name="result")
    format = "$src `:` type($src) `->` repeated_type($result)"


class LoadView(
    Op, name="load_view_tko", opcode=0x3E, traits=(SEGMENTED, reads("view", result="tile", indices="index"))
):
    """Loads the tile at an index of the view; elements outside the tensor read as the view's padding value."""

    memory_ordering_semantics = enum_attr(MemoryOrdering, plain_i32=True)
    memory_scope = enum_attr(MemoryScope, default=None, plain_i32=True)
    optimization_hints = hints("allow_tma", "latency")
    inbounds = attr(AttrKind.BOOL_ARRAY, default=(), since="13.4")
    view = operand(TILE_VIEW)
    index = variadic(INT_TILE)
    token = optional(TOKEN)
    tile = output(TILE)
    result_token = output(TOKEN)
    format = (
        "memory($memory_ordering_semantics, $memory_scope) $view `[` $index `]` spaced_token($token) "
        "hints($optimization_hints) inbounds($inbounds) attr-dict-with-keyword "
        "`:` type($view) index_types($index) `->` type($tile) `,` type($result_token)"
    )


class StoreView(
    Op, name="store_view_tko", opcode=0x66, traits=(SEGMENTED, writes("view", value="tile", indices="index"))
):
    """Stores a tile at an index of the view; elements outside the tensor are skipped."""

    memory_ordering_semantics = enum_attr(MemoryOrdering, plain_i32=True)
    memory_scope = enum_attr(MemoryScope, default=None, plain_i32=True)
    optimization_hints = hints("allow_tma", "latency")
    inbounds = attr(AttrKind.BOOL_ARRAY, default=(), since="13.4")
    tile = operand(TILE)
    view = operand(TILE_VIEW)
    index = variadic(INT_TILE)
    token = optional(TOKEN)
    result_token = output(TOKEN)
    format = (
        "memory($memory_ordering_semantics, $memory_scope) $tile `,` $view `[` $index `]` spaced_token($token) "
        "hints($optimization_hints) inbounds($inbounds) attr-dict-with-keyword "
        "`:` type($tile) `,` type($view) index_types($index) `->` type($result_token)"
    )
