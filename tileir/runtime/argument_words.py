"""Kernel arguments as words after ``tileir run FILE``: ``x=f32[64,64]:randn``, ``@a.npy``, ``i32:7``.

Knows: the grammar of these words, and which parameter each belongs to.
Does not know: how arrays are filled (`fill`), nor how a kernel is launched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tileir.ir import types as t
from tileir.ir.usage import UsageError

GRAMMAR = """\
arguments, in the order of the kernel's parameters or as NAME=...:
  f32[1024,1024]:randn    an array; after the colon one of
                          zeros, ones, arange, a number,
                          rand        floats in [0, 1), integers of all values
                          rand:LO:HI  numbers in [LO, HI)
                          randn       normally distributed floats
  @a.npy                  an array from a file
  i32:7, f32:1.5, i1:true a scalar
  7, 1.5, true            a scalar of the parameter's type
"""

_NAME = re.compile(r"([A-Za-z_$.][\w$.\-]*|\d+)=(.*)", re.DOTALL)
_ARRAY = re.compile(r"(\w+)\[([^\]]*)\](?::(.*))?", re.DOTALL)
_SCALAR = re.compile(r"([A-Za-z]\w*):(.*)", re.DOTALL)
_FILLS = ("zeros", "ones", "arange", "rand", "randn")


@dataclass(frozen=True)
class Fill:
    """The contents of an array: `how` is one of the words above or ``value``; `numbers` what they need."""

    how: str
    numbers: tuple[int | float, ...] = ()


@dataclass(frozen=True)
class ArrayWord:
    element: t.ElementType
    shape: tuple[int, ...]
    fill: Fill


@dataclass(frozen=True)
class FileWord:
    path: str


@dataclass(frozen=True)
class ScalarWord:
    """A number; `element` is None where the parameter gives its type."""

    element: t.ElementType | None
    value: int | float


Word = ArrayWord | FileWord | ScalarWord


def assigned(words: Sequence[str], parameters: Sequence[str]) -> list[Word]:
    """One parsed word for every parameter name, in the order of the parameters."""
    found: dict[int, Word] = {}
    position = 0
    for word in words:
        match = _NAME.fullmatch(word)
        if match is None:
            where, position = position, position + 1
        else:
            where = _position(match[1], parameters)
        if where >= len(parameters):
            raise UsageError(f"expected {len(parameters)} arguments, got more: '{word}'")
        if where in found:
            raise UsageError(f"parameter '{parameters[where]}' is given twice")
        found[where] = _read(parameters[where], word if match is None else match[2])
    missing = [name for where, name in enumerate(parameters) if where not in found]
    if missing:
        raise UsageError(f"no argument for {', '.join(repr(name) for name in missing)}")
    return [found[where] for where in range(len(parameters))]


def _read(parameter: str, word: str) -> Word:
    try:
        return parsed(word)
    except UsageError as error:
        raise UsageError(f"parameter '{parameter}': {error}") from None


def missing(words: Sequence[str], parameters: Sequence[str]) -> list[str]:
    """The parameters for which there is no word; none if the words do not fit anyway."""
    named = {match[1] for word in words if (match := _NAME.fullmatch(word))}
    count = sum(_NAME.fullmatch(word) is None for word in words)
    if not named <= set(parameters):
        return []
    return [name for name in parameters[count:] if name not in named]


def _position(name: str, parameters: Sequence[str]) -> int:
    if name not in parameters:
        raise UsageError(f"no parameter '{name}'; the kernel has {', '.join(parameters) or 'none'}")
    return parameters.index(name)


def parsed(word: str) -> Word:
    """The meaning of one word."""
    if word.startswith("@"):
        return FileWord(word[1:])
    match = _ARRAY.fullmatch(word)
    if match:
        element = _element(match[1], word)
        return ArrayWord(element, _shape(match[2], word), _fill(match[3] or "zeros", element, word))
    match = _SCALAR.fullmatch(word)
    if match:
        element = _element(match[1], word)
        return ScalarWord(element, _number(match[2], word, element))
    return ScalarWord(None, _number(word, word, None))


def _element(name: str, word: str) -> t.ElementType:
    element = t.ELEMENTS.get(name)
    if element is None:
        raise UsageError(f"'{word}': expected an element type ({', '.join(t.ELEMENTS)}), got '{name}'")
    return element


def _shape(text: str, word: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(extent) for extent in re.split(r"[,x]", text)) if text.strip() else ()
    except ValueError:
        raise UsageError(f"'{word}': expected extents such as [64,64], got [{text}]") from None
    if any(extent < 0 for extent in shape):
        raise UsageError(f"'{word}': extents cannot be negative, got [{text}]")
    return shape


def _fill(text: str, element: t.ElementType, word: str) -> Fill:
    how, *bounds = text.split(":")
    if how == "randn" and element.is_int:
        raise UsageError(f"'{word}': randn makes floats, got {element.name}; rand:LO:HI makes integers")
    if how in _FILLS and not bounds:
        return Fill(how)
    if how == "rand" and len(bounds) == 2:
        low, high = (_number(bound, word, element, bounded=False) for bound in bounds)
        if low >= high:
            raise UsageError(f"'{word}': expected rand:LO:HI with LO < HI")
        return Fill("rand", (low, high))
    if not bounds and re.match(r"[-+.\d]|inf|nan|true|false", how):
        return Fill("value", (_number(how, word, element),))
    raise UsageError(f"'{word}': expected {', '.join(_FILLS)}, rand:LO:HI or a number, got '{text}'")


def _number(text: str, word: str, element: t.ElementType | None, bounded: bool = True) -> int | float:
    """The number in `text`, which must be an integer in the range of `element` if that is an integer type."""
    value: int | float
    try:
        value = _integer(text) if element is None or element.is_int else float(text)
    except ValueError:
        value = _float(text, word, element)
    if element is not None and element.is_int and bounded:
        low, high = -(1 << element.bits >> 1), (1 << element.bits) - 1
        if not low <= value <= high:
            raise UsageError(f"'{word}': expected {element.name}, from {low} to {high}, got {text}")
    return value


def _integer(text: str) -> int:
    return {"true": 1, "false": 0}[text] if text in ("true", "false") else int(text, 0)


def _float(text: str, word: str, element: t.ElementType | None) -> float:
    if element is not None and element.is_int:
        raise UsageError(f"'{word}': expected an integer, got '{text}'")
    try:
        return float(text)
    except ValueError:
        if element is not None:
            raise UsageError(f"'{word}': expected a number, got '{text}'") from None
        forms = "a number, an array such as f32[64,64]:randn or a file such as @a.npy"
        raise UsageError(f"expected {forms}, got '{word}'\n  hint: see 'tileir run --help'") from None
