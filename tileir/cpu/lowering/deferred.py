"""Products that a loop defers (`cpu.analysis.deferred`): made ready in front of it, told which iteration is the last.

Knows: which of their panels stay from tile block to tile block: those of what the launch leaves as it is, if there are
more tile blocks than tiles of the factor across K, so that some share one.
Does not know: how products are packed and multiplied (`cpu.matmul.deferred`), nor how it is known what the launch
leaves as it is (`cpu.lowering.kept`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from llvmlite import ir

from tileir.analysis.effects import access_of, effects_of, reachable
from tileir.analysis.structure import carried_arguments
from tileir.cpu.analysis.deferred import DeferredProduct, deferred_products, first_sums, is_zero
from tileir.cpu.emit.algebra import call_intrinsic
from tileir.cpu.emit.elements import I1, I64, memory_type
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.slots import Slot
from tileir.cpu.emit.tiles import Tile, wide
from tileir.cpu.llvm.engine import host
from tileir.cpu.lowering.kept import is_shared, kept_view, stays_in_array, unchanged_by_block
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.matmul.accumulators import I32_MAXIMUM
from tileir.cpu.matmul.deferred import Deferral, deferral
from tileir.cpu.matmul.direct import FEW
from tileir.cpu.matmul.microkernel import Shape
from tileir.cpu.matmul.products import is_swapped, largest_product, product_of
from tileir.cpu.matmul.turned import TurnedRun
from tileir.ir.core import Value
from tileir.ir.effects import Effect
from tileir.ops import control, matmul


def reserve_deferrals(lowering: Lowering, keeps: bool) -> None:
    """Set memory aside, where an entry begins, for all panels that it defers products with; whether it `keeps` any."""
    for loop in lowering.fusion.operations:
        if isinstance(loop, control.For):
            _reserve(lowering, loop, keeps)


def _reserve(lowering: Lowering, loop: control.For, keeps: bool) -> None:
    for op in deferred_products(lowering.fusion, loop):
        made = _deferral(lowering, loop, op, keeps)
        if made is not None:
            lowering.deferrals[op] = made


def _deferral(lowering: Lowering, loop: control.For, op: DeferredProduct, keeps: bool) -> Deferral | None:
    """Of one matrix of many rows, whose sums are not rounded in between, nor looked at one by one."""
    *batch, rows, columns = op.acc.tile.shape
    target = host()
    if prod(batch) > 1 or rows <= FEW or is_swapped(rows, columns, target):
        return None
    product = product_of(op, target)
    if memory_type(op.acc.type.number) != product.total or (isinstance(op, matmul.MmaI) and lowering.strict):
        return None
    shape, from_zero = Shape(rows, columns, op.lhs.tile.shape[-1]), is_zero(first_sums(loop, op))
    return deferral(lowering.emit, product, shape, target.vector_bits, keeps, from_zero, _only_reads(loop))


def _only_reads(loop: control.For) -> bool:
    """Whether what a loop reads can be read in a later iteration as well."""
    accesses = [access_of(op) for op in reachable(loop)]
    is_weak = not any(access is not None and access.is_strong for access in accesses)
    return is_weak and not effects_of(loop) & ~(Effect.READ | Effect.PROMISE)


# ---------------------------------------------------------------- in front of a loop, and in it


def defer_products(lowering: Lowering, loop: control.For) -> None:
    """Begin with empty panels, in front of a loop."""
    if not _deferred(lowering, loop):
        _reserve(lowering, loop, keeps=False)
    stays = unchanged_by_block(lowering, loop)
    for op in _deferred(lowering, loop):
        found = lowering.deferrals[op]
        found.begin(lowering.builder)
        left, right = (_kept(lowering, loop, stays, *side) for side in ((op.lhs, -2), (op.rhs, -1)))
        left, right = replace(found.left, kept=left), replace(found.right, kept=right)
        lowering.deferrals[op] = replace(found, left=left, right=right, turned=_turned(found, left.kept))


def _turned(found: Deferral, kept: ir.Value) -> TurnedRun | None:
    return found.turned and replace(found.turned, panels=replace(found.turned.panels, kept=kept))


def zeros_needed(lowering: Lowering, loop: control.For, carried: Value, runs: ir.Value) -> ir.Value | None:
    """How many elements of a carried value that is zero in front of a loop have to be: all if it does not run (an i1),
    else those of the few rows that are multiplied in each iteration. None if no product knows that it is zero.
    """
    for op in _deferred(lowering, loop):
        if op.acc is carried and lowering.deferrals[op].from_zero:
            columns, count = carried.tile.shape[-1], carried.tile.count
            return lowering.builder.select(runs, I64(min(FEW * columns, count)), I64(count))
    return None


def _deferred(lowering: Lowering, loop: control.For) -> list[DeferredProduct]:
    return [op for op in loop.body.ops if isinstance(op, DeferredProduct) and op in lowering.deferrals]


def bound_sums(lowering: Lowering, loop: control.For, slots: Sequence[Slot]) -> None:
    """Find out, in front of a loop that carries its values in `slots`, how long no sum can leave i32."""
    builder = lowering.builder
    for op in _deferred(lowering, loop):
        found = lowering.deferrals[op]
        if isinstance(op, matmul.MmaI):
            slot = dict(zip(carried_arguments(loop), slots))[op.acc]
            start = I64(0) if is_zero(first_sums(loop, op)) else _largest_magnitude(lowering.emit, slot)
            most = I64(found.shape.k * largest_product(op))
            together = builder.sdiv(builder.sub(I64(I32_MAXIMUM), start), most)
            lowering.deferrals[op] = replace(found, together=together)


def _largest_magnitude(emit: Emitter, slot: Slot) -> ir.Value:
    """An i64, of the tile of i32 in a slot."""
    builder, largest, tile = emit.builder, emit.stack(I64), slot.read(emit)
    assert isinstance(tile, Tile)
    builder.store(I64(0), largest)

    def look_at(index: Index) -> None:
        number = builder.sext(wide(builder, tile.at(emit, index)), I64)
        magnitude = call_intrinsic(builder, "llvm.abs", I64, [number, I1(0)])
        builder.store(call_intrinsic(builder, "llvm.smax", I64, [builder.load(largest, typ=I64), magnitude]), largest)

    emit.loop_nest(tile.type.shape, look_at)
    return builder.load(largest, typ=I64)


def _kept(lowering: Lowering, loop: control.For, stays: ir.Value, factor: Value, across: int) -> ir.Value:
    """An i1: whether panels of a factor stay, whose lines are numbered along dimension `across`."""
    view = kept_view(lowering, loop, factor)
    if view is None:
        return I1(0)
    rank = len(view.type.tile_shape)
    shared = is_shared(lowering, view, {*range(rank - 2), rank + across})
    return lowering.builder.and_(lowering.builder.and_(stays, stays_in_array(view)), shared)


def begin_deferring(lowering: Lowering, loop: control.For, position: ir.Value, step: ir.Value, upper: ir.Value) -> None:
    """Tell the products at the begin of an iteration whether it is the last one: as the loop finds out at its end."""
    deferred = _deferred(lowering, loop)
    if not deferred:
        return
    builder = lowering.builder
    add = builder.uadd_with_overflow if loop.unsigned else builder.sadd_with_overflow
    compare = builder.icmp_unsigned if loop.unsigned else builder.icmp_signed
    pair = add(position, step)
    ends = builder.not_(compare("<", builder.extract_value(pair, 0), upper))
    last = builder.or_(builder.extract_value(pair, 1), ends)
    for op in deferred:
        lowering.deferrals[op] = replace(lowering.deferrals[op], last=last)
