"""Core operations (spec: core#top): constants, the grid, counting, pointer offsets, selection."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.declare import attr, operand, output
from tileir.ir.fields import AttrKind
from tileir.ir.traits import ELEMENTWISE, PURE, SameShape, SameType
from tileir.ops.constraints import (
    I1_TILE,
    INT_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    SCALAR_I32,
    SCALAR_POINTER,
    TILE,
)


class Constant(Op, name="constant", opcode=0x10, traits=(PURE,)):
    """A tile of numbers known at compile time: one value for all elements, or nested lists."""

    value = attr(AttrKind.DENSE)
    result = output(NUMBER_TILE)
    format = "elements($value) `:` type($result) attr-dict"


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
