"""One number as text, as the C function ``printf`` writes it.

Knows: the conversions d i u o x X c p, e f g a in both cases, with flags, width and precision.
Does not know: tiles or format strings (`printing`).

Unsigned conversions read an integer by the width of its element type. A conversion that does not fit the element is
undefined in C; here it does the nearest sensible thing, and `mismatch` says so.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tileir.ir.types import I1, ElementType, PointerType

Number = int | float
Element = ElementType | PointerType

_FLOATS = "eEfFgGaA"
_UNSIGNED = "ouxXp"
_F64_FRACTION_DIGITS = 13
_MAX_FIELD = 1 << 12
"""Widths and precisions are cut to this, so that a format cannot ask for gigabytes."""


class Conversion(NamedTuple):
    """``%`` flags width . precision letter."""

    flags: str
    width: int
    precision: int | None
    letter: str


def default_letter(element: Element) -> str:
    """The conversion of a ``%`` that stands alone."""
    return "p" if isinstance(element, PointerType) else "f" if element.is_float else "d"


def mismatch(conversion: Conversion, element: Element) -> str | None:
    """What is wrong with printing an `element` so, or None."""
    is_float = isinstance(element, ElementType) and element.is_float
    if conversion.letter not in "sn" and (conversion.letter in _FLOATS) == is_float:
        return None
    return f"conversion '%{conversion.letter}' does not fit {element!r}; the output is undefined"


def format_number(conversion: Conversion, number: Number, element: Element) -> str:
    """The number in its field."""
    flags, width, precision, letter = conversion
    precision = None if precision is None else min(precision, _MAX_FIELD)
    if letter in "sn":
        letter, precision = default_letter(element), None
    if letter in _FLOATS:
        sign, prefix, digits = _float_text(float(number), flags, precision, letter)
        zeros = math.isfinite(number)
    elif isinstance(number, float) and not math.isfinite(number):
        sign, prefix, digits = _float_text(number, flags, None, "f")
        zeros = False
    elif letter == "c":
        sign, prefix, digits, zeros = "", "", chr(int(number) & 0xFF), False
    else:
        sign, prefix, digits = _integer_text(_reading(int(number), element, letter), flags, precision, letter)
        zeros = precision is None
    return _padded(sign, prefix, digits, flags if zeros else flags.replace("0", ""), min(width, _MAX_FIELD))


def _padded(sign: str, prefix: str, digits: str, flags: str, width: int) -> str:
    fill = width - len(sign) - len(prefix) - len(digits)
    if "-" in flags:
        return sign + prefix + digits + " " * fill
    if "0" in flags:
        return sign + prefix + "0" * fill + digits
    return " " * fill + sign + prefix + digits


def _sign(negative: bool, flags: str) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _reading(number: int, element: Element, letter: str) -> int:
    """The signed number, or its bit pattern for an unsigned conversion."""
    if letter not in _UNSIGNED or element is I1:
        return number
    return number % (1 << element.bits)


def _integer_text(number: int, flags: str, precision: int | None, letter: str) -> tuple[str, str, str]:
    """Sign, prefix and digits."""
    if letter == "p":
        return "", "0x", f"{number:x}"
    digits = f"{abs(number):{letter if letter in 'oxX' else 'd'}}"
    digits = "" if precision == 0 and number == 0 else digits.rjust(precision or 1, "0")
    if letter == "o" and "#" in flags and not digits.startswith("0"):
        digits = "0" + digits
    prefix = "0" + letter if letter in "xX" and "#" in flags and number else ""
    return _sign(number < 0, flags) if letter in "di" else "", prefix, digits


def _float_text(number: float, flags: str, precision: int | None, letter: str) -> tuple[str, str, str]:
    """Sign, prefix and digits."""
    sign = _sign(math.copysign(1.0, number) < 0, flags)
    magnitude = abs(number)
    if not math.isfinite(magnitude):
        word = "nan" if math.isnan(magnitude) else "inf"
        return sign, "", word.upper() if letter.isupper() else word
    alternate = "#" if "#" in flags else ""
    if letter in "aA":
        digits = _hexadecimal(magnitude, precision, bool(alternate))
        return (sign, "0X", digits.upper()) if letter == "A" else (sign, "0x", digits)
    return sign, "", f"%{alternate}.{6 if precision is None else precision}{letter}" % magnitude


def _hexadecimal(magnitude: float, precision: int | None, point: bool) -> str:
    """``1.8p+1``: a leading digit, hexadecimal fraction digits, a binary exponent; without precision all that count."""
    mantissa, _, exponent = magnitude.hex().removeprefix("0x").partition("p")
    leading, _, fraction = mantissa.partition(".")
    fraction = fraction.ljust(_F64_FRACTION_DIGITS, "0")
    if precision is None:
        fraction = fraction.rstrip("0")
    elif precision < _F64_FRACTION_DIGITS:
        rounded = _rounded(int(leading + fraction, 16), 4 * (_F64_FRACTION_DIGITS - precision))
        leading, fraction = f"{rounded >> 4 * precision:x}", f"{rounded:0{precision + 1}x}"[1:]
    else:
        fraction = fraction.ljust(precision, "0")
    return f"{leading}{'.' if fraction or point else ''}{fraction}p{exponent}"


def _rounded(number: int, shift: int) -> int:
    """number / 2^shift to the nearest integer, ties to even."""
    quotient, rest = divmod(number, 1 << shift)
    half = 1 << (shift - 1)
    return quotient + (rest > half or (rest == half and quotient & 1 == 1))
