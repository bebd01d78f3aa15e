"""Functions without an exact definition: exp, log, powers, trigonometry, and the approximate modes.

The corner cases (spec: functions#semantics) are those of the C functions behind NumPy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.numerics.bits import Array, signed
from tileir.numerics.rounding import Function, narrowed

_APPROX_DIVISOR_LIMIT = np.float32(2.0**126)


def evaluated(function: Callable[..., Array]) -> Callable[[t.ElementType], Function]:
    """Return `function`, of f64 or long double, as a function on arrays of an element type."""

    def for_element(element: t.ElementType) -> Function:
        working = np.longdouble if element is t.F64 else np.float64

        def evaluate(*operands: Array) -> Array:
            exact = function(*(operand.astype(working) for operand in operands))
            if element is t.F64:
                return exact.astype(np.float64)
            return narrowed(exact, element, Rounding.NEAREST_EVEN)

        return evaluate

    return for_element


exp = evaluated(np.exp)
exp2 = evaluated(np.exp2)
log = evaluated(np.log)
log2 = evaluated(np.log2)
sin = evaluated(np.sin)
cos = evaluated(np.cos)
tan = evaluated(np.tan)
sinh = evaluated(np.sinh)
cosh = evaluated(np.cosh)
tanh = evaluated(np.tanh)
rsqrt = evaluated(lambda source: 1 / np.sqrt(source))
atan2 = evaluated(np.arctan2)
"""The first operand is the ordinate."""
power = evaluated(np.power)


def integer_power(element: t.ElementType) -> Function:
    """Return `source` to a power that is read as a signed integer; to the power 0 every number and NaN give 1."""
    function = power(element)
    return lambda source, exponent: function(source, signed(exponent))


def approximate_quotient(lhs: Array, rhs: Array) -> Array:
    """Divide f32 with `approx`: above 2^126 the reciprocal of the divisor is flushed to zero."""
    vanishing = np.abs(rhs) > _APPROX_DIVISOR_LIMIT
    quotient = np.divide(lhs, rhs)
    return np.where(vanishing, lhs * np.copysign(np.float32(0), rhs), quotient) if vanishing.any() else quotient
