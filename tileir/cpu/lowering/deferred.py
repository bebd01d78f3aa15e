"""Products that a loop defers (`cpu.analysis.deferred`): made ready in front of it, told which iteration is the last.

Knows: which of their panels stay from tile block to tile block. They do if no array that the launch writes overlaps one
that it reads, and if there are more tile blocks than tiles of the factor across K, so that some share one.
Does not know: how products are packed and multiplied (`cpu.matmul.deferred`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from llvmlite import ir

from tileir.analysis.effects import access_of
from tileir.analysis.loops import carried_arguments
from tileir.analysis.uses import is_visible
from tileir.cpu.analysis.deferred import DeferredProduct, deferred_products, first_sums, is_zero
from tileir.cpu.analysis.streams import Unchanged, unchanged
from tileir.cpu.emit.algebra import call_intrinsic
from tileir.cpu.emit.elements import I1, I64, memory_type
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.record import BEGUN
from tileir.cpu.emit.safepoints import field_of
from tileir.cpu.emit.slots import Slot
from tileir.cpu.emit.tiles import Tile, wide
from tileir.cpu.emit.views import NativeTensorView, NativeTileView
from tileir.cpu.llvm.engine import host
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.matmul.accumulators import I32_MAXIMUM
from tileir.cpu.matmul.deferred import Deferral, deferral
from tileir.cpu.matmul.direct import FEW
from tileir.cpu.matmul.microkernel import Shape
from tileir.cpu.matmul.products import is_swapped, largest_product, product_of
from tileir.ir import types as t
from tileir.ir.core import Value
from tileir.ops import control, matmul, shapes, views
from tileir.ops.module import Entry


def reserve_panels(lowering: Lowering, entry: Entry) -> None:
    """Set memory aside, where an entry begins, for all panels that it defers products with."""
    found = unchanged(entry) if lowering.checked and not lowering.joined_first else None
    for loop in lowering.fusion.operations:
        if isinstance(loop, control.For):
            _reserve(lowering, loop, found is not None)
    if found is not None and lowering.deferrals:
        lowering.keeps_panels = _no_overlap(lowering, entry, found)
        _forget_panels(lowering)


def _forget_panels(lowering: Lowering) -> None:
    """Begin with none, where this is the first tile block of a thread in a launch."""
    builder = lowering.builder
    begun = field_of(builder, lowering.emit.arena, BEGUN)
    is_first = builder.icmp_unsigned("==", builder.load(begun, typ=I64), I64(0))
    with builder.if_then(is_first, likely=False):
        builder.store(I64(1), begun)
        for found in lowering.deferrals.values():
            found.left.forget(builder)
            found.right.forget(builder)


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
    return deferral(lowering.emit, product, shape, target.vector_bits, keeps, from_zero)


def _no_overlap(lowering: Lowering, entry: Entry, found: Unchanged) -> ir.Value:
    """An i1: whether no array that is written overlaps one that is read."""
    builder, apart = lowering.builder, I1(1)
    ends = {position: _bounds(lowering, entry, position) for position in sorted(found.written | found.read)}
    for written in sorted(found.written):
        for read in sorted(found.read):
            (begin, end), (first, last) = ends[written], ends[read]
            before, behind = builder.icmp_unsigned("<=", end, first), builder.icmp_unsigned("<=", last, begin)
            apart = builder.and_(apart, builder.or_(before, behind))
    return apart


def _bounds(lowering: Lowering, entry: Entry, position: int) -> tuple[ir.Value, ir.Value]:
    """The addresses where the array of a parameter begins and ends."""
    memory = sum(isinstance(argument.tile.element, t.PointerType) for argument in entry.body.args[:position])
    first = lowering.bounds_slot + 3 * memory
    return lowering.slot(first), lowering.slot(first + 1)


# ---------------------------------------------------------------- in front of a loop, and in it


def defer_products(lowering: Lowering, loop: control.For) -> None:
    """Begin with empty panels, in front of a loop."""
    if not _deferred(lowering, loop):
        _reserve(lowering, loop, keeps=False)
    stays = _stays(lowering, loop)
    for op in _deferred(lowering, loop):
        found = lowering.deferrals[op]
        found.begin(lowering.builder)
        left, right = (_kept(lowering, loop, stays, *side) for side in ((op.lhs, -2), (op.rhs, -1)))
        left, right = replace(found.left, kept=left), replace(found.right, kept=right)
        lowering.deferrals[op] = replace(found, left=left, right=right)


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


def _stays(lowering: Lowering, loop: control.For) -> ir.Value:
    """An i1: whether this tile block leaves what is read as it is: what it writes lies in the arrays written."""
    stays = lowering.keeps_panels
    for access in map(access_of, lowering.fusion.operations):
        if access is not None and access.writes and stays is not None:
            tensor = _tensor_of(lowering, loop, access.address)
            fit = tensor.fit if tensor is not None else None
            stays = None if fit is None else lowering.builder.and_(stays, fit.write)
    return I1(0) if stays is None else stays


def _tensor_of(lowering: Lowering, loop: control.For, view: Value) -> NativeTensorView | None:
    """The tensor that a tile view cuts into tiles, where it is known in front of a loop: the view may be made later."""
    made = view.op
    if isinstance(made, views.MakePartitionView | views.MakeStridedView):
        view = made.tensor_view
    found = lowering.values.get(view) if is_visible(view, loop) else None
    if isinstance(found, NativeTileView):
        found = found.tensor
    return found if isinstance(found, NativeTensorView) else None


def _kept(lowering: Lowering, loop: control.For, stays: ir.Value, factor: Value, across: int) -> ir.Value:
    """An i1: whether panels of a factor stay, whose lines are numbered along dimension `across`."""
    while isinstance(factor.op, shapes.Reshape):
        factor = factor.op.source
    load = factor.op
    if not isinstance(load, views.LoadView):
        return I1(0)
    tensor = _tensor_of(lowering, loop, load.view)
    if tensor is None or tensor.fit is None:
        return I1(0)
    stays = lowering.builder.and_(stays, tensor.fit.read)
    return lowering.builder.and_(stays, _is_shared(lowering, NativeTileView(tensor, load.view.type), across))


def _is_shared(lowering: Lowering, view: NativeTileView, across: int) -> ir.Value:
    """An i1: whether there are more tile blocks than tiles across K."""
    builder = lowering.builder
    tiles, blocks = I64(1), I64(1)
    rank = len(view.type.tile_shape)
    for position in {*range(rank - 2), rank + across}:
        step = view.type.tile_steps[position]
        extent = view.tensor.extents[view.type.tensor_dims[position]]
        tiles = builder.mul(tiles, builder.udiv(builder.add(extent, I64(step - 1)), I64(step)))
    for extent in lowering.grid:
        blocks = builder.mul(blocks, builder.zext(extent, I64))
    return builder.icmp_unsigned(">", blocks, tiles)


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
