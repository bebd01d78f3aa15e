"""Arguments of a launch made from words such as ``x=f32[64]:randn``.

Knows: which value each parameter gets, and which kernel of a program is meant. Does not know: the grammar of words
(`argument_words`), how arrays are filled (`fill`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tileir.ir import types as t
from tileir.ir.usage import UsageError
from tileir.runtime import argument_words, fill
from tileir.runtime.argument_words import ArrayWord, FileWord, Word
from tileir.runtime.arguments import Parameter
from tileir.runtime.module import Kernel, Module


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
    """The argument of each parameter; the words call the parameters by `names`, by default their own."""
    names = [parameter.name for parameter in kernel.parameters] if names is None else names
    parameters = [replace(parameter, name=name) for parameter, name in zip(kernel.parameters, names)]
    found = argument_words.assigned(words, names)
    random = np.random.default_rng(abs(seed))
    return [_value(parameter, word, random) for parameter, word in zip(parameters, found)]


def _value(parameter: Parameter, word: Word, random: np.random.Generator) -> Given:
    element, is_pointer = _element(parameter)
    if isinstance(word, ArrayWord):
        array = fill.array(word, random)
        return Given(parameter.name, word.element, array, fill.checksum(array))
    if isinstance(word, FileWord):
        array = fill.loaded(word, element)
        return Given(parameter.name, element, array, fill.checksum(array))
    if is_pointer:
        raise UsageError(
            f"parameter '{parameter.name}' is a {parameter.type!r}: expected an array such as "
            f"{element.name}[64]:zeros, got a number"
        )
    try:
        return Given(parameter.name, element, fill.scalar(word, element), None)
    except UsageError as error:
        raise UsageError(f"parameter '{parameter.name}': {error}") from None


def _element(parameter: Parameter) -> tuple[t.ElementType, bool]:
    """The element type of a parameter or of what it points to, and whether it is a pointer."""
    ty = parameter.type
    if isinstance(ty, t.TileType):
        return (ty.element.pointee, True) if isinstance(ty.element, t.PointerType) else (ty.element, False)
    raise UsageError(f"parameter '{parameter.name}': a launch cannot pass a {ty!r}")
