"""The live part of a tile, in registers: matrices, rows and columns of a product, and the parts of its factors they
need.

These are the counts of a box that will be stored (`cpu.analysis.live_extents`), if what they follow from is known
before the tile is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.analysis.region import Region, is_view_box
from tileir.cpu.analysis.live_extents import FactorOf
from tileir.cpu.analysis.loads import LoadPlacement
from tileir.cpu.emit.elements import I64, is_number, is_zero
from tileir.cpu.emit.emitter import at_least_one, least
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.matmul.panels import LINES_AT_A_TIME
from tileir.cpu.matmul.policy import ProductOp, load_of
from tileir.cpu.memory.regions import Box, axis_at
from tileir.ir import types as t
from tileir.ir.core import Value
from tileir.ops import views


@dataclass(frozen=True)
class EarlyView:
    """The view of an access before its code is emitted, as far as the operands it is made of are known."""

    lowering: Lowering
    tensor: views.MakeTensorView
    type: t.PartitionViewType | t.StridedViewType
    indices: Sequence[Value]

    @staticmethod
    def of(lowering: Lowering, access: MemoryAccess) -> EarlyView | None:
        made = access.address.op
        if not isinstance(made, views.MakePartitionView | views.MakeStridedView):
            return None
        tensor = made.tensor_view.op
        if not isinstance(tensor, views.MakeTensorView):
            return None
        return EarlyView(lowering, tensor, made.result.type, access.indices)

    def count(self, position: int) -> ir.Value | None:
        """Return how much of the tile lies in the tensor along a dimension."""
        extent = self._extent(position)
        index, step, size = self.indices[position], self.type.tile_steps[position], self.type.tile_shape[position]
        if extent is None or not self._is_known(index):
            return None
        return axis_at(self.lowering, position, index, step, extent).count(self.lowering.emit, size)

    def _extent(self, position: int) -> ir.Value | None:
        static, dim = self.tensor.result.type.shape, self.type.tensor_dims[position]
        known = static[dim]
        if known is not None:
            return I64(known)
        given = self.tensor.dynamicShape[sum(entry is None for entry in static[:dim])]
        return self.lowering.unsigned(given) if self._is_known(given) else None

    def _is_known(self, value: Value) -> bool:
        return value in self.lowering.values


@dataclass(frozen=True)
class Needs:
    """Counts, each at least 1. `batches`: None stands for all."""

    batches: ir.Value | None
    rows: ir.Value
    columns: ir.Value


def needs_of_product(lowering: Lowering, product: ProductOp) -> Needs | None:
    """Return what is live of the result; None if all may be, or that is not known yet."""
    *batch, rows, columns = product.result.tile.shape
    store = lowering.here.live.get(product.result)
    if not isinstance(store, MemoryAccess) or store.value is None or lowering.products[product].swapped:
        return None
    stored = store.value.tile.shape
    is_batch = bool(batch) and stored == (*batch, rows, columns)
    positions = range(0 if is_batch else len(stored) - 2, len(stored))
    counts = [_count(lowering, store, position) for position in positions]
    found = [at_least_one(lowering.builder, count) for count in counts if count is not None]
    if len(found) < len(counts):
        return None
    return Needs(found[0] if is_batch else None, *found[-2:])


def depth_of_product(lowering: Lowering, product: ProductOp) -> ir.Value | None:
    """Return how much of K lies in the tensors of the factors; beyond it both are zeros. None if that is not known."""
    depths = [_depth(lowering, factor, dim) for factor, dim in ((product.lhs, -1), (product.rhs, -2))]
    found = [depth for depth in depths if depth is not None]
    if lowering.strict or len(found) < len(depths):
        return None
    left, right = found
    return lowering.builder.select(lowering.builder.icmp_unsigned(">", left, right), left, right)


def _depth(lowering: Lowering, factor: Value, dim: int) -> ir.Value | None:
    """Return how much of a factor lies in its tensor along K, its dimension `dim`, if zeros pad it."""
    load = load_of(factor)
    if load is None or load.view.type.tile.shape[-2:] != factor.tile.shape[-2:]:
        return None
    access, type = MemoryAccess.of(load), load.view.type
    if not is_view_box(access) or type.padding is None or not is_zero(type.element, type.padding):
        return None
    return _count(lowering, access, type.tile.rank + dim)


def needs_of_load(lowering: Lowering, loaded: Value, box: Box) -> dict[int, ir.Value]:
    """Return the dimensions of a loaded tile that are needed in part only, and how much of them."""
    reader = lowering.here.live.get(loaded)
    if not isinstance(reader, FactorOf):
        return {} if reader is None or lowering.joined is not None else _needs_of_store(lowering, loaded, reader)
    if lowering.loads.placement(loaded) is LoadPlacement.AT_ONCE:
        return {}
    product, side = reader.product, reader.side
    needs = needs_of_product(lowering, product)
    if needs is None:
        return {}
    shape = loaded.tile.shape
    dim = len(shape) - 2 + side
    at_once = LINES_AT_A_TIME if side or is_number(box.window.strides[dim], 1) else 1
    lines = needs.columns if side else needs.rows
    found = {dim: _rounded_up(lowering, lines, min(at_once, shape[dim]))}
    if needs.batches is not None and shape == (product.lhs, product.rhs)[side].tile.shape:
        found[0] = needs.batches
    return found


def _needs_of_store(lowering: Lowering, loaded: Value, store: MemoryAccess) -> dict[int, ir.Value]:
    """Return what the only store that reads a tile takes of it; nothing if that may be all, or is not known yet."""
    assert store.value is not None, "a store"
    dims, positions = (
        [dim for dim, extent in enumerate(value.tile.shape) if extent != 1] for value in (loaded, store.value)
    )
    found: dict[int, ir.Value] = {}
    for dim, position in zip(dims, positions, strict=True):
        count = _count(lowering, store, position)
        if count is None:
            return {}
        found[dim] = at_least_one(lowering.builder, count)
    lowering.read_in_part.add(store.op)
    return found


def _count(lowering: Lowering, access: MemoryAccess, position: int) -> ir.Value | None:
    """Return how much of a box lies in its tensor, or is not masked off, along a dimension; None if that is not known
    yet."""
    region = lowering.loads.regions[access.op]
    if region.through_pointers:
        return _unmasked(lowering, region, position)
    view = EarlyView.of(lowering, access)
    return None if view is None else view.count(position)


def _unmasked(lowering: Lowering, region: Region, position: int) -> ir.Value | None:
    builder, found = lowering.builder, I64(region.extents[position])
    for edge in region.edges or ():
        if edge.dim == position and not edge.front:
            active = lowering.active_counts.get(edge.comparison)
            if active is None:
                return None
            count = builder.select(active.regular, active.count, found)
            found = least(builder, count, found)
    return found


def _rounded_up(lowering: Lowering, count: ir.Value, step: int) -> ir.Value:
    return lowering.builder.and_(lowering.builder.add(count, I64(step - 1)), I64(-step))
