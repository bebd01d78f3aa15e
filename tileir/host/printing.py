"""Tiles as text by a C format string (spec: misc#print_tko).

Knows: how a format string is cut into literal text and conversions, and how a tile is laid out: a scalar as it is, a
ranked tile as nested brackets with ``, `` between elements, each formatted by the conversion as written.
Does not know: how one number is formatted (`printf`).

A ``%`` that no complete C conversion follows prints its operand in the default style of its type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tileir.host.printf import Conversion, Number, default_letter, format_number, mismatch
from tileir.ir.types import ElementType, PointerType
from tileir.numerics.formats import widened

Element = ElementType | PointerType
Formatter = Callable[[Sequence[np.ndarray]], str]

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>(?:[1-9]\d*)?)(?:\.(?P<precision>\d*))?"
    r"(?:hh|h|ll|l|L|q|j|z|t)?(?P<letter>[diouxXeEfFgGaAcspn])"
)

_DIGITS = 9
"""Digits of a width or precision that are read."""


def formatter(format: str, elements: Sequence[Element]) -> tuple[Formatter, str | None]:
    """What makes the text of tiles of these elements, and what is wrong with the conversions, if anything is."""
    parts = list(_parts(format, elements))
    wrong = [mismatch(part, element) for part, element in _paired(parts, elements)]

    def text(tiles: Sequence[np.ndarray]) -> str:
        remaining = iter(zip(tiles, elements))
        return "".join(part if isinstance(part, str) else _tile_text(part, *next(remaining)) for part in parts)

    return text, next((problem for problem in wrong if problem), None)


def _paired(parts: list[str | Conversion], elements: Sequence[Element]) -> Iterator[tuple[Conversion, Element]]:
    return zip((part for part in parts if isinstance(part, Conversion)), elements)


def _parts(format: str, elements: Sequence[Element]) -> Iterator[str | Conversion]:
    """Literal text and one conversion per operand, in order. A ``%`` without an operand is text."""
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
        match["flags"], _number(match["width"]), None if precision is None else _number(precision), match["letter"]
    )


def _number(digits: str) -> int:
    """A width or precision; an enormous one becomes one that is too large too."""
    return int(digits.lstrip("0")[:_DIGITS] or 0)


def _tile_text(conversion: Conversion, tile: np.ndarray, element: Element) -> str:
    texts = [format_number(conversion, number, element) for number in _numbers(tile, element)]
    for extent in reversed(np.shape(tile)):
        texts = [f"[{', '.join(texts[k : k + extent])}]" for k in range(0, len(texts), extent)]
    return texts[0]


def _numbers(tile: np.ndarray, element: Element) -> list[Number]:
    """The elements in row-major order: floats as f64, integers by their signed reading, i1 as 0 and 1."""
    if isinstance(element, ElementType) and element.is_float:
        tile = widened(np.asarray(tile), element)
    numbers: list[Number] = np.ravel(tile).tolist()
    return numbers
