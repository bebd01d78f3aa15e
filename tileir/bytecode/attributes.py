"""Attributes on the wire (spec: bytecode-instructions#attributes), in both directions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from tileir.bytecode import faults
from tileir.bytecode.faults import MAX_NESTING, BytecodeFault, shown_type
from tileir.bytecode.tables import TableReaders, TableWriters
from tileir.bytecode.versions import REDUCTION_ATTR_SINCE
from tileir.bytecode.wire import ByteCursor, Sink, check_width, signed
from tileir.ir import types as t
from tileir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    Bounded,
    DenseElements,
    DictAttr,
    DivBy,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    MultimemReduction,
    OptimizationHints,
    SameElements,
    StringAttr,
    TextEnum,
    TypeAttr,
)
from tileir.ir.escaping import shown
from tileir.ir.fields import Attr, AttributeKind, AttrKind
from tileir.ir.types import I64
from tileir.ir.versions import Version, version_key, version_text

# ---------------------------------------------------------------- constants of linked code


_INTEGER, _TUPLE, _TYPE, _STRING = 209, 216, 219, 228


def read_constants(tables: TableReaders, cursor: ByteCursor, depth: int = 0) -> ArrayAttr:
    """Return a count, then the constants with their tags."""
    if depth >= MAX_NESTING:
        raise BytecodeFault(faults.NESTING, f"expected tuples nested at most {MAX_NESTING} deep, got more", cursor.at)
    items = []
    for _ in range(cursor.count()):
        items.append(_read_constant(tables, cursor, depth))
    return ArrayAttr(tuple(items))


def _read_constant(tables: TableReaders, cursor: ByteCursor, depth: int) -> Attribute:
    begin = cursor.at
    tag = cursor.varint()
    if tag == _INTEGER:
        return IntegerAttr(cursor.svarint(), I64)
    if tag == _STRING:
        return StringAttr(tables.strings.read(cursor))
    if tag == _TYPE:
        return TypeAttr(tables.types.read(cursor))
    if tag == _TUPLE:
        return read_constants(tables, cursor, depth + 1)
    message = f"expected a constant (an integer, a string, a type or a tuple of them), got attribute tag {tag}"
    raise BytecodeFault(faults.TAG, message, begin)


def write_constants(tables: TableWriters, sink: Sink, value: ArrayAttr, depth: int = 0) -> None:
    """Write a count, then the constants with their tags."""
    if depth >= MAX_NESTING:
        raise BytecodeFault(faults.NESTING, f"expected tuples nested at most {MAX_NESTING} deep, got more")
    sink.varint(len(value))
    for item in value:
        _write_constant(tables, sink, item, depth)


def _write_constant(tables: TableWriters, sink: Sink, value: Attribute, depth: int) -> None:
    if isinstance(value, IntegerAttr) and value.type is I64:
        sink.varint(_INTEGER)
        sink.svarint(value.value)
    elif isinstance(value, StringAttr):
        sink.varint(_STRING)
        sink.varint(tables.strings.number(value.value))
    elif isinstance(value, TypeAttr):
        sink.varint(_TYPE)
        sink.varint(tables.types.number(value.value))
    elif isinstance(value, ArrayAttr):
        sink.varint(_TUPLE)
        write_constants(tables, sink, value, depth + 1)
    else:
        raise BytecodeFault(faults.WRITE_ATTR, f"expected an integer, a string, a type or a tuple, got {value!r}")


_MAX_U64 = (1 << 64) - 1
_I32_EXTREMES = (-(1 << 31), (1 << 31) - 1)
_HINTS_TAG = 11
_DENSE_TAG = 7


# ---------------------------------------------------------------- reading, by declared kind

KindReader = Callable[[TableReaders, ByteCursor, Attr, list[t.Type]], Any]
"""``read(tables, cursor, attr, result_types)``."""


def _read_enum(tables: TableReaders, cursor: ByteCursor, attr: Attr, results: list[t.Type]) -> TextEnum:
    assert attr.enum is not None
    return read_case(cursor, attr.enum, tables.version)


def read_case(cursor: ByteCursor, cases: type[TextEnum], version: Version) -> TextEnum:
    """Return a case of an enumeration that files of `version` know."""
    begin = cursor.at
    number = cursor.varint()
    found = _cases(cases).get(number)
    if found is None:
        message = f"expected a case of {cases.__name__} (0 to {max(cases)}), got {number}"
        raise BytecodeFault(faults.ENUM, message, begin)
    case, since = found
    if since > version:
        message = f"'{case.text}' needs bytecode version {version_text(since)}, the file has {version_text(version)}"
        raise BytecodeFault(faults.GATE, message, begin)
    return case


@cache
def _cases(cases: type[TextEnum]) -> dict[int, tuple[TextEnum, Version]]:
    return {int(case): (case, version_key(case.since)) for case in cases}


def _read_integer(width: int) -> KindReader:
    return lambda tables, cursor, attr, results: signed(cursor.pattern(width), width)


def _read_string(tables: TableReaders, cursor: ByteCursor, attr: Attr, results: list[t.Type]) -> str:
    return tables.strings.read(cursor)


def _read_symbol(tables: TableReaders, cursor: ByteCursor, attr: Attr, results: list[t.Type]) -> str:
    return tables.strings.read_name(cursor, "the name of a symbol")


def _read_dense(tables: TableReaders, cursor: ByteCursor, attr: Attr, results: list[t.Type]) -> DenseElements:
    return tables.constants.read(cursor, results[0])


def _read_i32_array(tables: TableReaders, cursor: ByteCursor, attr: Attr, results: list[t.Type]) -> tuple[int, ...]:
    begin = cursor.at
    values = cursor.i32_array()
    for extreme in _I32_EXTREMES:
        if extreme in values:
            raise BytecodeFault(
                faults.RANGE, f"expected array elements other than the extremes of i32, got {extreme}", begin
            )
    return values


def _read_identities(tables: TableReaders, cursor: ByteCursor, attr: Attr, results: list[t.Type]) -> ArrayAttr:
    items: list[Attribute] = []
    for _ in range(cursor.count()):
        begin = cursor.at
        item = read_tagged(tables, cursor)
        if not isinstance(item, IntegerAttr | FloatAttr | BoolAttr):
            message = f"expected an integer or float attribute, got {type(item).__name__}"
            raise BytecodeFault(faults.KIND, message, begin)
        items.append(item)
    return ArrayAttr(tuple(items))


def _read_predicate(tables: TableReaders, cursor: ByteCursor, attr: Attr, results: list[t.Type]) -> Attribute:
    begin = cursor.at
    value = read_tagged(tables, cursor)
    if not isinstance(value, DivBy | SameElements | Bounded):
        message = f"expected div_by, same_elements or bounded, got {type(value).__name__}"
        raise BytecodeFault(faults.KIND, message, begin)
    return value


def _read_dicts(tables: TableReaders, cursor: ByteCursor, attr: Attr, results: list[t.Type]) -> ArrayAttr:
    begin = cursor.at
    items = _read_array(tables, cursor, 0)
    for item in items:
        if not isinstance(item, DictAttr):
            raise BytecodeFault(faults.KIND, f"expected dictionaries, got {type(item).__name__}", begin)
    return items


READ_KIND: dict[AttributeKind, KindReader] = {
    AttrKind.ENUM: _read_enum,
    AttrKind.I32: _read_integer(32),
    AttrKind.I64: _read_integer(64),
    AttrKind.BOOL: lambda tables, cursor, attr, results: cursor.boolean(),
    AttrKind.STRING: _read_string,
    AttrKind.SYMBOL: _read_symbol,
    AttrKind.TYPE: lambda tables, cursor, attr, results: tables.types.read(cursor),
    AttrKind.DENSE: _read_dense,
    AttrKind.I32_ARRAY: _read_i32_array,
    AttrKind.BOOL_ARRAY: lambda tables, cursor, attr, results: cursor.bool_array(),
    AttrKind.ARRAY: _read_identities,
    AttrKind.TAGGED: _read_predicate,
    AttrKind.HINTS: lambda tables, cursor, attr, results: _read_hints(tables, cursor, 0),
    AttrKind.DICTS: _read_dicts,
    AttrKind.CONSTANTS: lambda tables, cursor, attr, results: read_constants(tables, cursor),
}


# ---------------------------------------------------------------- reading tagged attributes

TagReader = Callable[[TableReaders, ByteCursor, int], Attribute]
"""``read(tables, cursor, depth)``."""


def read_tagged(tables: TableReaders, cursor: ByteCursor, depth: int = 0) -> Attribute:
    """Return an attribute that starts with its tag."""
    begin = cursor.at
    tag = cursor.varint()
    read = _READ_TAG.get(tag)
    if read is None:
        raise BytecodeFault(faults.TAG, f"expected the tag of an attribute, got {tag}", begin)
    since = _TAG_SINCE.get(tag)
    if since is not None and since > tables.version:
        wanted, got = version_text(since), version_text(tables.version)
        message = f"attribute tag {tag} needs bytecode version {wanted}, the file has {got}"
        raise BytecodeFault(faults.GATE, message, begin)
    if depth >= MAX_NESTING:
        raise BytecodeFault(faults.NESTING, f"expected attributes nested at most {MAX_NESTING} deep, got more", begin)
    return read(tables, cursor, depth + 1)


def read_hints(tables: TableReaders, cursor: ByteCursor) -> OptimizationHints:
    """Return optimization hints with their tag."""
    begin = cursor.at
    value = read_tagged(tables, cursor)
    if not isinstance(value, OptimizationHints):
        raise BytecodeFault(faults.KIND, f"expected optimization hints, got {type(value).__name__}", begin)
    return value


def _read_number(tables: TableReaders, cursor: ByteCursor, depth: int) -> Attribute:
    begin = cursor.at
    type = tables.types.read(cursor)
    if not isinstance(type, t.ElementType) or not type.is_int:
        raise BytecodeFault(faults.KIND, f"expected an integer type, got {shown_type(type)}", begin)
    if type is t.I1:
        return BoolAttr(cursor.boolean())
    return IntegerAttr(signed(cursor.pattern(type.bits), type.bits), type)


def _read_float(tables: TableReaders, cursor: ByteCursor, depth: int) -> FloatAttr:
    begin = cursor.at
    type = tables.types.read(cursor)
    if not isinstance(type, t.ElementType) or not type.is_float:
        raise BytecodeFault(faults.KIND, f"expected a float type, got {shown_type(type)}", begin)
    return FloatAttr(cursor.apint(type.bits), type)


def _read_array(tables: TableReaders, cursor: ByteCursor, depth: int) -> ArrayAttr:
    items = []
    for _ in range(cursor.count()):
        items.append(read_tagged(tables, cursor, depth))
    return ArrayAttr(tuple(items))


def _read_dictionary(tables: TableReaders, cursor: ByteCursor, depth: int) -> DictAttr:
    entries: dict[str, Attribute] = {}
    for _ in range(cursor.count()):
        begin = cursor.at
        key = tables.strings.read_name(cursor, "the key of a dictionary")
        if key in entries:
            raise BytecodeFault(faults.DUPLICATE, f"expected each key once, got '{shown(key)}' twice", begin)
        entries[key] = read_tagged(tables, cursor, depth)
    return DictAttr.of(entries)


def _read_hints(tables: TableReaders, cursor: ByteCursor, depth: int) -> OptimizationHints:
    begin = cursor.at
    targets = _read_dictionary(tables, cursor, depth)
    for target, value in targets.entries:
        if not isinstance(value, DictAttr):
            message = f"expected a dictionary of hints for '{shown(target)}', got {type(value).__name__}"
            raise BytecodeFault(faults.KIND, message, begin)
    return OptimizationHints(targets)


def _read_optional_numbers(cursor: ByteCursor, names: tuple[str, str]) -> tuple[int | None, int | None]:
    """Return a byte of flags, then the numbers whose bit is set."""
    begin = cursor.at
    flags = cursor.byte()
    if flags > 3:
        message = f"expected no flags but bit 0 ('{names[0]}') and bit 1 ('{names[1]}'), got {flags:#x}"
        raise BytecodeFault(faults.FLAGS, message, begin)
    first = cursor.svarint() if flags & 1 else None
    second = cursor.svarint() if flags & 2 else None
    return first, second


def _read_div_by(tables: TableReaders, cursor: ByteCursor, depth: int) -> DivBy:
    divisor = cursor.varint()
    every, along = _read_optional_numbers(cursor, ("every", "along"))
    return DivBy(divisor, every, None if every is None else along)


def _read_bounded(tables: TableReaders, cursor: ByteCursor, depth: int) -> Bounded:
    return Bounded(*_read_optional_numbers(cursor, ("lower", "upper")))


def _read_dense_elements(tables: TableReaders, cursor: ByteCursor, depth: int) -> Attribute:
    raise BytecodeFault(faults.TAG, f"tag {_DENSE_TAG} (dense elements) has no meaning in an attribute", cursor.at)


_READ_TAG: dict[int, TagReader] = {
    1: _read_number,
    2: _read_float,
    3: lambda tables, cursor, depth: BoolAttr(cursor.boolean()),
    4: lambda tables, cursor, depth: TypeAttr(tables.types.read(cursor)),
    5: lambda tables, cursor, depth: StringAttr(tables.strings.read(cursor)),
    6: _read_array,
    _DENSE_TAG: _read_dense_elements,
    8: _read_div_by,
    9: lambda tables, cursor, depth: SameElements(cursor.i64_array()),
    10: _read_dictionary,
    _HINTS_TAG: _read_hints,
    12: _read_bounded,
    13: lambda tables, cursor, depth: EnumAttr(read_case(cursor, MultimemReduction, tables.version)),
}
_TAG_SINCE = {13: REDUCTION_ATTR_SINCE}


# ---------------------------------------------------------------- writing, by declared kind

KindWriter = Callable[[TableWriters, Sink, Any], None]
"""``write(tables, sink, value)``."""


def _write_symbol(tables: TableWriters, sink: Sink, value: str) -> None:
    if not value:
        raise BytecodeFault(faults.MALFORMED, "expected the name of a symbol, got an empty string")
    sink.varint(tables.strings.number(value))


def _write_dense(tables: TableWriters, sink: Sink, value: DenseElements) -> None:
    sink.varint(tables.constants.number(value))


def _write_array(tables: TableWriters, sink: Sink, value: ArrayAttr, depth: int = 0) -> None:
    sink.varint(len(value))
    for item in value:
        write_tagged(tables, sink, item, depth)


def _write_hints(tables: TableWriters, sink: Sink, value: OptimizationHints, depth: int = 0) -> None:
    for target, hints in value.targets.entries:
        if not isinstance(hints, DictAttr):
            raise BytecodeFault(
                faults.MALFORMED, f"expected a dictionary of hints for '{shown(target)}', got {hints!r}"
            )
    _write_dictionary(tables, sink, value.targets, depth)


HELD: dict[AttributeKind, type] = {
    AttrKind.ENUM: TextEnum,
    AttrKind.I32: int,
    AttrKind.I64: int,
    AttrKind.BOOL: bool,
    AttrKind.STRING: str,
    AttrKind.SYMBOL: str,
    AttrKind.SYMBOL_NAME: str,
    AttrKind.TYPE: t.Type,
    AttrKind.DENSE: DenseElements,
    AttrKind.I32_ARRAY: tuple,
    AttrKind.BOOL_ARRAY: tuple,
    AttrKind.ARRAY: ArrayAttr,
    AttrKind.TAGGED: Attribute,
    AttrKind.HINTS: OptimizationHints,
    AttrKind.DICTS: ArrayAttr,
    AttrKind.CONSTANTS: ArrayAttr,
}
"""The class of the value that an operation holds for an attribute of each kind."""

WRITE_KIND: dict[AttributeKind, KindWriter] = {
    AttrKind.ENUM: lambda tables, sink, value: sink.varint(int(value)),
    AttrKind.I32: lambda tables, sink, value: sink.pattern(value, 32),
    AttrKind.I64: lambda tables, sink, value: sink.pattern(value, 64),
    AttrKind.BOOL: lambda tables, sink, value: sink.byte(bool(value)),
    AttrKind.STRING: lambda tables, sink, value: sink.varint(tables.strings.number(value)),
    AttrKind.SYMBOL: _write_symbol,
    AttrKind.TYPE: lambda tables, sink, value: sink.varint(tables.types.number(value)),
    AttrKind.DENSE: _write_dense,
    AttrKind.I32_ARRAY: lambda tables, sink, value: sink.i32_array(value),
    AttrKind.BOOL_ARRAY: lambda tables, sink, value: sink.bool_array(value),
    AttrKind.ARRAY: _write_array,
    AttrKind.TAGGED: lambda tables, sink, value: write_tagged(tables, sink, value),
    AttrKind.HINTS: _write_hints,
    AttrKind.DICTS: _write_array,
    AttrKind.CONSTANTS: write_constants,
}


# ---------------------------------------------------------------- writing tagged attributes


def write_tagged(tables: TableWriters, sink: Sink, value: Attribute, depth: int = 0) -> None:
    """Write an attribute with its tag in front."""
    tag, write = _WRITE_TAG.get(type(value), (0, None))
    if write is None:
        raise BytecodeFault(faults.WRITE_ATTR, f"expected an attribute that bytecode can hold, got {value!r}")
    if depth >= MAX_NESTING:
        raise BytecodeFault(faults.NESTING, f"expected attributes nested at most {MAX_NESTING} deep, got more")
    sink.varint(tag)
    write(tables, sink, value, depth + 1)


def _write_integer(tables: TableWriters, sink: Sink, value: IntegerAttr, depth: int) -> None:
    sink.varint(tables.types.number(value.type))
    if value.type is t.I1:
        sink.byte(value.value != 0)
    else:
        sink.pattern(value.value, value.type.bits)


def _write_float(tables: TableWriters, sink: Sink, value: FloatAttr, depth: int) -> None:
    sink.varint(tables.types.number(value.type))
    sink.apint(check_width(value.bits, value.type.bits, 0), value.type.bits)


def _write_bool(tables: TableWriters, sink: Sink, value: BoolAttr, depth: int) -> None:
    _write_integer(tables, sink, IntegerAttr(int(value.value), t.I1), depth)


def _write_dictionary(tables: TableWriters, sink: Sink, value: DictAttr, depth: int) -> None:
    sink.varint(len(value.entries))
    for key, item in value.entries:
        if not key:
            raise BytecodeFault(faults.MALFORMED, "expected a dictionary without an empty key")
        sink.varint(tables.strings.number(key))
        write_tagged(tables, sink, item, depth)


def _write_optional_numbers(sink: Sink, first: int | None, second: int | None) -> None:
    sink.byte((first is not None) | (second is not None) << 1)
    for number in (first, second):
        if number is not None:
            if not -(1 << 63) <= number < 1 << 63:
                raise BytecodeFault(faults.RANGE, f"expected a 64-bit integer, got {number}")
            sink.svarint(number)


def _write_div_by(tables: TableWriters, sink: Sink, value: DivBy, depth: int) -> None:
    if not 0 <= value.divisor <= _MAX_U64:
        raise BytecodeFault(faults.RANGE, f"expected an unsigned 64-bit divisor, got {value.divisor}")
    sink.varint(value.divisor)
    _write_optional_numbers(sink, value.every, value.along)


def _write_bounded(tables: TableWriters, sink: Sink, value: Bounded, depth: int) -> None:
    _write_optional_numbers(sink, value.lower, value.upper)


def _write_case(tables: TableWriters, sink: Sink, value: EnumAttr, depth: int) -> None:
    if not isinstance(value.case, MultimemReduction):
        raise BytecodeFault(faults.WRITE_ATTR, f"expected an attribute that bytecode can hold, got {value!r}")
    sink.varint(value.case)


_WRITE_TAG: dict[type[Attribute], tuple[int, Callable[[TableWriters, Sink, Any, int], None]]] = {
    IntegerAttr: (1, _write_integer),
    FloatAttr: (2, _write_float),
    BoolAttr: (1, _write_bool),
    TypeAttr: (4, lambda tables, sink, value, depth: sink.varint(tables.types.number(value.value))),
    StringAttr: (5, lambda tables, sink, value, depth: sink.varint(tables.strings.number(value.value))),
    ArrayAttr: (6, _write_array),
    DivBy: (8, _write_div_by),
    SameElements: (9, lambda tables, sink, value, depth: sink.i64_array(value.values)),
    DictAttr: (10, _write_dictionary),
    OptimizationHints: (_HINTS_TAG, _write_hints),
    Bounded: (12, _write_bounded),
    EnumAttr: (13, _write_case),
}
