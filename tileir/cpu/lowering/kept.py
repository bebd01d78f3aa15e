"""What a launch leaves as it is while it runs: panels made from that stay from tile block to tile block.

A launch leaves an array as it is if no array that it writes overlaps it, and if every tile block writes and reads
within the arrays of its parameters. Both are found out when it runs.

Knows: how that is known, and whether tile blocks read the same tiles. Does not know: products (`cpu.lowering.deferred`,
`cpu.lowering.repeated`), nor which kernels keep nothing for other reasons (`cpu.analysis.streams`).
"""

from __future__ import annotations

from collections.abc import Iterable

from llvmlite import ir

from tileir.analysis.effects import access_of
from tileir.analysis.structure import is_visible
from tileir.cpu.analysis.streams import Unchanged
from tileir.cpu.emit.elements import I1, I64
from tileir.cpu.emit.record import ENTRY
from tileir.cpu.emit.tiles import NativeTensorView, NativeTileView
from tileir.cpu.lowering.state import Lowering
from tileir.ir import types as t
from tileir.ir.core import Value
from tileir.ops import control, shapes, views
from tileir.ops.module import Entry


def no_overlap(lowering: Lowering, entry: Entry, found: Unchanged) -> ir.Value:
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
    return lowering.slot(position), lowering.slot(lowering.bounds_slot + ENTRY * memory + 3)


def unchanged_by_block(lowering: Lowering, loop: control.For) -> ir.Value:
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


def load_of(factor: Value) -> views.LoadView | None:
    """The load whose tile a factor is; None if it is not just that."""
    while isinstance(factor.op, shapes.Reshape):
        factor = factor.op.source
    return factor.op if isinstance(factor.op, views.LoadView) else None


def kept_view(lowering: Lowering, loop: control.For, factor: Value) -> NativeTileView | None:
    """The view that a factor is loaded from, if it is known in front of a loop where its array lies."""
    load = load_of(factor)
    tensor = None if load is None else _tensor_of(lowering, loop, load.view)
    if load is None or tensor is None or tensor.fit is None:
        return None
    return NativeTileView(tensor, load.view.type)


def stays_in_array(view: NativeTileView) -> ir.Value:
    """An i1: whether what is read through a kept view lies in the array."""
    assert view.tensor.fit is not None
    return view.tensor.fit.read


def is_shared(lowering: Lowering, view: NativeTileView, positions: Iterable[int]) -> ir.Value:
    """An i1: whether there are more tile blocks than tiles along these dimensions of a view."""
    builder = lowering.builder
    tiles, blocks = I64(1), I64(1)
    for position in positions:
        step = view.type.tile_steps[position]
        extent = view.tensor.extents[view.type.tensor_dims[position]]
        tiles = builder.mul(tiles, builder.udiv(builder.add(extent, I64(step - 1)), I64(step)))
    for extent in lowering.grid:
        blocks = builder.mul(blocks, builder.zext(extent, I64))
    return builder.icmp_unsigned(">", blocks, tiles)
