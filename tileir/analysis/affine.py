"""Integers, pointers and views of a kernel as expressions of its parameters, before it runs.

%row = addi %block_x_times_128, %iota : tile<128xi32>      128 * block_x + lane_0, modulo 2^32
%at = offset %base, %row : ...                             memory_0 + 512 * block_x + 4 * lane_0, if no row wraps

known = Affines(kernel.entry.body)
known.of(row).form, known.range(row)
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.analysis import ranges
from tileir.analysis.expressions import Expression, Symbol
from tileir.analysis.forms import Affine, Forms, mentions_lanes
from tileir.analysis.ranges import Range
from tileir.analysis.symbols import Lane
from tileir.analysis.walk import Progress, Visitor, Walk
from tileir.ir.attributes import Signedness
from tileir.ir.core import Block, Value
from tileir.ops.integer import AddI, MulI, SubI


class Affines:
    """The values of one function, the body of an entry or of a device function."""

    def __init__(self, body: Block, visit: Visitor | None = None) -> None:
        """Prepare a walk; `visit` is called for each operation of the function when its operands are known."""
        self._walk = Walk(body, visit)

    @property
    def forms(self) -> Forms:
        """Return all known values."""
        return self._walk.known

    def of(self, value: Value) -> Affine:
        """Return a tile of integers or pointers."""
        return self._walk.known.of(value)

    def promised_range(self, symbol: Symbol) -> Range:
        """Return the bounds of a symbol, with what the program promises of it."""
        return self._walk.promises.range(symbol)

    def move(self, argument: Value) -> Progress | None:
        """Return the progress of a value that a loop carries, which is `argument` in its body; None if it is not
        seen."""
        return self._walk.moves.get(argument)

    def range(self, value: Value) -> Range:
        """Return the bounds of the elements, read as signed, that hold if the program keeps its promises."""
        found, known = self.of(value), self._walk.promises.range
        limits = ranges.signed(found.bits)
        if not all(need.promised or need.holds(known) for need in found.needs):
            return limits
        exact = found.form.range_if(known)
        kept = Signedness.SIGNED in found.promised
        return ranges.intersection(exact, limits) if kept else ranges.wrapped(exact, found.bits)

    def fits(self, op: AddI | SubI | MulI) -> bool:
        """Return whether the exact result of an operation fits its type, read as signed."""
        compute = {AddI: ranges.add, SubI: ranges.subtract, MulI: ranges.multiply}[type(op)]
        return compute(self.range(op.lhs), self.range(op.rhs)).within(ranges.signed(op.result.tile.number.bits))


# ---------------------------------------------------------------- neighbours in a tile


def lane_steps(form: Expression, shape: Sequence[int]) -> tuple[Expression | None, ...]:
    """Return the difference of neighbours along each dimension, where it is the same all over the tile."""
    found = (form.step(Lane(dim, extent)) for dim, extent in enumerate(shape))
    return tuple(None if step is None or mentions_lanes(step) else step for step in found)


def is_uniform(affine: Affine) -> bool:
    """Return whether all elements are equal, even if arithmetic wraps around."""
    return not mentions_lanes(affine.form) and not any(mentions_lanes(need.form) for need in affine.needs)


def is_uniform_along(affine: Affine, dim: int, shape: Sequence[int]) -> bool:
    """Return whether all elements along a dimension are equal, even if arithmetic wraps around."""
    return not any(_mentions(form, Lane(dim, shape[dim])) for form in (affine.form, *(n.form for n in affine.needs)))


def is_even(affine: Affine, shape: Sequence[int]) -> bool:
    """Return whether each element is the first plus a multiple of its index, modulo a power of two.

    Elements may pass through fewer bits once, and rising with the tile: if no step is negative, the first and the last
    element then show whether anything has wrapped around. Where numbers of one dimension each do, those at its ends
    show it (`wraps_by_dimension`).
    """
    wrapping = _wrapping(affine)
    rising = [_rise_with(kept, affine.form, shape) for kept in wrapping]
    once = len(wrapping) <= 1 or wraps_by_dimension(affine, shape)
    return once and None not in lane_steps(affine.form, shape) and all(rising)


def wraps_by_dimension(affine: Affine, shape: Sequence[int]) -> bool:
    """Return whether several numbers that elements are made of may wrap around, each of them along a dimension of its
    own."""
    lanes = [Lane(dim, extent) for dim, extent in enumerate(shape)]
    moving = [[lane for lane in lanes if _mentions(form, lane)] for form in _wrapping(affine)]
    return len(moving) > 1 and all(len(one) == 1 for one in moving) and len({one[0] for one in moving}) == len(moving)


def _wrapping(affine: Affine) -> list[Expression]:
    """Return the numbers that differ from element to element and may wrap around."""
    return [need.form for need in affine.needs if mentions_lanes(need.form)]


def _rise_with(kept: Expression, form: Expression, shape: Sequence[int]) -> bool:
    """Return whether no step of `kept` is negative where no step of `form` is."""
    return all(
        step is not None and (_is_no_less(step) or (whole is not None and _is_multiple(whole, step)))
        for step, whole in zip(lane_steps(kept, shape), lane_steps(form, shape))
    )


def _is_no_less(step: Expression) -> bool:
    return step.is_constant and step.constant >= 0


def _is_multiple(whole: Expression, part: Expression) -> bool:
    """Return whether `whole` is a positive multiple of `part`, which is not 0."""
    product, factor = next(iter(part.terms.items()), (None, part.constant))
    times = (whole.constant if product is None else whole.terms.get(product, 0)) // factor
    return times > 0 and part * times == whole


def is_even_along(affine: Affine, dim: int, shape: Sequence[int]) -> bool:
    """Return whether each element along a dimension is the first one plus a multiple of its index, modulo a power of
    two."""
    lane = Lane(dim, shape[dim])
    wrapping = [need for need in affine.needs if _mentions(need.form, lane)]
    forms = (affine.form, *(need.form for need in wrapping))
    return len(wrapping) <= 1 and all(form.step(lane) is not None for form in forms)


def unit_dimension(affine: Affine, shape: Sequence[int], unit: int) -> int | None:
    """Return the last dimension along which the elements rise by `unit`."""
    rising = [dim for dim, step in enumerate(lane_steps(affine.form, shape)) if step is not None and _is(step, unit)]
    return rising[-1] if rising else None


def _mentions(form: Expression, lane: Lane) -> bool:
    return form.mentions(lambda symbol: symbol == lane)


def _is(step: Expression, unit: int) -> bool:
    return step.is_constant and step.constant == unit
