"""The specification of an operation: its declaration as data, with what follows from it for text and bytecode."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from tileir.ir.fields import Attr, DeclaredField, Operand, PositionedField, RegionField, Result
from tileir.ir.traits import ISOLATED, PURE, SEGMENTED, TERMINATOR, Trait
from tileir.ir.versions import version_key

K = TypeVar("K", bound=Trait)
_MOST_KEPT = 32
PREVIEW_OPCODES = range(0x4000, 0x5000)


class OperandLayout(enum.Enum):
    FIXED = "fixed"
    COUNTED = "counted"
    SEGMENTS = "segments"


class Placement(enum.Enum):
    """The part of a bytecode file where an operation stands."""

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
    ``format`` is the text form in the language of `text.syntax.format`; an operation whose form that language cannot
    express has None there and its own code in `text`. ``syntax`` is the form for the manual where that does not follow.
    """

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
    isolated: bool = False
    segmented: bool = False
    operand_index: dict[str, Operand] = field(default_factory=dict)
    attr_index: dict[str, Attr] = field(default_factory=dict)
    fixed_segments: tuple[int, ...] | None = None
    traits_by_kind: dict[type[Trait], Trait | None] = field(default_factory=dict, repr=False)
    """The answers that `trait` has given."""
    segments_by_count: dict[int, tuple[int, ...]] = field(default_factory=dict, repr=False)
    """Results of `default_segments` for small counts."""

    def __post_init__(self) -> None:
        self.terminator = TERMINATOR in self.traits
        self.pure = PURE in self.traits
        self.isolated = ISOLATED in self.traits
        self.segmented = SEGMENTED in self.traits
        self.operand_index = {operand.name: operand for operand in self.operands}
        self.attr_index = {attr.name: attr for attr in self.attrs}
        if all(operand.single for operand in self.operands):
            self.fixed_segments = (1,) * len(self.operands)

    def default_segments(self, count: int) -> tuple[int, ...]:
        """Group sizes of `count` flat operands: clear when at most one group varies in length."""
        if self.fixed_segments is not None:
            return self.fixed_segments
        known = self.segments_by_count.get(count)
        if known is None:
            known = self._segments(count)
            if count < _MOST_KEPT:
                self.segments_by_count[count] = known
        return known

    def _segments(self, count: int) -> tuple[int, ...]:
        singles = sum(operand.single for operand in self.operands)
        spare = max(0, count - singles)
        sizes = []
        for operand in self.operands:
            take = 1 if operand.single else spare if operand.variadic else min(1, spare)
            spare -= 0 if operand.single else take
            sizes.append(take)
        return tuple(sizes)

    @property
    def preview(self) -> bool:
        """True if files hold the operation only if they say so (spec: bytecode-samples#preview)."""
        return self.opcode is not None and self.opcode in PREVIEW_OPCODES

    def spelling(self, version: str) -> str:
        """Return the name in text of `version`."""
        name = self.name
        for since, other in self.spellings:
            if version_key(version) >= version_key(since):
                name = other
        return name

    def trait(self, kind: type[K]) -> K | None:
        """Return the first trait of class `kind`, or None."""
        if kind not in self.traits_by_kind:
            self.traits_by_kind[kind] = next((trait for trait in self.traits if isinstance(trait, kind)), None)
        return cast("K | None", self.traits_by_kind[kind])

    @property
    def operand_layout(self) -> OperandLayout:
        if self.segmented:
            return OperandLayout.SEGMENTS
        return OperandLayout.FIXED if self.fixed_segments is not None else OperandLayout.COUNTED

    @property
    def result_count_encoded(self) -> bool:
        return any(operand.variadic for operand in self.operands) or any(result.variadic for result in self.results)

    @property
    def flag_bits(self) -> tuple[FlagBit, ...]:
        """Bits of the flags field: oldest version first, then attributes, then (if segmented) operands."""
        fields: list[Attr | Operand] = [attr for attr in self.attrs if attr.optional and attr.encoded]
        if self.segmented:
            fields += [operand for operand in self.operands if operand.optional]
        dated = [(version_key(field.since or self.since), field) for field in fields]
        dated.sort(key=lambda pair: pair[0])
        return tuple(FlagBit(bit, field, field.since or self.since) for bit, (_, field) in enumerate(dated))


def specify(
    cls: type,
    name: str,
    traits: tuple[Trait, ...],
    format: str | None,
    syntax: str,
    opcode: int | None = None,
    since: str = "13.1",
    aliases: tuple[str, ...] = (),
    placement: Placement | None = None,
    spellings: tuple[tuple[str, str], ...] = (),
    hint: str | None = None,
) -> OpSpec:
    """Read the declared fields of `cls` into its specification."""
    fields = _fields(cls)
    operands = tuple(field for field in fields if isinstance(field, Operand))
    results = tuple(field for field in fields if isinstance(field, Result))
    regions = tuple(field for field in fields if isinstance(field, RegionField))
    for group in (operands, results, regions):
        _place(cls, group)
    text_only = Placement.TEXT_ONLY if opcode is None else Placement.INSTRUCTION
    return OpSpec(
        name=name,
        opcode=opcode,
        since=since,
        doc=inspect.cleandoc(cls.__doc__ or ""),
        chapter=cls.__module__.rpartition(".")[2],
        hint=hint,
        format=format,
        syntax=syntax,
        traits=traits,
        aliases=aliases,
        placement=placement or text_only,
        spellings=spellings,
        operands=operands,
        results=results,
        attrs=tuple(field for field in fields if isinstance(field, Attr)),
        regions=regions,
    )


def _fields(cls: type) -> list[DeclaredField]:
    """Return the fields of `cls`: inherited ones first, in their order; `cls` may declare some of them anew."""
    found: dict[str, DeclaredField] = {}
    for base in reversed(cls.__mro__):
        found.update({name: value for name, value in vars(base).items() if isinstance(value, DeclaredField)})
    return list(found.values())


def _place(cls: type, group: Sequence[PositionedField]) -> None:
    """Fix the positions of fields; one that is inherited has the same position in every class."""
    for position, member in enumerate(group):
        if member.position not in (-1, position):
            raise TypeError(f"'{member.name}' of {cls.__name__} is inherited, but from another position")
        member.position = position
