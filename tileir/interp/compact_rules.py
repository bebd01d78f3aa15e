"""Rules that keep tiles compact: what pure operations make of compact tiles.

Knows: which operations give a compact tile for compact ones; for anything else their own function is called, with
arrays. Does not know: what a compact tile is made of (`compact`), which values may be one (`prepare`).
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.interp.compact import AffineTile, BoxMask, CompactTile, NumberType, expanded, holds_numbers
from tileir.ir import types as t
from tileir.ir.attributes import Predicate, Signedness
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.conversion import ExtI
from tileir.ops.core import Constant, Iota, Offset
from tileir.ops.integer import AddI, AndI, CmpI, MulI, SubI
from tileir.ops.shapes import Broadcast, Permute, Reshape

Function = Callable[..., object]
Compacted = Callable[..., CompactTile | None]
"""From operands to the compact result; None where there is none."""
CompactRule = Callable[[Op], Compacted | None]
"""``rule(op)``; None where the operation cannot have a compact result."""

pure: Rules[CompactRule] = Rules()


def may_be_compact(ty: t.Type) -> bool:
    """Whether values of this type may be compact tiles."""
    return isinstance(ty, t.TileType) and ty.count > 1 and (ty.element is t.I1 or holds_numbers(ty.element))


def compacting(op: Op, plain: Function, rule: CompactRule) -> Function | None:
    """The function of an operation, which takes compact tiles and gives one where it can; None if it never can."""
    if not may_be_compact(op.results[0].type):
        return None
    compacted = rule(op)
    if compacted is None:
        return None

    def run(*values: object) -> object:
        found = compacted(*values)
        return plain(*map(expanded, values)) if found is None else found

    return run


# ------------------------------------------------------------ tiles that are compact from the start


@pure(Iota)
def _iota(op: Iota) -> Compacted | None:
    ty = op.result.tile
    if ty.element is t.I1:
        return None
    tile = NumberType(ty.element).tile(0, (1,), ty.shape)
    return lambda: tile


@pure(Constant)
def _constant(op: Constant) -> Compacted | None:
    ty = op.result.tile
    if not op.value.is_splat or ty.element is t.I1:
        return None
    number = int.from_bytes(op.value.data, "little", signed=True)
    tile = NumberType(ty.element).tile(number, (0,) * ty.rank, ty.shape)
    return lambda: tile


@pure(Broadcast)
def _broadcast(op: Broadcast) -> Compacted | None:
    ty, single = op.result.tile, op.source.tile.count == 1
    shape, strides = ty.shape, (0,) * ty.rank
    type = None if ty.element is t.I1 else NumberType(ty.element)

    def broadcast(source: object) -> CompactTile | None:
        if isinstance(source, CompactTile):
            return source.broadcast(shape)
        if not single or type is None:
            return None
        number = source.item()  # type: ignore[attr-defined]
        return AffineTile(number, strides, shape, type, number)

    return broadcast


# ------------------------------------------------------------ shapes


@pure(Reshape)
def _reshape(op: Reshape) -> Compacted:
    shape = op.result.tile.shape
    return lambda source: source.reshaped(shape) if isinstance(source, CompactTile) else None


@pure(Permute)
def _permute(op: Permute) -> Compacted:
    axes = tuple(op.permutation)
    return lambda source: source.permuted(axes) if isinstance(source, CompactTile) else None


# ------------------------------------------------------------ arithmetic


@pure(AddI, SubI)
def _sum(op: AddI | SubI) -> Compacted | None:
    if op.result.tile.element is t.I1:
        return None
    times = 1 if isinstance(op, AddI) else -1

    def add(lhs: object, rhs: object) -> CompactTile | None:
        return lhs.plus(rhs, times) if isinstance(lhs, AffineTile) and isinstance(rhs, AffineTile) else None

    return add


@pure(MulI)
def _product(op: MulI) -> Compacted | None:
    if op.result.tile.element is t.I1:
        return None

    def multiply(lhs: object, rhs: object) -> CompactTile | None:
        if not isinstance(lhs, AffineTile) or not isinstance(rhs, AffineTile):
            return None
        if rhs.uniform:
            return lhs.scaled(rhs.base)
        return rhs.scaled(lhs.base) if lhs.uniform else None

    return multiply


@pure(ExtI)
def _exti(op: ExtI) -> Compacted | None:
    if not holds_numbers(op.source.type.element):
        return None
    type, unsigned = NumberType(op.to.type.element), op.signedness is Signedness.UNSIGNED

    def extend(source: object) -> CompactTile | None:
        if not isinstance(source, AffineTile) or (unsigned and source.low < 0):
            return None
        return source.retyped(type)

    return extend


@pure(Offset)
def _offset(op: Offset) -> Compacted | None:
    bits = op.ptr.tile.pointer.pointee.memory_bits
    if bits < 8:
        return None
    size = bits // 8

    def move(ptr: object, offset: object) -> CompactTile | None:
        return ptr.plus(offset, size) if isinstance(ptr, AffineTile) and isinstance(offset, AffineTile) else None

    return move


# ------------------------------------------------------------ masks


@pure(AndI)
def _and(op: AndI) -> Compacted | None:
    if op.result.tile.element is not t.I1:
        return None
    return lambda lhs, rhs: lhs.both(rhs) if isinstance(lhs, BoxMask) and isinstance(rhs, BoxMask) else None


_ORDERS: dict[Predicate, tuple[bool, int]] = {
    Predicate.LESS_THAN: (False, 0),
    Predicate.LESS_THAN_OR_EQUAL: (False, 1),
    Predicate.GREATER_THAN: (True, 0),
    Predicate.GREATER_THAN_OR_EQUAL: (True, 1),
}
"""Whether the operands are swapped, and what is added to the second, so that the first is less than it."""


@pure(CmpI)
def _compare(op: CmpI) -> Compacted | None:
    if op.comparison_predicate not in _ORDERS or op.lhs.tile.element is t.I1:
        return None
    swapped, slack = _ORDERS[op.comparison_predicate]
    unsigned = op.signedness is Signedness.UNSIGNED

    def compare(lhs: object, rhs: object) -> CompactTile | None:
        if not isinstance(lhs, AffineTile) or not isinstance(rhs, AffineTile):
            return None
        if unsigned and (lhs.low < 0 or rhs.low < 0):
            return None
        return rhs.below(lhs, slack) if swapped else lhs.below(rhs, slack)

    return compare
