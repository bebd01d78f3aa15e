"""The shape of an instruction in files of one version, derived from the declaration of the operation
(spec: bytecode-instructions#fields).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.fields import Attr, AttrKind, Operand
from tileir.ir.spec import FlagBit, OperandLayout, OpSpec
from tileir.ir.versions import Version, version_key
from tileir.ops import OPCODES


@dataclass(frozen=True)
class AttrStep:
    """An attribute in the stream; `mask` is the flag bit that tells whether it is there, 0 if it always is."""

    attr: Attr
    label: str
    mask: int


@dataclass(frozen=True)
class OperandStep:
    """An operand group of segmented operands; `mask` as in `AttrStep`; `stored` is False if the file is too old."""

    operand: Operand
    label: str
    mask: int
    stored: bool


@dataclass(frozen=True)
class InstructionLayout:
    """An instruction in stream order: opcode, [result count], result types, [flags], attributes, operands, regions.

    ``stored_results`` is the number of declared results in the stream, None if one of them is variadic;
    ``implicit_results`` are the types of the results that the file is too old to store. ``known_flags`` are the bits
    that mean something, ``units`` the attributes that are nothing but a bit. ``sized_attrs`` are those of ``attrs``
    that hold one boolean per operand of the variadic group at the position given, all false when absent.
    """

    cls: type[Op]
    spec: OpSpec
    opcode: int
    name: str
    result_count: bool
    result_labels: tuple[str, ...]
    stored_results: int | None
    implicit_results: tuple[t.Type, ...]
    has_flags: bool
    flag_bits: tuple[FlagBit, ...]
    known_flags: int
    newer_flags: int
    units: tuple[AttrStep, ...]
    attrs: tuple[AttrStep, ...]
    sized_attrs: tuple[tuple[AttrStep, int], ...]
    operand_layout: OperandLayout
    operands: tuple[OperandStep, ...]
    least_operands: int
    most_operands: int | None
    regions: int


@cache
def layout_of(spec: OpSpec, version: Version) -> InstructionLayout:
    """Return the layout of the instructions of one operation in files of `version`."""
    assert spec.opcode is not None
    bits = spec.flag_bits
    masks = {bit.field.name: 1 << bit.bit for bit in bits}
    has_flags = bool(masks) and min(version_key(bit.since) for bit in bits) <= version
    newer = sum(1 << bit.bit for bit in bits if version_key(bit.since) > version)
    present = [attr for attr in spec.attrs if attr.encoded and _known(attr.since, version)]
    steps = [AttrStep(attr, f"attribute '{attr.name}'", masks.get(attr.name, 0)) for attr in present]
    stored = [result for result in spec.results if _known(result.since, version)]
    singles = sum(operand.single for operand in spec.operands)
    return InstructionLayout(
        cls=OPCODES[spec.opcode],
        spec=spec,
        opcode=spec.opcode,
        name=spec.name,
        result_count=spec.result_count_encoded,
        result_labels=tuple(f"result '{result.name}'" for result in spec.results),
        stored_results=None if any(result.variadic for result in spec.results) else len(stored),
        implicit_results=_implicit_types(spec, version),
        has_flags=has_flags,
        flag_bits=bits,
        known_flags=sum(masks.values()),
        newer_flags=newer,
        units=tuple(step for step in steps if step.attr.kind is AttrKind.UNIT),
        attrs=tuple(step for step in steps if step.attr.kind is not AttrKind.UNIT),
        sized_attrs=tuple((step, _variadic_position(spec)) for step in steps if _is_sized(step.attr)),
        operand_layout=spec.operand_layout,
        operands=tuple(_operand_step(operand, masks, version) for operand in spec.operands),
        least_operands=singles,
        most_operands=None if any(operand.variadic for operand in spec.operands) else len(spec.operands),
        regions=len(spec.regions),
    )


def _is_sized(attr: Attr) -> bool:
    return attr.kind is AttrKind.BOOL_ARRAY and attr.default == ()


def _variadic_position(spec: OpSpec) -> int:
    return next(operand.position for operand in spec.operands if operand.variadic)


def _known(since: str | None, version: Version) -> bool:
    return since is None or version_key(since) <= version


def _operand_step(operand: Operand, masks: dict[str, int], version: Version) -> OperandStep:
    mask = masks.get(operand.name, 0) if operand.optional else 0
    return OperandStep(operand, f"operand '{operand.name}'", mask, _known(operand.since, version))


def _implicit_types(spec: OpSpec, version: Version) -> tuple[t.Type, ...]:
    """Return the types of the results that files of `version` do not store; such a result has only one possible
    type."""
    types = [result.constraint.only for result in spec.results if not _known(result.since, version)]
    return tuple(type for type in types if type is not None)


@cache
def layouts(version: Version, preview: bool) -> dict[int, InstructionLayout]:
    """Return the layouts of all instructions that files of `version` may hold, by opcode; with `preview` those of
    previews."""
    specs = [op.spec for op in OPCODES.values() if version_key(op.spec.since) <= version]
    known = [spec for spec in specs if preview or not spec.preview]
    return {layout.opcode: layout for layout in (layout_of(spec, version) for spec in known)}
