"""Rules of the operations of early documents (spec: extension#operations)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.analysis.effects import MemoryAccess
from tileir.host import extern
from tileir.interp import views
from tileir.interp.api import BlockState, EffectRule, PureRule
from tileir.interp.prepare import Preparation, RegionRule
from tileir.interp.program import Frame, Step
from tileir.interp.reduction import combination, is_elementwise
from tileir.interp.tiling import TensorView, locator
from tileir.ir.core import Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import shown
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.ir.types import F4E2M1FN, GatherScatterViewType, PaddingValue
from tileir.numerics.functions import evaluated
from tileir.ops.extension import Asin, ExternElementwise, GatherLoad, Generate, OptimizationBarrier, ScatterStore

pure: Rules[PureRule] = Rules()
effects: Rules[EffectRule] = Rules()
regions: Rules[RegionRule] = Rules()

TARGET = "interp"
Array = np.ndarray
Offsets = tuple[Array, ...]


@pure(Asin)
def _asin(op: Asin) -> Callable[[Array], Array]:
    return evaluated(np.arcsin)(op.source.tile.number)


@pure(OptimizationBarrier)
def _barrier(op: OptimizationBarrier) -> Callable[[Array], Array]:
    return lambda source: source


@effects(ExternElementwise)
def _extern_elementwise(op: ExternElementwise) -> Callable[[BlockState, tuple[Array, ...]], Array]:
    symbol = op.symbol
    if not extern.is_registered(symbol):
        raise UnsupportedError(f"'{op.spec.name}': no host function is registered as '{shown(symbol)}'", TARGET, op.loc)
    elements, result = [value.tile.element for value in op.args], op.result.tile.element

    def run(block: BlockState, tiles: tuple[Array, ...]) -> Array:
        block.changes()
        return extern.apply(symbol, tiles, elements, result)

    return run


@effects(GatherLoad)
def _gather_load(op: GatherLoad) -> Callable[[BlockState, TensorView, Array, Offsets], Array]:
    """Load weakly through the gather/scatter view that the operands describe."""
    view = _view(op, op.source, op.result.tile.shape, op.padding)
    outside = views.outside_tile(op, view)
    locate = locator(op, view, MemoryAccess.of(op).indices, ())
    load = views.load_nibbles if view.element is F4E2M1FN else views.load_tile

    def run(block: BlockState, source: TensorView, index: Array, offsets: Offsets) -> Array:
        part = locate(block, source, tuple(_coordinates(op.dim, index, offsets)))
        return outside if part is None else load(block, source, part, view.element, outside)

    return run


@effects(ScatterStore)
def _scatter_store(op: ScatterStore) -> Callable[..., None]:
    """Store weakly through the gather/scatter view that the operands describe."""
    view = _view(op, op.destination, op.source.tile.shape, None)
    locate = locator(op, view, MemoryAccess.of(op).indices, ())
    store = views.store_nibbles if view.element is F4E2M1FN else views.store_tile

    def run(
        block: BlockState, source: Array, destination: TensorView, index: Array, offsets: Offsets, token: None
    ) -> None:
        part = locate(block, destination, tuple(_coordinates(op.dim, index, offsets)))
        if part is not None:
            store(block, destination, part, view.element, source)

    return run


def _view(
    op: GatherLoad | ScatterStore, tensor: Value, shape: tuple[int, ...], padding: PaddingValue | None
) -> GatherScatterViewType:
    return GatherScatterViewType(shape, tensor.tensor_view, op.dim, padding)


def _coordinates(dim: int, index: Array, offsets: Offsets) -> list[Array]:
    """Return the index of the view: the gathered rows at `dim`, the offsets in the other dimensions."""
    return [*offsets[:dim], index, *offsets[dim:]]


@regions(Generate)
def _generate(op: Generate, preparation: Preparation) -> Step:
    body = preparation.region(op.body)
    (result,) = preparation.results(op)
    ty = op.result.tile
    shape, dtype, by_slices = ty.shape, dtype_of(ty.element), is_elementwise(op.body)

    def run(frame: Frame, block: BlockState) -> None:
        combine = combination(body, frame, block)
        output = np.empty(shape, dtype)
        if by_slices:
            (output[...],) = combine(np.indices(shape, np.int32, sparse=True))
        else:
            for index in np.ndindex(shape):
                (value,) = combine(map(np.int32, index))
                output[index] = np.reshape(value, ())
        frame[result] = output

    return run
