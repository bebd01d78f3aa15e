"""An independent, slow oracle: floats as exact fractions, rounded one at a time by definition."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import bits_dtype, dtype_of

IEEE_MODES = (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)
BASE_FLOATS = (t.F16, t.BF16, t.F32, t.F64)
NAN = "nan"


def smallest_exponent(element: t.ElementType) -> int:
    """Exponent of the smallest normal number."""
    layout = element.format
    return -layout.bias if element is t.F8E8M0FNU else 1 - layout.bias


def quantum(magnitude: Fraction, element: t.ElementType) -> Fraction:
    """Distance between neighbours of the format around `magnitude` (> 0)."""
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    return Fraction(2) ** (max(exponent, smallest_exponent(element)) - element.format.fraction)


def rounded(value: Fraction, element: t.ElementType, mode: Rounding) -> float | Fraction:
    """The IEEE rounding of an exact non-zero value: a fraction, or an infinity on overflow."""
    step = quantum(abs(value), element)
    count, rest = divmod(value, step)
    up = {
        Rounding.NEAREST_EVEN: rest > step / 2 or (rest == step / 2 and count % 2 == 1),
        Rounding.NEAREST_AWAY: rest > step / 2 or (rest == step / 2 and value > 0),
        Rounding.ZERO: value < 0 and rest != 0,
        Rounding.NEGATIVE_INF: False,
        Rounding.POSITIVE_INF: rest != 0,
    }[mode]
    result = (count + up) * step
    largest = Fraction(element.format.max_finite)
    if abs(result) <= largest:
        return result
    to_largest = mode is Rounding.ZERO or (mode, value > 0) in (
        (Rounding.NEGATIVE_INF, True),
        (Rounding.POSITIVE_INF, False),
    )
    if to_largest:
        return largest if value > 0 else -largest
    return math.inf if value > 0 else -math.inf


def as_float(value: float | Fraction, negative: bool) -> float:
    """A rounded value as a Python float (every format is a subset of f64); `negative` is the sign of a zero."""
    if value == 0:
        return -0.0 if negative else 0.0
    return float(value)


def random_patterns(element: t.ElementType, count: int, seed: int) -> np.ndarray:
    """Random bit patterns of `element` mixed with the special and extreme ones and with simple numbers."""
    generator = random.Random(seed)
    width = element.format.signed + element.format.exponent + element.format.fraction
    fraction = element.format.fraction
    ones = (1 << element.format.exponent) - 1
    top = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1]
    top += [(ones << fraction) - 1, (ones << fraction) - 2, ones << fraction, (ones << fraction) + (1 << fraction >> 1)]
    simple = [(element.format.bias + shift) << fraction for shift in (-fraction - 1, -1, 0, 1, fraction + 1)]
    special = [bits for bits in (*top, *simple, simple[2] + 1) if bits >= 0]
    sign = 1 << (width - 1)
    special += [bits | sign for bits in special]
    picks = [
        generator.choice(special) if generator.random() < 0.3 else generator.getrandbits(width) for _ in range(count)
    ]
    return np.array([pick & ((1 << width) - 1) for pick in picks], np.uint64)


def near(bits: np.ndarray, element: t.ElementType, seed: int) -> np.ndarray:
    """Patterns a few binades and bits away from `bits`, often of the other sign, so that sums cancel."""
    generator = random.Random(seed)
    layout = element.format
    width = layout.exponent + layout.fraction
    moved = []
    for pattern in bits.tolist():
        shift = generator.choice((0, 0, 1, -1, 2, -2, layout.precision, -layout.precision)) << layout.fraction
        magnitude = (
            (pattern & ((1 << width) - 1)) + shift + generator.choice((0, 0, 1, -1, 3, 1 << layout.fraction >> 1))
        )
        magnitude = min(max(magnitude, 0), (((1 << layout.exponent) - 1) << layout.fraction) - 1)
        moved.append(magnitude | generator.getrandbits(1) << width)
    return np.array(moved, np.uint64)


def from_patterns(bits: np.ndarray, element: t.ElementType) -> np.ndarray:
    """Values of `element` from their patterns."""
    return bits.astype(bits_dtype(element)).view(dtype_of(element))


def same(actual: np.ndarray, expected: list[float]) -> np.ndarray:
    """Mask of equal floats, signs of zeros included; any NaN equals any NaN."""
    left, right = actual.astype(np.float64), np.array(expected)
    return ((left == right) & (np.signbit(left) == np.signbit(right))) | (np.isnan(left) & np.isnan(right))
