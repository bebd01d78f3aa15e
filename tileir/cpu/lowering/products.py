"""Panels of products that outlive an iteration or a tile block: memory for them, and what the code has to find out.

Panels are set aside where an entry begins, and emptied for each launch. In front of a loop it is found out whether
those of a factor stay: a launch leaves an array as it is if no array that it writes overlaps it, and if every tile
block writes and reads within the arrays of its parameters; and something is won only if there are more tile blocks than
tiles of the factor, so that some share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llvmlite import ir

from tileir.analysis.effects import access_of
from tileir.analysis.structure import carried_arguments, is_visible
from tileir.cpu.analysis.streams import Unchanged
from tileir.cpu.emit.algebra import call_intrinsic
from tileir.cpu.emit.elements import I1, I32, I64
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.exits import field_of
from tileir.cpu.emit.record import BEGUN, ENTRY
from tileir.cpu.emit.slots import Slot
from tileir.cpu.emit.tiles import NativeTensorView, NativeTileView, Tile, wide
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.matmul.accumulators import I32_MAXIMUM
from tileir.cpu.matmul.multiplication import LoopProduct, new_loop_product
from tileir.cpu.matmul.policy import ProductOp, fixed_dimensions, is_zero, load_of
from tileir.ir import types as t
from tileir.ir.core import Value
from tileir.ops import control, views
from tileir.ops.module import Entry

# ---------------------------------------------------------------- where an entry begins


def reserve_panels(lowering: Lowering, entry: Entry) -> None:
    """Set memory aside, where an entry begins, for the panels of products in its loops."""
    for op, plan in lowering.products.items():
        if plan.panels is not None:
            lowering.panels[op] = new_loop_product(lowering.emit, plan.product, plan.panels)
    if lowering.plan.kept is not None:
        several = _several_blocks(lowering)
        lowering.keeps_panels = lowering.builder.and_(_no_overlap(lowering, entry, lowering.plan.kept), several)
        _forget_panels(lowering, several)


def _several_blocks(lowering: Lowering) -> ir.Value:
    """Emit a test of whether the grid has more than one tile block; a single one has nobody to keep panels for."""
    builder, found = lowering.builder, I1(0)
    for extent in lowering.grid:
        found = builder.or_(found, builder.icmp_unsigned("!=", extent, I32(1)))
    return found


def _no_overlap(lowering: Lowering, entry: Entry, found: Unchanged) -> ir.Value:
    """Emit a test of whether no array that is written overlaps one that is read."""
    builder, apart = lowering.builder, I1(1)
    ends = {position: _bounds(lowering, entry, position) for position in sorted(found.written | found.read)}
    for written in sorted(found.written):
        for read in sorted(found.read):
            (begin, end), (first, last) = ends[written], ends[read]
            before, behind = builder.icmp_unsigned("<=", end, first), builder.icmp_unsigned("<=", last, begin)
            apart = builder.and_(apart, builder.or_(before, behind))
    return apart


def _bounds(lowering: Lowering, entry: Entry, position: int) -> tuple[ir.Value, ir.Value]:
    """Return the addresses where the array of a parameter begins and ends."""
    memory = sum(isinstance(argument.tile.element, t.PointerType) for argument in entry.body.args[:position])
    return lowering.slot(position), lowering.slot(lowering.kernel.bounds_slot + ENTRY * memory + 3)


def _forget_panels(lowering: Lowering, several: ir.Value) -> None:
    """Begin with none, where this is the first of several tile blocks of a thread in a launch."""
    builder = lowering.builder
    begun = field_of(builder, lowering.emit.arena, BEGUN)
    is_first = builder.icmp_unsigned("==", builder.load(begun, typ=I64), I64(0))
    with builder.if_then(builder.and_(is_first, several), likely=False):
        builder.store(I64(1), begun)
        for found in lowering.panels.values():
            for panels in (found.left, found.right, found.transposed):
                if panels is not None:
                    panels.forget(builder)


# ---------------------------------------------------------------- in front of a loop


def begin_products(lowering: Lowering, loop: control.For) -> None:
    """Begin without tiles in panels, and find out which of those stay that other tile blocks packed. Each time that the
    code of a device function stands somewhere it has panels of its own."""
    if lowering.here is not lowering.plan.body:
        for op in loop.body.ops:
            plan = lowering.products.get(op)
            if plan is not None and plan.panels is not None:
                lowering.panels[op] = new_loop_product(lowering.emit, plan.product, plan.panels)
    products = _with_panels(lowering, loop)
    stays = _unchanged_by_block(lowering, loop) if products else I1(0)
    for op, found in products:
        found.begin(lowering.builder)
        if found.left is not None:
            found.left.kept = _kept(lowering, loop, stays, op.lhs)
            if found.transposed is not None:
                found.transposed.kept = found.left.kept
        found.right.kept = _kept(lowering, loop, stays, op.rhs)


def _with_panels(lowering: Lowering, loop: control.For) -> list[tuple[ProductOp, LoopProduct]]:
    return [(op, lowering.panels[op]) for op in loop.body.ops if isinstance(op, ProductOp) and op in lowering.panels]


def _kept(lowering: Lowering, loop: control.For, stays: ir.Value, factor: Value) -> ir.Value:
    """Emit a test of whether panels of a factor are kept."""
    load, builder = load_of(factor), lowering.builder
    tensor = None if load is None else _tensor_of(lowering, loop, load.view)
    if load is None or tensor is None or tensor.fit is None:
        return I1(0)
    shared = _is_shared(lowering, NativeTileView(tensor, load.view.type), fixed_dimensions(load))
    return builder.and_(builder.and_(stays, tensor.fit.read), shared)


def _unchanged_by_block(lowering: Lowering, loop: control.For) -> ir.Value:
    """Emit a test of whether this tile block writes only to the arrays known to be written, so that what is read stays
    unchanged."""
    stays = lowering.keeps_panels
    for access in map(access_of, lowering.here.fusion.operations):
        if access is not None and access.writes and stays is not None:
            tensor = _tensor_of(lowering, loop, access.address)
            fit = tensor.fit if tensor is not None else None
            stays = None if fit is None else lowering.builder.and_(stays, fit.write)
    return I1(0) if stays is None else stays


def _tensor_of(lowering: Lowering, loop: control.For, view: Value) -> NativeTensorView | None:
    """Return the tensor that a tile view cuts into tiles, if it is known in front of a loop: the view may be made
    later."""
    made = view.op
    if isinstance(made, views.MakePartitionView | views.MakeStridedView):
        view = made.tensor_view
    found = lowering.values.get(view) if is_visible(view, loop) else None
    if isinstance(found, NativeTileView):
        found = found.tensor
    return found if isinstance(found, NativeTensorView) else None


def _is_shared(lowering: Lowering, view: NativeTileView, positions: Iterable[int]) -> ir.Value:
    """Emit a test of whether there are more tile blocks than tiles along these dimensions of a view."""
    builder = lowering.builder
    tiles = I64(1)
    for position in positions:
        step = view.type.tile_steps[position]
        extent = view.tensor.extents[view.type.tensor_dims[position]]
        tiles = builder.mul(tiles, builder.udiv(builder.add(extent, I64(step - 1)), I64(step)))
    return builder.icmp_unsigned(">", lowering.blocks(), tiles)


# ---------------------------------------------------------------- sums of deferred products


def bound_sums(lowering: Lowering, loop: control.For, slots: Sequence[Slot]) -> None:
    """Find out, in front of a loop that carries its values in `slots`, how long no sum can leave i32."""
    builder = lowering.builder
    for op, found in _with_panels(lowering, loop):
        if found.plan.largest is not None and found.plan.first is not None:
            slot = dict(zip(carried_arguments(loop), slots))[op.acc]
            start = I64(0) if is_zero(found.plan.first) else _largest_magnitude(lowering.emit, slot)
            most = I64(found.plan.shape.k * found.plan.largest)
            found.together = builder.sdiv(builder.sub(I64(I32_MAXIMUM), start), most)


def _largest_magnitude(emit: Emitter, slot: Slot) -> ir.Value:
    """Return that of the tile of i32 in a slot, an i64."""
    builder, largest, tile = emit.builder, emit.stack(I64), slot.read(emit)
    assert isinstance(tile, Tile)
    builder.store(I64(0), largest)

    def look_at(index: Index) -> None:
        number = builder.sext(wide(builder, tile.at(emit, index)), I64)
        magnitude = call_intrinsic(builder, "llvm.abs", I64, [number, I1(0)])
        builder.store(call_intrinsic(builder, "llvm.smax", I64, [builder.load(largest, typ=I64), magnitude]), largest)

    emit.loop_nest(tile.type.shape, look_at)
    return builder.load(largest, typ=I64)


def begin_iteration_of_products(
    lowering: Lowering, loop: control.For, position: ir.Value, step: ir.Value, upper: ir.Value
) -> None:
    """Tell deferred products whether the iteration is the last one: as the loop finds out at its end."""
    deferred = [found for _, found in _with_panels(lowering, loop) if found.plan.is_deferred]
    if not deferred:
        return
    builder = lowering.builder
    add = builder.uadd_with_overflow if loop.unsigned else builder.sadd_with_overflow
    compare = builder.icmp_unsigned if loop.unsigned else builder.icmp_signed
    pair = add(position, step)
    ends = builder.not_(compare("<", builder.extract_value(pair, 0), upper))
    last = builder.or_(builder.extract_value(pair, 1), ends)
    for found in deferred:
        found.last = last
