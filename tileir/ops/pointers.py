"""Memory through pointers (spec: pointers#top): tokens, loads, stores, allocation, fences.

Memory operations have no program order: only tokens order them.
"""

from __future__ import annotations

from tileir.ir.attributes import MemoryOrdering, MemoryScope
from tileir.ir.core import Op
from tileir.ir.declare import attr, enum_attr, flag, hints, operand, optional, output, variadic
from tileir.ir.effects import ALLOCATES, FENCES, SIGNALS, WAITS, reads, writes
from tileir.ir.fields import AttrKind
from tileir.ir.traits import PURE, SEGMENTED, SameShape, SameType
from tileir.ops.constraints import I1_TILE, NUMBER_TILE, POINTER_TILE, SCALAR_POINTER, TILE, TOKEN


class MakeToken(Op, name="make_token", opcode=0x44, traits=(PURE,)):
    """A token that waits for nothing."""

    result = output(TOKEN)
    format = "attr-dict `:` type($result)"


class JoinTokens(Op, name="join_tokens", opcode=0x3C, traits=(PURE,)):
    """A token that waits for all operands, of which there are two or more."""

    tokens = variadic(TOKEN)
    result = output(TOKEN)
    format = "$tokens attr-dict `:` type($result)"


class LoadPtr(
    Op,
    name="load_ptr_tko",
    opcode=0x3D,
    traits=(
        SEGMENTED,
        reads("source", result="result", mask="mask", padding="paddingValue"),
        SameShape("source", "result"),
        SameShape("source", "mask"),
        SameType("paddingValue", "result"),
    ),
):
    """Loads the element at each pointer; where `mask` is 0 nothing is accessed and the result is the padding value."""

    memory_ordering_semantics = enum_attr(MemoryOrdering, plain_i32=True)
    memory_scope = enum_attr(MemoryScope, default=None, plain_i32=True)
    optimization_hints = hints("latency")
    source = operand(POINTER_TILE)
    mask = optional(I1_TILE)
    paddingValue = optional(NUMBER_TILE)
    token = optional(TOKEN)
    result = output(TILE)
    result_token = output(TOKEN)
    format = (
        "$memory_ordering_semantics scope($memory_scope) $source tail($mask) tail($paddingValue) "
        "token($token) hints($optimization_hints) attr-dict "
        "`:` type($source) tail_type($mask) tail_type($paddingValue) `->` type($result) `,` type($result_token)"
    )


class StorePtr(
    Op,
    name="store_ptr_tko",
    opcode=0x65,
    traits=(
        SEGMENTED,
        writes("destination", value="value", mask="mask"),
        SameShape("destination", "value"),
        SameShape("destination", "mask"),
    ),
):
    """Stores each element of the value at its pointer; where `mask` is 0 memory is left alone."""

    memory_ordering_semantics = enum_attr(MemoryOrdering, plain_i32=True)
    memory_scope = enum_attr(MemoryScope, default=None, plain_i32=True)
    optimization_hints = hints("latency")
    destination = operand(POINTER_TILE)
    value = operand(TILE)
    mask = optional(I1_TILE)
    token = optional(TOKEN)
    result_token = output(TOKEN)
    format = (
        "$memory_ordering_semantics scope($memory_scope) $destination `,` $value tail($mask) "
        "token($token) hints($optimization_hints) attr-dict "
        "`:` type($destination) `,` type($value) tail_type($mask) `->` type($result_token)"
    )


class Alloca(Op, name="alloca", opcode=0x71, since="13.3", traits=(ALLOCATES,), aliases=("experimental$alloca",)):
    """Uninitialised storage for `num_elem` elements that lives until the region around is left."""

    num_elem = attr(AttrKind.I64)
    alignment = attr(AttrKind.I64)
    shared = flag(name="global")
    result = output(SCALAR_POINTER)
    format = "`num_elem` `=` $num_elem `,` `alignment` `=` $alignment $global attr-dict `:` type($result)"


class GdcLaunchDependents(Op, name="gdc_launch_dependents_tko", opcode=0x77, since="13.4", traits=(SIGNALS,)):
    """Allows kernels that depend on this one to be scheduled; orders no memory."""

    token = optional(TOKEN)
    result_token = output(TOKEN)
    format = "spaced_token($token) attr-dict `->` type($result_token)"


class GdcWait(Op, name="gdc_wait_tko", opcode=0x78, since="13.4", traits=(WAITS,)):
    """Waits for the kernel before this one and makes its stores visible."""

    token = optional(TOKEN)
    result_token = output(TOKEN)
    format = "spaced_token($token) attr-dict `->` type($result_token)"


class MemoryFenceAlias(Op, name="memory_fence_alias_tko", opcode=0x7A, since="13.4", traits=(FENCES,)):
    """Orders accesses to the same memory through different virtual addresses."""

    token = operand(TOKEN)
    result_token = output(TOKEN)
    format = "$token attr-dict"
