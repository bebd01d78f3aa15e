"""Python and NumPy numbers as scalar arguments."""

from __future__ import annotations

import math
import operator
from functools import cache
from typing import SupportsFloat, cast

import ml_dtypes
import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import DTYPES
from tileir.numerics.formats import encoded

_NARROW_FLOATS = (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu)


class DoesNotFit(Exception):
    """A number that the element type cannot hold."""


def scalar(value: object, element: t.ElementType) -> np.generic | None:
    """Return `value` as a number of `element`; None if it is no number of the kind. Raises `DoesNotFit`.

    An integer fits if either its signed or its unsigned reading does; a float is rounded to nearest, and fits unless
    that makes an infinity of a finite number.
    """
    if element.is_float:
        number = _as_float(value)
        return None if number is None else _float(number, element)
    number = _as_int(value)
    return None if number is None else _integer(number, element)


def _as_int(value: object) -> int | None:
    if isinstance(value, np.bool_):
        return int(value)
    if getattr(value, "shape", ()) != ():
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _as_float(value: object) -> float | None:
    if isinstance(value, (float, np.floating, *_NARROW_FLOATS)):
        return float(cast(SupportsFloat, value))
    number = _as_int(value)
    if number is None:
        return _single_float(value)
    try:
        return float(number)
    except OverflowError:
        raise DoesNotFit from None


def _single_float(value: object) -> float | None:
    """Return a NumPy array or torch tensor of rank 0 that holds a float."""
    if getattr(value, "shape", None) != () or not hasattr(value, "__float__"):
        return None
    try:
        return float(cast(SupportsFloat, value))
    except (TypeError, ValueError, RuntimeError):
        return None


def _integer(number: int, element: t.ElementType) -> np.generic:
    if not -(1 << element.bits >> 1) <= number < 1 << element.bits:
        raise DoesNotFit
    dtype = DTYPES[element]
    if element is t.I1:
        return dtype.type(number != 0)
    signed = number - (1 << element.bits if number >> (element.bits - 1) > 0 else 0)
    return dtype.type(signed)


def _float(number: float, element: t.ElementType) -> np.generic:
    if element is t.F64:
        return np.float64(number)
    layout = element.layout
    negative = math.copysign(1.0, number) < 0
    if not layout.signed and (negative or (number == 0 and element is t.F8E8M0FNU)):
        raise DoesNotFit
    if (math.isinf(number) and not layout.has_inf) or (math.isnan(number) and not layout.has_nan):
        raise DoesNotFit
    return _rounded(number, element)


def _rounded(number: float, element: t.ElementType) -> np.generic:
    """Return the nearest number of `element`; an infinity stays one."""
    if abs(number) > _limit(element) and not math.isinf(number):
        raise DoesNotFit
    if math.isinf(number) or element in (t.F32, t.F16):
        return cast(np.generic, DTYPES[element].type(number))
    mode = Rounding.ZERO if element is t.F8E8M0FNU else Rounding.NEAREST_EVEN
    with np.errstate(all="ignore"):
        return cast(np.generic, encoded(np.array([number]), element, mode)[0])


@cache
def _limit(element: t.ElementType) -> float:
    """Return the largest magnitude that rounds to the largest finite number or below it."""
    layout = element.layout
    top = math.frexp(layout.max_finite)[1]
    half_step = math.ldexp(1.0, top - layout.precision - 1)
    return math.nextafter(layout.max_finite + half_step, 0.0)
