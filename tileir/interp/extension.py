"""What the operations of early documents do (specification, operations 8).

Knows: arc sine, host functions, the optimization barrier, gathering and scattering of rows.
Does not know: calls (`control`) and `experimental$generate` (`reduction`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from tileir.interp import extern, views
from tileir.interp.api import BlockState, EffectRule, PureRule
from tileir.interp.core import tile_type
from tileir.interp.numerics.functions import evaluated
from tileir.interp.tiling import TensorView, locator
from tileir.ir.attributes import OpaqueAttr
from tileir.ir.core import Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.rules import Rules
from tileir.ir.types import F4E2M1FN, ElementType, GatherScatterViewType, PaddingValue, TensorViewType
from tileir.ops.extension import Asin, ExternElementwise, GatherLoad, OptimizationBarrier, ScatterStore

pure: Rules[PureRule] = Rules()
effects: Rules[EffectRule] = Rules()

TARGET = "interp"
Array = np.ndarray
Offsets = tuple[Array, ...]
Coordinate = TypeVar("Coordinate")


@pure(Asin)
def _asin(op: Asin) -> Callable[[Array], Array]:
    element = tile_type(op.source).element
    assert isinstance(element, ElementType)
    return evaluated(np.arcsin)(element)


@pure(OptimizationBarrier)
def _barrier(op: OptimizationBarrier) -> Callable[[Array], Array]:
    return lambda source: source


@effects(ExternElementwise)
def _extern_elementwise(op: ExternElementwise) -> Callable[[BlockState, tuple[Array, ...]], Array]:
    symbol = op.symbol
    if not extern.is_registered(symbol):
        raise UnsupportedError(f"'{op.spec.name}': no host function is registered as '{symbol}'", TARGET, op.loc)
    elements, result = [tile_type(value).element for value in op.args], tile_type(op.result).element
    return lambda block, tiles: extern.apply(symbol, tiles, elements, result)


@effects(GatherLoad)
def _gather_load(op: GatherLoad) -> Callable[[BlockState, TensorView, Array, Offsets], Array]:
    """A weak load through the gather/scatter view that the operands describe."""
    view = _view(op, op.source, tile_type(op.result).shape, _padding(op.fill_value))
    outside = views.outside_tile(op, view)
    locate = locator(op, view, _coordinates(op.dim, op.index, op.offsets), ())
    load = views.load_nibbles if view.element is F4E2M1FN else views.load_tile

    def run(block: BlockState, source: TensorView, index: Array, offsets: Offsets) -> Array:
        part = locate(block, source, tuple(_coordinates(op.dim, index, offsets)))
        return outside if part is None else load(block, source, part, view.element, outside)

    return run


@effects(ScatterStore)
def _scatter_store(op: ScatterStore) -> Callable[..., None]:
    """A weak store through the gather/scatter view that the operands describe."""
    view = _view(op, op.destination, tile_type(op.source).shape, None)
    locate = locator(op, view, _coordinates(op.dim, op.index, op.offsets), ())
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
    assert isinstance(tensor.type, TensorViewType)
    return GatherScatterViewType(shape, tensor.type, op.dim, padding)


def _padding(fill: OpaqueAttr | None) -> PaddingValue | None:
    return None if fill is None else PaddingValue[fill.keyword.upper()]


def _coordinates(dim: int, index: Coordinate, offsets: Sequence[Coordinate]) -> list[Coordinate]:
    """The index of the view: the gathered rows at `dim`, the offsets in the other dimensions."""
    return [*offsets[:dim], index, *offsets[dim:]]
