"""Multicast memory (spec: multimem#top): in the interpreter it has one replica."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.interp.api import BlockState, EffectRule
from tileir.interp.atomics import MODES, reduce_tile
from tileir.interp.tiling import TileView, locator
from tileir.interp.views import load_tile, outside_tile, store_tile
from tileir.ir.rules import Rules
from tileir.ops.multimem import MultimemLoadReduceView, MultimemReduceView, MultimemStoreView

effects: Rules[EffectRule] = Rules()


@effects(MultimemLoadReduceView)
def multimem_load_reduce_view(op: MultimemLoadReduceView) -> Callable[..., object]:
    view = op.view.type
    element, outside = view.element, outside_tile(op, view)
    locate = locator(op, view, op.index, op.inbounds)

    def run(block: BlockState, view: TileView, index: tuple[np.ndarray, ...], token: None) -> tuple[np.ndarray, None]:
        part = locate(block, view.tensor, index)
        return (outside if part is None else load_tile(block, view.tensor, part, element, outside)), None

    return run


@effects(MultimemReduceView)
def multimem_reduce_view(op: MultimemReduceView) -> Callable[..., object]:
    view, mode = op.view.type, MODES[op.reduction.atomic_mode(op.view.type.element.is_float)]
    locate = locator(op, view, op.index, op.inbounds)

    def run(block: BlockState, view: TileView, tile: np.ndarray, index: tuple[np.ndarray, ...], token: None) -> None:
        part = locate(block, view.tensor, index)
        if part is not None:
            reduce_tile(block, view.tensor, part, view.type.element, tile, mode)

    return run


@effects(MultimemStoreView)
def multimem_store_view(op: MultimemStoreView) -> Callable[..., object]:
    view = op.view.type
    locate = locator(op, view, op.index, op.inbounds)

    def run(block: BlockState, view: TileView, tile: np.ndarray, index: tuple[np.ndarray, ...], token: None) -> None:
        part = locate(block, view.tensor, index)
        if part is not None:
            store_tile(block, view.tensor, part, view.type.element, tile)

    return run
