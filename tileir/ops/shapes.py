"""Shapes of tiles (spec: shapes#top): the same elements in other places."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.declare import attr, operand, output, variadic
from tileir.ir.fields import AttrKind
from tileir.ir.traits import PURE, SameElement, SameRank, SameType
from tileir.ops.constraints import (
    SCALAR_I32,
    TILE,
)

_SOURCE_TO_RESULT = "$source attr-dict `:` type($source) `->` type($result)"


class Broadcast(
    Op,
    name="broadcast",
    opcode=0x0B,
    hint="bcast",
    traits=(PURE, SameRank("source", "result"), SameElement("source", "result")),
):
    """Repeats the tile along its dimensions of extent 1 until it has the shape of the result."""

    source = operand(TILE)
    result = output(TILE)
    format = _SOURCE_TO_RESULT


class Cat(
    Op, name="cat", opcode=0x0C, traits=(PURE, SameRank("lhs", "rhs", "result"), SameElement("lhs", "rhs", "result"))
):
    """Joins two tiles along dimension `dim`."""

    dim = attr(AttrKind.I64)
    lhs = operand(TILE)
    rhs = operand(TILE)
    result = output(TILE)
    format = "$lhs `,` $rhs `dim` `=` $dim attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"


class Extract(Op, name="extract", opcode=0x26, traits=(PURE, SameRank("source", "result"))):
    """Takes one subtile; the indices count subtiles, not elements. Out of range is undefined."""

    source = operand(TILE)
    indices = variadic(SCALAR_I32)
    result = output(TILE)
    format = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)"


class Insert(Op, name="insert", opcode=0x76, since="13.4", traits=(PURE, SameType("destination", "result"))):
    """The destination with one of its subtiles replaced by `source`; the indices count subtiles."""

    source = operand(TILE)
    destination = operand(TILE)
    indices = variadic(SCALAR_I32)
    result = output(TILE)
    format = "$source `,` $destination `[` $indices `]` attr-dict `:` type($source) `,` type($destination)"


class Permute(
    Op, name="permute", opcode=0x53, traits=(PURE, SameElement("source", "result"), SameRank("source", "result"))
):
    """Reorders the dimensions: dimension k of the result is dimension ``permutation[k]`` of the source."""

    permutation = attr(AttrKind.I32_ARRAY)
    source = operand(TILE)
    result = output(TILE)
    format = "$source $permutation attr-dict `:` type($source) `->` type($result)"


class Reshape(Op, name="reshape", opcode=0x5B, hint="reshape", traits=(PURE, SameElement("source", "result"))):
    """The same elements in row-major order under another shape."""

    source = operand(TILE)
    result = output(TILE)
    format = _SOURCE_TO_RESULT
