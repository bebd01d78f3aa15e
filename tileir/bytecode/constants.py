"""Constants that a call gives to code that is linked in (spec: bytecode-samples#preview), in both directions."""

from __future__ import annotations

from tileir.bytecode import faults
from tileir.bytecode.faults import MAX_NESTING, BytecodeFault
from tileir.bytecode.tables import TableReaders, TableWriters
from tileir.bytecode.wire import ByteCursor, Sink
from tileir.ir.attributes import ArrayAttr, Attribute, IntegerAttr, StringAttr, TypeAttr
from tileir.ir.types import I64

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
