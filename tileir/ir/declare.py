"""How an operation is declared: once, with everything that is mechanical about it.

Knows: declared operands, results, attributes, regions, traits, versions, and the bytecode layout that follows.
Does not know: any particular operation (`ops`), nor what the format string means (`text.format`).

    class AddF(Op, name="addf", opcode=0x02, since="13.1", traits=(PURE, SameType("lhs", "rhs", "result"))):
        '''Adds two tiles of floats element by element.'''

        rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
        flush_to_zero = flag()
        lhs = operand(BASE_FLOAT_TILE)
        rhs = operand(BASE_FLOAT_TILE)
        result = output(BASE_FLOAT_TILE)
        format = "$lhs `,` $rhs rounding($rounding_mode) $flush_to_zero attr-dict `:` type($result)"

Every declared field is an accessor: ``op.lhs`` is a `Value`, ``op.index`` of a variadic operand a list, an optional
operand a `Value` or None, ``op.rounding_mode`` the attribute's value or its default. Where the specification's name of
a field is a Python keyword or means something else on `Op`, the accessor is named differently and ``name=`` gives the
specification's name, which messages, the generic form and ``op.attributes`` use.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tileir.ir.attributes import TextEnum
from tileir.ir.types import Type

if TYPE_CHECKING:
    from tileir.ir.core import Op

Version = tuple[int, int]
VERSIONS = ("13.1", "13.2", "13.3", "13.4", "13.5")
NEWEST = VERSIONS[-1]


def version_key(version: str) -> Version:
    major, minor = version.split(".")
    return int(major), int(minor)


# ---------------------------------------------------------------- constraints and traits


@dataclass(frozen=True)
class TypeConstraint:
    """A set of types that an operand or result may have; `text` says which, for messages.

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
    """What the fields named by a `Same` trait have in common."""

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
    """The type of `field` is `derive(type of source)`; text does not spell it."""

    field: str = ""
    source: str = ""
    derive: Callable[[Type], Type | None] = lambda type: type
    text: str = ""
    """What is derived, for messages: ``the tensor_view of the view type``."""


def DerivedType(field: str, source: str, derive: Callable[[Type], Type | None], text: str) -> TypeFrom:
    """`derive` gives None when the source has no such part."""
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


# ---------------------------------------------------------------- fields


class AttrKind(enum.Enum):
    """How an attribute is held, read, printed and encoded (bytecode.md 9.1)."""

    ENUM = "enum"
    UNIT = "unit"
    I32 = "i32"
    I64 = "i64"
    BOOL = "bool"
    STRING = "string"
    SYMBOL = "symbol_ref"
    SYMBOL_NAME = "symbol_name"
    TYPE = "type"
    DENSE = "dense"
    I32_ARRAY = "i32_array"
    BOOL_ARRAY = "bool_array"
    ARRAY = "array"
    TAGGED = "tagged"
    HINTS = "optimization_hints"


REQUIRED: Any = object()
"""The default of an attribute that must be given."""


class _Field:
    """A declared field; as a descriptor it reads the field of an operation."""

    name: str

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name


@dataclass(eq=False)
class Operand(_Field):
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

    def __get__(self, op: Op | None, owner: type | None = None) -> Any:
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
class Result(_Field):
    """A declared result; a variadic one is the only one of its operation."""

    constraint: TypeConstraint
    variadic: bool = False
    since: str | None = None
    position: int = -1
    name: str = ""

    def __get__(self, op: Op | None, owner: type | None = None) -> Any:
        if op is None:
            return self
        return op.results if self.variadic else op.results[self.position]


@dataclass(eq=False)
class Attr(_Field):
    """A declared attribute.

    ``default`` is REQUIRED, None (optional: absent when not given) or the value that absence stands for.
    ``encoded`` is False for an attribute that the instruction stream never carries.
    """

    kind: AttrKind
    default: Any = REQUIRED
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

    def __get__(self, op: Op | None, owner: type | None = None) -> Any:
        if op is None:
            return self
        value = op.attributes.get(self.name, self.default)
        return None if value is REQUIRED else value


