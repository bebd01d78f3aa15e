"""The digest of items of a program, the key under which their machine code and other results are kept.

Texts, which are few, are spelled once and numbered, and so are values. An operation is then a few numbers, each of
which determines the meaning of the next ones.
"""

from __future__ import annotations

import hashlib
import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar

from tileir.ir.attributes import Attribute, DenseElements, TextEnum
from tileir.ir.core import Op, Value
from tileir.ir.fields import REQUIRED
from tileir.ir.types import Type

K = TypeVar("K")


def items_digest(items: Iterable[Op]) -> str:
    """Return the SHA-256 of entries and functions, in hexadecimal: equal digests mean equal items, but for locations
    and the names of values, whatever form they were read from."""
    found = _ItemNumbers()
    found.add(list(items))
    digest = hashlib.sha256(repr(list(found.texts)).encode())
    digest.update(array("I", found.numbers))
    return digest.hexdigest()


class _TextNumbers(dict[K, int], Generic[K]):
    """The number in `texts` of each key's spelling, which is kept."""

    def __init__(self, texts: dict[str, int], spell: Callable[[K], str]) -> None:
        super().__init__()
        self._texts, self._spell = texts, spell

    def __missing__(self, key: K) -> int:
        number = self[key] = self._texts.setdefault(self._spell(key), len(self._texts))
        return number


class _ValueNumbers(dict[Value, int]):
    """Values, numbered in the order in which they come."""

    def __missing__(self, value: Value) -> int:
        number = self[value] = len(self)
        return number


class _ItemNumbers:
    """Items as `numbers`; some of them index `texts`."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.numbers: list[int] = []
        self._names = _TextNumbers[type[Op]](self.texts, lambda cls: cls.spec.name)
        self._groups = _TextNumbers[tuple[int, ...]](self.texts, repr)
        self._types = _TextNumbers[Type](self.texts, lambda type: type.full_text)
        self._values = _ValueNumbers()
        self._attributes: dict[int, int] = {}

    def add(self, items: list[Op]) -> None:
        """Add operations, each followed by what is inside it."""
        numbers, names, groups, value_number = self.numbers, self._names, self._groups, self._values.__getitem__
        numbers.append(len(items))
        waiting = items[::-1]
        while waiting:
            op = waiting.pop()
            cls, operands = type(op), op.operands
            name = self._with_discardable(op) if op.discardable else names[cls]
            numbers += (name, groups[op.segments], len(operands), *map(value_number, operands), len(op.regions))
            self._define(op.defines)
            if cls.spec.attrs:
                self._declare(op)
            if op.regions:
                waiting += self._inside(op)

    def _with_discardable(self, op: Op) -> int:
        text = f"{op.spec.name} {_spelling(tuple(sorted((op.discardable or {}).items())))}"
        return self.texts.setdefault(text, len(self.texts))

    def _define(self, defined: Value | Sequence[Value]) -> None:
        """Add the number of values, and of each its own and that of its type."""
        if isinstance(defined, Value):
            self.numbers += (1, self._values[defined], self._types[defined.type])
            return
        self.numbers.append(len(defined))
        for value in defined:
            self.numbers += (self._values[value], self._types[value.type])

    def _declare(self, op: Op) -> None:
        """Add the values of declared attributes. A spelled value is recognised by its identity, which stays unique
        because operations and their declarations hold it."""
        given, known, numbers = op.attributes, self._attributes, self.numbers
        for attr in op.spec.attrs:
            value = given.get(attr.name, attr.default)
            number = known.get(id(value))
            if number is None:
                number = known[id(value)] = self.texts.setdefault(repr(_spelling(value)), len(self.texts))
            numbers.append(number)

    def _inside(self, op: Op) -> list[Op]:
        """Return the operations in regions, the last one first; of each region its length and arguments are noted."""
        found: list[Op] = []
        for region in op.regions:
            ops = () if region is None else region.ops
            self.numbers += (region is not None, len(ops))
            self._define(() if region is None else region.args)
            found += ops
        return found[::-1]


def _spelling(value: Any) -> object:
    """Return the value of an attribute as strings, whole numbers, and tuples of such, so that other values look
    otherwise."""
    if value is REQUIRED or value is None:
        return None
    if type(value) in (bool, int, str):
        return value
    if isinstance(value, TextEnum):
        return type(value).__name__, int(value)
    if isinstance(value, DenseElements):
        return value.type.full_text, value.data.hex()
    if isinstance(value, tuple):
        return "", *map(_spelling, value)
    if isinstance(value, Attribute) and is_dataclass(value):
        return type(value).__name__, *[_spelling(getattr(value, part.name)) for part in fields(value)]
    return type(value).__name__, value.full_text if isinstance(value, Type) else _plain(value)


def _plain(value: Any) -> str:
    """Return a location, or a number: of floats all bits count."""
    return struct.pack("<d", value).hex() if isinstance(value, float) else repr(value)
