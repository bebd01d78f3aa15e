"""Rules of the core operations except reductions (operations 3)."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from tileir.ir.attributes import DenseElements, element_bytes
from tileir.ir.core import Op, Value
from tileir.ir.declare import Relation
from tileir.ir.diagnostics import Note
from tileir.ir.types import F4E2M1FN, TF32, ElementType, TileType
from tileir.ops.core import (
    Broadcast,
    Cat,
    Constant,
    Extract,
    GetGlobal,
    Insert,
    Iota,
    Pack,
    Permute,
    Reshape,
    Select,
    Unpack,
)
from tileir.ops.module import Global
from tileir.verify.rule import Fault, Rules, Scope, counted, defined, shown
from tileir.verify.structure import differs

rules = Rules()


@rules("E0401", Broadcast)
def broadcastable(op: Broadcast, scope: Scope) -> Fault | None:
    source, result = op.source.type, op.result.type
    for dim, (extent, wanted) in enumerate(zip(source.shape, result.shape)):
        if extent not in (1, wanted):
            return Fault(f"operand 'source' dimension {dim}", f"1 or {wanted}, to become {result!r}", str(extent))
    return None


# ---------------------------------------------------------------- cat


@rules("E0402", Cat)
def cat_dimension(op: Cat, scope: Scope) -> Fault | None:
    rank = op.lhs.type.rank
    return None if 0 <= op.dim < rank else Fault("attribute 'dim'", f"a dimension in [0, {rank})", str(op.dim))


@rules("E0403", Cat)
def cat_extent(op: Cat, scope: Scope) -> Fault | None:
    lhs, rhs, result = (value.type.shape[op.dim] for value in (op.lhs, op.rhs, op.result))
    if lhs + rhs == result:
        return None
    return Fault(f"result dimension {op.dim}", f"{lhs} + {rhs} = {lhs + rhs}", str(result))


@rules("E0404", Cat)
def cat_other_extents(op: Cat, scope: Scope) -> Fault | None:
    for what, type in (("operand 'rhs'", op.rhs.type), ("result", op.result.type)):
        for dim, (wanted, found) in enumerate(zip(op.lhs.type.shape, type.shape)):
            if dim != op.dim and found != wanted:
                return Fault(f"{what} dimension {dim}", f"{wanted} as in 'lhs'", str(found))
    return None


# ---------------------------------------------------------------- constant


@rules("E0405", Constant)
def constant_type(op: Constant, scope: Scope) -> Fault | None:
    found = op.value.type
    if found is op.result.type:
        return None
    return Fault("attribute 'value'", f"elements of {op.result.type!r}", f"of {found!r}")


@rules("E0406", Constant, Global)
def constant_payload(op: Constant | Global, scope: Scope) -> Fault | None:
    value: DenseElements = op.value
    if not isinstance(value.type.element, ElementType):
        return None
    one = element_bytes(value.type.element)
    every = one * value.type.count
    if len(value.data) in (one, every):
        return None
    return Fault("attribute 'value'", f"{one} bytes for all elements or {every} bytes", str(len(value.data)))


# ---------------------------------------------------------------- extract and insert


@rules("E0211", Extract, Insert)
def subtile_element(op: Extract | Insert, scope: Scope) -> Fault | None:
    what, part, other, whole = _subtile(op)
    return None if part.element is whole.element else differs(what, part, Relation.ELEMENT, other, whole)


@rules("E0210", Insert)
def insert_rank(op: Insert, scope: Scope) -> Fault | None:
    part, whole = op.source.type, op.destination.type
    if part.rank == whole.rank:
        return None
    return differs("operand 'source'", part, Relation.RANK, "operand 'destination'", whole)


@rules("E0408", Extract, Insert)
def subtile_divides(op: Extract | Insert, scope: Scope) -> Fault | None:
    what, part, other, whole = _subtile(op)
    for dim, (extent, size) in enumerate(zip(part.shape, whole.shape)):
        if size % extent:
            return Fault(f"{what} dimension {dim}", f"a divisor of {size}, the extent of {other}", str(extent))
    return None


@rules("E0409", Extract, Insert)
def subtile_index_count(op: Extract | Insert, scope: Scope) -> Fault | None:
    rank, found = _subtile(op)[3].rank, len(op.indices)
    return None if found == rank else Fault("operand 'indices'", counted(rank, "index"), str(found))


@rules("W0401", Extract, Insert, contextual=True)
def subtile_index_negative(op: Extract | Insert, scope: Scope) -> Fault | None:
    for position, value in _constant_indices(op):
        if value < 0:
            what = f"operand 'indices[{position}]'"
            return Fault(what, "a subtile number of at least 0", str(value), defined(op.indices[position], what))
    return None


@rules("W0402", Extract, Insert, contextual=True)
def subtile_index_bound(op: Extract | Insert, scope: Scope) -> Fault | None:
    _, part, _, whole = _subtile(op)
    for position, value in _constant_indices(op):
        last = whole.shape[position] // part.shape[position] - 1
        if value > last:
            what = f"operand 'indices[{position}]'"
            hint = "the indices count subtiles, not elements"
            return Fault(
                what, f"a subtile number of at most {last}", str(value), defined(op.indices[position], what), hint
            )
    return None


def _subtile(op: Extract | Insert) -> tuple[str, TileType, str, TileType]:
    if isinstance(op, Extract):
        return "result", op.result.type, "operand 'source'", op.source.type
    return "operand 'source'", op.source.type, "operand 'destination'", op.destination.type


def _constant_indices(op: Extract | Insert) -> Iterable[tuple[int, int]]:
    """Position and value of each index that is a constant."""
    for position, index in enumerate(op.indices):
        value = _constant(index)
        if value is not None:
            yield position, value


def _constant(value: Value) -> int | None:
    elements = value.op.attributes.get("value") if isinstance(value.op, Constant) else None
    if not isinstance(elements, DenseElements) or elements.type is not value.type or not elements.is_splat:
        return None
    return int.from_bytes(elements.data, "little", signed=True)


# ---------------------------------------------------------------- globals, iota


@rules("E0804", GetGlobal, contextual=True)
def global_exists(op: GetGlobal, scope: Scope) -> Fault | None:
    found = scope.symbols.get(op.symbol)
    if isinstance(found, Global):
        return None
    return Fault(
        "attribute 'name'", "a global of the module", f"@{op.symbol}, {_what(found)}", _symbol_notes(op, found)
    )


@rules("E0805", GetGlobal, contextual=True)
def global_pointee(op: GetGlobal, scope: Scope) -> Fault | None:
    found = scope.symbols.get(op.symbol)
    value = found.attributes.get("value") if found is not None else None
    pointee = op.result.type.element.pointee
    if not isinstance(value, DenseElements) or value.type.element is pointee:
        return None
    expected = f"a pointer to {value.type.element!r}, the elements of @{op.symbol}"
    return Fault("result", expected, repr(op.result.type), _symbol_notes(op, found))


def _what(found: Op | None) -> str:
    return "which is not defined" if found is None else f"which is of kind '{found.spec.name}'"


def _symbol_notes(op: GetGlobal, found: Op | None) -> tuple[Note, ...]:
    return () if found is None else shown(f"@{op.symbol} is defined here", found.loc)


@rules("E0407", Iota)
def iota_rank(op: Iota, scope: Scope) -> Fault | None:
    return None if op.result.type.rank == 1 else Fault("result", "a tile of rank 1", repr(op.result.type))


@rules("E0410", Iota)
def iota_range(op: Iota, scope: Scope) -> Fault | None:
    type = op.result.type
    limit = 1 << type.element.bits
    if type.count <= limit:
        return None
    return Fault("result", f"at most {limit} elements, as many as {type.element!r} can number", str(type.count))


# ---------------------------------------------------------------- pack and unpack


@rules("E0411", Pack, Unpack)
def packed_rank(op: Pack | Unpack, scope: Scope) -> Fault | None:
    return None if op.source.type.rank == 1 else Fault("operand 'source'", "a tile of rank 1", repr(op.source.type))


@rules("E0412", Pack, Unpack)
def packed_widths(op: Pack | Unpack, scope: Scope) -> Fault | None:
    source, result = op.source.type.element, op.result.type.element
    if source.bits != result.bits:
        return None
    hint = f"use 'bitcast' between {source!r} and {result!r}"
    return Fault("", "element types of different widths", f"{source!r} and {result!r}", hint=hint)


@rules("E0413", Pack, Unpack)
def packed_bytes(op: Pack | Unpack, scope: Scope) -> Fault | None:
    for what, type in (("operand 'source'", op.source.type), ("result", op.result.type)):
        if _stream_bits(type) % 8:
            return Fault(what, "a whole number of bytes", f"{_stream_bits(type)} bits in {type!r}")
    return None


@rules("E0414", Pack, Unpack)
def packed_size(op: Pack | Unpack, scope: Scope) -> Fault | None:
    source, result = _stream_bits(op.source.type) // 8, _stream_bits(op.result.type) // 8
    if source == result:
        return None
    return Fault("result", f"{source} bytes as in 'source'", f"{result} bytes in {op.result.type!r}")


def _stream_bits(type: TileType) -> int:
    width = TF32.memory_bits if type.element is TF32 else type.element.bits
    return width * type.count


# ---------------------------------------------------------------- permute, reshape, select


@rules("E0415", Permute)
def permute_rank(op: Permute, scope: Scope) -> Fault | None:
    rank = op.source.type.rank
    return None if rank >= 2 else Fault("operand 'source'", "a tile of rank 2 or more", repr(op.source.type))


@rules("E0416", Permute)
def permute_length(op: Permute, scope: Scope) -> Fault | None:
    rank, found = op.source.type.rank, len(op.permutation)
    return None if found == rank else Fault("attribute 'permutation'", f"{rank} entries", str(found))


@rules("E0417", Permute)
def permute_unique(op: Permute, scope: Scope) -> Fault | None:
    entries = op.permutation
    twice = next((entry for position, entry in enumerate(entries) if entry in entries[:position]), None)
    return None if twice is None else Fault("attribute 'permutation'", "each dimension once", f"{twice} twice")


@rules("E0418", Permute)
def permute_entries(op: Permute, scope: Scope) -> Fault | None:
    rank = op.source.type.rank
    for position, entry in enumerate(op.permutation):
        if not 0 <= entry < rank:
            return Fault(f"attribute 'permutation' entry {position}", f"a dimension in [0, {rank})", str(entry))
    return None


@rules("E0419", Permute)
def permute_result(op: Permute, scope: Scope) -> Fault | None:
    source, result = op.source.type, op.result.type
    for dim, entry in enumerate(op.permutation):
        if result.shape[dim] != source.shape[entry]:
            expected = f"{source.shape[entry]}, the extent of dimension {entry} of 'source'"
            return Fault(f"result dimension {dim}", expected, str(result.shape[dim]))
    return None


@rules("E0420", Reshape)
def reshape_count(op: Reshape, scope: Scope) -> Fault | None:
    source, result = prod(op.source.type.shape), prod(op.result.type.shape)
    if source == result:
        return None
    return Fault("result", f"{source} elements as in 'source'", f"{result} in {op.result.type!r}")


@rules("E0421", Select)
def select_element(op: Select, scope: Scope) -> Fault | None:
    if op.result.type.element is not F4E2M1FN:
        return None
    return Fault("result", "elements other than f4E2M1FN", repr(op.result.type))