@dataclass(eq=False)
class RegionField(_Field):
    """A declared region; `optional` if it may lack its block."""

    optional: bool = False
    position: int = -1
    name: str = ""

    def __get__(self, op: Op | None, owner: type | None = None) -> Any:
        return self if op is None else op.regions[self.position]


def operand(constraint: TypeConstraint, name: str = "") -> Any:
    return Operand(constraint, name=name)


def optional(constraint: TypeConstraint, since: str | None = None) -> Any:
    """An operand that may be absent."""
    return Operand(constraint, optional=True, since=since)


def variadic(constraint: TypeConstraint, name: str = "") -> Any:
    """Any number of operands."""
    return Operand(constraint, variadic=True, name=name)


def output(constraint: TypeConstraint, since: str | None = None) -> Any:
    return Result(constraint, since=since)


def variadic_output(constraint: TypeConstraint, name: str = "") -> Any:
    """Any number of results."""
    return Result(constraint, variadic=True, name=name)


def region(optional: bool = False) -> Any:
    return RegionField(optional)


def attr(
    kind: AttrKind, default: Any = REQUIRED, since: str | None = None, encoded: bool = True, name: str = ""
) -> Any:
    return Attr(kind, default, since=since, encoded=encoded, name=name)


def enum_attr(enum: type[TextEnum], default: Any = REQUIRED, since: str | None = None, plain_i32: bool = False) -> Any:
    """An enumeration; `plain_i32`: the generic form writes it as an ``i32`` integer."""
    return Attr(AttrKind.ENUM, default, enum=enum, since=since, plain_i32=plain_i32)


def flag(since: str | None = None, encoded: bool = True, name: str = "") -> Any:
    """A unit attribute: present (True) or absent (False)."""
    return Attr(AttrKind.UNIT, False, since=since, encoded=encoded, name=name)


def hints(*keys: str) -> Any:
    """Optimization hints; `keys` are the hints that mean something on this operation."""
    return Attr(AttrKind.HINTS, None, keys=keys)


# ---------------------------------------------------------------- the specification of an operation


class OperandLayout(enum.Enum):
    FIXED = "fixed"
    COUNTED = "counted"
    SEGMENTS = "segments"


class Placement(enum.Enum):
    """Where an operation stands in a bytecode file."""

    INSTRUCTION = "instruction"
    FUNCTION = "function_section"
    GLOBAL = "global_section"
    MODULE = "implicit"
    TEXT_ONLY = "text_only"


@dataclass(frozen=True)
class FlagBit:
    """One bit of the flags field of an instruction, for an optional attribute or operand."""

    bit: int
    field: Attr | Operand
    since: str


