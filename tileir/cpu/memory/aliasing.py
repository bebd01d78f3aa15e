"""Stores whose order could be seen: elements of one tile that share a place, and loads of memory that a store changes.

Of elements of one tile that share a place the last in row-major order stays. Tiles are written row by row along a
dimension of unit stride, which keeps that order where it is the last one. Joined tile blocks need no such care: where
elements of one tile share a place, those of its neighbour do, too.

The loop of a store may read the elements of loads, compute and write one element at a time. That does the same as
reading everything first unless it writes what it has yet to read: never where the memory read and the memory written
are apart, nor where each element is read from where it is then written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from tileir.analysis.region import is_view_box
from tileir.cpu.analysis.loads import PutOffLoad
from tileir.cpu.emit.elements import I1, I64
from tileir.cpu.emit.emitter import Extent
from tileir.cpu.emit.tiles import Window
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.regions import Span, span_of_pointers, span_of_window
from tileir.ir.core import Op, Value


def elements_apart(builder: ir.IRBuilder, memory: Window) -> ir.Value | None:
    """Emit a test, by nested strides, whether no two elements of a tile share a place; None if every row keeps the
    order."""
    dims = [dim for dim, extent in enumerate(memory.type.shape) if extent > 1]
    unit = next((dim for dim in dims[:-1] if _is_one(memory.strides[dim])), None)
    if unit is None:
        return None
    others = [dim for dim in dims if dim != unit]
    orders = [unit, *others], [unit, *reversed(others)]
    if all(isinstance(stride, ir.Constant) for stride in memory.strides) and any(
        _are_nested(memory, dims) for dims in orders
    ):
        return None
    return builder.or_(*(_nested(builder, memory, dims) for dims in orders))


def _are_nested(memory: Window, dims: Sequence[int]) -> bool:
    """Return whether each step along a dimension leads past everything along the dimensions before it; strides are
    constant."""
    reach = 0
    for dim in dims:
        stride = memory.strides[dim].constant
        if stride <= reach:
            return False
        reach += stride * (memory.type.shape[dim] - 1)
    return True


def _nested(builder: ir.IRBuilder, memory: Window, dims: Sequence[int]) -> ir.Value:
    """Emit the same test for any strides."""
    reach, fine = I64(0), I1(1)
    for dim in dims:
        stride = memory.strides[dim]
        fine = builder.and_(fine, builder.icmp_signed(">", stride, reach))
        reach = builder.add(reach, builder.mul(stride, I64(memory.type.shape[dim] - 1)))
    return fine


def _is_one(stride: ir.Value) -> bool:
    return isinstance(stride, ir.Constant) and stride == I64(1)


# ---------------------------------------------------------------- loads in the loop of a store


def unaliased(lowering: Lowering, store: Op, written: Callable[[], Span]) -> ir.Value:
    """Emit a test of whether the loop of `store`, which writes the span `written`, may read the loads put off to it."""
    builder = lowering.builder
    checked = [load for load in lowering.loads.read_in(store) if not load.same_tile]
    if not checked:
        return I1(1)
    target = written()
    found = target.regular
    for load in checked:
        source = _span_of(lowering, load)
        harmless = _apart(builder, source, target)
        if load.in_place and source.size == target.size:
            harmless = builder.or_(harmless, _same_places(builder, source, target))
        found = builder.and_(found, builder.and_(source.regular, harmless))
    return found


def _span_of(lowering: Lowering, load: PutOffLoad) -> Span:
    covered = _covered(lowering, load.tile)
    if not is_view_box(load.access):
        return span_of_pointers(lowering.emit, lowering.tile(load.access.address), covered)
    window = lowering.tile(load.tile)
    assert isinstance(window, Window)
    return span_of_window(lowering.emit, window, covered)


def _covered(lowering: Lowering, tile: Value) -> Sequence[Extent]:
    """Return how many elements of each dimension of a loaded tile may be read: all, unless tile blocks are joined."""
    found = None if lowering.joined is None else lowering.joined.covered.get(tile)
    return tile.tile.shape if found is None else found


def _apart(builder: ir.IRBuilder, read: Span, written: Span) -> ir.Value:
    before = builder.icmp_unsigned("<=", builder.add(read.last, I64(read.size)), written.first)
    behind = builder.icmp_unsigned("<=", builder.add(written.last, I64(written.size)), read.first)
    return builder.or_(before, behind)


def _same_places(builder: ir.IRBuilder, read: Span, written: Span) -> ir.Value:
    """Emit a test of whether elements at equal indices are the same, and distinct from all others."""
    same = builder.and_(read.distinct, builder.icmp_unsigned("==", read.first, written.first))
    for mine, other in zip(read.steps, written.steps):
        same = builder.and_(same, builder.icmp_unsigned("==", mine, other))
    return same
