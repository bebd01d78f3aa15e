"""Float arithmetic that rounds once, in each of the four IEEE modes: sums, products, quotients, roots, fused products.

Knows: which instruction rounds so for an element type, and how f32 serves the narrow types without a second rounding
that shows. Does not know: Tile IR operations (`floating`), nor functions without an exact result (`functions`).

To nearest even, without flushing, TTIR has instructions of its own: LLVM makes one PTX instruction of each, with the
rounding written out, which forbids the assembler to contract it; on sm_80 sums and products of bf16 are ``fma.rn.bf16``
with a factor 1 or an addend -0, which is as exact. All else is the vendor's: the compiler knows no other rounding.

f16 and bf16 in another mode are computed in f32 and narrowed in the same mode: every number of the narrow type is one
of f32, so rounding towards one side twice ends where rounding once does (spec: floating#semantics).
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib import narrow
from tileir.ir import types as t
from tileir.ir.attributes import Rounding

_NEAREST = {"add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf", "fma": "math.fma"}
_NARROW = {"f16": t.F16, "bf16": t.BF16}


def through_f32(build: Builder, function: Callable[..., TtirValue], *operands: TtirValue) -> TtirValue:
    """`function` of f32, for operands of f16, bf16 or f32; the result is rounded to nearest even to their type."""
    result = function(*(build.cast("arith.extf", operand, "f32") for operand in operands))
    return build.cast("arith.truncf", result, operands[0].type.element)


def rounded(build: Builder, name: str, mode: Rounding, flush: bool, *operands: TtirValue) -> TtirValue:
    """``add sub mul div fma sqrt`` rounded in `mode`; `flush` treats subnormals as zeros (f32)."""
    element = operands[0].type.element
    if mode is Rounding.NEAREST_EVEN and not flush:
        return _nearest(build, name, *operands)
    if element not in _NARROW:
        return build.vendor.rounded(build, name, mode, flush, *operands)
    wide = (build.cast("arith.extf", operand, "f32") for operand in operands)
    nearly = build.vendor.rounded(build, name, mode, False, *wide)
    return narrow.encoded(build, nearly, _NARROW[element], mode)


def _nearest(build: Builder, name: str, *operands: TtirValue) -> TtirValue:
    """To nearest even. Of narrow types, quotients and roots are rounded to f32 first, which has more than twice their
    precision (Figueroa, 1995). That holds for quotients that are subnormal too, of bf16 even in f32: two numbers of 8
    bits have no quotient so near to the middle of two others. The f32 instructions without ``precise`` are approximate.
    """
    if name in _NEAREST:
        return build.op(_NEAREST[name], *operands)
    if operands[0].type.element == "f64":
        return build.op("arith.divf" if name == "div" else "math.sqrt", *operands)
    precise = "tt.precise_divf" if name == "div" else "tt.precise_sqrt"
    return through_f32(build, lambda *wide: build.op(precise, *wide), *operands)
