"""The output of `print_tko` and where it goes (spec: misc#print_tko): tiles as text by a C format string.

A scalar is printed as it is, a ranked tile as nested brackets with ``, `` between elements, each formatted by the
conversion as written. A ``%`` that no complete C conversion follows prints its operand in the default style of its
type. Unsigned conversions read an integer by the width of its element type. A conversion that does not fit the element
is undefined in C; here it does the nearest sensible thing, and `mismatch` says so.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TextIO

import numpy as np

from tileir.ir.types import I1, ElementType, PointerType
from tileir.numerics.formats import widened

Output = TextIO | Callable[[str], object] | None
"""A text stream, or a function that takes each text; None is standard output, as it is when something is written."""


def write(output: Output, text: str) -> None:
    """Hand a text to the output, at once."""
    if output is None:
        sys.stdout.write(text)
    elif callable(output):
        output(text)
    else:
        output.write(text)


def ignored(text: str) -> None:
    """Write a text nowhere: an output for what is run again."""


# ---------------------------------------------------------------- format strings

Element = ElementType | PointerType
Formatter = Callable[[Sequence[np.ndarray]], str]

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>(?:[1-9]\d*)?)(?:\.(?P<precision>\d*))?"
    r"(?:hh|h|ll|l|L|q|j|z|t)?(?P<letter>[diouxXeEfFgGaAcspn])"
)

_DIGITS = 9
"""Digits of a width or precision that are read."""


def formatter(format: str, elements: Sequence[Element]) -> tuple[Formatter, str | None]:
    """Return the function that formats tiles of these elements, and the fault of the conversions, if any."""
    parts = list(_parts(format, elements))
    wrong = [mismatch(part, element) for part, element in _paired(parts, elements)]

    def text(tiles: Sequence[np.ndarray]) -> str:
        remaining = iter(zip(tiles, elements))
        return "".join(part if isinstance(part, str) else _tile_text(part, *next(remaining)) for part in parts)

    return text, next((problem for problem in wrong if problem), None)


def _paired(parts: list[str | Conversion], elements: Sequence[Element]) -> Iterator[tuple[Conversion, Element]]:
    return zip((part for part in parts if isinstance(part, Conversion)), elements)


def _parts(format: str, elements: Sequence[Element]) -> Iterator[str | Conversion]:
    """Yield literal text and one conversion per operand, in order. A ``%`` without an operand is text."""
    waiting = iter(elements)
    position = 0
    while (found := format.find("%", position)) >= 0:
        yield format[position:found]
        position = found + 1
        if format.startswith("%", position):
            yield "%"
            position += 1
            continue
        element = next(waiting, None)
        match = None if element is None else _CONVERSION.match(format, found)
        if element is None:
            yield "%"
        elif match is None:
            yield Conversion("", 0, None, default_letter(element))
        else:
            yield _conversion(match)
            position = match.end()
    yield format[position:]


def _conversion(match: re.Match[str]) -> Conversion:
    precision = match["precision"]
    return Conversion(
        match["flags"], _field(match["width"]), None if precision is None else _field(precision), match["letter"]
    )


def _field(digits: str) -> int:
    """Return a width or precision; an enormous one becomes one that is too large too."""
    return int(digits.lstrip("0")[:_DIGITS] or 0)


def _tile_text(conversion: Conversion, tile: np.ndarray, element: Element) -> str:
    texts = [format_number(conversion, number, element) for number in _numbers(tile, element)]
    for extent in reversed(np.shape(tile)):
        texts = [f"[{', '.join(texts[k : k + extent])}]" for k in range(0, len(texts), extent)]
    return texts[0]


def _numbers(tile: np.ndarray, element: Element) -> list[Number]:
    """Return the elements in row-major order: floats as f64, integers by their signed reading, i1 as 0 and 1."""
    if isinstance(element, ElementType) and element.is_float:
        tile = widened(np.asarray(tile), element)
    numbers: list[Number] = np.ravel(tile).tolist()
    return numbers


# ---------------------------------------------------------------- one number


Number = int | float

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
    """Return the conversion of a ``%`` that stands alone."""
    return "p" if isinstance(element, PointerType) else "f" if element.is_float else "d"


def mismatch(conversion: Conversion, element: Element) -> str | None:
    """Return the fault of printing an `element` with this conversion, or None."""
    is_float = isinstance(element, ElementType) and element.is_float
    if conversion.letter not in "sn" and (conversion.letter in _FLOATS) == is_float:
        return None
    return f"conversion '%{conversion.letter}' does not fit {element!r}; the output is undefined"


def format_number(conversion: Conversion, number: Number, element: Element) -> str:
    """Return the number in its field."""
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
    """Return the signed number, or its bit pattern for an unsigned conversion."""
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
    """Format as ``1.8p+1``: a leading digit, hexadecimal fraction digits, a binary exponent; without precision all that
    count."""
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
    """Return number / 2^shift to the nearest integer, ties to even."""
    quotient, rest = divmod(number, 1 << shift)
    half = 1 << (shift - 1)
    return quotient + (rest > half or (rest == half and quotient & 1 == 1))
