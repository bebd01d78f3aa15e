"""Text of floats and strings, both ways (spec: literals#numbers): decimal or hexadecimal, for every float type.

Works on integers alone: nothing is lost to the rounding of the host, and NumPy is not imported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from math import copysign, isinf, isnan

from tileir.ir.escaping import as_bytes
from tileir.ir.types import F8E8M0FNU, ElementType
from tileir.text.reading.lexer import BARE_NAME

_SHORT_DIGITS = 6
_SHORT_FRACTION = 6
_PLAIN_ZEROS = 3
"""More zeros than this before or after the digits make the long form scientific."""
_BITS_PER_DIGIT = (196, 59)
"""The ratio that stands for the bits in a decimal digit: slightly more than the base-2 logarithm of 10."""


@dataclass(frozen=True)
class _Decimal:
    """``digits * 10**exponent``, where the digits neither begin nor end with a zero."""

    digits: str
    exponent: int

    @property
    def power(self) -> int:
        """The power of ten of the first digit."""
        return self.exponent + len(self.digits) - 1


# ---------------------------------------------------------------- writing


@lru_cache(maxsize=4096)
def float_text(bits: int, element: ElementType) -> str:
    """Return the canonical spelling of the pattern `bits` of the float type `element`; tf32 patterns have 19 bits."""
    layout = element.layout
    if is_special(bits, element):
        return _hex(bits)
    sign = "-" if layout.signed and bits & layout.sign_bit else ""
    mantissa, power = _magnitude(bits, element)
    short = sign + _short_text(mantissa, power)
    if _nearest_exact(short, element) == bits:
        return short
    precision = 2 + _digits(layout.precision)
    return _long_text(sign, _decimal(mantissa, power, precision), precision) or _hex(bits)


def is_special(bits: int, element: ElementType) -> bool:
    """Return whether the pattern is an infinity or a NaN."""
    layout = element.layout
    magnitude = bits & layout.magnitude_mask
    if layout.infinity is not None:
        return magnitude >= layout.infinity
    return layout.has_nan and magnitude == layout.magnitude_mask


def _hex(bits: int) -> str:
    return f"0x{bits:X}"


def _magnitude(bits: int, element: ElementType) -> tuple[int, int]:
    """Return the absolute value of a finite pattern as ``mantissa * 2**power``."""
    layout = element.layout
    exponent, fraction = divmod(bits & layout.magnitude_mask, 1 << layout.fraction)
    if exponent == 0 and element is not F8E8M0FNU:
        return fraction, 1 - layout.bias - layout.fraction
    return fraction | 1 << layout.fraction, exponent - layout.bias - layout.fraction


def _digits(bits: int) -> int:
    """Return the decimal digits that `bits` bits are surely worth."""
    return bits * _BITS_PER_DIGIT[1] // _BITS_PER_DIGIT[0]


def _short_text(mantissa: int, power: int) -> str:
    if mantissa == 0:
        return "0.000000e+00"
    decimal = _decimal(mantissa, power, _SHORT_DIGITS)
    fraction = decimal.digits[1:].ljust(_SHORT_FRACTION, "0")
    return f"{decimal.digits[0]}.{fraction}e{decimal.power:+03d}"


def _long_text(sign: str, decimal: _Decimal, precision: int) -> str | None:
    """Return scientific or positional text; None where that would look like an integer."""
    digits, exponent = decimal.digits, decimal.exponent
    if exponent < 0:
        scientific = decimal.power < -_PLAIN_ZEROS
    else:
        scientific = exponent > _PLAIN_ZEROS or decimal.power >= precision
    if scientific:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{decimal.power:+d}"
    if exponent >= 0:
        return None
    if decimal.power >= 0:
        return f"{sign}{digits[:exponent]}.{digits[exponent:]}"
    return f"{sign}0.{'0' * (-decimal.power - 1)}{digits}"


def _decimal(mantissa: int, power: int, precision: int) -> _Decimal:
    """Return ``mantissa * 2**power`` (not zero) in at most `precision` digits, as the reference printer rounds it.

    Surplus digits are cut off first and only then rounded half up by one digit, so the result is not always the
    nearest; step 2 fixes this (spec: literals#numbers).
    """
    number, exponent = _exact(mantissa, power)
    ratio, digits = _BITS_PER_DIGIT
    surplus = number.bit_length() - (ratio * precision + digits - 1) // digits
    if surplus > 0:
        cut = _digits(surplus)
        number //= 10**cut
        exponent += cut
    return _rounded(*_stripped(str(number), exponent), precision)


def _exact(mantissa: int, power: int) -> tuple[int, int]:
    """Return ``mantissa * 2**power`` as an integer and a power of ten."""
    zeros = (mantissa & -mantissa).bit_length() - 1
    mantissa, power = mantissa >> zeros, power + zeros
    return (mantissa << power, 0) if power >= 0 else (mantissa * 5**-power, power)


def _rounded(digits: str, exponent: int, precision: int) -> _Decimal:
    if len(digits) <= precision:
        return _Decimal(digits, exponent)
    kept = int(digits[:precision]) + (digits[precision] >= "5")
    return _Decimal(*_stripped(str(kept), exponent + len(digits) - precision))


def _stripped(digits: str, exponent: int) -> tuple[str, int]:
    kept = digits.rstrip("0")
    return kept, exponent + len(digits) - len(kept)


def is_nan(bits: int, element: ElementType) -> bool:
    layout = element.layout
    infinite = layout.has_inf and not bits & ((1 << layout.fraction) - 1)
    return is_special(bits, element) and not infinite


def exact_integer(bits: int, element: ElementType) -> int | None:
    """Return the value of a finite pattern if it is an integer that is not negative, nor negative zero."""
    layout = element.layout
    if is_special(bits, element) or bits > layout.magnitude_mask:
        return None
    mantissa, power = _magnitude(bits, element)
    if power >= 0:
        return mantissa << power
    return None if mantissa & ((1 << -power) - 1) else mantissa >> -power


# ---------------------------------------------------------------- reading


def float_bits(text: str, element: ElementType) -> int:
    """Return the pattern of the decimal literal `text`: rounded to f64, then to `element`, both to nearest even.

    Raises OverflowError when the literal overflows f64.
    """
    value = float(text)
    if isinf(value):
        raise OverflowError(f"'{text}' is too large for f64")
    return float_pattern(value, element)


def float_pattern(value: float, element: ElementType) -> int:
    """Return the pattern of a Python float, rounded to nearest even; a NaN gives the quiet one with all other bits
    clear."""
    layout = element.layout
    if isnan(value):
        return _overflow(element) if layout.nan is None else layout.nan
    if isinf(value):
        return _signed(_overflow(element), value < 0, element)
    numerator, denominator = abs(value).as_integer_ratio()
    return _signed(_nearest(numerator, denominator, element), copysign(1.0, value) < 0, element)


def _nearest_exact(text: str, element: ElementType) -> int:
    """Return the pattern of the short form `text`, rounded only once."""
    digits, _, power = text.lstrip("-").partition("e")
    number, exponent = int(digits.replace(".", "")), int(power) - _SHORT_FRACTION
    if exponent >= 0:
        magnitude = _nearest(number * 10**exponent, 1, element)
    else:
        magnitude = _nearest(number, 10**-exponent, element)
    return _signed(magnitude, text.startswith("-"), element)


def _signed(magnitude: int, negative: bool, element: ElementType) -> int:
    """Apply the sign, which an unsigned format drops."""
    layout = element.layout
    return magnitude | (layout.sign_bit if negative and layout.signed else 0)


def _nearest(numerator: int, denominator: int, element: ElementType) -> int:
    """Return the pattern without sign nearest to a ratio that is not negative, ties to even."""
    layout = element.layout
    smallest = layout.lowest_exponent
    exponent = max(_floor_log2(numerator, denominator), smallest) if numerator else smallest
    quantum = exponent - layout.fraction
    if quantum >= 0:
        denominator <<= quantum
    else:
        numerator <<= -quantum
    pattern = ((exponent - smallest) << layout.fraction) + _divide_even(numerator, denominator)
    if element is F8E8M0FNU:
        # No zero: the smallest value has the pattern 0, and so has everything below it.
        pattern = max(pattern - 1, 0)
    return min(pattern, _overflow(element))


def _floor_log2(numerator: int, denominator: int) -> int:
    guess = numerator.bit_length() - denominator.bit_length()
    shifted = numerator >= denominator << guess if guess >= 0 else numerator << -guess >= denominator
    return guess if shifted else guess - 1


def _divide_even(numerator: int, denominator: int) -> int:
    quotient, rest = divmod(numerator, denominator)
    return quotient + (2 * rest > denominator or (2 * rest == denominator and quotient & 1))


@cache
def _overflow(element: ElementType) -> int:
    """Return the pattern that stands for everything too large: infinity, else NaN, else the largest value."""
    layout = element.layout
    return layout.magnitude_mask if layout.infinity is None else layout.infinity


_PLAIN_STRING = re.compile(r"[ !#-\[\]-~]*")
_BARE_NAME = re.compile(BARE_NAME, re.ASCII)


def string_text(value: str) -> str:
    """Return `value` in quotes; everything but printable ASCII is escaped byte by byte."""
    if _PLAIN_STRING.fullmatch(value):
        return f'"{value}"'
    return f'"{"".join(map(_escaped, as_bytes(value)))}"'


def _escaped(byte: int) -> str:
    if byte == ord("\\"):
        return "\\\\"
    return chr(byte) if 0x20 <= byte < 0x7F and byte != ord('"') else f"\\{byte:02X}"


def name_text(name: str) -> str:
    """Return a dictionary key or hint key: bare where it can be."""
    return name if _BARE_NAME.fullmatch(name) else string_text(name)


def symbol_text(name: str) -> str:
    return "@" + name_text(name)
