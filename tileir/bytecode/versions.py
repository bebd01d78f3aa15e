"""Versions of the format: which exist, and which one a module needs.

A version is a pair (major, minor).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from tileir.bytecode.faults import WRITE_GATE, WRITE_VERSION
from tileir.ir import attributes as a
from tileir.ir import types as t
from tileir.ir.core import Module, Op, Value
from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.fields import Attr, AttrKind, Operand, Result
from tileir.ir.spec import OpSpec, Placement
from tileir.ir.versions import VERSIONS, Version, version_key, version_text
from tileir.ops import OPCODES

SUPPORTED: tuple[Version, ...] = tuple(map(version_key, VERSIONS))
OLDEST = SUPPORTED[0]
REDUCTION_ATTR_SINCE = version_key("13.5")
"""First version with a multimem reduction kind as an attribute of its own."""
POINTER_ATTR_SINCE = {
    t.PointerAttr.NONE: version_key("13.4"),
    t.PointerAttr.UNICAST: version_key("13.5"),
    t.PointerAttr.MULTICAST: version_key("13.5"),
}


def parse_version(text: str) -> Version:
    """Return a version that can be written; anything else is a diagnostic."""
    if text not in VERSIONS:
        message = f"expected a bytecode version from {VERSIONS[0]} to {VERSIONS[-1]}, got '{text}'"
        raise DiagnosticError([Diagnostic(WRITE_VERSION, message)])
    return version_key(text)


@cache
def max_opcode(version: Version) -> int:
    """Return the greatest opcode that files of `version` without preview content know."""
    known = (op.spec for op in OPCODES.values() if version_key(op.spec.since) <= version and not op.spec.preview)
    return max(spec.opcode for spec in known if spec.opcode is not None)


# ---------------------------------------------------------------- what a module needs


@dataclass(frozen=True)
class Need:
    """Something in a module that only files from `since` on can express.

    A `soft` one is left out of older files without an error.
    """

    since: Version
    what: str
    op: Op
    soft: bool = False

    def unless(self, version: Version) -> Diagnostic | None:
        """Return the diagnostic for writing a file of `version`, if that is too old."""
        if self.soft or self.since <= version:
            return None
        message = f"{self.what} needs bytecode version {version_text(self.since)}, got version {version_text(version)}"
        name = self.op.spec.name
        return Diagnostic(WRITE_GATE, f"'{name}': {message}", self.op.loc, op=name)


@dataclass(frozen=True)
class _Dated:
    """The fields of an operation that may need more than the oldest version."""

    op: Version
    attrs: tuple[Attr, ...]
    enums: tuple[Attr, ...]
    typed: tuple[Attr, ...]
    operands: tuple[Operand, ...]
    results: tuple[Result, ...]


_TYPED_KINDS = (AttrKind.TYPE, AttrKind.DENSE, AttrKind.ARRAY, AttrKind.HINTS, AttrKind.CONSTANTS)


@cache
def _dated(spec: OpSpec) -> _Dated:
    return _Dated(
        version_key(spec.since),
        tuple(attr for attr in spec.attrs if attr.since and attr.encoded),
        tuple(attr for attr in spec.attrs if attr.enum and any(case.since != VERSIONS[0] for case in attr.enum)),
        tuple(attr for attr in spec.attrs if attr.kind in _TYPED_KINDS and attr.encoded),
        tuple(operand for operand in spec.operands if operand.since),
        tuple(result for result in spec.results if result.since),
    )


_UNKNOWN = OLDEST, ""


class _Finder:
    """Finds the needs of a module, one operation at a time."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._types: dict[t.Type, tuple[Version, str] | None] = {}
        self._used: set[Value] | None = None

    def of(self, op: Op) -> Iterator[Need]:
        dated = _dated(op.spec)
        if dated.op > OLDEST:
            yield Need(dated.op, "the operation", op)
        if dated.attrs or dated.enums or dated.typed or dated.operands or dated.results:
            yield from self._fields(op, dated)
        for result in op.results:
            if self._types.get(result.type, _UNKNOWN) is not None:
                yield from self._type(result.type, op)
        for region in op.regions:
            for argument in region.args if region else ():
                yield from self._type(argument.type, op)

    def _fields(self, op: Op, dated: _Dated) -> Iterator[Need]:
        soft = op.spec.placement is Placement.MODULE
        for attr in dated.attrs:
            if not _is_default(attr, op):
                yield Need(version_key(attr.since or op.spec.since), f"attribute '{attr.name}'", op, soft)
        for attr in dated.enums:
            case = op.attributes.get(attr.name, attr.default)
            if isinstance(case, a.TextEnum) and case.since != VERSIONS[0]:
                yield Need(version_key(case.since), f"'{case.text}' of attribute '{attr.name}'", op)
        for operand in dated.operands:
            if op.operand_group(operand.position):
                yield Need(version_key(operand.since or op.spec.since), f"operand '{operand.name}'", op)
        for result in dated.results:
            if result.position < len(op.results) and op.results[result.position] in self._used_values():
                yield Need(version_key(result.since or op.spec.since), f"the use of result '{result.name}'", op)
        for attr in dated.typed:
            for part in _dated_parts(op.attributes.get(attr.name)):
                if isinstance(part, t.Type):
                    yield from self._type(part, op)
                else:
                    yield Need(REDUCTION_ATTR_SINCE, f"'{part.case.text}' in attribute '{attr.name}'", op)

    def _used_values(self) -> set[Value]:
        if self._used is None:
            self._used = {value for op in self._module.walk() for value in op.operands}
        return self._used

    def _type(self, type: t.Type, op: Op) -> Iterator[Need]:
        if type not in self._types:
            newest = max(map(_own_since, _components(type)), key=lambda since: since[0])
            self._types[type] = newest if newest[0] > OLDEST else None
        found = self._types[type]
        if found is not None:
            yield Need(found[0], found[1], op)


