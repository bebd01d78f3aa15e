"""Operations outside the public set that early documents use: they have a text form and a meaning, but no bytecode.

Names carry a ``$``: ``experimental$call``. Asking for them in bytecode, or on a target that cannot run them, is a
diagnostic that names the operation.
"""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ir.attributes import OpaqueAttr
from tileir.ir.core import Op
from tileir.ir.declare import attr, flag, operand, optional, output, region, variadic
from tileir.ir.effects import HIDES, calls_host, reads, writes
from tileir.ir.fields import Attr, AttrKind
from tileir.ir.traits import RECURSIVE_EFFECTS, SEGMENTED, RegionTerminator, SameType
from tileir.ops.constraints import SCALAR_INT, TENSOR_VIEW, TILE, TOKEN, tile_of
from tileir.ops.elementwise import UnaryFloat

INDEX_VECTOR = tile_of(t.INTS, 1)


class Asin(UnaryFloat, name="experimental$asin", aliases=("experimental.asin",)):
    """Arc sine in [-pi/2, pi/2]; NaN outside [-1, 1]."""


class ExternElementwise(Op, name="experimental$extern_elementwise", traits=(calls_host(unless="pure"),)):
    """Applies a scalar function of the host, found by `symbol`, to every element."""

    libname = attr(AttrKind.STRING)
    libpath = attr(AttrKind.STRING)
    pure = attr(AttrKind.BOOL)
    symbol = attr(AttrKind.STRING)
    args = variadic(TILE)
    result = output(TILE)
    syntax = (
        'experimental$extern_elementwise %a, ... {libname = "...", libpath = "...", pure = true, symbol = "..."} '
        ": (T, ...) -> R"
    )


class Generate(Op, name="experimental$generate", traits=(RECURSIVE_EFFECTS, RegionTerminator("yield", written=True))):
    """A tile whose element at [i, j, ...] is what the body yields for those indices."""

    result = output(TILE)
    body = region()
    syntax = "experimental$generate { ^bb0(%i: tile<i32>, ...): ... yield %v : E } {attrs} : R"


class GatherLoad(
    Op, name="experimental$gather_load", traits=(reads("src", result="result", indices="offsets", rows="index"),)
):
    """Loads rows at arbitrary positions along dimension `dim`; elements outside the tensor read as the fill value."""

    dim = attr(AttrKind.I64)
    fill_value: Attr[OpaqueAttr | None] = attr(AttrKind.TAGGED, default=None, name="fillValue")
    source = operand(TENSOR_VIEW, name="src")
    index = operand(INDEX_VECTOR)
    offsets = variadic(SCALAR_INT)
    result = output(TILE)
    format = (
        "$src `,` $index `,` `[` $offsets `]` properties attr-dict `:` operand_types($src, $index, $offsets) "
        "`->` type($result)"
    )
    syntax = "experimental$gather_load %src, %index, [%offset, ...] <{dim = D : i64}> {attrs} : V, I, O -> R"

    @property
    def padding(self) -> t.PaddingValue | None:
        """The fill value, as a view names it."""
        return None if self.fill_value is None else t.PaddingValue[self.fill_value.keyword.upper()]


class ScatterStore(
    Op,
    name="experimental$scatter_store",
    traits=(SEGMENTED, writes("dst", value="src", indices="offsets", rows="index")),
):
    """Stores rows at arbitrary positions along dimension `dim`; elements outside the tensor are skipped."""

    dim = attr(AttrKind.I64)
    source = operand(TILE, name="src")
    destination = operand(TENSOR_VIEW, name="dst")
    index = operand(INDEX_VECTOR)
    offsets = variadic(SCALAR_INT)
    token = optional(TOKEN)
    result_token = output(TOKEN)
    format = (
        "$src `,` $dst `,` $index `,` `[` $offsets `]` spaced_token($token) properties attr-dict "
        "`:` operand_types($src, $dst, $index, $offsets, $token) `->` type($result_token)"
    )
    syntax = (
        "experimental$scatter_store %src, %dst, %index, [%offset, ...] [token = %t] <{dim = D : i64}> {attrs} "
        ": S, V, I, O [, token] -> token"
    )


class OptimizationBarrier(Op, name="internal$optimization_barrier", traits=(HIDES, SameType("source", "result"))):
    """Hands its operand on; the optimizer must neither remove it nor look through it."""

    keep_axis_info = flag()
    source = operand(TILE)
    result = output(TILE)
    format = "$source tail_flag($keep_axis_info) attr-dict `:` type($result)"
