"""Elements of tiles as operands and results of formulas.

Knows: how an element becomes a float or integer with operators, and how a result is put into the form of its element
type. Does not know: arithmetic.

f32 and f64 are computed in their own type; f16 and bf16 as f32, which holds them exactly, and encoded once at the end.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Int, Real
from tileir.cpu.emit.elements import Num, is_native
from tileir.cpu.emit.narrow import encode
from tileir.cpu.emit.tiles import wide
from tileir.ir import types as t

Compute = Callable[..., Num]
"""From the builder and one element of each operand to the element of the result."""


Formula = Callable[..., Real]
"""From floats to a float."""


def real(builder: ir.IRBuilder, number: Num) -> Real:
    return Real(builder, wide(builder, number))


def integer(builder: ir.IRBuilder, number: Num) -> Int:
    return Int(builder, wide(builder, number))


def held(element: t.ElementType, result: Real) -> Num:
    """A result that needs no rounding to be of the element type."""
    return Num(element, wide=result.value)


def rounded(element: t.ElementType, result: Real) -> Num:
    """A result in the working type of `element`, rounded to nearest even if that is wider."""
    if is_native(element):
        return held(element, result)
    return Num(element, bits=encode(result.builder, element, result.value))


def condition(flag: Flag) -> Num:
    return Num(t.I1, wide=flag.value)
