"""Forms of one element of a tile in LLVM code.

Knows: the LLVM type of an element in memory and in a register, and the conversions between a bit pattern and the
number it stands for. Does not know: arithmetic (`cpu.rules.floating`, `cpu.rules.integer`), tiles, loops.

A number of a narrow float type (f16, bf16, tf32, f8, f4, f8E8M0FNU) is computed with as an f32 that holds exactly that
number, and moved as its bit pattern; `Num` holds whichever form it was made in, so that data movement preserves every
bit and a chain of arithmetic never encodes in between.
"""

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir

from tileir.ir import types as t

I1, I8, I16, I32, I64 = (ir.IntType(width) for width in (1, 8, 16, 32, 64))
HALF, FLOAT, DOUBLE, PTR = ir.HalfType(), ir.FloatType(), ir.DoubleType(), ir.PointerType()

_NATIVE_FLOATS: dict[t.ElementType, ir.Type] = {t.F32: FLOAT, t.F64: DOUBLE}


def memory_type(element: t.ElementType | t.PointerType) -> ir.Type:
    """The LLVM type of one element in memory and in the arena: i1, i4 and f4E2M1FN take a byte there."""
    if isinstance(element, t.PointerType):
        return I64
    return _NATIVE_FLOATS.get(element) or ir.IntType(max(8, element.memory_bits))


def is_native(element: t.ElementType) -> bool:
    """f32 and f64: computed in their own type."""
    return element in _NATIVE_FLOATS


class Num(NamedTuple):
    """One element: its register form (`wide`: an int, an f32 or f64), its memory form (`bits`), or both.

    A pointer has a byte offset in `wide`, counted from `base` where that is known (an LLVM pointer) and from 0
    otherwise: kept apart so that LLVM sees which neighbouring elements are neighbours in memory.
    """

    element: t.ElementType | t.PointerType
    wide: ir.Value | None = None
    bits: ir.Value | None = None
    base: ir.Value | None = None
