"""Atomic operations (spec: atomics#top): every lane is a transaction of its own."""

from __future__ import annotations

from tileir.ir.attributes import AtomicMode, MemoryOrdering, MemoryScope
from tileir.ir.core import Op
from tileir.ir.declare import attr, enum_attr, operand, optional, output, variadic
from tileir.ir.effects import updates
from tileir.ir.fields import AttrKind
from tileir.ir.traits import SEGMENTED, SameShape, SameType
from tileir.ops.constraints import I1_TILE, INT_TILE, POINTER_TILE, TILE, TILE_VIEW, TOKEN


class AtomicRmw(
    Op,
    name="atomic_rmw_tko",
    opcode=0x08,
    traits=(
        SEGMENTED,
        updates("pointers", value="arg", result="result", mask="mask"),
        SameShape("pointers", "arg", "result"),
        SameType("arg", "result"),
        SameShape("pointers", "arg", "mask"),
    ),
):
    """Reads, combines with `arg` and writes back each element as one step; gives the old values."""

    memory_ordering_semantics = enum_attr(MemoryOrdering, plain_i32=True)
    memory_scope = enum_attr(MemoryScope, plain_i32=True)
    mode = enum_attr(AtomicMode, plain_i32=True)
    pointers = operand(POINTER_TILE)
    arg = operand(TILE)
    mask = optional(I1_TILE)
    token = optional(TOKEN)
    result = output(TILE)
    result_token = output(TOKEN)
    format = (
        "$memory_ordering_semantics $memory_scope $pointers `,` mode($mode) $arg tail($mask) token($token) "
        "mode-attr-dict($mode) `:` type($pointers) `,` type($arg) tail_type($mask) `->` type($result) `,` "
        "type($result_token)"
    )


class AtomicCas(
    Op,
    name="atomic_cas_tko",
    opcode=0x07,
    traits=(
        SEGMENTED,
        updates("pointers", value="val", result="result", expected="cmp", mask="mask"),
        SameShape("pointers", "cmp", "val", "result"),
        SameType("cmp", "val", "result"),
        SameShape("pointers", "val", "cmp", "mask"),
    ),
):
    """Writes `val` where memory equals `cmp` bit for bit, as one step; gives the old values."""

    memory_ordering_semantics = enum_attr(MemoryOrdering, plain_i32=True)
    memory_scope = enum_attr(MemoryScope, plain_i32=True)
    pointers = operand(POINTER_TILE)
    cmp = operand(TILE)
    val = operand(TILE)
    mask = optional(I1_TILE)
    token = optional(TOKEN)
    result = output(TILE)
    result_token = output(TOKEN)
    format = (
        "$memory_ordering_semantics $memory_scope $pointers `,` $cmp `,` $val tail($mask) token($token) attr-dict "
        "`:` type($pointers) `,` type_of_both($val) tail_type($mask) `->` type($result) `,` type($result_token)"
    )


class AtomicRedView(
    Op,
    name="atomic_red_view_tko",
    opcode=0x75,
    since="13.3",
    traits=(SEGMENTED, updates("view", value="value", indices="index")),
):
    """Combines a tile into memory through a view, element by element atomically; gives no old values."""

    memory_ordering_semantics = enum_attr(MemoryOrdering, plain_i32=True)
    memory_scope = enum_attr(MemoryScope, plain_i32=True)
    mode = enum_attr(AtomicMode, plain_i32=True)
    inbounds = attr(AttrKind.BOOL_ARRAY, default=(), since="13.5")
    view = operand(TILE_VIEW)
    index = variadic(INT_TILE)
    value = operand(TILE)
    token = optional(TOKEN)
    result_token = output(TOKEN)
    format = (
        "memory($memory_ordering_semantics, $memory_scope) $view `[` $index `]` `,` $mode `,` $value "
        "spaced_token($token) inbounds($inbounds) attr-dict-with-keyword "
        "`:` type($value) `,` type($view) index_types($index) `->` type($result_token)"
    )
