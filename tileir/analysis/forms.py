"""One value of a program as the analysis knows it: an expression for its elements, and when it is right.

In i32, ``block_x * 128 + iota`` is known as the expression ``128 * block_x + lane_0``, to which each element is
*congruent* modulo 2^32: sums and products need no more than that. Who needs the number itself reads it as signed or as
unsigned: the reading is the expression, on the condition that it fits (`NoWrap`) unless its bounds show that it does.

What a program promises of a number (`assume`) holds for the symbol that it is; who must not rely on it asks for
`Symbol.range` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from tileir.analysis import ranges
from tileir.analysis.expressions import Expression, Symbol, TooLarge, number, of
from tileir.analysis.ranges import Range
from tileir.analysis.structure import home_of
from tileir.analysis.symbols import RANGES, Either, Function, Kind, Lane, NoWrap
from tileir.ir.attributes import AssumePredicate, Bounded, DivBy, Overflow, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.types import PointerType, TensorViewType, TileType, TileViewType, Type
from tileir.ops.misc import Assume

Needs = frozenset[NoWrap]
NOTHING: Needs = frozenset()
NEVER: frozenset[Signedness] = frozenset()

MAX_NEEDS = 16
"""Conditions on one value: with more of them it is a number that nothing is known of."""

PROMISES = {
    Overflow.NONE: NEVER,
    Overflow.NO_SIGNED_WRAP: frozenset({Signedness.SIGNED}),
    Overflow.NO_UNSIGNED_WRAP: frozenset({Signedness.UNSIGNED}),
    Overflow.NO_WRAP: frozenset(Signedness),
}
"""The readings of a result that an overflow flag promises to be exact, if those of the operands are."""


@dataclass(frozen=True)
class Reading:
    """A number, as long as `needs` hold."""

    form: Expression
    needs: Needs = NOTHING

    def __add__(self, other: Reading) -> Reading:
        return Reading(self.form + other.form, self.needs | other.needs)

    def __mul__(self, other: Reading) -> Reading:
        return Reading(self.form * other.form, self.needs | other.needs)


@dataclass(frozen=True)
class Affine:
    """`form` is congruent to each element modulo 2^`bits` if `needs` hold. An element of a tile is one of its `Lane`s.

    ``promised``: the readings that the program promises to be `form` itself.
    """

    form: Expression
    bits: int
    needs: Needs = NOTHING
    promised: frozenset[Signedness] = NEVER

    def __post_init__(self) -> None:
        if len(self.needs) > MAX_NEEDS:
            raise TooLarge

    def read(self, signedness: Signedness) -> Reading:
        limits = ranges.signed(self.bits) if signedness is Signedness.SIGNED else ranges.unsigned(self.bits)
        found = self.form.range
        if found.within(limits):
            return Reading(self.form, self.needs)
        if self.form.is_constant:
            return Reading(number((found.low - limits.low) % (1 << self.bits) + limits.low), self.needs)
        condition = NoWrap(self.form, limits.low, limits.high, signedness in self.promised)
        return Reading(self.form, self.needs | {condition})

    @property
    def signed(self) -> Reading:
        return self.read(Signedness.SIGNED)

    @property
    def unsigned(self) -> Reading:
        return self.read(Signedness.UNSIGNED)

    @property
    def range(self) -> Range:
        """Bounds of the signed reading that hold whatever the program promises, and whether anything wraps or not."""
        return ranges.signed(self.bits) if self.needs else ranges.wrapped(self.form.range, self.bits)

    def exact(self, signedness: Signedness) -> bool:
        """Return whether the reading is known, or promised, to equal `form`."""
        limits = ranges.signed(self.bits) if signedness is Signedness.SIGNED else ranges.unsigned(self.bits)
        return signedness in self.promised or self.form.range.within(limits)


@dataclass(frozen=True)
class Tensor:
    """A tensor view: address of its first element; extents and strides (in elements) of its dimensions."""

    type: TensorViewType
    base: Affine
    extents: tuple[Reading, ...]
    strides: tuple[Reading, ...]


@dataclass(frozen=True)
class Tiles:
    """A tensor cut into tiles."""

    type: TileViewType
    tensor: Tensor


Form = Affine | Tensor | Tiles


@dataclass(frozen=True)
class Remainder:
    """A tile of remainders of numbers that rise by one along `dim`."""

    value: Value
    dim: int


class Forms:
    """The values of a program that are known so far."""

    def __init__(self) -> None:
        self._forms: dict[Value, Form] = {}
        self.conditions: dict[Value, object] = {}
        """The conditions that have been asked for (`analysis.conditions`)."""
        self._remainders: dict[Expression, Remainder] = {}

    def bind(self, value: Value, form: Form) -> None:
        self._forms[value] = form
        self.conditions.pop(value, None)

    def give(self, value: Value, given: Value) -> None:
        """Let `value` be the same as `given`."""
        self.bind(value, self._forms[given])

    def __contains__(self, value: Value) -> bool:
        return value in self._forms

    def form(self, value: Value) -> Form | None:
        return self._forms.get(value)

    def of(self, value: Value) -> Affine:
        """Return a tile of integers or pointers."""
        found = self._forms[value]
        assert isinstance(found, Affine)
        return found

    def note_remainder(self, value: Value, form: Expression) -> None:
        """Note that a tile is a remainder, which rises by one along a dimension until it starts again."""
        for symbol in form.symbols():
            lane = _rising_lane(symbol)
            if lane is not None:
                self._remainders.setdefault(_along_first(symbol), Remainder(value, lane.dim))

    def rising(self, symbol: Symbol) -> tuple[Remainder, Expression] | None:
        """Return the remainder that a symbol is, and its elements if it does not start again within its tile; None for
        other symbols."""
        lane = _rising_lane(symbol)
        found = None if lane is None else self._remainders.get(_along_first(symbol))
        if lane is None or found is None:
            return None
        first = of(symbol).substituted(lambda part: number(0) if part == lane else None)
        return found, first + of(lane)

    def tensor(self, value: Value) -> Tensor:
        """Return a tensor view, or the tensor that a tile view cuts."""
        found = self._forms[value]
        assert not isinstance(found, Affine)
        return found.tensor if isinstance(found, Tiles) else found


def _rising_lane(symbol: Symbol) -> Lane | None:
    """Return the only lane of a remainder by a number, along which what it is of rises by one."""
    if not isinstance(symbol, Function) or symbol.kind not in (Kind.REMAINDER, Kind.MODULO):
        return None
    dividend, divisor = symbol.arguments
    lanes = {part for part in of(symbol).all_symbols() if isinstance(part, Lane)}
    if len(lanes) != 1 or mentions_lanes(divisor):
        return None
    (lane,) = lanes
    return lane if dividend.step(lane) == number(1) else None


def _along_first(symbol: Symbol) -> Expression:
    """Return a symbol with its only lane along the first dimension."""
    return of(symbol).substituted(lambda part: of(Lane(0, part.extent)) if isinstance(part, Lane) else None)


Rule = Callable[[Op, Forms], "Form | tuple[Form, ...] | None"]
"""Gives the form of the result of an operation, or of each of its results; None without one. May raise `TooLarge`."""


def is_integer(type: Type) -> bool:
    """Return whether values of the type are tiles of integers or pointers."""
    if not isinstance(type, TileType):
        return False
    return isinstance(type.element, PointerType) or type.element.is_int


def width(value: Value) -> int:
    """Return the number of bits of an element of a tile."""
    element = value.tile.element
    return 64 if isinstance(element, PointerType) else element.bits


def kept(form: Expression, bits: int, *operands: Affine, overflow: Overflow = Overflow.NONE) -> Affine:
    """Return a sum or product of operands: their conditions, and the promise of a flag as far as the operands keep
    it."""
    if form.is_constant and abs(form.constant) >> bits:
        form = number(form.constant % (1 << bits))
    needs = reduce(frozenset.union, (operand.needs for operand in operands), NOTHING)
    promised = {reading for reading in PROMISES[overflow] if all(operand.exact(reading) for operand in operands)}
    return Affine(form, bits, needs, frozenset(promised))


def lanes(shape: tuple[int, ...]) -> tuple[Expression, ...]:
    """Return the index of an element of a tile; 0 along a dimension of one element."""
    return tuple(
        Expression(0, {(Lane(dim, extent),): 1}) if extent > 1 else number(0) for dim, extent in enumerate(shape)
    )


def relaned(form: Expression, index: tuple[Expression, ...]) -> Expression:
    """Return the element at another index: `index` in the place of the lanes. Raises `TooLarge`."""
    return form.substituted(lambda symbol: index[symbol.dim] if isinstance(symbol, Lane) else None)


def mentions_lanes(form: Expression) -> bool:
    return form.mentions(lambda symbol: isinstance(symbol, Lane))


def mapped(affine: Affine, index: tuple[Expression, ...]) -> Affine | None:
    """Return the tile whose elements are those of `affine` at another index; None if that cannot be said."""
    try:
        needs = frozenset(need.of(relaned(need.form, index)) for need in affine.needs)
        return Affine(relaned(affine.form, index), affine.bits, needs, affine.promised)
    except TooLarge:
        return None


# ---------------------------------------------------------------- promises


ANYTHING = Range(1, -(1 << 64), 1 << 64)


class Promises:
    """The ranges of symbols, with what is promised."""

    def __init__(self) -> None:
        self._promised: dict[Symbol, Range] = {}
        self._homes: dict[Value, Block | None] = {}

    def note(self, op: Assume, form: Form, entry: Block) -> None:
        """Rely on a promise about `form` if it holds everywhere and says something of a symbol."""
        address = form.base if isinstance(form, Tensor) else form
        home = self._homes[op.result] = self._home(op.value)
        if isinstance(address, Affine) and not address.needs and op.parent in (entry, home):
            found = _promised(op.predicate, address.exact(Signedness.SIGNED))
            symbol = _only_symbol(address.form)
            if symbol is not None:
                offset = ranges.constant(address.form.constant)
                before = self._promised.get(symbol, symbol.range)
                self._promised[symbol] = ranges.intersection(before, ranges.subtract(found, offset))

    def of(self, symbol: Symbol) -> Range | None:
        """Return the bounds of a symbol that a promise is about."""
        return self._promised.get(symbol)

    def range(self, symbol: Symbol) -> Range:
        """Return the bounds of a symbol, from promises about it or about those that it is made of."""
        found = symbol.range
        if isinstance(symbol, Function) and all(need.promised or need.holds(self.range) for need in symbol.needs):
            a, b = (argument.range_if(self.range) for argument in symbol.arguments)
            computed = RANGES[symbol.kind](a, b)
            found = found if computed is None else ranges.intersection(computed, found)
        elif isinstance(symbol, Either):
            found = ranges.union(*(choice.range_if(self.range) for choice in symbol.choices))
        promised = self._promised.get(symbol)
        return found if promised is None else ranges.intersection(found, promised)

    def _home(self, value: Value) -> Block | None:
        """Return the block in which a number is made that promises only hand on."""
        while isinstance(value.op, Assume) and value not in self._homes:
            value = value.op.value
        return self._homes[value] if value in self._homes else home_of(value)


def _promised(predicate: AssumePredicate, exact: bool) -> Range:
    """Return the range that a promise gives an expression; bounds only if the number is the expression itself."""
    if isinstance(predicate, DivBy) and predicate.every in (None, 1):
        return Range(ranges.power_in(predicate.divisor), ANYTHING.low, ANYTHING.high)
    if isinstance(predicate, Bounded) and exact:
        low, high = predicate.lower, predicate.upper
        return Range(1, ANYTHING.low if low is None else low, ANYTHING.high if high is None else high)
    return ANYTHING


def _only_symbol(form: Expression) -> Symbol | None:
    """Return the symbol of a sum of it and a constant."""
    if list(form.terms.values()) != [1]:
        return None
    (product,) = form.terms
    return product[0] if len(product) == 1 else None
