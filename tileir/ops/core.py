"""Core operations (specification 8.3): constants, shapes, packing, selection, reductions, the grid."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.declare import (
    ELEMENTWISE,
    PURE,
    RECURSIVE_EFFECTS,
    AttrKind,
    RegionTerminator,
    SameElement,
    SameRank,
    SameShape,
    SameType,
    attr,
    operand,
    output,
    region,
    variadic,
    variadic_output,
)
from tileir.ops.constraints import (
    I1_TILE,
    I8_TILE,
    INT_TILE,
    NUMBER_TILE,
    PACKABLE_TILE,
    POINTER_TILE,
    SCALAR_I32,
    SCALAR_POINTER,
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


class Constant(Op, name="constant", opcode=0x10, traits=(PURE,)):
    """A tile of numbers known at compile time: one value for all elements, or nested lists."""

    value = attr(AttrKind.DENSE)
    result = output(NUMBER_TILE)
    format = "literal($value) `:` type($result) attr-dict"


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


class GetGlobal(Op, name="get_global", opcode=0x2C, traits=(PURE,)):
    """The address of the first element of a global."""

    symbol = attr(AttrKind.SYMBOL, name="name")
    result = output(SCALAR_POINTER)
    format = "$name attr-dict `:` type($result)"


class GetNumTileBlocks(
    Op, name="get_num_tile_blocks", opcode=0x2E, traits=(PURE, SameType("gridSize_x", "gridSize_y", "gridSize_z"))
):
    """The extents of the grid; missing dimensions are 1."""

    gridSize_x = output(SCALAR_I32)
    gridSize_y = output(SCALAR_I32)
    gridSize_z = output(SCALAR_I32)
    format = "attr-dict `:` type($gridSize_x)"


class GetTileBlockId(
    Op, name="get_tile_block_id", opcode=0x30, traits=(PURE, SameType("blockId_x", "blockId_y", "blockId_z"))
):
    """The coordinates of the running tile block in the grid, counted from 0."""

    blockId_x = output(SCALAR_I32)
    blockId_y = output(SCALAR_I32)
    blockId_z = output(SCALAR_I32)
    format = "attr-dict `:` type($blockId_x)"


class Iota(Op, name="iota", opcode=0x3A, traits=(PURE,)):
    """The numbers 0, 1, 2, ... as a tile of rank 1."""

    result = output(INT_TILE)
    format = "attr-dict `:` type($result)"


class Offset(
    Op,
    name="offset",
    opcode=0x51,
    traits=(PURE, ELEMENTWISE, SameType("result", "ptr"), SameShape("ptr", "offset", "result")),
):
    """Moves each pointer by a signed number of elements."""

    ptr = operand(POINTER_TILE)
    offset = operand(INT_TILE)
    result = output(POINTER_TILE)
    format = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset) `->` type($result)"


class Pack(Op, name="pack", opcode=0x6F, since="13.3", traits=(PURE, SameRank("source", "result"))):
    """The elements as a little-endian bit stream, cut into bytes."""

    source = operand(PACKABLE_TILE)
    result = output(I8_TILE)
    format = _SOURCE_TO_RESULT


class Unpack(Op, name="unpack", opcode=0x70, since="13.3", traits=(PURE, SameRank("source", "result"))):
    """The reverse of `pack`: bytes as a little-endian bit stream, cut into elements."""

    source = operand(I8_TILE)
    result = output(PACKABLE_TILE)
    format = _SOURCE_TO_RESULT


class Permute(
    Op, name="permute", opcode=0x53, traits=(PURE, SameElement("source", "result"), SameRank("source", "result"))
):
    """Reorders the dimensions: dimension k of the result is dimension ``permutation[k]`` of the source."""

    permutation = attr(AttrKind.I32_ARRAY)
    source = operand(TILE)
    result = output(TILE)
    format = "$source $permutation attr-dict `:` type($source) `->` type($result)"


class Reduce(
    Op,
    name="reduce",
    opcode=0x58,
    hint="reduce",
    traits=(RECURSIVE_EFFECTS, SameShape("operands"), RegionTerminator("yield", written=True)),
):
    """Combines the elements along `dim` with the body, which must be associative and commutative.

    The body takes two scalars per operand and yields their combination; `identities` are neutral for it. Several
    operands are reduced in lock step.
    """

    dim = attr(AttrKind.I32)
    identities = attr(AttrKind.ARRAY)
    sources = variadic(TILE, name="operands")
    outputs = variadic_output(TILE, name="results")
    body = region()
    syntax = "reduce %a, ... {attrs} dim=N identities=[literal, ...] : T, ... -> R, ... (%l: E, %r: E, ...) { ... }"


class Scan(
    Op,
    name="scan",
    opcode=0x5E,
    traits=(RECURSIVE_EFFECTS, SameShape("operands"), RegionTerminator("yield", written=True)),
):
    """Inclusive running combination along `dim`, from the first index or (`reverse`) from the last."""

    dim = attr(AttrKind.I32)
    reverse = attr(AttrKind.BOOL)
    identities = attr(AttrKind.ARRAY)
    sources = variadic(TILE, name="operands")
    outputs = variadic_output(TILE, name="results")
    body = region()
    syntax = (
        "scan %a, ... {attrs} dim=N reverse=(true|false) identities=[literal, ...] : T, ... -> R, ... "
        "(%l: E, %r: E, ...) { ... }"
    )


class Reshape(Op, name="reshape", opcode=0x5B, hint="reshape", traits=(PURE, SameElement("source", "result"))):
    """The same elements in row-major order under another shape."""

    source = operand(TILE)
    result = output(TILE)
    format = _SOURCE_TO_RESULT


class Select(
    Op,
    name="select",
    opcode=0x5F,
    traits=(
        PURE,
        ELEMENTWISE,
        SameType("val_if_true", "val_if_false", "result"),
        SameShape("cond", "val_if_true", "val_if_false", "result"),
    ),
):
    """Element by element, the first value where `cond` is 1 and the second where it is 0."""

    cond = operand(I1_TILE)
    val_if_true = operand(TILE)
    val_if_false = operand(TILE)
    result = output(TILE)
    format = "$cond `,` $val_if_true `,` $val_if_false attr-dict `:` type($cond) `,` type($result)"
