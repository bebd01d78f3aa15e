"""The type section (spec: bytecode#types), in both directions."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tileir.bytecode import faults
from tileir.bytecode.faults import BytecodeFault, shown_type
from tileir.bytecode.versions import POINTER_ATTR_SINCE
from tileir.bytecode.wire import ByteCursor, Numbering, OffsetTable, Sink
from tileir.ir import types as t
from tileir.ir.versions import Version, version_key, version_text

_DYNAMIC = -(1 << 63)
_MAX_U32 = (1 << 32) - 1


class Encoding(enum.Enum):
    """The encoding of a field of a type."""

    TYPE = enum.auto()
    TYPES = enum.auto()
    I32S = enum.auto()
    I64S = enum.auto()
    DIMS = enum.auto()
    U32 = enum.auto()


@dataclass(frozen=True)
class TypeField:
    """A field by the name that it has on the type class; a type inside must be one of `accepts`, else `code`."""

    name: str
    encoding: Encoding
    accepts: tuple[type[t.Type], ...] = ()
    code: str = faults.KIND


@dataclass(frozen=True)
class OptionalTypeField:
    """An enumeration that may be absent: a flags field in front tells from `flags_since` on.

    In older files a byte in its place tells (`presence_byte`), or there is no such field.
    """

    name: str
    cases: type[t.PaddingValue] | type[t.PointerAttr]
    flags_since: Version
    presence_byte: bool = False


@dataclass(frozen=True)
class TypeLayout:
    """The layout of the types of one class: tag, [flags], fields, [optional field]."""

    tag: int
    cls: type[t.Type]
    name: str
    since: Version
    fields: tuple[TypeField, ...]
    optional: OptionalTypeField | None = None

    @property
    def accepts(self) -> tuple[type[t.Type], ...]:
        return (self.cls,)


_V13_1, _V13_3, _V13_4 = map(version_key, ("13.1", "13.3", "13.4"))
_NUMBER = (t.ElementType,)
_NUMBER_OR_POINTER = (t.ElementType, t.PointerType)
_VALUE = (t.ElementType, t.PointerType, t.TileType, t.TensorViewType, t.TileViewType, t.TokenType)
_TENSOR_VIEW = TypeField("tensor_view", Encoding.TYPE, (t.TensorViewType,))
_TILE_SHAPE = TypeField("tile_shape", Encoding.I32S)
_DIM_MAP = TypeField("dim_map", Encoding.I32S)
_POINTER_ATTR = OptionalTypeField("attr", t.PointerAttr, _V13_4)
_PADDING = OptionalTypeField("padding", t.PaddingValue, _V13_3, presence_byte=True)

LAYOUTS = (
    TypeLayout(
        12,
        t.PointerType,
        "ptr",
        _V13_1,
        (TypeField("pointee", Encoding.TYPE, _NUMBER, faults.TYPE_VERIFY),),
        _POINTER_ATTR,
    ),
    TypeLayout(
        13,
        t.TileType,
        "tile",
        _V13_1,
        (
            TypeField("element", Encoding.TYPE, _NUMBER_OR_POINTER, faults.TYPE_VERIFY),
            TypeField("shape", Encoding.I64S),
        ),
    ),
    TypeLayout(
        14,
        t.TensorViewType,
        "tensor_view",
        _V13_1,
        (
            TypeField("element", Encoding.TYPE, _NUMBER, faults.TYPE_VERIFY),
            TypeField("shape", Encoding.DIMS),
            TypeField("strides", Encoding.DIMS),
        ),
        _POINTER_ATTR,
    ),
    TypeLayout(15, t.PartitionViewType, "partition_view", _V13_1, (_TILE_SHAPE, _TENSOR_VIEW, _DIM_MAP), _PADDING),
    TypeLayout(
        16,
        t.FunctionType,
        "function",
        _V13_1,
        (TypeField("inputs", Encoding.TYPES, _VALUE), TypeField("results", Encoding.TYPES, _VALUE)),
    ),
    TypeLayout(
        20,
        t.GatherScatterViewType,
        "gather_scatter_view",
        _V13_3,
        (_TILE_SHAPE, _TENSOR_VIEW, TypeField("sparse_dim", Encoding.U32)),
        _PADDING,
    ),
    TypeLayout(
        21,
        t.StridedViewType,
        "strided_view",
        _V13_3,
        (_TILE_SHAPE, TypeField("traversal_strides", Encoding.I32S), _TENSOR_VIEW, _DIM_MAP),
        _PADDING,
    ),
)
_TOKEN_TAG = 17
_BY_TAG = {layout.tag: layout for layout in LAYOUTS}
_BY_CLASS: dict[type[t.Type], TypeLayout] = {layout.cls: layout for layout in LAYOUTS}
_SIMPLE: dict[int, t.Type] = {element.tag: element for element in t.ELEMENTS.values()} | {_TOKEN_TAG: t.TOKEN}
_SIMPLE_TAGS = {type: tag for tag, type in _SIMPLE.items()}


class TypeReader:
    """The type section; a type is decoded when it is first used."""

    def __init__(self, payload: ByteCursor | None, version: Version) -> None:
        self._table = OffsetTable.read(payload, "types", 4)
        self._version = version
        self._types: dict[int, t.Type] = {}
        self.of_values: dict[int, t.Type] = {}
        """The types that `read` has found."""
        self._open: set[int] = set()

    def __len__(self) -> int:
        return len(self._table)

    def read(self, cursor: ByteCursor) -> t.Type:
        """Return the type whose index stands at `cursor`, of a value or an attribute."""
        begin = cursor.at
        index = self._table.index(cursor)
        found = self.of_values.get(index) or self.get(index)
        if isinstance(found, t.FunctionType):
            raise BytecodeFault(faults.KIND, f"expected a type other than a function's, got type {index}", begin)
        self.of_values[index] = found
        return found

    def read_signature(self, cursor: ByteCursor) -> t.FunctionType:
        """Return the function type whose index stands at `cursor`."""
        begin = cursor.at
        index = self._table.index(cursor)
        found = self.get(index)
        if not isinstance(found, t.FunctionType):
            raise BytecodeFault(faults.KIND, f"expected a function type, got {shown_type(found)}", begin)
        return found

    def read_list(self, cursor: ByteCursor) -> tuple[t.Type, ...]:
        return tuple([self.read(cursor) for _ in range(cursor.count())])

    def get(self, index: int) -> t.Type:
        found = self._types.get(index)
        if found is None:
            self._open.add(index)
            try:
                found = self._types[index] = self._decode(self._table.entry(index), index)
            except BytecodeFault as fault:
                raise fault.inside(f"type {index}") from None
            finally:
                self._open.discard(index)
        return found

    def _decode(self, entry: ByteCursor, index: int) -> t.Type:
        begin = entry.at
        tag = _read_tag(entry)
        type = _SIMPLE.get(tag)
        if isinstance(type, t.ElementType):
            self._gate(version_key(type.since), f"type '{type.name}'", begin)
        elif type is None:
            type = self._composite(_BY_TAG[tag], entry)
        if entry.trace is not None:
            entry.note(begin, f"type {index}: {shown_type(type)}")
        return type

    def _gate(self, since: Version, what: str, offset: int) -> None:
        if since > self._version:
            message = f"{what} needs bytecode version {version_text(since)}, the file has {version_text(self._version)}"
            raise BytecodeFault(faults.GATE, message, offset)

    def _composite(self, layout: TypeLayout, entry: ByteCursor) -> t.Type:
        begin = entry.origin
        self._gate(layout.since, f"type '{layout.name}'", begin)
        flags = self._flags(layout.optional, entry)
        fields: dict[str, object] = {}
        for field in layout.fields:
            try:
                fields[field.name] = self._field(field, entry)
            except BytecodeFault as fault:
                raise fault.inside(f"field '{field.name}' of '{layout.name}'") from None
        if layout.optional is not None:
            fields[layout.optional.name] = self._optional(layout.optional, flags, entry)
        if layout.cls is t.TileType and entry.left:
            message = f"expected the end of the tile type, got {entry.left} more bytes"
            raise BytecodeFault(faults.TYPE_VERIFY, message, entry.at)
        return _build(layout, fields, begin)

    def _flags(self, optional: OptionalTypeField | None, entry: ByteCursor) -> int:
        if optional is None or self._version < optional.flags_since:
            return 0
        begin = entry.at
        flags = entry.varint()
        if flags > 1:
            raise BytecodeFault(faults.FLAGS, f"expected no flags but bit 0 ('{optional.name}'), got {flags:#x}", begin)
        return flags

    def _optional(self, optional: OptionalTypeField, flags: int, entry: ByteCursor) -> object:
        if self._version < optional.flags_since:
            flags = optional.presence_byte and entry.boolean()
        if not flags:
            return None
        begin = entry.at
        number = entry.varint()
        if number not in list(optional.cases):
            message = f"expected a {optional.cases.__name__} of at most {max(optional.cases)}, got {number}"
            raise BytecodeFault(faults.ENUM, message, begin)
        case = optional.cases(number)
        if isinstance(case, t.PointerAttr):
            self._gate(POINTER_ATTR_SINCE[case], f"pointer attribute '{case.text}'", begin)
        return case

    def _field(self, field: TypeField, entry: ByteCursor) -> object:
        if field.encoding is Encoding.TYPE:
            return self._component(field, entry)
        if field.encoding is Encoding.TYPES:
            return tuple([self._component(field, entry) for _ in range(entry.count())])
        if field.encoding is Encoding.I32S:
            return entry.i32_array()
        if field.encoding is Encoding.I64S:
            return entry.i64_array()
        if field.encoding is Encoding.DIMS:
            return tuple([None if extent == _DYNAMIC else extent for extent in entry.i64_array()])
        return entry.bounded_varint(_MAX_U32, "a 32-bit number")

    def _component(self, field: TypeField, entry: ByteCursor) -> t.Type:
        """Return a type inside a type: its class is looked at first, so that only well-founded types are decoded."""
        begin = entry.at
        index = self._table.index(entry)
        if index in self._open:
            raise BytecodeFault(
                faults.RECURSION, f"expected a type that does not contain itself, got type {index}", begin
            )
        found = self._types.get(index)
        cls = type(found) if found is not None else _class_of(_read_tag(self._table.entry(index)))
        if not issubclass(cls, field.accepts):
            wanted = " or ".join(accepted.__name__ for accepted in field.accepts)
            raise BytecodeFault(field.code, f"expected {wanted}, got type {index}, a {cls.__name__}", begin)
        return self.get(index)


def _read_tag(entry: ByteCursor) -> int:
    begin = entry.at
    tag = entry.varint()
    if tag not in _SIMPLE and tag not in _BY_TAG:
        raise BytecodeFault(faults.TAG, f"expected the tag of a type, got {tag}", begin)
    return tag


def _class_of(tag: int) -> type[t.Type]:
    return type(_SIMPLE[tag]) if tag in _SIMPLE else _BY_TAG[tag].cls


def _build(layout: TypeLayout, fields: dict[str, object], offset: int) -> t.Type:
    try:
        return layout.cls(**fields)
    except t.InvalidType as error:
        raise BytecodeFault(faults.TYPE_VERIFY, f"{error.message} [{error.code}]", offset) from None


class TypeWriter(Numbering):
    """The types of a file being written; the parts of a type are numbered before it."""

    def __init__(self, version: Version) -> None:
        super().__init__()
        self._version = version
        self._indices: dict[t.Type, int] = {}

    def number(self, type: t.Type) -> int:
        index = self._indices.get(type)
        if index is None:
            index = self._indices[type] = self.index(self._encode(type))
        return index

    def _encode(self, type: t.Type) -> bytes:
        sink = Sink()
        if type in _SIMPLE_TAGS:
            sink.varint(_SIMPLE_TAGS[type])
            return bytes(sink.data)
        layout = _BY_CLASS[type.__class__]
        sink.varint(layout.tag)
        optional = layout.optional
        value = None if optional is None else getattr(type, optional.name)
        if optional is not None and self._version >= optional.flags_since:
            sink.varint(value is not None)
        for field in layout.fields:
            self._write_field(sink, field.encoding, getattr(type, field.name))
        if optional is not None and optional.presence_byte and self._version < optional.flags_since:
            sink.byte(value is not None)
        if value is not None:
            sink.varint(value)
        return bytes(sink.data)

    def _write_field(self, sink: Sink, encoding: Encoding, value: object) -> None:
        if isinstance(value, t.Type):
            sink.varint(self.number(value))
        elif isinstance(value, int):
            sink.varint(value)
        elif isinstance(value, tuple):
            self._write_tuple(sink, encoding, value)

    def _write_tuple(self, sink: Sink, encoding: Encoding, values: tuple[Any, ...]) -> None:
        if encoding is Encoding.TYPES:
            self.write_list(sink, values)
        elif encoding is Encoding.I32S:
            sink.i32_array(values)
        else:
            sink.i64_array(tuple(_DYNAMIC if extent is None else extent for extent in values))

    def write_list(self, sink: Sink, types: Iterable[t.Type]) -> None:
        numbers = [self.number(type) for type in types]
        sink.varint(len(numbers))
        for number in numbers:
            sink.varint(number)
