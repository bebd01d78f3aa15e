"""Integer expressions, in a normal form, over numbers that are known only when a kernel runs.

The row of an element of a tile, ``block_x * 128 + lane_0``, times a stride is

    128 * block_x * stride + 1 * lane_0 * stride

a sum of products of symbols with constant factors. Symbols (`analysis.symbols`) are parameters, tile block ids, extents
of the grid, turns of loops, the index of an element in its tile, and functions of expressions that are no such sums.

Equal sums are equal objects, and bounds follow from those of the symbols. Expressions are mathematical integers:
nothing wraps around.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import is_

from tileir.analysis import ranges
from tileir.analysis.ranges import Range

MAX_TERMS = 48
"""Products in one expression: a longer sum is no help to anybody."""

MAX_DEGREE = 6
MAX_NESTING = 24
MAX_SYMBOLS = 256
"""Symbols that a symbol is made of, each counted where it stands: what is used twice by each of many operations behind
each other, as a sort does, would have as many as two to the power of their number."""


class TooLarge(Exception):
    """An expression beyond one of the limits above."""


class Symbol:
    """A number that is known when the kernel runs. Two with the same `key` are one.

    `range` holds whatever a program promises; `inner` are the expressions that the symbol is made of. A subclass names
    the arguments of its constructor in `__match_args__`, and has them as attributes.
    """

    __slots__ = ("_hash", "inner", "key", "nesting", "range", "size")
    __match_args__: tuple[str, ...] = ()

    def __init__(self, key: tuple, range: Range, inner: tuple[Expression, ...] = ()) -> None:
        self.key = key
        self.range = range
        self.inner = inner
        within = [symbol for part in inner for product in part.terms for symbol in product]
        self.nesting: int = 1 + max((symbol.nesting for symbol in within), default=0)
        self.size: int = 1 + sum(symbol.size for symbol in within)
        if self.nesting > MAX_NESTING or self.size > MAX_SYMBOLS:
            raise TooLarge
        self._hash = hash(key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Symbol) and self._hash == other._hash and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: Symbol) -> bool:
        return self.key < other.key

    def __reduce__(self) -> tuple:
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)

    def replaced(self, inner: tuple[Expression, ...]) -> Expression:
        """Return the same function of other expressions."""
        return of(self)


Monomial = tuple[Symbol, ...]
"""A product of symbols, in the order of their keys."""

Known = Callable[[Symbol], Range]


class Expression:
    """`constant` plus the sum of ``factor * product`` over `terms`, in which no factor is 0. Immutable."""

    __slots__ = ("_all_symbols", "_hash", "_range", "constant", "terms")

    def __init__(self, constant: int, terms: dict[Monomial, int]) -> None:
        if len(terms) > MAX_TERMS:
            raise TooLarge
        self.constant = constant
        self.terms = terms
        self._hash: int | None = None
        self._range: Range | None = None
        self._all_symbols: frozenset[Symbol] | None = None

    # ------------------------------------------------------------ identity

    @property
    def key(self) -> tuple:
        """Equal for equal expressions, and comparable."""
        ordered = sorted((tuple(symbol.key for symbol in product), factor) for product, factor in self.terms.items())
        return (self.constant, *ordered)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.constant == other.constant and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.constant, frozenset(self.terms.items())))
        return self._hash

    def __reduce__(self) -> tuple:
        return Expression, (self.constant, self.terms)

    def __repr__(self) -> str:
        parts = [
            "*".join([*([] if factor == 1 else [str(factor)]), *map(repr, product)])
            for product, factor in self.terms.items()
        ]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts)

    # ------------------------------------------------------------ arithmetic

    def __add__(self, other: Expression | int) -> Expression:
        if isinstance(other, int):
            return Expression(self.constant + other, self.terms)
        terms = dict(self.terms)
        for product, factor in other.terms.items():
            _add_term(terms, product, factor)
        return Expression(self.constant + other.constant, terms)

    def __sub__(self, other: Expression | int) -> Expression:
        return self + (-other)

    def __neg__(self) -> Expression:
        return self * -1

    def __mul__(self, other: Expression | int) -> Expression:
        if isinstance(other, int):
            return self._scaled(other)
        if not other.terms:
            return self._scaled(other.constant)
        total = self._scaled(other.constant)
        for product, factor in other.terms.items():
            total += self._times(product, factor)
        return total

    def _scaled(self, by: int) -> Expression:
        if by == 0:
            return ZERO
        return Expression(self.constant * by, {product: factor * by for product, factor in self.terms.items()})

    def _times(self, product: Monomial, factor: int) -> Expression:
        terms: dict[Monomial, int] = {}
        if self.constant:
            terms[product] = self.constant * factor
        for mine, my_factor in self.terms.items():
            both = tuple(sorted(mine + product))
            if len(both) > MAX_DEGREE:
                raise TooLarge
            _add_term(terms, both, my_factor * factor)
        return Expression(0, terms)

    # ------------------------------------------------------------ parts

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def symbols(self) -> set[Symbol]:
        """Return the symbols of the sum itself, not those inside of them."""
        return {symbol for product in self.terms for symbol in product}

    def all_symbols(self) -> frozenset[Symbol]:
        """Return the symbols of the sum and those that they are made of."""
        if self._all_symbols is None:
            own = self.symbols()
            made_of = (inner.all_symbols() for symbol in own for inner in symbol.inner)
            self._all_symbols = frozenset(own).union(*made_of)
        return self._all_symbols

    def mentions(self, accepts: Callable[[Symbol], bool]) -> bool:
        return any(map(accepts, self.all_symbols()))

    def step(self, symbol: Symbol) -> Expression | None:
        """Return the growth of the expression when `symbol` grows by one, if it is the same wherever that starts
        from."""
        terms: dict[Monomial, int] = {}
        for product, factor in self.terms.items():
            if symbol in product:
                rest = tuple(other for other in product if other is not symbol and other != symbol)
                if len(rest) != len(product) - 1 or _made_of(rest, symbol):
                    return None
                _add_term(terms, rest, factor)
            elif _made_of(product, symbol):
                return None
        constant = terms.pop((), 0)
        return Expression(constant, terms)

    def split(self, accepts: Callable[[Monomial, int], bool]) -> tuple[Expression, Expression]:
        """Return the sum of the terms that `accepts` takes, and the rest with the constant."""
        taken = {product: factor for product, factor in self.terms.items() if accepts(product, factor)}
        rest = {product: factor for product, factor in self.terms.items() if product not in taken}
        return Expression(0, taken), Expression(self.constant, rest)

    def divided(self, by: int) -> Expression:
        """Return the exact quotient; every factor must be a multiple of `by`."""
        return Expression(self.constant // by, {product: factor // by for product, factor in self.terms.items()})

    def substituted(self, replace: Callable[[Symbol], Expression | None]) -> Expression:
        """Replace symbols by expressions, also inside other symbols; None leaves a symbol alone."""
        kept: dict[Monomial, int] = {}
        changed: list[Expression] = []
        for product, factor in self.terms.items():
            factors = [_replaced(symbol, replace) for symbol in product]
            if all(found is None for found in factors):
                _add_term(kept, product, factor)
            else:
                made = (of(symbol) if found is None else found for symbol, found in zip(product, factors))
                changed.append(reduce(Expression.__mul__, made, number(factor)))
        return reduce(Expression.__add__, changed, Expression(self.constant, kept)) if changed else self

    # ------------------------------------------------------------ bounds

    @property
    def range(self) -> Range:
        """Bounds that hold whatever the program promises."""
        if self._range is None:
            self._range = self.range_if(lambda symbol: symbol.range)
        return self._range

    def range_if(self, known: Known) -> Range:
        """Return the bounds from those of the symbols."""
        total = ranges.constant(self.constant)
        for product, factor in self.terms.items():
            total = ranges.add(total, reduce(ranges.multiply, map(known, product), ranges.constant(factor)))
        return total


def _add_term(terms: dict[Monomial, int], product: Monomial, factor: int) -> None:
    total = terms.get(product, 0) + factor
    if total:
        terms[product] = total
    else:
        terms.pop(product, None)


def _made_of(product: Monomial, symbol: Symbol) -> bool:
    """Return whether a factor of the product contains `symbol`."""
    return any(symbol in inner.all_symbols() for factor in product for inner in factor.inner)


def _replaced(symbol: Symbol, replace: Callable[[Symbol], Expression | None]) -> Expression | None:
    found = replace(symbol)
    if found is not None:
        return found
    inner = symbol.inner
    changed = tuple(part.substituted(replace) for part in inner)
    return None if all(map(is_, changed, inner)) else symbol.replaced(changed)


def number(value: int) -> Expression:
    return Expression(value, {})


def of(symbol: Symbol) -> Expression:
    return Expression(0, {(symbol,): 1})


ZERO = number(0)
ONE = number(1)
