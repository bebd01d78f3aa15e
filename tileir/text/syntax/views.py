"""The lists of make_tensor_view (spec: views#make_tensor_view)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tileir.ir.core import Op, Value
from tileir.ir.loc import SourceLoc
from tileir.ir.partial import POISON
from tileir.ir.types import Dim, PointerAttr, PointerType, TensorViewType, TileType, Type
from tileir.ops.views import MakeTensorView
from tileir.text.attributes import attr_dict
from tileir.text.reading import codes
from tileir.text.reading.statements import StatementReader
from tileir.text.reading.types import parse_type
from tileir.text.writer import Writer, write_line

Extent = tuple[int | Value, SourceLoc]
"""An extent or stride as written: a number or a value."""


def read_make_tensor_view(p: StatementReader) -> Op:
    base_begin = p.starts[p.index]
    base = p.value()
    shape, strides = _list(p, "shape"), _list(p, "strides")
    attributes: dict[str, Any] = {}
    discardable = p.read_dict(MakeTensorView.spec, attributes)
    p.expect(":")
    stated, type, at = _stated_types(p)
    dynamic = [_values(shape), _values(strides)]
    if isinstance(type, TensorViewType):
        _check_list(p, "shape", shape, type.shape, at)
        _check_list(p, "strides", strides, type.strides, at)
        written = next((found for found in stated if _is_pointer(found)), None)
        p.check_type(base, written or TileType((), PointerType(type.element)), base_begin)
    elif type is not POISON:
        p.fail(codes.EXPECTED, f"expected a tensor_view type, got {type!r}", at)
    index = next((found for found in stated if not _is_pointer(found)), None)
    for value, begin in dynamic[0] + dynamic[1]:
        p.check_type(value, p.known_type(value, begin) if index is None else index, begin)
    operands = [base] + [value for group in dynamic for value, _ in group]
    segments = (1, len(dynamic[0]), len(dynamic[1]))
    return MakeTensorView(operands, (type,), attributes, (), segments=segments, discardable=discardable)


def _list(p: StatementReader, name: str) -> list[Extent]:
    p.expect_all(",", name, "=", "[")
    return p.comma_list(lambda: _extent(p), "]")


def _extent(p: StatementReader) -> Extent:
    at = p.here()
    return (p.value() if p.peek()[0] == "%" else p.integer("an integer or a value")), at


def _values(entries: list[Extent]) -> list[tuple[Value, int]]:
    return [(entry, at.offset) for entry, at in entries if isinstance(entry, Value)]


def _stated_types(p: StatementReader) -> tuple[list[Type], Type, SourceLoc]:
    """Return the types in front of the arrow, if any: of the base (13.4) and of the dynamic extents; then the
    result's."""
    at = p.here()
    types = p.some(lambda: parse_type(p))
    if p.accept("->"):
        at = p.here()
        return types, parse_type(p), at
    if len(types) > 1:
        p.expected("'->'")
    return [], types[0], at


def _is_pointer(type: Type) -> bool:
    return isinstance(type, TileType) and isinstance(type.element, PointerType)


def _check_list(p: StatementReader, name: str, entries: list[Extent], dims: tuple[Dim, ...], at: SourceLoc) -> None:
    if len(entries) != len(dims):
        message = f"expected {len(dims)} entries in '{name}' for the tensor_view type, got {len(entries)}"
        p.fail(codes.VIEW_SHAPE, message, at, expected=str(len(dims)), got=str(len(entries)))
    for position, ((entry, place), dim) in enumerate(zip(entries, dims)):
        written = None if isinstance(entry, Value) else entry
        if written != dim:
            expected = "a value, because the type has '?' there" if dim is None else f"{dim} as in the type"
            got = "a value" if written is None else str(written)
            p.fail(codes.VIEW_SHAPE, f"expected {expected}, got {got} in '{name}' at position {position}", place)


def write_make_tensor_view(writer: Writer, op: MakeTensorView, indent: str) -> None:
    type = op.result.type
    shape = _mixed(writer, type.shape, op.dynamicShape)
    strides = _mixed(writer, type.strides, op.dynamicStrides)
    base: tuple[Value, ...] = () if pointer_attr(op.base.type) is None else (op.base,)
    written = base + op.operands[1:2]
    source = f"{writer.types(written)} -> " if written else ""
    text = f"{writer.uses[op.base]}, shape = {shape}, strides = {strides}{attr_dict(op)}"
    write_line(writer, op, indent, f"{text} : {source}{writer.short[type]}")


def pointer_attr(type: Type) -> PointerAttr | None:
    """Return the pointer attribute of a tile of pointers; a base that has one is written with its type (13.4)."""
    return type.element.attr if isinstance(type, TileType) and isinstance(type.element, PointerType) else None


def _mixed(writer: Writer, extents: Iterable[int | None], dynamic: Sequence[Value]) -> str:
    """Return the static extents, and the values where the type has none."""
    values = iter(dynamic)
    texts = [writer.uses[next(values)] if extent is None else str(extent) for extent in extents]
    return f"[{', '.join(texts)}]"
