"""Bodies of reductions (spec: reduction#top) and generators (spec: extension#experimental-generate) as functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from tileir.interp.api import BlockState
from tileir.interp.program import Frame, Region, store
from tileir.ir.core import Block, Op
from tileir.ir.traits import ELEMENTWISE
from tileir.ir.types import TileType

Values = tuple[np.ndarray, ...]
Combine = Callable[[Iterable[object]], Values]
"""The body: its arguments, to what it yields."""


def combination(body: Region, frame: Frame, block: BlockState) -> Combine:
    def combine(arguments: Iterable[object]) -> Values:
        store(frame, body.arguments, arguments)
        return body.run_here(frame, block)  # type: ignore[return-value]

    return combine


def is_elementwise(body: Block) -> bool:
    """Whether arrays may stand for the scalars of the body."""
    return all(_is_elementwise_scalar(op) for op in body.ops[:-1])


def _is_elementwise_scalar(op: Op) -> bool:
    """Element-wise on rank-0 tiles, or the same for all lanes: without operands and regions."""
    if op.regions or not all(isinstance(result.type, TileType) and result.type.rank == 0 for result in op.results):
        return False
    return ELEMENTWISE in op.spec.traits or not op.operands
