"""The symbols of integer expressions: numbers that are known only when a kernel runs.

``quotient(row * 4 + 3, 4)`` is just ``row``; of ``row + 3`` it is a `Function` whose bounds follow from those of the
row. `remainder`, `smallest` and the other makers of functions simplify in the same way.

`analysis.expressions` has the normal form of sums, and `analysis.affine` maps values to symbols.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from tileir.analysis import ranges
from tileir.analysis.expressions import ZERO, Expression, Symbol, number, of
from tileir.analysis.ranges import Range
from tileir.ir.attributes import Rounding

MOST_TURNS = (1 << 64) - 1
"""A loop that runs longer does not end."""

ADDRESS = Range(1, 0, (1 << 64) - 1)


@dataclass(frozen=True)
class NoWrap:
    """The condition that `form` lies in [`low`, `high`], so that the integer that was kept in some bits is `form`.

    ``promised``: the program says so itself (an `overflow` flag).
    """

    form: Expression
    low: int
    high: int
    promised: bool = False

    def holds(self, known: Callable[[Symbol], Range] | None = None) -> bool:
        """Return whether it holds for all numbers in the ranges `known` of the symbols, or in any run at all."""
        found = self.form.range if known is None else self.form.range_if(known)
        return self.low <= found.low and found.high <= self.high

    def of(self, form: Expression) -> NoWrap:
        """Return the same condition on another expression."""
        return NoWrap(form, self.low, self.high, self.promised)


class ScalarParameter(Symbol):
    """An integer parameter of the entry, read as signed."""

    __slots__ = ("bits", "index")
    __match_args__ = ("index", "bits")

    def __init__(self, index: int, bits: int) -> None:
        super().__init__((0, index), ranges.signed(bits))
        self.index = index
        self.bits = bits

    def __repr__(self) -> str:
        return f"arg{self.index}"


class BlockId(Symbol):
    """A coordinate of the running tile block."""

    __slots__ = ("axis",)
    __match_args__ = ("axis",)

    def __init__(self, axis: int) -> None:
        super().__init__((1, axis), ranges.BLOCK_ID)
        self.axis = axis

    def __repr__(self) -> str:
        return f"block_{'xyz'[self.axis]}"


class GridExtent(Symbol):
    """The number of tile blocks along one axis."""

    __slots__ = ("axis",)
    __match_args__ = ("axis",)

    def __init__(self, axis: int) -> None:
        super().__init__((2, axis), ranges.GRID_EXTENT)
        self.axis = axis

    def __repr__(self) -> str:
        return f"grid_{'xyz'[self.axis]}"


class Turn(Symbol):
    """The turns that a loop has completed: 0, 1, 2, ..., less than `count` as long as `needs` hold. Without a count:
    any number."""

    __slots__ = ("count", "loop", "needs")
    __match_args__ = ("loop", "count", "needs")

    def __init__(self, loop: int, count: Expression | None, needs: frozenset[NoWrap]) -> None:
        known = count is not None and not needs
        inner = () if count is None else (count, *(need.form for need in needs))
        super().__init__((3, loop), Range(1, 0, count.range.high - 1 if known and count else MOST_TURNS), inner)
        self.loop = loop
        self.count = count
        self.needs = needs

    def replaced(self, inner: tuple[Expression, ...]) -> Expression:
        needs = frozenset(need.of(form) for need, form in zip(self.needs, inner[1:]))
        return of(Turn(self.loop, inner[0], needs))

    def __repr__(self) -> str:
        return f"turn_{self.loop}"


class Lane(Symbol):
    """The index of an element along dimension `dim` of its tile, which has `extent` elements."""

    __slots__ = ("dim", "extent")
    __match_args__ = ("dim", "extent")

    def __init__(self, dim: int, extent: int) -> None:
        super().__init__((4, dim, extent), Range(1, 0, extent - 1))
        self.dim = dim
        self.extent = extent

    def __repr__(self) -> str:
        return f"lane_{self.dim}"


class StorageKind(enum.IntEnum):
    """Memories that a kernel uses."""

    PARAMETER = 0
    GLOBAL = 1
    SHARED = 2
    """An `alloca` for all tile blocks."""
    OWN = 3
    """An `alloca` for the running tile block."""


class Storage(Symbol):
    """The address where a memory begins: that of pointer parameter `number`, of the global `name`, of an `alloca`."""

    __slots__ = ("kind", "name", "number")
    __match_args__ = ("kind", "number", "name")

    def __init__(self, kind: StorageKind, number: int, name: str = "") -> None:
        super().__init__((5, int(kind), number, name), ADDRESS)
        self.kind = kind
        self.number = number
        self.name = name

    def __repr__(self) -> str:
        return f"@{self.name}" if self.name else f"memory_{self.number}"


class Unknown(Symbol):
    """A number known only by its bounds, such as a loaded one.

    ``index`` is its place in a tile of such numbers; `loops` are the loops in which it changes every turn; `why` says
    where it comes from.
    """

    __slots__ = ("index", "loops", "number", "why")
    __match_args__ = ("number", "range", "index", "loops", "why")

    def __init__(
        self, number: int, range: Range, index: tuple[Expression, ...], loops: frozenset[int], why: str
    ) -> None:
        super().__init__((6, number, *(part.key for part in index)), range, index)
        self.number = number
        self.index = index
        self.loops = loops
        self.why = why

    def replaced(self, inner: tuple[Expression, ...]) -> Expression:
        return of(Unknown(self.number, self.range, inner, self.loops, self.why))

    def __repr__(self) -> str:
        return f"unknown_{self.number}"


class Either(Symbol):
    """One of two expressions, unknown which. The other arguments are as for `Unknown`."""

    __slots__ = ("choices", "index", "loops", "number")
    __match_args__ = ("number", "choices", "index", "loops")

    def __init__(
        self,
        number: int,
        choices: tuple[Expression, Expression],
        index: tuple[Expression, ...],
        loops: frozenset[int],
    ) -> None:
        key = (8, number, *(part.key for part in (*choices, *index)))
        super().__init__(key, ranges.union(choices[0].range, choices[1].range), (*choices, *index))
        self.number = number
        self.choices = choices
        self.index = index
        self.loops = loops

    def replaced(self, inner: tuple[Expression, ...]) -> Expression:
        return of(Either(self.number, (inner[0], inner[1]), inner[2:], self.loops))

    def __repr__(self) -> str:
        return f"either({self.choices[0]!r}, {self.choices[1]!r})"


class Kind(enum.IntEnum):
    """Functions that are no sums of products."""

    FLOOR = 0
    """The quotient rounded down."""
    TRUNCATED = 1
    """The quotient rounded toward zero."""
    MODULO = 2
    """The rest that the quotient rounded down leaves."""
    REMAINDER = 3
    """The rest that the quotient rounded toward zero leaves."""
    SMALLEST = 4
    LARGEST = 5
    AND = 6
    OR = 7
    XOR = 8


WIDEST = 64
"""Bits of the numbers that the bitwise functions take."""

RANGES: dict[Kind, Callable[[Range, Range], Range | None]] = {
    Kind.FLOOR: lambda a, b: ranges.quotient(a, b, Rounding.NEGATIVE_INF),
    Kind.TRUNCATED: lambda a, b: ranges.quotient(a, b, Rounding.ZERO),
    Kind.MODULO: ranges.modulo,
    Kind.REMAINDER: ranges.remainder,
    Kind.SMALLEST: ranges.minimum,
    Kind.LARGEST: ranges.maximum,
    Kind.AND: lambda a, b: ranges.bitwise_and(a, b, WIDEST),
    Kind.OR: lambda a, b: ranges.bitwise_or(a, b, WIDEST),
    Kind.XOR: lambda a, b: ranges.bitwise_xor(a, b, WIDEST),
}
"""The bounds of a function of two numbers from theirs; None if nothing is known."""


class Function(Symbol):
    """A function of two expressions, as long as `needs` hold; `otherwise` bounds the number whether they do or not."""

    __slots__ = ("arguments", "kind", "needs", "otherwise")
    __match_args__ = ("kind", "arguments", "needs", "otherwise")

    def __init__(
        self,
        kind: Kind,
        arguments: tuple[Expression, Expression],
        needs: frozenset[NoWrap],
        otherwise: Range,
    ) -> None:
        conditions = tuple(sorted((need.form.key, need.low, need.high) for need in needs))
        key = (7, int(kind), *(argument.key for argument in arguments), conditions)
        found = None if needs else RANGES[kind](arguments[0].range, arguments[1].range)
        inner = (*arguments, *(need.form for need in needs))
        super().__init__(key, otherwise if found is None else ranges.intersection(found, otherwise), inner)
        self.kind = kind
        self.arguments = arguments
        self.needs = needs
        self.otherwise = otherwise

    def replaced(self, inner: tuple[Expression, ...]) -> Expression:
        first, second, *forms = inner
        needs = frozenset(need.of(form) for need, form in zip(self.needs, forms))
        return function(self.kind, first, second, needs, self.otherwise)

    @property
    def is_floor_by_constant(self) -> bool:
        return self.kind is Kind.FLOOR and not self.needs and self.arguments[1].is_constant

    def __repr__(self) -> str:
        return f"{self.kind.name.lower()}({self.arguments[0]!r}, {self.arguments[1]!r})"


# ---------------------------------------------------------------- makers


def function(
    kind: Kind, a: Expression, b: Expression, needs: frozenset[NoWrap] = frozenset(), otherwise: Range | None = None
) -> Expression:
    """Return the function of two expressions, simplified. `otherwise` bounds the result even where `needs` do not
    hold."""
    open_needs = frozenset(need for need in needs if not need.holds())
    simple = None if open_needs else _simplified(kind, a, b)
    if simple is not None:
        return simple
    if kind in _SYMMETRIC and b.key < a.key:
        a, b = b, a
    bounds = otherwise or RANGES[kind](a.range, b.range) or ranges.signed(WIDEST)
    return of(Function(kind, (a, b), open_needs, bounds))


_SYMMETRIC = {Kind.SMALLEST, Kind.LARGEST, Kind.AND, Kind.OR, Kind.XOR}


def _simplified(kind: Kind, a: Expression, b: Expression) -> Expression | None:
    known = RANGES[kind](a.range, b.range)
    if known is not None and known.constant is not None:
        return number(known.constant)
    if kind in (Kind.FLOOR, Kind.MODULO):
        return _floored(kind, a, b.constant) if b.is_constant and b.constant > 0 else None
    if kind in (Kind.TRUNCATED, Kind.REMAINDER):
        # Of numbers that are not negative it is the same.
        return function(_FLOORED[kind], a, b) if a.range.low >= 0 and b.range.low > 0 else None
    if a == b:
        return ZERO if kind is Kind.XOR else a
    if kind in (Kind.SMALLEST, Kind.LARGEST):
        return _ordered(kind, a, b)
    return None


_FLOORED = {Kind.TRUNCATED: Kind.FLOOR, Kind.REMAINDER: Kind.MODULO}


def _floored(kind: Kind, a: Expression, by: int) -> Expression | None:
    """Return a quotient or modulo by a constant: multiples of the divisor leave it; None if nothing does."""
    nested = _function_in(a)
    if kind is Kind.FLOOR and nested is not None and nested.is_floor_by_constant:
        return function(kind, nested.arguments[0], nested.arguments[1] * by)
    multiples, rest = a.split(lambda product, factor: factor % by == 0)
    multiples, rest = multiples + rest.constant // by * by, rest - rest.constant // by * by
    inside = rest.range.low >= 0 and rest.range.high < by
    if kind is Kind.MODULO:
        return rest if inside else None if rest == a else function(kind, rest, number(by))
    if inside:
        return multiples.divided(by)
    return None if rest == a else multiples.divided(by) + function(kind, rest, number(by))


def _ordered(kind: Kind, a: Expression, b: Expression) -> Expression | None:
    difference = (a - b).range
    if difference.high <= 0:
        return a if kind is Kind.SMALLEST else b
    if difference.low >= 0:
        return b if kind is Kind.SMALLEST else a
    return None


def _function_in(form: Expression) -> Function | None:
    """Return the function that the expression is, and nothing else."""
    if form.constant or list(form.terms.values()) != [1]:
        return None
    (product,) = form.terms
    return product[0] if len(product) == 1 and isinstance(product[0], Function) else None


def recombined(form: Expression) -> Expression:
    """Return the same number with quotients and remainders of one dividend put together again."""
    for product, factor in form.terms.items():
        for place, symbol in enumerate(product):
            if isinstance(symbol, Function) and symbol.kind is Kind.MODULO and not symbol.needs:
                others = (*product[:place], *product[place + 1 :])
                rest = Expression(0, {others: factor}) if others else number(factor)
                quotient = function(Kind.FLOOR, *symbol.arguments)
                whole = quotient * symbol.arguments[1] * rest
                if whole.terms and whole.terms.items() <= form.terms.items():
                    return recombined(form - whole - of(symbol) * rest + symbol.arguments[0] * rest)
    return form


def smallest(*forms: Expression) -> Expression:
    return reduce(lambda a, b: function(Kind.SMALLEST, a, b), forms)


def largest(*forms: Expression) -> Expression:
    return reduce(lambda a, b: function(Kind.LARGEST, a, b), forms)


def ceiling(a: Expression, b: Expression, needs: frozenset[NoWrap] = frozenset()) -> Expression:
    """Return the quotient by a number that is positive, rounded up."""
    return function(Kind.FLOOR, a + b - 1, b, needs)
