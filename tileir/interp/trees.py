"""The trees in which elements are combined (spec: reduction#reduce, spec: reduction#scan)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tileir.numerics.order import REDUCE_BLOCK, SCAN_BLOCK
from tileir.ops.reduction import Reduce, Scan

Array = np.ndarray
Parts = Sequence[Array]
"""Partial results: an array for each operand, of one shape."""
Join = Callable[[Parts, Parts], Parts]
"""The left and the right arguments of the body, to what it yields for them."""


def folded(op: Reduce | Scan, tiles: Parts, join: Join) -> list[Array]:
    """The results of `op` for the tiles of its operands."""
    axis = op.dim
    if isinstance(op, Reduce):
        return [part[0] for part in _reduced([np.moveaxis(tile, axis, 0) for tile in tiles], join)]
    order = slice(None, None, -1 if op.reverse else 1)
    parts = _scanned([np.moveaxis(tile, axis, 0)[order] for tile in tiles], join)
    return [np.moveaxis(part[order], 0, axis) for part in parts]


def _reduced(parts: Parts, join: Join) -> Parts:
    """Along axis 0: neighbouring blocks, then each element of the first half with the one as far into the second."""
    while len(parts[0]) > REDUCE_BLOCK:
        blocks = [part.reshape(-1, 2, REDUCE_BLOCK, *part.shape[1:]) for part in parts]
        joined = join([pair[:, 0] for pair in blocks], [pair[:, 1] for pair in blocks])
        parts = [result.reshape(-1, *result.shape[2:]) for result in joined]
    half = len(parts[0]) // 2
    while half:
        parts = join([part[:half] for part in parts], [part[half:] for part in parts])
        half //= 2
    return parts


def _scanned(parts: Parts, join: Join) -> Parts:
    """Along axis 0: one after the other within a block, then each with the result of all blocks before its own."""
    shape = parts[0].shape
    size = min(SCAN_BLOCK, shape[0])
    blocks = [part.reshape(-1, size, *shape[1:]).copy() for part in parts]
    _scan_blocks(blocks, join)
    if len(blocks[0]) > 1:
        totals = _scanned([block[:, -1] for block in blocks], join)
        later = [block[1:] for block in blocks]
        before = [np.broadcast_to(total[:-1, None], block.shape) for total, block in zip(totals, later)]
        _fill(later, join(before, later))
    return [block.reshape(shape) for block in blocks]


def _scan_blocks(blocks: Parts, join: Join) -> None:
    """Along axis 1, in place."""
    for place in range(1, blocks[0].shape[1]):
        before, here = [block[:, place - 1] for block in blocks], [block[:, place] for block in blocks]
        _fill(here, join(before, here))


def _fill(targets: Parts, values: Parts) -> None:
    for target, value in zip(targets, values):
        target[...] = value
