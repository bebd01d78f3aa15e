"""Placeholders for the parts of a program that could not be read, so that the rest can be checked."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.ir.core import Module, Op
from tileir.ir.types import Type


class PoisonType(Type):
    """The type of everything that comes from a faulty part: it agrees with every type, so no fault follows."""

    __slots__ = ()

    @property
    def text(self) -> str:
        return "a faulty type"


POISON = PoisonType()


class Unread(Op, name="unread"):
    """A statement that could not be read; the values that it defines are of the type `POISON`."""


@dataclass(frozen=True)
class PartialModule:
    """A module with `Unread` operations; a part of each operation in `faulty`, perhaps a nested one, was not read."""

    module: Module
    faulty: frozenset[Op]
