"""Reductions and scans (spec: reduction#top).

A body that is one well-known operation is a fold of NumPy; any other is combined in the order of the specification's
tree, with arrays in the place of scalars where the body is element-wise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from tileir.interp.api import BlockState
from tileir.interp.prepare import Preparation, RegionRule
from tileir.interp.program import Frame, Region, Step, store
from tileir.ir import types as t
from tileir.ir.attributes import Overflow, Rounding, Signedness
from tileir.ir.core import Block, Op
from tileir.ir.rules import Rules
from tileir.ir.traits import ELEMENTWISE
from tileir.ir.types import TileType
from tileir.numerics.formats import quiet_nan
from tileir.ops.floating import AddF, MaxF, MinF, MulF
from tileir.ops.integer import AddI, AndI, MaxI, MinI, MulI, OrI, XOrI
from tileir.ops.reduction import REDUCE_BLOCK, SCAN_BLOCK, Reduce, Scan

Values = tuple[np.ndarray, ...]
Combine = Callable[[Iterable[object]], Values]
"""The body: its arguments, to what it yields."""


def combination(body: Region, frame: Frame, block: BlockState) -> Combine:
    def combine(arguments: Iterable[object]) -> Values:
        store(frame, body.arguments, arguments)
        return body.run_here(frame, block)  # type: ignore[return-value]

    return combine


def is_elementwise(body: Block) -> bool:
    """Return whether the body works on arrays in place of scalars."""
    return all(_is_elementwise_scalar(op) for op in body.ops[:-1])


def _is_elementwise_scalar(op: Op) -> bool:
    """Return whether an operation is element-wise on rank-0 tiles, or the same for all lanes: without operands and
    regions."""
    if op.regions or not all(isinstance(result.type, TileType) and result.type.rank == 0 for result in op.results):
        return False
    return ELEMENTWISE in op.spec.traits or not op.operands


Array = np.ndarray
Parts = Sequence[Array]
"""Partial results: an array for each operand, of one shape."""
Join = Callable[[Parts, Parts], Parts]
"""The left and the right arguments of the body, to what it yields for them."""


def folded(op: Reduce | Scan, tiles: Parts, join: Join) -> list[Array]:
    """Return the results of `op` for the tiles of its operands."""
    axis = op.dim
    if isinstance(op, Reduce):
        return [part[0] for part in _reduced([np.moveaxis(tile, axis, 0) for tile in tiles], join)]
    order = slice(None, None, -1 if op.reverse else 1)
    parts = _scanned([np.moveaxis(tile, axis, 0)[order] for tile in tiles], join)
    return [np.moveaxis(part[order], 0, axis) for part in parts]


def _reduced(parts: Parts, join: Join) -> Parts:
    """Reduce along axis 0: neighbouring blocks, then each element of the first half with the one as far into the
    second."""
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
    """Scan along axis 0: one after the other within a block, then each with the result of all blocks before its own."""
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
    """Scan along axis 1, in place."""
    for place in range(1, blocks[0].shape[1]):
        before, here = [block[:, place - 1] for block in blocks], [block[:, place] for block in blocks]
        _fill(here, join(before, here))


def _fill(targets: Parts, values: Parts) -> None:
    for target, value in zip(targets, values):
        target[...] = value


Fold = Callable[[Array], Array]
"""Maps the operand of a `reduce` or `scan` to its result."""

_INTEGERS: dict[type[Op], np.ufunc] = {
    AddI: np.add,
    MulI: np.multiply,
    AndI: np.bitwise_and,
    OrI: np.bitwise_or,
    XOrI: np.bitwise_xor,
    MaxI: np.maximum,
    MinI: np.minimum,
}
_SUMS: dict[type[Op], np.ufunc] = {AddF: np.add, MulF: np.multiply}
_EXTREMES: dict[type[Op], np.ufunc] = {MaxF: np.maximum, MinF: np.minimum}


def fold_of(op: Reduce | Scan) -> Fold | None:
    """Return the accumulation that `op` is, or None if its body is not one operation of the kinds known here."""
    combine = _only_operation(op)
    if combine is None or len(op.sources) != 1:
        return None
    kind, element = type(combine), op.sources[0].type.element
    if kind in _INTEGERS and _is_plain_integer(combine, element):
        return _integer_fold(op, combine)
    if kind in _SUMS and _is_plain_sum(combine, element):
        return _sum_fold(op, _SUMS[kind])
    if kind in _EXTREMES and not combine.attributes.get("flush_to_zero"):
        return _extreme_fold(op, combine, op.sources[0].type.number)
    return None


def _only_operation(op: Reduce | Scan) -> Op | None:
    """Return the operation on the two arguments whose result is all that the body yields."""
    body = op.body
    if len(body.ops) != 2 or len(body.args) != 2:
        return None
    combine, end = body.ops
    both = set(combine.operands) == set(body.args) and len(combine.operands) == 2
    return combine if both and end.operands == combine.results else None


def _is_plain_integer(combine: Op, element: t.Type) -> bool:
    """Return whether an integer is not i1, whose arithmetic is not NumPy's, and has no promise that strict mode checks
    at every step."""
    promise = combine.attributes.get("overflow", Overflow.NONE)
    return element is not t.I1 and promise is Overflow.NONE


def _is_plain_sum(combine: Op, element: t.Type) -> bool:
    """Return whether a sum is rounded as NumPy rounds. A product of bf16 can underflow f32, through which ml_dtypes
    evaluates it."""
    rounding = combine.attributes.get("rounding_mode", Rounding.NEAREST_EVEN)
    plain = rounding is Rounding.NEAREST_EVEN and not combine.attributes.get("flush_to_zero")
    return plain and not (isinstance(combine, MulF) and element is t.BF16)


def _integer_fold(op: Reduce | Scan, combine: Op) -> Fold:
    accumulate = _in_any_order(op, _INTEGERS[type(combine)])
    if combine.attributes.get("signedness") is not Signedness.UNSIGNED:
        return accumulate
    return lambda source: accumulate(source.view(f"u{source.dtype.itemsize}")).view(source.dtype)


def _in_any_order(op: Reduce | Scan, function: np.ufunc) -> Fold:
    """Return the accumulation of a function whose result does not depend on the order."""
    axis = op.dim
    if isinstance(op, Reduce):
        return lambda source: function.reduce(source, axis, source.dtype)
    accumulated: Fold = lambda source: function.accumulate(source, axis, source.dtype)  # noqa: E731
    return _backward(accumulated, axis) if op.reverse else accumulated


def _backward(forward: Fold, axis: int) -> Fold:
    return lambda source: np.flip(forward(np.flip(source, axis)), axis)


def _sum_fold(op: Reduce | Scan, function: np.ufunc) -> Fold:
    join: Join = lambda left, right: (function(left[0], right[0]),)  # noqa: E731

    def fold(source: Array) -> Array:
        (result,) = folded(op, (source,), join)
        return result

    return fold


def _extreme_fold(op: Reduce | Scan, combine: Op, element: t.ElementType) -> Fold:
    """Return minima and maxima of floats, as those of integers in the same order: -0 below +0, NaN at one of the
    ends."""
    function = _EXTREMES[type(combine)]
    loses = not combine.attributes.get("propagate_nan")
    accumulate = _in_any_order(op, function)
    nan = quiet_nan(element)

    def fold(source: Array) -> Array:
        keys = np.iinfo(f"i{source.dtype.itemsize}")
        nan_key = keys.min if loses == (function is np.maximum) else keys.max
        found = accumulate(_ordered(source, nan_key))
        result = _flipped(found).view(source.dtype)
        is_nan = found == nan_key
        return np.where(is_nan, nan, result) if is_nan.any() else result

    return fold


def _ordered(x: Array, nan_key: int) -> Array:
    """Return integers in the order of the floats `x`; NaN becomes `nan_key`, which no number does."""
    keys = _flipped(x.view(f"i{x.dtype.itemsize}"))
    is_nan = x != x
    return np.where(is_nan, keys.dtype.type(nan_key), keys) if is_nan.any() else keys


def _flipped(bits: Array) -> Array:
    """Return patterns with all but the sign inverted where the sign is set; its own inverse."""
    # Numbers of the same type: NumPy 1 makes the bits of a single float wider for Python's.
    width, magnitude = map(bits.dtype.type, (8 * bits.dtype.itemsize - 1, np.iinfo(bits.dtype).max))
    return bits ^ ((bits >> width) & magnitude)


regions: Rules[RegionRule] = Rules()


@regions(Reduce, Scan)
def _fold(op: Reduce | Scan, preparation: Preparation) -> Step:
    fold = fold_of(op)
    return _well_known(op, preparation, fold) if fold else _by_body(op, preparation)


def _well_known(op: Reduce | Scan, preparation: Preparation, fold: Fold) -> Step:
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
        found = folded(op, tiles, lambda left, right: joined(combine, left, right))
        store(frame, results, (value[()] for value in found))

    return run


def _on_slices(combine: Combine, left: Parts, right: Parts) -> Parts:
    """Fold once, with arrays where the program has scalars. A value that is yielded may be one for all lanes."""
    return [np.broadcast_to(value, part.shape) for value, part in zip(combine(_interleaved(left, right)), left)]


def _on_lanes(combine: Combine, left: Parts, right: Parts) -> Parts:
    """Combine each lane by itself. A value that is yielded may be a tile of one element."""
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
