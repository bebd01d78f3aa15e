"""How much of a tile is needed, in registers: how many matrices, rows and columns of a matrix product
(`cpu.analysis.needed`), how much of its factors along K, and how much of what a store alone reads
(`cpu.analysis.stored`).

Knows: that these are the counts of a box that will be stored, if what they follow from is known before the product, and
how much of a factor has to be there for them. Does not know: how a product leaves the others out (`cpu.matmul`).
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.analysis.loads import LoadPlacement, is_box
from tileir.cpu.analysis.needed import Product
from tileir.cpu.analysis.stored import store_of_load
from tileir.cpu.emit.elements import I64, is_zero
from tileir.cpu.emit.tiles import NativeTileView
from tileir.cpu.llvm.engine import host
from tileir.cpu.lowering.kept import load_of
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.matmul.panels import LINES_AT_A_TIME, is_one
from tileir.cpu.matmul.products import is_swapped
from tileir.cpu.memory.counts import count_inside
from tileir.ir.core import Value
from tileir.ops import views


@dataclass(frozen=True)
class Needs:
    """Counts, i64, each at least 1. `batches`: None stands for all."""

    batches: ir.Value | None
    rows: ir.Value
    columns: ir.Value


def needs_of_product(lowering: Lowering, product: Product) -> Needs | None:
    """What is needed of the result; None if all may be, or if that is not known yet."""
    *batch, rows, columns = product.result.tile.shape
    store = None if lowering.strict else lowering.needed.store_of(product)
    if store is None or store.value is None or is_swapped(rows, columns, host()):
        return None
    stored = store.value.tile.shape
    is_batch = bool(batch) and stored == (*batch, rows, columns)
    positions = range(0 if is_batch else len(stored) - 2, len(stored))
    counts = [_count(lowering, store, position) for position in positions]
    found = [_at_least_one(lowering, count) for count in counts if count is not None]
    if len(found) < len(counts):
        return None
    return Needs(found[0] if is_batch else None, *found[-2:])


def depth_of_product(lowering: Lowering, product: Product) -> ir.Value | None:
    """How much of K lies in the tensors that the factors are loaded from, an i64: what comes behind is zeros in both.
    None if that is not known."""
    depths = [_depth(lowering, factor, dim) for factor, dim in ((product.lhs, -1), (product.rhs, -2))]
    found = [depth for depth in depths if depth is not None]
    if lowering.strict or len(found) < len(depths):
        return None
    left, right = found
    return lowering.builder.select(lowering.builder.icmp_unsigned(">", left, right), left, right)


def _depth(lowering: Lowering, factor: Value, dim: int) -> ir.Value | None:
    """How much of a factor lies in its tensor along K, its dimension `dim`, if zeros pad it."""
    load = load_of(factor)
    if load is None or load.view.type.tile.shape[-2:] != factor.tile.shape[-2:]:
        return None
    access, type = MemoryAccess.of(load), load.view.type
    if not is_box(access) or type.padding is None or not is_zero(type.element, type.padding):
        return None
    return _count(lowering, access, type.tile.rank + dim)


def needs_of_load(lowering: Lowering, loaded: Value, view: NativeTileView) -> dict[int, ir.Value]:
    """The dimensions of a loaded tile of which a part is enough, with how much of them."""
    reader = lowering.needed.product_of(loaded)
    if reader is None:
        return _needs_of_store(lowering, loaded)
    if lowering.loads.placement(loaded) is LoadPlacement.AT_ONCE:
        return {}
    product, side = reader
    needs = needs_of_product(lowering, product)
    if needs is None:
        return {}
    shape = loaded.tile.shape
    dim = len(shape) - 2 + side
    by_line = view.tensor.strides[view.type.tensor_dims[dim]]
    at_once = LINES_AT_A_TIME if side or is_one(by_line) else 1
    lines = needs.columns if side else needs.rows
    found = {dim: _rounded_up(lowering, lines, min(at_once, shape[dim]))}
    if needs.batches is not None and shape == (product.lhs, product.rhs)[side].tile.shape:
        found[0] = needs.batches
    return found


def _needs_of_store(lowering: Lowering, loaded: Value) -> dict[int, ir.Value]:
    """What the store that alone reads a tile takes of it; nothing if that may be all, or is not known yet."""
    is_plain = not lowering.strict and lowering.joined is None
    store = store_of_load(lowering.fusion, lowering.loads, loaded) if is_plain else None
    if store is None or store.value is None:
        return {}
    dims, positions = (
        [dim for dim, extent in enumerate(value.tile.shape) if extent != 1] for value in (loaded, store.value)
    )
    found: dict[int, ir.Value] = {}
    for dim, position in zip(dims, positions, strict=True):
        count = _count(lowering, store, position)
        if count is None:
            return {}
        found[dim] = _at_least_one(lowering, count)
    return found


def _count(lowering: Lowering, access: MemoryAccess, position: int) -> ir.Value | None:
    """How much of a box lies in its tensor along a dimension; None if the operands have no values yet."""
    made, index = access.address.op, access.indices[position]
    if not isinstance(made, views.MakePartitionView | views.MakeStridedView) or index not in lowering.values:
        return None
    tensor = made.tensor_view.op
    if not isinstance(tensor, views.MakeTensorView):
        return None
    type = made.result.type
    extent = _extent(lowering, tensor, type.tensor_dims[position])
    if extent is None:
        return None
    return count_inside(lowering, index, type.tile_steps[position], extent, type.tile_shape[position])[0]


def _extent(lowering: Lowering, tensor: views.MakeTensorView, dim: int) -> ir.Value | None:
    static = tensor.result.type.shape
    known = static[dim]
    if known is not None:
        return I64(known)
    given = tensor.dynamicShape[sum(entry is None for entry in static[:dim])]
    return lowering.unsigned(given) if given in lowering.values else None


def _at_least_one(lowering: Lowering, count: ir.Value) -> ir.Value:
    builder = lowering.builder
    return builder.select(builder.icmp_unsigned("==", count, I64(0)), I64(1), count)


def _rounded_up(lowering: Lowering, count: ir.Value, step: int) -> ir.Value:
    return lowering.builder.and_(lowering.builder.add(count, I64(step - 1)), I64(-step))
