"""``tt.dot`` and ``tt.dot_scaled``: products of matrices.

The order of summation is the compiler's; here sums are taken in f64 and rounded once.
"""

from __future__ import annotations

import numpy as np

from tests.ttir_machine.frame import Frame
from tests.ttir_machine.values import Array, Lanes, MachineFault, as_integer, signed
from tileir.gpu.ttir.ir.code import Instruction
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import dtype_of
from tileir.numerics import formats, rounding

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


# ------------------------------------------------------------ block-scaled products

_E4M3, _E5M2, _E2M1, _BF16, _F16 = 0, 1, 4, 5, 6
_FACTORS = {_E4M3: t.F8E4M3FN, _E5M2: t.F8E5M2, _E2M1: t.F4E2M1FN, _BF16: t.BF16, _F16: t.F16}
"""By Triton's number of the element type."""


def _dot_scaled(frame: Frame, instruction: Instruction, *operands: Lanes) -> Lanes:
    """Each row of the left and each column of the right factor has scales for equal parts of it, in rows."""
    segments = instruction.attributes["operandSegmentSizes"]
    assert isinstance(segments, tuple)
    given = (part.required("an operand of a product") for part in operands)
    lhs, rhs, acc, lhs_scale, rhs_scale = (next(given) if count else None for count in segments)
    assert lhs is not None and rhs is not None and acc is not None
    first = _scaled(_numbers(instruction, "a_elem_type", "lhs_k_pack", lhs), lhs_scale)
    second = _scaled(_numbers(instruction, "b_elem_type", "rhs_k_pack", rhs.swapaxes(-1, -2)), rhs_scale)
    total = first @ second.swapaxes(-1, -2) + acc.astype(np.float64)
    element = _RESULTS[instruction.result_types[0].element]
    return Lanes(rounding.narrowed(total, element, Rounding.NEAREST_EVEN))


def _numbers(instruction: Instruction, kind: str, packing: str, x: Array) -> Array:
    """The factors, whose last axis is that of the sum; those of 4 bits lie two in a byte, the low half first."""
    number = instruction.attributes[kind]
    element = _FACTORS[number]  # type: ignore[index]
    if element is t.F4E2M1FN:
        if not instruction.attributes.get(packing, True):
            raise MachineFault("factors of 4 bits packed along the other axis")
        x = np.stack((x & 0xF, x >> 4), -1).reshape(*x.shape[:-1], -1)
    return formats.widened(np.ascontiguousarray(x).view(dtype_of(element)), element)


def _scaled(factor: Array, scale: Array | None) -> Array:
    """Scales in bytes are powers of two, others floats of 8 bits."""
    if scale is None:
        return factor
    element = t.F8E8M0FNU if scale.dtype == np.uint8 else t.F8E4M3FN
    values = formats.widened(scale.view(dtype_of(element)), element)
    return factor * np.repeat(values, factor.shape[-1] // scale.shape[-1], -1)


RULES = {"tt.dot": _dot, "tt.dot_scaled": _dot_scaled}
