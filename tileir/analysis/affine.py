"""Integers, pointers and views of a kernel as expressions of its parameters, before it runs.

    %row = addi %block_x_times_128, %iota : tile<128xi32>      128 * block_x + lane_0, modulo 2^32
    %at = offset %base, %row : ...                             memory_0 + 512 * block_x + 4 * lane_0, if no row wraps

    known = Affines(kernel.entry.body)
    known.of(row).form, known.range(row), known.axes(row)

In a 16 x 64 tile of f32 with the addresses ``base + 4 * stride * lane_0 + 4 * lane_1``, each row is 64 neighbours in
memory:

    steps            (4 * stride, 4)
    contiguity       (1, 64)           groups of so many along a dimension rise by one element
    divisibility     (4, 16)           the first of each group is a multiple of this, if the base is one of 16
    constancy        (1, 1)            groups of so many are equal

(the three of Triton's AxisInfo).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.analysis import ranges
from tileir.analysis.expressions import Expression, Known, Symbol, of
from tileir.analysis.forms import Affine, Forms, mentions_lanes
from tileir.analysis.ranges import Range, power_in
from tileir.analysis.symbols import Function, Kind, Lane
from tileir.analysis.walk import Progress, Visitor, Walk
from tileir.ir.attributes import Signedness
from tileir.ir.core import Block, Value
from tileir.ir.types import PointerType
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

    def axes(self, value: Value) -> tuple[AxisInfo, ...]:
        """Return the groups of neighbours along each dimension; of addresses, those of neighbours in memory."""
        element = value.tile.element
        unit = element.pointee.alignment if isinstance(element, PointerType) else 1
        return axes(self.of(value).form, value.tile.shape, self._walk.promises.range, unit)


# ---------------------------------------------------------------- neighbours in a tile


MOST = 1 << 62


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


# ---------------------------------------------------------------- groups of neighbours


@dataclass(frozen=True)
class AxisInfo:
    """Along one dimension of `extent` elements: sizes of groups, all powers of two."""

    contiguity: int
    divisibility: int
    constancy: int


def axes(form: Expression, shape: Sequence[int], known: Known, unit: int = 1) -> tuple[AxisInfo, ...]:
    """Return the groups of neighbours along each dimension; `known` are the ranges of symbols, `unit` the size of an
    element that addresses point to."""
    return tuple(_Dimension(Lane(dim, extent), known, unit).axis(form) for dim, extent in enumerate(shape))


@dataclass(frozen=True)
class _Dimension:
    """One dimension, with the index `lane` along it."""

    lane: Lane
    known: Known
    unit: int

    def axis(self, form: Expression) -> AxisInfo:
        constancy = self.constancy(form)
        contiguity = self.contiguity(form, self.unit)
        return AxisInfo(contiguity, self.divisibility(form, max(contiguity, constancy)), constancy)

    def constancy(self, form: Expression) -> int:
        """Return the size of groups of equal elements."""
        return min((self._constancy(symbol) for symbol in form.symbols()), default=self.lane.extent)

    def _constancy(self, symbol: Symbol) -> int:
        if symbol == self.lane:
            return 1
        if isinstance(symbol, Function) and not symbol.needs:
            return self._of_function(symbol)
        return self.lane.extent if self._stays(symbol) else 1

    def _of_function(self, symbol: Function) -> int:
        a, b = symbol.arguments
        together = min(self.constancy(a), self.constancy(b))
        if symbol.kind is Kind.FLOOR and b.is_constant and b.constant > 0:
            # A group that starts at a multiple of its size stays within one multiple of the divisor.
            group = min(self.contiguity(a, 1), power_in(b.constant))
            return max(together, min(group, self.divisibility(a, group)))
        return together

    def contiguity(self, form: Expression, unit: int) -> int:
        """Return the size of groups of elements that rise by `unit` each."""
        rising, rest = form.split(lambda product, factor: not all(map(self._stays, product)))
        if len(rising.terms) != 1:
            return 1
        ((product, factor),) = rising.terms.items()
        if factor != unit or len(product) != 1:
            return 1
        return min(self._run(product[0]), self.constancy(rest))

    def _run(self, symbol: Symbol) -> int:
        """Return the contiguity of one symbol."""
        if symbol == self.lane:
            return self.lane.extent
        if isinstance(symbol, Function) and symbol.kind is Kind.MODULO and symbol.arguments[1].is_constant:
            a, b = symbol.arguments
            group = min(self.contiguity(a, 1), power_in(b.constant))
            return 1 if symbol.needs else min(group, self.divisibility(a, group))
        return 1

    def divisibility(self, form: Expression, group: int) -> int:
        """Return a divisor of the first elements of groups of `group`."""
        found = power_in(form.constant)
        for product, factor in form.terms.items():
            part = power_in(factor)
            for symbol in product:
                part *= group if symbol == self.lane else self.known(symbol).divisor
            found = min(found, part)
        return min(found, MOST)

    def _stays(self, symbol: Symbol) -> bool:
        """Return whether the symbol is the same for all elements along the dimension."""
        return not of(symbol).mentions(lambda part: part == self.lane)
