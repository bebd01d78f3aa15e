"""The syntax of make_tensor_view and of the operations of early documents that have lists of their own.

(Specification: operations part 2, 5.1; operations part 1, 8.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir.ir import attributes as a
from tileir.ir.core import Op, Value
from tileir.ir.declare import OpSpec
from tileir.ir.loc import Location, SourceLoc
from tileir.ir.types import Dim, FunctionType, PointerType, TensorViewType, TileType, Type
from tileir.ops.extension import Call, ExternElementwise, GatherLoad, ScatterStore
from tileir.ops.views import MakeTensorView
from tileir.text import codes
from tileir.text.attribute_parser import dictionary
from tileir.text.properties import distribute
from tileir.text.type_parser import parse_type

if TYPE_CHECKING:
    from tileir.text.parser import Parser

Entry = tuple[int | Value, SourceLoc]
"""An extent or stride of make_tensor_view as written: a number or a value."""


def read_make_tensor_view(p: Parser, loc: Location) -> Op:
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
        p.check_type(base, _base_type(stated, type), base_begin)
    elif not p.is_poison(type):
        p.fail(codes.EXPECTED, f"expected a tensor_view type, got {type!r}", at)
    index = next((found for found in stated if not _is_pointer(found)), None)
    for value, begin in dynamic[0] + dynamic[1]:
        p.check_type(value, p.known_type(value, begin) if index is None else index, begin)
    operands = [base] + [value for group in dynamic for value, _ in group]
    segments = (1, len(dynamic[0]), len(dynamic[1]))
    op = MakeTensorView(operands, (type,), attributes, (), loc, segments)
    op.discardable = discardable
    return op


def _list(p: Parser, name: str) -> list[Entry]:
    p.expect(",")
    p.expect(name)
    p.expect("=")
    p.expect("[")
    return p.comma_list(lambda: _entry(p), "]")


def _entry(p: Parser) -> Entry:
    at = p.here()
    return (p.value() if p.peek()[0] == "%" else p.integer("an integer or a value")), at


def _values(entries: list[Entry]) -> list[tuple[Value, int]]:
    return [(entry, at.offset) for entry, at in entries if isinstance(entry, Value)]


def _stated_types(p: Parser) -> tuple[list[Type], Type, SourceLoc]:
    """The types in front of the arrow, if any: of the base (13.4) and of the dynamic extents; then the result's."""
    at = p.here()
    types = p.some(lambda: parse_type(p))
    if p.accept("->"):
        at = p.here()
        return types, parse_type(p), at
    if len(types) > 1:
        p.expected("'->'")
    return [], types[0], at


def _base_type(stated: list[Type], type: TensorViewType) -> Type:
    written = next((found for found in stated if _is_pointer(found)), None)
    return written or TileType((), PointerType(type.element))


def _is_pointer(type: Type) -> bool:
    return isinstance(type, TileType) and isinstance(type.element, PointerType)


def _check_list(p: Parser, name: str, entries: list[Entry], dims: tuple[Dim, ...], at: SourceLoc) -> None:
    if len(entries) != len(dims):
        message = f"expected {len(dims)} entries in '{name}' for the tensor_view type, got {len(entries)}"
        p.fail(codes.VIEW_SHAPE, message, at, expected=str(len(dims)), got=str(len(entries)))
    for position, ((entry, place), dim) in enumerate(zip(entries, dims)):
        written = None if isinstance(entry, Value) else entry
        if written != dim:
            expected = "a value, because the type has '?' there" if dim is None else f"{dim} as in the type"
            got = "a value" if written is None else str(written)
            p.fail(codes.VIEW_SHAPE, f"expected {expected}, got {got} in '{name}' at position {position}", place)


# ---------------------------------------------------------------- calls


def read_call(p: Parser, loc: Location) -> Op:
    attributes: dict[str, Any] = {"callee": p.symbol("the function to call, such as @name")}
    p.expect("(")
    values, marks = p.value_list() if p.peek()[0] == "%" else ([], [])
    p.expect(")")
    discardable = p.read_dict(Call.spec, attributes)
    type = _function_type(p, values, marks)
    op = Call(values, type.results, attributes, (), loc, (len(values),))
    op.discardable = discardable
    return op


