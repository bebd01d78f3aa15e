"""Rules of `assume` and `print_tko` (spec: misc#top)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.host.printing import formatter
from tileir.host.undefined import broken_promise
from tileir.interp.api import BlockState, EffectRule
from tileir.interp.faults import Fault
from tileir.interp.tiling import TensorView
from tileir.ir.attributes import Bounded, DivBy, SameElements
from tileir.ir.rules import Rules
from tileir.ir.types import PointerType, TileType, Type
from tileir.numerics.bits import first_index, signed
from tileir.ops.misc import Assume, PrintTko

effects: Rules[EffectRule] = Rules()

Array = np.ndarray
Broken = Callable[[Array], Array]
"""Maps a tile to a mask of elements that break a promise."""


@effects(Assume)
def _assume(op: Assume) -> Callable[[BlockState, Array], Array]:
    """Return the value itself. A broken promise traps where the launch checks, or in strict mode."""
    ty, predicate = op.value.type, op.predicate
    broken = _broken(predicate, ty)

    def check(block: BlockState, value: Array) -> Array:
        options = block.options
        if options.strict or (options.check and options.mode != "off"):
            failing = broken(value)
            if failing.any():
                index = first_index(failing)
                raise Fault(broken_promise(predicate, list(index)), index=index)
        return value

    return check


def _broken(predicate: DivBy | SameElements | Bounded, ty: Type) -> Callable[..., Array]:
    if not isinstance(ty, TileType):
        assert isinstance(predicate, DivBy)
        return _misaligned(predicate.divisor)
    if isinstance(predicate, SameElements):
        return _unequal(predicate.values, ty.shape)
    if isinstance(predicate, Bounded):
        return _out_of_bounds(predicate)
    if predicate.every is None or predicate.along is None:
        return _indivisible(predicate.divisor)
    return _not_groups(predicate.divisor, predicate.every, predicate.along, ty)


def _misaligned(divisor: int) -> Callable[[TensorView], Array]:
    return lambda view: np.asarray(view.base % divisor != 0)


def _out_of_bounds(predicate: Bounded) -> Broken:
    lower, upper = predicate.lower, predicate.upper

    def broken(tile: Array) -> Array:
        numbers = signed(tile)
        below = np.zeros(np.shape(tile), np.bool_) if lower is None else numbers < lower
        return below if upper is None else below | (numbers > upper)

    return broken


def _indivisible(divisor: int) -> Broken:
    return lambda tile: (tile.astype(np.uint64) & np.uint64(divisor - 1)) != 0


def _unequal(sizes: tuple[int, ...], shape: tuple[int, ...]) -> Broken:
    """Return elements that differ from the first one of their block; 0 or 1 says nothing about a dimension."""
    first = np.ix_(*(np.arange(extent) // max(size, 1) * max(size, 1) for size, extent in zip(sizes, shape)))
    return lambda tile: tile != tile[first] if shape else np.zeros((), np.bool_)


def _not_groups(divisor: int, every: int, along: int, ty: TileType) -> Broken:
    """Check that along one dimension the first of each group is divisible, and each following one is the next number or
    address."""
    step = ty.element.pointee.byte_size if isinstance(ty.element, PointerType) else 1
    extent = ty.shape[along]
    place = np.arange(extent) // max(every, 1) * max(every, 1)
    column = (extent,) + (1,) * (ty.rank - along - 1)
    rise = ((np.arange(extent) - place) * step).astype(np.uint64).reshape(column)

    def broken(tile: Array) -> Array:
        numbers = signed(tile).astype(np.uint64)
        first = np.take(numbers, place, along)
        return ((first & np.uint64(divisor - 1)) != 0) | (numbers != first + rise)

    return broken


@effects(PrintTko)
def _print(op: PrintTko) -> Callable[[BlockState, tuple[Array, ...], None], None]:
    text, mismatch = formatter(op.text, [value.tile.element for value in op.args])

    def write(block: BlockState, tiles: tuple[Array, ...], token: None) -> None:
        if mismatch:
            block.warn(op, mismatch)
        block.write(text(tiles))

    return write