def needs(module: Module) -> Iterator[Need]:
    """Yield everything in `module` that the oldest version cannot express."""
    finder = _Finder(module)
    for op in module.walk():
        yield from finder.of(op)


def lowest_version(found: Iterable[Need]) -> Version:
    """Return the oldest version that expresses a module with these needs."""
    return max((need.since for need in found), default=OLDEST)


def _is_default(attr: Attr, op: Op) -> bool:
    """Return whether files that lack `attr` read as `op` does; an all-false boolean array is the default of its
    kind."""
    value = op.attributes.get(attr.name, attr.default)
    if attr.kind is AttrKind.BOOL_ARRAY and isinstance(value, tuple):
        return not any(value)
    return value == attr.default


def _dated_parts(value: object) -> Iterator[t.Type | a.EnumAttr]:
    """Yield the types that an attribute's value spells out, and the attributes in it that came later than the
    format."""
    if isinstance(value, t.Type | a.EnumAttr):
        yield value
    elif isinstance(value, a.IntegerAttr | a.FloatAttr | a.DenseElements):
        yield value.type
    elif isinstance(value, a.TypeAttr):
        yield value.value
    elif isinstance(value, a.OptimizationHints):
        yield from _dated_parts(value.targets)
    elif isinstance(value, a.ArrayAttr):
        for item in value:
            yield from _dated_parts(item)
    elif isinstance(value, a.DictAttr):
        for _, item in value.entries:
            yield from _dated_parts(item)


def _components(type: t.Type) -> Iterator[t.Type]:
    """Yield `type` and all types inside it."""
    yield type
    if isinstance(type, t.PointerType):
        yield type.pointee
    elif isinstance(type, t.TileType | t.TensorViewType):
        yield from _components(type.element)
    elif isinstance(type, t.TileViewType):
        yield from _components(type.tensor_view)
    elif isinstance(type, t.FunctionType):
        for part in (*type.inputs, *type.results):
            yield from _components(part)


def _own_since(type: t.Type) -> tuple[Version, str]:
    """Return the first version with `type` itself, whatever its components, and its name for messages."""
    if isinstance(type, t.PointerType | t.TensorViewType) and type.attr is not None:
        return POINTER_ATTR_SINCE[type.attr], f"pointer attribute '{type.attr.text}'"
    if isinstance(type, t.ElementType):
        return version_key(type.since), f"type '{type.name}'"
    if isinstance(type, t.TileViewType):
        return version_key(type.since), f"type '{type.mnemonic}'"
    return OLDEST, ""