def _function_type(p: Parser, values: list[Value], marks: list[int]) -> FunctionType:
    """``: (T, ...) -> R``, checked against the operands."""
    p.expect(":")
    at = p.here()
    type = parse_type(p)
    if p.is_poison(type):
        return FunctionType((type,) * len(values), (type,) * sum(name.size for name in p.names))
    if not isinstance(type, FunctionType):
        p.fail(codes.EXPECTED, f"expected a function type such as (tile<f32>) -> tile<f32>, got {type!r}", at)
    p.check_count(type.inputs, values, "operand", at.offset)
    for value, expected, mark in zip(values, type.inputs, marks):
        p.check_type(value, expected, mark)
    return type


def read_extern_elementwise(p: Parser, loc: Location) -> Op:
    values, marks = p.value_list()
    attributes: dict[str, Any] = {}
    at = p.here()
    discardable = distribute(p, ExternElementwise.spec, dictionary(p), attributes, at)
    _require(p, ExternElementwise.spec, attributes, at)
    type = _function_type(p, values, marks)
    op = ExternElementwise(values, type.results, attributes, (), loc, (len(values),))
    op.discardable = discardable
    return op


def _require(p: Parser, spec: OpSpec, attributes: dict[str, Any], at: SourceLoc) -> None:
    missing = [attr.name for attr in spec.attrs if attr.required and attr.name not in attributes]
    if missing:
        p.fail(codes.MISSING_PROPERTY, f"'{spec.name}': expected the attribute '{missing[0]}', got none", at)


# ---------------------------------------------------------------- gather and scatter


def read_gather_load(p: Parser, loc: Location) -> Op:
    spec = GatherLoad.spec
    (source, index), offsets, marks = _indexed(p, 2)
    attributes, discardable = _angle_dict(p, spec)
    types = _types(p, 2, len(offsets))
    p.expect("->")
    result = parse_type(p)
    _check(p, [source, index, *offsets], types, marks)
    op = GatherLoad([source, index, *offsets], (result,), attributes, (), loc, (1, 1, len(offsets)))
    op.discardable = discardable
    return op


def read_scatter_store(p: Parser, loc: Location) -> Op:
    spec = ScatterStore.spec
    (source, destination, index), offsets, marks = _indexed(p, 3)
    operands = [source, destination, index, *offsets]
    token: list[Value] = []
    if p.accept("token"):
        p.expect("=")
        marks.append(p.starts[p.index])
        token = [p.value()]
    attributes, discardable = _angle_dict(p, spec)
    types = _types(p, 3, len(offsets))
    if token:
        p.expect(",")
        types.append(parse_type(p))
    p.expect("->")
    result = parse_type(p)
    _check(p, operands + token, types, marks)
    segments = (1, 1, 1, len(offsets), len(token))
    op = ScatterStore(operands + token, (result,), attributes, (), loc, segments)
    op.discardable = discardable
    return op


def _indexed(p: Parser, count: int) -> tuple[list[Value], list[Value], list[int]]:
    """``%a, %b, [%offset, ...]``: `count` values, then the offsets, and where all of them stand."""
    values: list[Value] = []
    marks: list[int] = []
    for _ in range(count):
        marks.append(p.starts[p.index])
        values.append(p.value())
        p.expect(",")
    p.expect("[")
    offsets, places = p.value_list() if p.peek()[0] == "%" else ([], [])
    p.expect("]")
    return values, offsets, marks + places


def _angle_dict(p: Parser, spec: OpSpec) -> tuple[dict[str, Any], dict[str, a.Attribute] | None]:
    """``<{dim = 0 : i64}> {attrs}``."""
    attributes: dict[str, Any] = {}
    at = p.here()
    p.expect("<")
    unknown = distribute(p, spec, dictionary(p), attributes, at)
    if unknown:
        p.fail(codes.UNKNOWN_ATTRIBUTE, f"'{spec.name}': expected declared attributes, got '{next(iter(unknown))}'", at)
    p.expect(">")
    _require(p, spec, attributes, at)
    return attributes, p.read_dict(spec, attributes)


def _types(p: Parser, count: int, offsets: int) -> list[Type]:
    """The types of the single operands and, if there are offsets, one that they share."""
    p.expect(":")
    types = [parse_type(p)]
    while len(types) < count + bool(offsets):
        p.expect(",", "',' and one more type")
        types.append(parse_type(p))
    return types[:count] + types[count:] * offsets


def _check(p: Parser, values: list[Value], types: list[Type], marks: list[int]) -> None:
    for value, type, mark in zip(values, types, marks):
        p.check_type(value, type, mark)
