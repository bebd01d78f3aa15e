"""Native code for the miscellaneous chapter (spec: misc#top): promises and output."""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I64, Num
from tileir.cpu.emit.emitter import Emitter, Index, as_i64
from tileir.cpu.emit.record import TrapKind
from tileir.cpu.emit.tiles import NativeTensorView, Tile, address_of, wide
from tileir.cpu.lowering.reports import Broken, trap_where, warn_if
from tileir.cpu.lowering.safepoints import hand_over
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.host.printing import formatter
from tileir.host.undefined import broken_promise
from tileir.ir import types as t
from tileir.ir.attributes import Bounded, DivBy, SameElements
from tileir.ir.rules import Rules
from tileir.ops import misc

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()


@rules(misc.Assume)
def lower_assume(lowering: Lowering, op: misc.Assume) -> None:
    """Bind the value itself, once the promise has been checked."""
    if lowering.checked:
        check_promise(lowering, op)
    lowering.values[op.result] = lowering.values[op.value]


@rules(misc.PrintTko)
def lower_print(lowering: Lowering, op: misc.PrintTko) -> None:
    hand_over(lowering, op, [lowering.tile(value) for value in op.args])


@strict(misc.PrintTko)
def check_format(lowering: Lowering, op: misc.PrintTko) -> None:
    """Warn of a format that does not suit the printed values."""
    _, mismatch = formatter(op.text, [value.tile.element for value in op.args])
    if mismatch:
        warn_if(lowering, I1(1), op, mismatch)


# ---------------------------------------------------------------- where a promise does not hold


def check_promise(lowering: Lowering, op: misc.Assume) -> None:
    """Trap where the promise of `op` does not hold; names the first element in row-major order."""
    emit, value = lowering.emit, lowering.values[op.value]
    if isinstance(value, NativeTensorView):
        assert isinstance(op.predicate, DivBy)
        address = emit.builder.ptrtoint(value.base, I64)
        broken = _indivisible(emit.builder, address, op.predicate.divisor)
        emit.trap_with(broken, op, broken_promise(op.predicate, "{}"), TrapKind.LANE, [I64(0)])
        return
    tile = lowering.tile(op.value)
    message = broken_promise(op.predicate, "{}")
    trap_where(lowering, op, tile.type, _broken(emit, op.predicate, tile), message)


def _broken(emit: Emitter, predicate: DivBy | SameElements | Bounded, tile: Tile) -> Broken:
    if isinstance(predicate, Bounded):
        return lambda index: _out_of_bounds(emit.builder, tile.at(emit, index), predicate)
    if isinstance(predicate, SameElements):
        return lambda index: _differs(emit, tile, index, predicate.values)
    every, along = predicate.every, predicate.along
    if every is None or along is None:
        return lambda index: _indivisible(emit.builder, _bits(emit, tile, index), predicate.divisor)
    return lambda index: _breaks_group(emit, tile, index, predicate.divisor, max(every, 1), along)


def _bits(emit: Emitter, tile: Tile, index: Index) -> ir.Value:
    """Return an element as an i64: an address, or an integer with its sign extended."""
    number = tile.at(emit, index)
    if isinstance(tile.element, t.PointerType):
        return address_of(emit.builder, number)
    return as_i64(emit.builder, wide(emit.builder, number), signed=True)


def _indivisible(builder: ir.IRBuilder, bits: ir.Value, divisor: int) -> ir.Value:
    return builder.icmp_unsigned("!=", builder.and_(bits, I64(divisor - 1)), I64(0))


def _out_of_bounds(builder: ir.IRBuilder, number: Num, predicate: Bounded) -> ir.Value:
    value = wide(builder, number)
    broken: ir.Value = I1(0)
    for bound, beyond in ((predicate.lower, "<"), (predicate.upper, ">")):
        if bound is not None:
            broken = builder.or_(broken, builder.icmp_signed(beyond, value, value.type(bound)))
    return broken


def _differs(emit: Emitter, tile: Tile, index: Index, sizes: tuple[int, ...]) -> ir.Value:
    """Emit a test of whether an element differs from the first one of its block; a size of 0 or 1 ignores a
    dimension."""
    builder = emit.builder
    first = tuple(builder.sub(at, builder.urem(at, I64(max(size, 1)))) for at, size in zip(index, sizes))
    return builder.icmp_unsigned("!=", _bits(emit, tile, index), _bits(emit, tile, first))


def _breaks_group(emit: Emitter, tile: Tile, index: Index, divisor: int, every: int, along: int) -> ir.Value:
    """Emit a test of whether the first element of the group is not divisible, or this one not the next number or
    address after it."""
    builder = emit.builder
    step = tile.element.pointee.byte_size if isinstance(tile.element, t.PointerType) else 1
    behind = builder.urem(index[along], I64(every))
    first_index = (*index[:along], builder.sub(index[along], behind), *index[along + 1 :])
    first = _bits(emit, tile, first_index)
    expected = builder.add(first, builder.mul(behind, I64(step)))
    apart = builder.icmp_unsigned("!=", _bits(emit, tile, index), expected)
    return builder.or_(_indivisible(builder, first, divisor), apart)
