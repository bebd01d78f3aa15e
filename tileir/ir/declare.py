"""The words in which an operation is declared: once, with everything that is mechanical about it.

    class AddF(Op, name="addf", opcode=0x02, since="13.1", traits=(PURE, SameType("lhs", "rhs", "result"))):
        '''Adds two tiles of floats element by element.'''

        rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
        flush_to_zero = flag()
        lhs = operand(BASE_FLOAT_TILE)
        rhs = operand(BASE_FLOAT_TILE)
        result = output(BASE_FLOAT_TILE)
        format = "$lhs `,` $rhs rounding($rounding_mode) $flush_to_zero attr-dict `:` type($result)"

Every declared field is an accessor: ``op.lhs`` is a `Value`, ``op.index`` of a variadic operand a tuple, an optional
operand a `Value` or None, ``op.rounding_mode`` the attribute's value or its default. Where the specification's name of
a field is a Python keyword or means something else on `Op`, the accessor is named differently and ``name=`` gives the
specification's name, which messages, the generic form and ``op.attributes`` use.

A class without ``name=`` is no operation; the operations derived from it inherit its fields, which stand before their
own, its traits and its format.
"""

from __future__ import annotations

from typing import TypeVar, overload

from tileir.ir.attributes import OptimizationHints, TextEnum
from tileir.ir.core import Block, Value
from tileir.ir.fields import REQUIRED, Attr, AttributeKind, AttrKind, Operand, RegionField, Result
from tileir.ir.traits import TypeConstraint
from tileir.ir.types import Type

T = TypeVar("T")
E = TypeVar("E", bound=TextEnum)
C = TypeVar("C", bound=Type)


def operand(constraint: TypeConstraint[C], name: str = "") -> Operand[Value[C]]:
    """Declare exactly one operand."""
    return Operand(constraint, name=name)


def optional(constraint: TypeConstraint[C], since: str | None = None) -> Operand[Value[C] | None]:
    """Return an operand that may be absent."""
    return Operand(constraint, optional=True, since=since)


def variadic(constraint: TypeConstraint[C], name: str = "") -> Operand[tuple[Value[C], ...]]:
    """Declare any number of operands."""
    return Operand(constraint, variadic=True, name=name)


def output(constraint: TypeConstraint[C], since: str | None = None) -> Result[Value[C]]:
    """Declare exactly one result."""
    return Result(constraint, since=since)


def variadic_output(constraint: TypeConstraint[C], name: str = "") -> Result[tuple[Value[C], ...]]:
    """Declare any number of results."""
    return Result(constraint, variadic=True, name=name)


def region() -> RegionField[Block]:
    return RegionField()


def optional_region() -> RegionField[Block | None]:
    """Return a region that may lack its block."""
    return RegionField(optional=True)


@overload
def attr(kind: AttributeKind[T], *, since: str | None = None, encoded: bool = True, name: str = "") -> Attr[T]: ...
@overload
def attr(
    kind: AttributeKind[T], default: None, since: str | None = None, encoded: bool = True, name: str = ""
) -> Attr[T | None]: ...
@overload
def attr(
    kind: AttributeKind[T], default: T, since: str | None = None, encoded: bool = True, name: str = ""
) -> Attr[T]: ...
def attr(
    kind: AttributeKind[T], default: T | None = REQUIRED, since: str | None = None, encoded: bool = True, name: str = ""
) -> Attr[T] | Attr[T | None]:
    """Return an attribute: one that must be given, an optional one (`default` None), or one with a default."""
    return Attr(kind, default, since=since, encoded=encoded, name=name)


@overload
def enum_attr(enum: type[E], *, since: str | None = None, plain_i32: bool = False) -> Attr[E]: ...
@overload
def enum_attr(enum: type[E], default: None, since: str | None = None, plain_i32: bool = False) -> Attr[E | None]: ...
@overload
def enum_attr(enum: type[E], default: E, since: str | None = None, plain_i32: bool = False) -> Attr[E]: ...
def enum_attr(
    enum: type[E], default: E | None = REQUIRED, since: str | None = None, plain_i32: bool = False
) -> Attr[E] | Attr[E | None]:
    """Return an enumeration; `plain_i32`: the generic form writes it as an ``i32`` integer."""
    return Attr(AttrKind.ENUM, default, enum=enum, since=since, plain_i32=plain_i32)


def flag(since: str | None = None, encoded: bool = True, name: str = "") -> Attr[bool]:
    """Return a unit attribute: present (True) or absent (False)."""
    return Attr(AttrKind.UNIT, False, since=since, encoded=encoded, name=name)


def hints(*keys: str) -> Attr[OptimizationHints | None]:
    """Declare optimization hints; `keys` are the hints that mean something on this operation."""
    return Attr(AttrKind.HINTS, None, keys=keys)
