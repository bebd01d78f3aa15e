"""How `reduce`, `scan` and `experimental$generate` evaluate their bodies (specification, operations 3.15, 3.17, 8).

Knows: the reference order: a sequential fold along `dim` that starts with the identity. A body of element-wise
operations is run on whole slices, with arrays where the program has scalars; any other body lane by lane.
Does not know: bodies of one well-known operation (`folds`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from tileir.interp import folds
from tileir.interp.api import BlockState
from tileir.interp.core import tile_type
from tileir.interp.literals import scalar
from tileir.interp.prepare import Preparation, RegionRule
from tileir.interp.program import Frame, Region, Step, store
from tileir.ir.core import Block, Op
from tileir.ir.declare import ELEMENTWISE
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.ir.types import TileType
from tileir.ops.core import Reduce, Scan
from tileir.ops.extension import Generate

regions: Rules[RegionRule] = Rules()

Array = np.ndarray
Values = tuple[Array, ...]
Combine = Callable[[Iterable[object]], Values]
"""The body: its arguments, to what it yields."""
Fold = Callable[[Sequence[Array], Values, Combine, Sequence[Array]], None]
"""From tiles with `dim` in front, the identities and the body, to the arrays to fill."""


@regions(Reduce, Scan)
def _fold(op: Reduce | Scan, preparation: Preparation) -> Step:
    elements = [tile_type(source).element for source in op.sources]
    identities = tuple(scalar(literal, element) for literal, element in zip(op.identities, elements))
    fold = folds.fold_of(op, identities)
    return _folding(op, preparation, fold) if fold else _sequential(op, preparation, identities)


def _folding(op: Reduce | Scan, preparation: Preparation, fold: folds.Fold) -> Step:
    (source,) = map(preparation.slot, op.sources)
    (result,) = preparation.results(op)

    def run(frame: Frame, block: BlockState) -> None:
        frame[result] = fold(frame[source])  # type: ignore[arg-type]

    return run


def _sequential(op: Reduce | Scan, preparation: Preparation, identities: Values) -> Step:
    sources = preparation.fetch(op.sources)
    body = preparation.region(op.body)
    results = preparation.results(op)
    scans, axis = isinstance(op, Scan), op.dim
    order = slice(None, None, -1 if isinstance(op, Scan) and op.reverse else 1)
    fold = _scan if scans else _reduce
    by_slices = _is_elementwise(op.body)

    def run(frame: Frame, block: BlockState) -> None:
        tiles = [np.moveaxis(np.asarray(tile), axis, 0)[order] for tile in sources(frame)]
        outputs = [np.empty(tile.shape if scans else tile.shape[1:], tile.dtype) for tile in tiles]
        combine = _combination(body, frame, block)
        if by_slices:
            fold(tiles, identities, combine, outputs)
        else:
            _lane_by_lane(fold, tiles, identities, combine, outputs)
        store(frame, results, (np.moveaxis(out[order], 0, axis) if scans else out[()] for out in outputs))

    return run


def _combination(body: Region, frame: Frame, block: BlockState) -> Combine:
    def combine(arguments: Iterable[object]) -> Values:
        store(frame, body.arguments, arguments)
        return body.run_here(frame, block)  # type: ignore[return-value]

    return combine


def _reduce(tiles: Sequence[Array], identities: Values, combine: Combine, outputs: Sequence[Array]) -> None:
    """Fold along axis 0: the left argument is the element, the right one the accumulator."""
    values = identities
    for elements in zip(*tiles):
        values = combine(_interleaved(elements, values))
    for output, value in zip(outputs, values):
        output[...] = value


def _scan(tiles: Sequence[Array], identities: Values, combine: Combine, outputs: Sequence[Array]) -> None:
    """Running fold along axis 0: the left argument is the running value, the right one the element."""
    values = identities
    for index, elements in enumerate(zip(*tiles)):
        values = combine(_interleaved(values, elements))
        for output, value in zip(outputs, values):
            output[index] = value


def _lane_by_lane(
    fold: Fold, tiles: Sequence[Array], identities: Values, combine: Combine, outputs: Sequence[Array]
) -> None:
    """Fold each lane across axis 0 by itself. A yielded value may be a tile of one element."""

    def combine_scalars(arguments: Iterable[object]) -> Values:
        return tuple(np.reshape(value, ())[()] for value in combine(arguments))

    for lane in np.ndindex(tiles[0].shape[1:]):
        place = (..., *lane)
        fold([tile[place] for tile in tiles], identities, combine_scalars, [output[place] for output in outputs])


def _interleaved(lefts: Sequence[object], rights: Sequence[object]) -> Iterator[object]:
    for left, right in zip(lefts, rights):
        yield left
        yield right


def _is_elementwise(body: Block) -> bool:
    """Whether arrays may stand for the scalars of the body."""
    return all(_is_elementwise_scalar(op) for op in body.ops[:-1])


def _is_elementwise_scalar(op: Op) -> bool:
    """Element-wise on rank-0 tiles, or the same for all lanes: without operands and regions."""
    if op.regions or not all(isinstance(result.type, TileType) and result.type.rank == 0 for result in op.results):
        return False
    return ELEMENTWISE in op.spec.traits or not op.operands


@regions(Generate)
def _generate(op: Generate, preparation: Preparation) -> Step:
    body = preparation.region(op.body)
    (result,) = preparation.results(op)
    ty = tile_type(op.result)
    shape, dtype, by_slices = ty.shape, dtype_of(ty.element), _is_elementwise(op.body)

    def run(frame: Frame, block: BlockState) -> None:
        combine = _combination(body, frame, block)
        output = np.empty(shape, dtype)
        if by_slices:
            (output[...],) = combine(np.indices(shape, np.int32, sparse=True))
        else:
            for index in np.ndindex(shape):
                (value,) = combine(map(np.int32, index))
                output[index] = np.reshape(value, ())
        frame[result] = output

    return run
