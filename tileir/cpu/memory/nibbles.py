"""Elements of f4E2M1FN in memory, two per byte, the even one in the low nibble (spec: views#index-mapping).

Knows: how one of them is read and written at an element offset. Does not know: views.

A store reads the byte, replaces one nibble and writes it back: not a step that other tile blocks cannot come between.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.elements import I8, I64


def _byte(builder: ir.IRBuilder, base: ir.Value, offset: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The address of the byte that holds the element at `offset`, and how many bits up the element stands in it."""
    place = builder.gep(base, [builder.ashr(offset, I64(1))], source_etype=I8)
    odd = builder.trunc(builder.and_(offset, I64(1)), I8)
    return place, builder.shl(odd, I8(2))


def load_nibble(builder: ir.IRBuilder, base: ir.Value, offset: ir.Value) -> ir.Value:
    place, shift = _byte(builder, base, offset)
    return builder.and_(builder.lshr(builder.load(place, typ=I8), shift), I8(0x0F))


def store_nibble(builder: ir.IRBuilder, base: ir.Value, offset: ir.Value, pattern: ir.Value) -> None:
    place, shift = _byte(builder, base, offset)
    kept = builder.and_(builder.load(place, typ=I8), builder.not_(builder.shl(I8(0x0F), shift)))
    builder.store(builder.or_(kept, builder.shl(pattern, shift)), place)
