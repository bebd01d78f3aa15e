"""Tiles as bit streams (spec: packing#top)."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.declare import operand, output
from tileir.ir.traits import PURE, SameRank
from tileir.ops.constraints import (
    I8_TILE,
    PACKABLE_TILE,
)

_SOURCE_TO_RESULT = "$source attr-dict `:` type($source) `->` type($result)"


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
