"""Rules of `reduce` and `scan` (spec: reduction#reduce, spec: reduction#scan)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tileir.interp import folds, trees
from tileir.interp.api import BlockState
from tileir.interp.bodies import Combine, combination, is_elementwise
from tileir.interp.prepare import Preparation, RegionRule
from tileir.interp.program import Frame, Step, store
from tileir.ir.rules import Rules
from tileir.ops.reduction import Reduce, Scan

regions: Rules[RegionRule] = Rules()


@regions(Reduce, Scan)
def _fold(op: Reduce | Scan, preparation: Preparation) -> Step:
    fold = folds.fold_of(op)
    return _well_known(op, preparation, fold) if fold else _by_body(op, preparation)


def _well_known(op: Reduce | Scan, preparation: Preparation, fold: folds.Fold) -> Step:
    (source,) = map(preparation.slot, op.sources)
    (result,) = preparation.results(op)

    def run(frame: Frame, block: BlockState) -> None:
        frame[result] = fold(frame[source])  # type: ignore[arg-type]

    return run


def _by_body(op: Reduce | Scan, preparation: Preparation) -> Step:
    sources = preparation.fetch(op.sources)
    body = preparation.region(op.body)
    results = preparation.results(op)
    joined = _on_slices if is_elementwise(op.body) else _on_lanes

    def run(frame: Frame, block: BlockState) -> None:
        combine = combination(body, frame, block)
        tiles = [np.asarray(tile) for tile in sources(frame)]
        found = trees.folded(op, tiles, lambda left, right: joined(combine, left, right))
        store(frame, results, (value[()] for value in found))

    return run


def _on_slices(combine: Combine, left: trees.Parts, right: trees.Parts) -> trees.Parts:
    """Once, with arrays where the program has scalars. A value that is yielded may be one for all lanes."""
    return [np.broadcast_to(value, part.shape) for value, part in zip(combine(_interleaved(left, right)), left)]


def _on_lanes(combine: Combine, left: trees.Parts, right: trees.Parts) -> trees.Parts:
    """For each lane by itself. A value that is yielded may be a tile of one element."""
    results = [np.empty(part.shape, part.dtype) for part in left]
    for lane in np.ndindex(left[0].shape):
        values = combine(_interleaved([part[lane] for part in left], [part[lane] for part in right]))
        for result, value in zip(results, values):
            result[lane] = np.reshape(value, ())
    return results


def _interleaved(lefts: Sequence[object], rights: Sequence[object]) -> Iterator[object]:
    for left, right in zip(lefts, rights):
        yield left
        yield right
