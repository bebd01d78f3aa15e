"""Rules of `pack` and `unpack` (spec: packing#pack)."""

from __future__ import annotations

from tileir.ir.types import TileType
from tileir.ops.packing import Pack, Unpack
from tileir.verify.rule import CheckContext, RuleTable, Violation

rules = RuleTable()


@rules("E0411", Pack, Unpack)
def packed_rank(op: Pack | Unpack, context: CheckContext) -> Violation | None:
    return None if op.source.type.rank == 1 else Violation("operand 'source'", "a tile of rank 1", repr(op.source.type))


@rules("E0412", Pack, Unpack)
def packed_widths(op: Pack | Unpack, context: CheckContext) -> Violation | None:
    source, result = op.source.type.element, op.result.type.element
    if source.bits != result.bits:
        return None
    hint = f"use 'bitcast' between {source!r} and {result!r}"
    return Violation("", "element types of different widths", f"{source!r} and {result!r}", hint=hint)


@rules("E0413", Pack, Unpack)
def packed_bytes(op: Pack | Unpack, context: CheckContext) -> Violation | None:
    for what, type in (("operand 'source'", op.source.type), ("result", op.result.type)):
        if _stream_bits(type) % 8:
            return Violation(what, "a whole number of bytes", f"{_stream_bits(type)} bits in {type!r}")
    return None


@rules("E0414", Pack, Unpack)
def packed_size(op: Pack | Unpack, context: CheckContext) -> Violation | None:
    source, result = _stream_bits(op.source.type) // 8, _stream_bits(op.result.type) // 8
    if source == result:
        return None
    return Violation("result", f"{source} bytes as in 'source'", f"{result} bytes in {op.result.type!r}")


def _stream_bits(type: TileType) -> int:
    return type.element.stream_bits * type.count