@dataclass(eq=False)
class OpSpec:
    """The declaration of one operation, as data.

    ``opcode`` is None for an operation that has no bytecode (`placement` TEXT_ONLY). ``aliases`` are other spellings
    that text may use; ``spellings`` are (version, name) pairs: the name printed from that version on. ``chapter`` is
    the module of `ops` that declares it. ``hint`` is the name that canonical printing suggests for its result.
    ``format`` is the text form in the language of `text.format`; an operation whose form that language cannot express
    has None there, its own code in `text`, and ``syntax`` for the manual.
    """

    cls: type[Op]
    name: str
    opcode: int | None
    since: str
    doc: str
    chapter: str
    hint: str | None
    traits: tuple[Trait, ...]
    format: str | None
    syntax: str
    aliases: tuple[str, ...]
    placement: Placement
    spellings: tuple[tuple[str, str], ...]
    operands: tuple[Operand, ...]
    results: tuple[Result, ...]
    attrs: tuple[Attr, ...]
    regions: tuple[RegionField, ...]
    terminator: bool = False
    pure: bool = False
    operand_index: dict[str, Operand] = field(default_factory=dict)
    attr_index: dict[str, Attr] = field(default_factory=dict)
    fixed_segments: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        self.terminator = TERMINATOR in self.traits
        self.pure = PURE in self.traits
        self.operand_index = {operand.name: operand for operand in self.operands}
        self.attr_index = {attr.name: attr for attr in self.attrs}
        if all(operand.single for operand in self.operands):
            self.fixed_segments = (1,) * len(self.operands)

    def default_segments(self, count: int) -> tuple[int, ...]:
        """Group sizes of `count` flat operands: clear when at most one group varies in length."""
        if self.fixed_segments is not None:
            return self.fixed_segments
        singles = sum(operand.single for operand in self.operands)
        spare = max(0, count - singles)
        sizes = []
        for operand in self.operands:
            take = 1 if operand.single else spare if operand.variadic else min(1, spare)
            spare -= 0 if operand.single else take
            sizes.append(take)
        return tuple(sizes)

    def spelling(self, version: str) -> str:
        """The name in text of `version`."""
        name = self.name
        for since, other in self.spellings:
            if version_key(version) >= version_key(since):
                name = other
        return name

    def trait(self, kind: type[Trait]) -> Any:
        """The first trait of class `kind`, or None."""
        return next((trait for trait in self.traits if isinstance(trait, kind)), None)

    @property
    def operand_layout(self) -> OperandLayout:
        if SEGMENTED in self.traits:
            return OperandLayout.SEGMENTS
        return OperandLayout.FIXED if self.fixed_segments is not None else OperandLayout.COUNTED

    @property
    def result_count_encoded(self) -> bool:
        return any(operand.variadic for operand in self.operands) or any(result.variadic for result in self.results)

    @property
    def flag_bits(self) -> tuple[FlagBit, ...]:
        """Bits of the flags field: oldest version first, then attributes, then (if segmented) operands."""
        fields: list[Attr | Operand] = [attr for attr in self.attrs if attr.optional and attr.encoded]
        if SEGMENTED in self.traits:
            fields += [operand for operand in self.operands if operand.optional]
        dated = [(version_key(field.since or self.since), field) for field in fields]
        dated.sort(key=lambda pair: pair[0])
        return tuple(FlagBit(bit, field, field.since or self.since) for bit, (_, field) in enumerate(dated))


def declare(
    cls: type[Op],
    name: str,
    opcode: int | None = None,
    since: str = "13.1",
    traits: tuple[Trait, ...] = (),
    aliases: tuple[str, ...] = (),
    placement: Placement | None = None,
    spellings: tuple[tuple[str, str], ...] = (),
    hint: str | None = None,
) -> OpSpec:
    """Read the declared fields of `cls` into its specification."""
    fields = [value for value in vars(cls).values() if isinstance(value, _Field)]
    operands = tuple(field for field in fields if isinstance(field, Operand))
    results = tuple(field for field in fields if isinstance(field, Result))
    regions = tuple(field for field in fields if isinstance(field, RegionField))
    for group in (operands, results, regions):
        for position, member in enumerate(group):
            member.position = position  # type: ignore[attr-defined]
    text_only = Placement.TEXT_ONLY if opcode is None else Placement.INSTRUCTION
    doc = inspect.cleandoc(cls.__doc__ or "")
    return OpSpec(
        cls=cls,
        name=name,
        opcode=opcode,
        since=since,
        doc=doc,
        chapter=cls.__module__.rpartition(".")[2],
        hint=hint,
        format=vars(cls).get("format"),
        syntax=vars(cls).get("syntax", ""),
        traits=traits,
        aliases=aliases,
        placement=placement or text_only,
        spellings=spellings,
        operands=operands,
        results=results,
        attrs=tuple(field for field in fields if isinstance(field, Attr)),
        regions=regions,
    )
