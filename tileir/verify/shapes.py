"""Rules of the operations that move elements within tiles, and of `pack` and `unpack` (spec: shapes#top)."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from tileir.ir.attributes import DenseElements
from tileir.ir.core import Value
from tileir.ir.traits import Relation
from tileir.ir.types import TileType
from tileir.ops.core import Constant
from tileir.ops.packing import Pack, Unpack
from tileir.ops.shapes import Broadcast, Cat, Extract, Insert, Permute, Reshape
from tileir.verify.rule import CheckContext, RuleTable, Violation, counted, defined
from tileir.verify.structure import differs

rules = RuleTable()


@rules("E0401", Broadcast)
def broadcastable(op: Broadcast, context: CheckContext) -> Violation | None:
    source, result = op.source.type, op.result.type
    for dim, (extent, wanted) in enumerate(zip(source.shape, result.shape)):
        if extent not in (1, wanted):
            return Violation(f"operand 'source' dimension {dim}", f"1 or {wanted}, to become {result!r}", str(extent))
    return None


# ---------------------------------------------------------------- cat


@rules("E0402", Cat)
def cat_dimension(op: Cat, context: CheckContext) -> Violation | None:
    rank = op.lhs.type.rank
    return None if 0 <= op.dim < rank else Violation("attribute 'dim'", f"a dimension in [0, {rank})", str(op.dim))


@rules("E0403", Cat)
def cat_extent(op: Cat, context: CheckContext) -> Violation | None:
    lhs, rhs, result = (value.type.shape[op.dim] for value in (op.lhs, op.rhs, op.result))
    if lhs + rhs == result:
        return None
    return Violation(f"result dimension {op.dim}", f"{lhs} + {rhs} = {lhs + rhs}", str(result))


@rules("E0404", Cat)
def cat_other_extents(op: Cat, context: CheckContext) -> Violation | None:
    for what, type in (("operand 'rhs'", op.rhs.type), ("result", op.result.type)):
        for dim, (wanted, found) in enumerate(zip(op.lhs.type.shape, type.shape)):
            if dim != op.dim and found != wanted:
                return Violation(f"{what} dimension {dim}", f"{wanted} as in 'lhs'", str(found))
    return None


# ---------------------------------------------------------------- extract and insert


@rules("E0211", Extract, Insert)
def subtile_element(op: Extract | Insert, context: CheckContext) -> Violation | None:
    what, part, other, whole = _subtile(op)
    return None if part.element is whole.element else differs(what, part, Relation.ELEMENT, other, whole)


@rules("E0210", Insert)
def insert_rank(op: Insert, context: CheckContext) -> Violation | None:
    part, whole = op.source.type, op.destination.type
    if part.rank == whole.rank:
        return None
    return differs("operand 'source'", part, Relation.RANK, "operand 'destination'", whole)


@rules("E0408", Extract, Insert)
def subtile_divides(op: Extract | Insert, context: CheckContext) -> Violation | None:
    what, part, other, whole = _subtile(op)
    for dim, (extent, size) in enumerate(zip(part.shape, whole.shape)):
        if size % extent:
            return Violation(f"{what} dimension {dim}", f"a divisor of {size}, the extent of {other}", str(extent))
    return None


@rules("E0409", Extract, Insert)
def subtile_index_count(op: Extract | Insert, context: CheckContext) -> Violation | None:
    rank, found = _subtile(op)[3].rank, len(op.indices)
    return None if found == rank else Violation("operand 'indices'", counted(rank, "index"), str(found))


@rules("W0401", Extract, Insert, contextual=True)
def subtile_index_negative(op: Extract | Insert, context: CheckContext) -> Violation | None:
    for position, value in _constant_indices(op):
        if value < 0:
            what = f"operand 'indices[{position}]'"
            return Violation(what, "a subtile number of at least 0", str(value), defined(op.indices[position], what))
    return None


@rules("W0402", Extract, Insert, contextual=True)
def subtile_index_bound(op: Extract | Insert, context: CheckContext) -> Violation | None:
    _, part, _, whole = _subtile(op)
    for position, value in _constant_indices(op):
        last = whole.shape[position] // part.shape[position] - 1
        if value > last:
            what = f"operand 'indices[{position}]'"
            hint = "the indices count subtiles, not elements"
            return Violation(
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


# ---------------------------------------------------------------- permute and reshape


@rules("E0415", Permute)
def permute_rank(op: Permute, context: CheckContext) -> Violation | None:
    rank = op.source.type.rank
    return None if rank >= 2 else Violation("operand 'source'", "a tile of rank 2 or more", repr(op.source.type))


@rules("E0416", Permute)
def permute_length(op: Permute, context: CheckContext) -> Violation | None:
    rank, found = op.source.type.rank, len(op.permutation)
    return None if found == rank else Violation("attribute 'permutation'", f"{rank} entries", str(found))


@rules("E0417", Permute)
def permute_unique(op: Permute, context: CheckContext) -> Violation | None:
    entries = op.permutation
    twice = next((entry for position, entry in enumerate(entries) if entry in entries[:position]), None)
    return None if twice is None else Violation("attribute 'permutation'", "each dimension once", f"{twice} twice")


@rules("E0418", Permute)
def permute_entries(op: Permute, context: CheckContext) -> Violation | None:
    rank = op.source.type.rank
    for position, entry in enumerate(op.permutation):
        if not 0 <= entry < rank:
            return Violation(f"attribute 'permutation' entry {position}", f"a dimension in [0, {rank})", str(entry))
    return None


@rules("E0419", Permute)
def permute_result(op: Permute, context: CheckContext) -> Violation | None:
    source, result = op.source.type, op.result.type
    for dim, entry in enumerate(op.permutation):
        if result.shape[dim] != source.shape[entry]:
            expected = f"{source.shape[entry]}, the extent of dimension {entry} of 'source'"
            return Violation(f"result dimension {dim}", expected, str(result.shape[dim]))
    return None


@rules("E0420", Reshape)
def reshape_count(op: Reshape, context: CheckContext) -> Violation | None:
    source, result = prod(op.source.type.shape), prod(op.result.type.shape)
    if source == result:
        return None
    return Violation("result", f"{source} elements as in 'source'", f"{result} in {op.result.type!r}")


@rules("E0411", Pack, Unpack)
def packed_rank(op: Pack | Unpack, context: CheckContext) -> Violation | None:
    return None if op.source.type.rank == 1 else Violation("operand 'source'", "a tile of rank 1", repr(op.source.type))


@rules("E0412", Pack, Unpack)
def packed_widths(op: Pack | Unpack, context: CheckContext) -> Violation | None:
    source, result = op.source.type.element, op.result.type.element
    if source.bits != result.bits:
        return None
    hint = f"use 'bitcast' between {source!r} and {result!r}"
    return Violation("", "element types of different widths", f"{source!r} and {result!r}", hint=hint)


@rules("E0413", Pack, Unpack)
def packed_bytes(op: Pack | Unpack, context: CheckContext) -> Violation | None:
    for what, type in (("operand 'source'", op.source.type), ("result", op.result.type)):
        if _stream_bits(type) % 8:
            return Violation(what, "a whole number of bytes", f"{_stream_bits(type)} bits in {type!r}")
    return None


@rules("E0414", Pack, Unpack)
def packed_size(op: Pack | Unpack, context: CheckContext) -> Violation | None:
    source, result = _stream_bits(op.source.type) // 8, _stream_bits(op.result.type) // 8
    if source == result:
        return None
    return Violation("result", f"{source} bytes as in 'source'", f"{result} bytes in {op.result.type!r}")


def _stream_bits(type: TileType) -> int:
    return type.element.stream_bits * type.count
