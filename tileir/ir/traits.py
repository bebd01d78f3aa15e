"""Properties that operations and their operands are declared to have: sets of types, and traits."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tileir.ir.types import Type

T_co = TypeVar("T_co", bound=Type, covariant=True)


@dataclass(frozen=True)
class TypeConstraint(Generic[T_co]):
    """A set of types, all of them of class `T_co`, that an operand or result may have; `text` says which, for messages.

    ``only`` is the type itself where the set has just one member: text then need not spell it.
    """

    text: str
    accepts: Callable[[Type], bool] = field(repr=False, compare=False)
    only: Type | None = None


@dataclass(frozen=True)
class Trait:
    """A property of an operation that parts of the compiler ask for by identity."""

    name: str


PURE = Trait("pure")
"""No side effect and safe to execute speculatively."""
NO_MEMORY_EFFECT = Trait("no memory effect")
"""No side effect, but not to be executed where the program would not."""
RECURSIVE_EFFECTS = Trait("recursive effects")
"""Has the effects of the operations in its regions."""
TERMINATOR = Trait("terminator")
"""Ends a block."""
ISOLATED = Trait("isolated from above")
"""Regions cannot use values defined outside."""
SYMBOL = Trait("symbol")
"""Is named in its module by the attribute `sym_name`."""
SEGMENTED = Trait("operand segments")
"""Operand groups are encoded one by one and have `operandSegmentSizes` in the generic form."""
ALLOCATION_SCOPE = Trait("allocation scope")
"""An `alloca` in the region lives until the region is left."""
ELEMENTWISE = Trait("elementwise")
"""Element i of the result depends only on elements i of the operands."""


class Relation(enum.Enum):
    """The part of their types that the fields named by a `Same` trait have in common."""

    TYPE = "type"
    SHAPE = "shape"
    RANK = "rank"
    ELEMENT = "element type"


@dataclass(frozen=True)
class Same(Trait):
    """All named operands and results have the same type, shape, rank or element type; absent optional ones pass."""

    relation: Relation = Relation.TYPE
    fields: tuple[str, ...] = ()


def SameType(*fields: str) -> Same:
    return Same("same type", Relation.TYPE, fields)


def SameShape(*fields: str) -> Same:
    return Same("same shape", Relation.SHAPE, fields)


def SameRank(*fields: str) -> Same:
    return Same("same rank", Relation.RANK, fields)


def SameElement(*fields: str) -> Same:
    return Same("same element type", Relation.ELEMENT, fields)


@dataclass(frozen=True)
class TypeFrom(Trait):
    """The type of `field` is `derive(type of source)`; text does not spell it.

    ``text`` names the derived type in messages: ``the tensor_view of the view type``.
    """

    field: str = ""
    source: str = ""
    derive: Callable[[Type], Type | None] = lambda type: type
    text: str = ""


def DerivedType(field: str, source: str, derive: Callable[[Type], Type | None], text: str) -> TypeFrom:
    """Derive a type; `derive` gives None when the source has no such part."""
    return TypeFrom("derived type", field, source, derive, text)


@dataclass(frozen=True)
class ParentOneOf(Trait):
    """The operation may stand only directly inside one of these operations (names)."""

    parents: tuple[str, ...] = ()


def HasParent(*names: str) -> ParentOneOf:
    return ParentOneOf("parent", names)


@dataclass(frozen=True)
class TerminatedBy(Trait):
    """The block of each region ends with `terminator` (or with one of `also`, which leave the region otherwise).

    Text may leave the `terminator` out, unless it must be `written`; when printing, one without operands is `hidden`.
    """

    terminator: str = ""
    also: tuple[str, ...] = ()
    written: bool = False
    hidden: bool = False


def RegionTerminator(
    name: str, also: tuple[str, ...] = (), written: bool = False, hidden: bool = False
) -> TerminatedBy:
    return TerminatedBy("region terminator", name, also, written, hidden)
