"""Panels of products that outlive an iteration or a tile block: memory for them, and what the code has to find out.

Panels are set aside where an entry begins, and emptied for each launch. In front of a loop it is found out whether
tiles of a factor stay: something is won only if there are more tile blocks than tiles of the factor, or a loop around,
so that some share one. They stay until the thread writes where the tensor lies that they were read from. What other
threads write meanwhile is not looked at: without signals, which such kernels do not have, nobody can rely on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.analysis.structure import carried_arguments, enclosing_loop, is_visible
from tileir.cpu.emit.algebra import Int, call_intrinsic
from tileir.cpu.emit.elements import I1, I32, I64
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.exits import field_of
from tileir.cpu.emit.record import BEGUN
from tileir.cpu.emit.slots import Slot
from tileir.cpu.emit.tiles import NativeTensorView, NativeTileView, Tile, wide
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.matmul.accumulators import I32_MAXIMUM
from tileir.cpu.matmul.multiplication import LoopProduct, new_loop_product
from tileir.cpu.matmul.panel_cache import Panels
from tileir.cpu.matmul.policy import ProductOp, fixed_dimensions, is_zero, load_of
from tileir.cpu.memory.bounds import bounds_of, claimed
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ops import control, views

# ---------------------------------------------------------------- where an entry begins


def reserve_panels(lowering: Lowering) -> None:
    """Set memory aside, where an entry begins, for the panels of products in its loops."""
    for op, plan in lowering.products.items():
        if plan.panels is not None:
            lowering.panels[op] = new_loop_product(lowering.emit, plan.product, plan.panels)
    if lowering.plan.keeps_panels:
        lowering.keeps_panels = _any_shared(lowering)
        _begin_panels(lowering, lowering.keeps_panels)


def _any_shared(lowering: Lowering) -> ir.Value:
    """Emit a test of whether the loop of a product may run again: in another tile block, or in a loop around it."""
    builder, found = lowering.builder, I1(any(_is_nested(op.parent_op) for op in lowering.panels))
    for extent in lowering.grid:
        found = builder.or_(found, builder.icmp_unsigned("!=", extent, I32(1)))
    return found


def _is_nested(loop: Op | None) -> bool:
    return loop is not None and enclosing_loop(loop) is not None


def _begin_panels(lowering: Lowering, any_shared: ir.Value) -> None:
    """Begin with none, where this is the first tile block of a thread in a launch."""
    builder = lowering.builder
    begun = field_of(builder, lowering.emit.arena, BEGUN)
    is_first = builder.icmp_unsigned("==", builder.load(begun, typ=I64), I64(0))
    with builder.if_then(builder.and_(is_first, any_shared), likely=False):
        builder.store(I64(1), begun)
        for panels in _all_panels(lowering):
            panels.begin(builder)


def _all_panels(lowering: Lowering) -> Iterator[Panels]:
    for found in lowering.panels.values():
        yield from (panels for panels in (found.left, found.right, found.transposed) if panels is not None)


# ---------------------------------------------------------------- in front of a loop


def begin_products(lowering: Lowering, loop: control.For) -> None:
    """Begin without tiles in panels, and find out which of those stay that other tile blocks packed. Each time that the
    code of a device function stands somewhere it has panels of its own."""
    if lowering.here is not lowering.plan.body:
        for op in loop.body.ops:
            plan = lowering.products.get(op)
            if plan is not None and plan.panels is not None:
                lowering.panels[op] = new_loop_product(lowering.emit, plan.product, plan.panels)
    for op, found in _with_panels(lowering, loop):
        found.begin(lowering.builder)
        _keep_tiles(lowering, loop, op.lhs, [found.left, found.transposed])
        _keep_tiles(lowering, loop, op.rhs, [found.right])


def _with_panels(lowering: Lowering, loop: control.For) -> list[tuple[ProductOp, LoopProduct]]:
    return [(op, lowering.panels[op]) for op in loop.body.ops if isinstance(op, ProductOp) and op in lowering.panels]


def _keep_tiles(lowering: Lowering, loop: control.For, factor: Value, panels: Iterable[Panels | None]) -> None:
    """Keep tiles of a factor if all of the tensor that the loop loads them from may be read, and tiles are shared."""
    load, builder, keeps = load_of(factor), lowering.builder, lowering.keeps_panels
    tensor = None if load is None else _tensor_of(lowering, loop, load.view)
    if load is None or tensor is None or tensor.fit is None or keeps is None:
        return
    is_right = builder.and_(keeps, tensor.fit.read)
    if not _is_nested(loop):
        shared = _is_shared(lowering, NativeTileView(tensor, load.view.type), fixed_dimensions(load))
        is_right = builder.and_(is_right, shared)
    first, behind = _claim(builder, tensor, load.view.type.element)
    for each in panels:
        if each is not None:
            each.keep(lowering.emit, first, behind, is_right)


def _claim(builder: ir.IRBuilder, tensor: NativeTensorView, element: t.ElementType) -> tuple[ir.Value, ir.Value]:
    """Return the addresses from which and up to which a tensor lies that is not larger than memory."""
    first = builder.ptrtoint(tensor.base, I64)
    return first, builder.add(first, claimed(builder, tensor, element)[0])


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


# ---------------------------------------------------------------- where memory is written


def forget_written(lowering: Lowering, access: MemoryAccess) -> None:
    """Forget the tiles that were read from memory to which a store writes; nobody else changes what they hold.

    A store through pointers writes to the memory that they were computed from, or `forget_all` is called.
    """
    if lowering.keeps_panels is None:
        return
    builder, first, behind = lowering.builder, *_EVERYWHERE
    if isinstance(access.address.type, t.TileType):
        pointers = lowering.tile(access.address)
        bounds = bounds_of(lowering, pointers.at(lowering.emit, (I64(0),) * pointers.type.rank))
        if bounds is not None:
            first, behind = bounds.begin, bounds.last
    else:
        view, kind = lowering.values[access.address], access.address.type
        tensor = view.tensor if isinstance(view, NativeTileView) else view
        assert isinstance(kind, t.TensorViewType | t.TileViewType) and isinstance(tensor, NativeTensorView)
        assert tensor.fit is not None, "panels are kept where accesses are checked"
        lies = _claim(builder, tensor, kind.element)
        first, behind = (builder.select(tensor.fit.write, *both) for both in zip(lies, _EVERYWHERE))
    _forget(lowering, first, behind)


def forget_all(lowering: Lowering) -> None:
    """Forget all tiles: a store may write anywhere."""
    _forget(lowering, *_EVERYWHERE)


_EVERYWHERE = I64(0), I64(-1)


def _forget(lowering: Lowering, first: ir.Value, behind: ir.Value) -> None:
    if lowering.keeps_panels is not None:
        with lowering.emit.when(lowering.keeps_panels):
            for panels in _all_panels(lowering):
                panels.write(lowering.emit, first, behind)


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
    builder, tile, largest = emit.builder, slot.read(emit), emit.collector(I64(0))
    assert isinstance(tile, Tile)

    def visit(index: Index) -> None:
        number = builder.sext(wide(builder, tile.at(emit, index)), I64)
        largest.add(Int.signed_maximum, call_intrinsic(builder, "llvm.abs", I64, [number, I1(0)]))

    emit.loop_nest(tile.type.shape, visit)
    return largest.value


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
