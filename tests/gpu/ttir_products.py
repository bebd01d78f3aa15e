"""``tt.dot``: products of matrices.

Knows: which precision is asked for. Does not know: the order of summation, which is the compiler's: sums are taken in
f64, and rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.gpu.ttir_values import Array, Lanes, MachineFault, as_integer, signed
from tileir.gpu.ttir.code import Instruction
from tileir.interp.numerics import rounding
from tileir.ir import types as t
from tileir.ir.attributes import Rounding

if TYPE_CHECKING:
    from tests.gpu.ttir_machine import Frame

TF32, IEEE = 0, 2
_RESULTS = {"f16": t.F16, "bf16": t.BF16, "f32": t.F32, "f64": t.F64}


def _dot(frame: Frame, instruction: Instruction, lhs: Lanes, rhs: Lanes, acc: Lanes) -> Lanes:
    """Integers are signed, and wrap."""
    x, y, addend = (part.required("an operand of a product") for part in (lhs, rhs, acc))
    if x.shape[-1] != y.shape[-2]:
        raise MachineFault(f"a product of {x.shape} and {y.shape}")
    element = instruction.result_types[0].element
    if addend.dtype.kind == "u":
        total = signed(x).astype(np.int64) @ signed(y).astype(np.int64) + signed(addend)
        return Lanes(as_integer(total, element))
    precision = instruction.attributes["inputPrecision"]
    total = _factor(x, precision) @ _factor(y, precision) + addend.astype(np.float64)
    return Lanes(total if element == "f64" else rounding.narrowed(total, _RESULTS[element], Rounding.NEAREST_EVEN))


def _factor(x: Array, precision: object) -> Array:
    """f32 loses its low 13 bits unless the product is to be exact."""
    if x.dtype == np.float32 and precision == TF32:
        x = (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    elif x.dtype == np.float32 and precision != IEEE:
        raise MachineFault(f"a product of the precision {precision}")
    return x.astype(np.float64)


RULES = {"tt.dot": _dot}
