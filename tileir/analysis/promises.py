"""Facts that a program promises of its numbers with `assume`.

    %n = assume div_by<16>, %arg : tile<i32>        arg1 is a multiple of 16, wherever in the kernel it is used

Knows: which promises hold of a symbol everywhere: those that stand in the block in which the number is made, or in that
of the entry. Does not know: who relies on them. Whoever must not, asks for `Symbol.range` instead.
"""

from __future__ import annotations

from tileir.analysis import ranges
from tileir.analysis.expressions import Expression, Symbol
from tileir.analysis.forms import Affine, Form, Tensor
from tileir.analysis.ranges import Range
from tileir.analysis.symbols import RANGES, Either, Function
from tileir.analysis.uses import home_of
from tileir.ir.attributes import AssumePredicate, Bounded, DivBy, Signedness
from tileir.ir.core import Block, Value
from tileir.ops.misc import Assume

ANYTHING = Range(1, -(1 << 64), 1 << 64)


class Promises:
    """The ranges of symbols, with what is promised."""

    def __init__(self) -> None:
        self._promised: dict[Symbol, Range] = {}

    def note(self, op: Assume, form: Form, entry: Block) -> None:
        """Rely on a promise about `form` if it holds everywhere and says something of a symbol."""
        address = form.base if isinstance(form, Tensor) else form
        if isinstance(address, Affine) and not address.needs and op.parent in (entry, _home(op.value)):
            found = _promised(op.predicate, address.exact(Signedness.SIGNED))
            symbol = _only_symbol(address.form)
            if symbol is not None:
                offset = ranges.constant(address.form.constant)
                before = self._promised.get(symbol, symbol.range)
                self._promised[symbol] = ranges.intersection(before, ranges.subtract(found, offset))

    def of(self, symbol: Symbol) -> Range | None:
        """The bounds of a symbol that a promise is about."""
        return self._promised.get(symbol)

    def range(self, symbol: Symbol) -> Range:
        """Bounds of a symbol, from promises about it or about those that it is made of."""
        found = symbol.range
        if isinstance(symbol, Function) and all(need.promised or need.holds(self.range) for need in symbol.needs):
            a, b = (argument.range_if(self.range) for argument in symbol.arguments)
            computed = RANGES[symbol.kind](a, b)
            found = found if computed is None else ranges.intersection(computed, found)
        elif isinstance(symbol, Either):
            found = ranges.union(*(choice.range_if(self.range) for choice in symbol.choices))
        promised = self._promised.get(symbol)
        return found if promised is None else ranges.intersection(found, promised)


def _home(value: Value) -> Block | None:
    """The block in which a number is made that promises only hand on."""
    while isinstance(value.op, Assume):
        value = value.op.value
    return home_of(value)


def _promised(predicate: AssumePredicate, exact: bool) -> Range:
    """The range that a promise gives an expression; bounds only if the number is the expression itself."""
    if isinstance(predicate, DivBy) and predicate.every in (None, 1):
        return Range(ranges.power_in(predicate.divisor), ANYTHING.low, ANYTHING.high)
    if isinstance(predicate, Bounded) and exact:
        low, high = predicate.lower, predicate.upper
        return Range(1, ANYTHING.low if low is None else low, ANYTHING.high if high is None else high)
    return ANYTHING


def _only_symbol(form: Expression) -> Symbol | None:
    """The symbol of a sum of it and a constant."""
    if list(form.terms.values()) != [1]:
        return None
    (product,) = form.terms
    return product[0] if len(product) == 1 else None
