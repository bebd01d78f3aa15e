"""Arguments of a launch from words of the command line: ``x=f32[64,64]:randn``, ``@a.npy``, ``i32:7``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tileir.command_line import fill
from tileir.command_line.fill import ArrayWord, FileWord, Fill, ScalarWord, Word
from tileir.ir import types as t
from tileir.ir.usage import UsageError
from tileir.runtime.arguments import Parameter
from tileir.runtime.module import Kernel, Module

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


def assigned(words: Sequence[str], parameters: Sequence[str]) -> list[Word]:
    """Return one parsed word for every parameter name, in the order of the parameters."""
    found: dict[int, Word] = {}
    position = 0
    for word in words:
        match = _NAME.fullmatch(word)
        if match is None:
            where, position = position, position + 1
        elif match[1] in parameters:
            where = parameters.index(match[1])
        else:
            raise UsageError(f"no parameter '{match[1]}'; the kernel has {', '.join(parameters) or 'none'}")
        if where >= len(parameters):
            raise UsageError(f"expected {len(parameters)} arguments, got more: '{word}'")
        if where in found:
            raise UsageError(f"parameter '{parameters[where]}' is given twice")
        try:
            found[where] = parsed(word if match is None else match[2])
        except UsageError as error:
            raise UsageError(f"parameter '{parameters[where]}': {error}") from None
    missing = [name for where, name in enumerate(parameters) if where not in found]
    if missing:
        raise UsageError(f"no argument for {', '.join(repr(name) for name in missing)}")
    return [found[where] for where in range(len(parameters))]


def missing(words: Sequence[str], parameters: Sequence[str]) -> list[str]:
    """Return the parameters for which there is no word; none if the words do not fit anyway."""
    named = {match[1] for word in words if (match := _NAME.fullmatch(word))}
    count = sum(_NAME.fullmatch(word) is None for word in words)
    if not named <= set(parameters):
        return []
    return [name for name in parameters[count:] if name not in named]


def parsed(word: str) -> Word:
    """Return the meaning of one word."""
    if word.startswith("@"):
        return FileWord(word[1:])
    match = _ARRAY.fullmatch(word)
    if match:
        element = _element(match[1], word)
        return ArrayWord(element, _shape(match[2], word), _fill(match[3] or "zeros", element, word))
    match = _SCALAR.fullmatch(word)
    if match:
        element = _element(match[1], word)
        return ScalarWord(element, _number(match[2], word, element, bounded=False))
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
    """Return the number in `text`, which must be an integer in the range of `element` if that is an integer type."""
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


# ---------------------------------------------------------------- values


@dataclass(frozen=True)
class Given:
    """The argument of a parameter. `before` is the checksum of an array before the launch, None for a scalar."""

    name: str
    element: t.ElementType
    value: np.ndarray | int | float
    before: str | None

    @property
    def array(self) -> np.ndarray:
        assert isinstance(self.value, np.ndarray)
        return self.value


def chosen_kernel(module: Module, name: str | None) -> Kernel:
    kernels = module.kernels
    if name is None and len(kernels) == 1:
        return next(iter(kernels.values()))
    found = kernels.get(name.removeprefix("@")) if name is not None else None
    if found is None:
        known = ", ".join(kernels) or "none"
        said = "say which kernel with --kernel" if name is None else f"no kernel '{name}'"
        raise UsageError(f"{said}; the program has {known}")
    return found


def given_values(kernel: Kernel, words: Sequence[str], seed: int, names: Sequence[str] | None = None) -> list[Given]:
    """Return the argument of each parameter; the words call the parameters by `names`, by default their own."""
    names = [parameter.name for parameter in kernel.parameters] if names is None else names
    parameters = [replace(parameter, name=name) for parameter, name in zip(kernel.parameters, names)]
    found = assigned(words, names)
    random = fill.seeded(seed)
    return [_value(parameter, word, random) for parameter, word in zip(parameters, found)]


def _value(parameter: Parameter, word: Word, random: fill.Random) -> Given:
    element = parameter.element
    if element is None:
        raise UsageError(f"parameter '{parameter.name}': a launch cannot pass a {parameter.type!r}")
    if isinstance(word, ArrayWord):
        array = fill.array(word, random)
        return Given(parameter.name, word.element, array, fill.checksum(array))
    if isinstance(word, FileWord):
        array = fill.loaded(word, element)
        return Given(parameter.name, element, array, fill.checksum(array))
    if parameter.pointee is not None:
        raise UsageError(
            f"parameter '{parameter.name}' is a {parameter.type!r}: expected an array such as "
            f"{element.name}[64]:zeros, got a number"
        )
    try:
        return Given(parameter.name, element, fill.scalar(word, element), None)
    except UsageError as error:
        raise UsageError(f"parameter '{parameter.name}': {error}") from None
