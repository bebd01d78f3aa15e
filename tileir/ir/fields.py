"""The declared fields of an operation: operands, results, attributes and regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, overload

from tileir.ir.attributes import ArrayAttr, DenseElements, OptimizationHints, TextEnum
from tileir.ir.traits import TypeConstraint
from tileir.ir.types import FunctionType

if TYPE_CHECKING:
    from typing_extensions import Self

T_co = TypeVar("T_co", covariant=True)


class FieldSource(Protocol):
    """An operation, as far as its fields look at it."""

    @property
    def operands(self) -> Sequence[object]: ...
    @property
    def segments(self) -> tuple[int, ...]: ...
    @property
    def defines(self) -> object: ...
    @property
    def results(self) -> Sequence[object]: ...
    @property
    def attributes(self) -> Mapping[str, object]: ...
    @property
    def regions(self) -> Sequence[object]: ...


class DeclaredField(Generic[T_co]):
    """A declared field, which reads as a `T_co` of an operation and as itself of a class."""

    name: str

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name


class PositionedField(DeclaredField[T_co]):
    """A field that is found by its `position` among those of its sort, which the class that declares it fixes."""

    position: int


@dataclass(eq=False)
class Operand(PositionedField[T_co]):
    """A declared operand: exactly one, `optional` (at most one) or `variadic` (any number)."""

    constraint: TypeConstraint
    variadic: bool = False
    optional: bool = False
    since: str | None = None
    position: int = -1
    name: str = ""

    @property
    def single(self) -> bool:
        return not (self.variadic or self.optional)

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: FieldSource, owner: type) -> T_co: ...
    def __get__(self, op: FieldSource | None, owner: type) -> Any:
        if op is None:
            return self
        segments = op.segments
        begin = sum(segments[: self.position])
        if self.single:
            return op.operands[begin]
        if self.optional:
            return op.operands[begin] if segments[self.position] else None
        return op.operands[begin : begin + segments[self.position]]


@dataclass(eq=False)
class Result(PositionedField[T_co]):
    """A declared result; a variadic one is the only one of its operation."""

    constraint: TypeConstraint
    variadic: bool = False
    since: str | None = None
    position: int = -1
    name: str = ""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: FieldSource, owner: type) -> T_co: ...
    def __get__(self, op: FieldSource | None, owner: type) -> Any:
        if op is None:
            return self
        if self.variadic or self.position or isinstance(op.defines, tuple):
            return op.results if self.variadic else op.results[self.position]
        return op.defines


@dataclass(eq=False)
class RegionField(PositionedField[T_co]):
    """A declared region; `optional` if it may lack its block."""

    optional: bool = False
    position: int = -1
    name: str = ""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: FieldSource, owner: type) -> T_co: ...
    def __get__(self, op: FieldSource | None, owner: type) -> Any:
        return self if op is None else op.regions[self.position]


@dataclass(frozen=True, eq=False)
class AttributeKind(Generic[T_co]):
    """A way to hold an attribute (as a `T_co`), to print and encode it (spec: bytecode-instructions#attributes)."""

    name: str


class AttrKind:
    """The kinds of attributes; one that carries no data of its own is held as a bool."""

    ENUM: Final = AttributeKind[TextEnum]("enum")
    UNIT: Final = AttributeKind[bool]("unit")
    I32: Final = AttributeKind[int]("i32")
    I64: Final = AttributeKind[int]("i64")
    BOOL: Final = AttributeKind[bool]("bool")
    STRING: Final = AttributeKind[str]("string")
    SYMBOL: Final = AttributeKind[str]("symbol_ref")
    SYMBOL_NAME: Final = AttributeKind[str]("symbol_name")
    TYPE: Final = AttributeKind[FunctionType]("type")
    DENSE: Final = AttributeKind[DenseElements]("dense")
    I32_ARRAY: Final = AttributeKind[tuple[int, ...]]("i32_array")
    BOOL_ARRAY: Final = AttributeKind[tuple[bool, ...]]("bool_array")
    ARRAY: Final = AttributeKind[ArrayAttr]("array")
    TAGGED: Final = AttributeKind[Any]("tagged")
    """The declaration says which class of attributes."""
    HINTS: Final = AttributeKind[OptimizationHints]("optimization_hints")
    DICTS: Final = AttributeKind[ArrayAttr]("array of dictionaries")
    CONSTANTS: Final = AttributeKind[ArrayAttr]("array of constants")
    """Integers of type i64, strings, types and arrays of them: arguments of code that is linked in."""


REQUIRED: Any = object()
"""The default of an attribute that must be given."""


@dataclass(eq=False)
class Attr(DeclaredField[T_co]):
    """A declared attribute.

    ``default`` is REQUIRED, None (optional: absent when not given) or the value that absence stands for.
    ``encoded`` is False for an attribute that the instruction stream never carries.
    """

    kind: AttributeKind[Any]
    default: T_co
    enum: type[TextEnum] | None = None
    since: str | None = None
    keys: tuple[str, ...] | None = None
    plain_i32: bool = False
    encoded: bool = True
    name: str = ""

    @property
    def optional(self) -> bool:
        return self.default is None or self.kind is AttrKind.UNIT

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: FieldSource, owner: type) -> T_co: ...
    def __get__(self, op: FieldSource | None, owner: type) -> Any:
        if op is None:
            return self
        value = op.attributes.get(self.name, self.default)
        return None if value is REQUIRED else value
