"""Masks and conditions as inequalities of tiles that grow evenly, and proofs of those between scalars.

    %mask = cmpi less_than %index, %ns, signed : tile<4096xi32> -> tile<4096xi1>      index + 1 <= n, of each element

`passes.linear` finds the tiles that grow evenly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tileir.analysis.affine import Affines
from tileir.analysis.expressions import Expression, TooLarge, of
from tileir.analysis.forms import Needs
from tileir.analysis.region import is_strict, parts_of, sides_of
from tileir.analysis.symbols import Function, Kind, Turn, function
from tileir.analysis.walk import ProgramPoint, Walk
from tileir.ir.attributes import Signedness
from tileir.ir.core import Op, Value
from tileir.ops.control import For, If
from tileir.ops.core import Constant
from tileir.ops.integer import CmpI
from tileir.ops.module import Entry
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.passes.facts import splat_of
from tileir.passes.linear import Linear, LinearTiles
from tileir.passes.scalars import KnownScalar, ScalarFormula, affine, given, number

MOST_TURNS = 3
"""Loops whose turn is counted out in a proof."""


@dataclass(frozen=True)
class Inequality:
    """``less + gap <= more``, element by element."""

    less: Linear
    more: Linear
    gap: int

    def at(self, dims: Sequence[int | None]) -> Inequality:
        return Inequality(self.less.at(dims), self.more.at(dims), self.gap)

    def __invert__(self) -> Inequality:
        return Inequality(self.more, self.less, 1 - self.gap)

    @property
    def is_uniform(self) -> bool:
        return self.less.is_uniform and self.more.is_uniform


@dataclass(frozen=True)
class Inequalities:
    """The conjunction of `parts`. ``complete``: they are equivalent to the condition."""

    parts: tuple[Inequality, ...] = ()
    complete: bool = True


NOT_SEEN = Inequalities((), False)


def inequalities(mask: Value, tiles: LinearTiles) -> Inequalities:
    """Return the inequalities that hold where an element of a tile of i1 is 1."""
    found = [(_of_part(part.value, tiles), part.dims) for part in parts_of(mask)]
    parts = (one.at(dims) for some, dims in found for one in some.parts)
    return Inequalities(tuple(parts), all(some.complete for some, _ in found))


def _of_part(value: Value, tiles: LinearTiles) -> Inequalities:
    op = value.op
    if isinstance(op, Constant):
        return Inequalities() if splat_of(value) == 1 else NOT_SEEN
    return _compared(op, tiles) if isinstance(op, CmpI) else NOT_SEEN


def _compared(op: CmpI, tiles: LinearTiles) -> Inequalities:
    if not op.comparison_predicate.is_order:
        return NOT_SEEN
    lesser, greater = sides_of(op)
    less, more = tiles.of(lesser), tiles.of(greater)
    if less is None or more is None:
        return NOT_SEEN
    found = Inequality(less, more, int(is_strict(op)))
    if op.signedness is Signedness.SIGNED:
        return Inequalities((found,))
    if not tiles.is_at_least(greater, 0):
        return NOT_SEEN
    # Below a number that is not negative when read as signed, a number is not negative either.
    zero = Linear(number(0, op.lhs.tile.number.bits), less.steps).at((None,) * len(less.steps))
    return Inequalities((Inequality(zero, less, 0), found))


# ---------------------------------------------------------------- what holds where an operation runs


def around(op: Op, tiles: LinearTiles) -> Iterator[Inequality]:
    """Yield the inequalities of scalars that hold where `op` runs: those of each `if` and `for` around it."""
    block = op.parent
    while block is not None and block.parent is not None:
        outer = block.parent
        if isinstance(outer, If):
            yield from _of_branch(inequalities(outer.condition, tiles), block is outer.then)
        elif isinstance(outer, For) and not outer.unsigned:
            lower, counter, upper = (
                Linear(given(value), ()) for value in (outer.lower, outer.body.args[0], outer.upper)
            )
            yield Inequality(lower, counter, 0)
            yield Inequality(counter, upper, 1)
        block = outer.parent


def _of_branch(found: Inequalities, then: bool) -> Iterator[Inequality]:
    if then:
        yield from found.parts
    elif found.complete and len(found.parts) == 1:
        yield ~found.parts[0]


Known = tuple[ScalarFormula, ScalarFormula, int]
"""Scalars x and y and a number d: ``x + d <= y``, both read as signed."""


class Prover:
    """Proofs about what holds where one operation runs."""

    def __init__(self, op: Op, tiles: LinearTiles, point: ProgramPoint, also: Iterable[Known] = ()) -> None:
        """Make a prover for a place where `also` holds."""
        self.tiles = tiles
        self._known: dict[tuple[ScalarFormula, ScalarFormula], int] = {}
        outer = ((one.less.base, one.more.base, one.gap) for one in around(op, tiles) if one.is_uniform)
        for less, more, gap in (*outer, *also):
            self._known[less, more] = max(gap, self._known.get((less, more), gap))
        self._guards = [guard.form for guard in point.runs.guards if self._holds(guard.needs, ())]
        self._guards += [form for pair, gap in self._known.items() if (form := self._rest(*pair, gap)) is not None]

    def proves(self, less: ScalarFormula, more: ScalarFormula, gap: int) -> bool:
        """Return whether ``less + gap <= more`` is certain, with both read as signed."""
        if isinstance(less, KnownScalar) and isinstance(more, KnownScalar):
            return less.number + gap <= more.number
        if self._known.get((less, more), gap - 1) >= gap:
            return True
        rest = self._rest(less, more, gap)
        return rest is not None and self._is_positive(rest, self._guards)

    def _rest(self, less: ScalarFormula, more: ScalarFormula, gap: int) -> Expression | None:
        """Return the expression ``more - less - gap``; None if it is not known."""
        try:
            one, other = self.number(less), self.number(more)
            return None if one is None or other is None else other - one - gap
        except TooLarge:
            return None

    def number(self, formula: ScalarFormula) -> Expression | None:
        """Return the expression that an integer is when it is read as signed; None if that is not certain."""
        reading = affine(formula, self.tiles.known).signed
        return reading.form if self.holds(reading.needs) else None

    def holds(self, needs: Needs) -> bool:
        """Return whether conditions are certain, or promised by the program."""
        return self._holds(needs, self._guards)

    def divides(self, divisor: int, form: Expression) -> bool:
        """Return whether an expression is certainly a multiple of a power of two."""
        return form.range_if(self.tiles.known.promised_range).divisor % divisor == 0

    def _holds(self, needs: Needs, guards: Sequence[Expression]) -> bool:
        return all(
            need.promised
            or (self._is_positive(need.form - need.low, guards) and self._is_positive(-need.form + need.high, guards))
            for need in needs
        )

    def _is_positive(self, form: Expression, guards: Sequence[Expression], turns: int = MOST_TURNS) -> bool:
        """Return whether an expression is 0 or more."""
        if self._low(form) >= 0 or any(self._low(form - guard) >= 0 for guard in guards):
            return True
        for turn in [symbol for symbol in form.symbols() if isinstance(symbol, Turn)] if turns else ():
            last = self._in_last_turn(form, turn)
            if last is not None and self._is_positive(last, guards, turns - 1):
                return True
        return False

    def _low(self, form: Expression) -> int:
        return form.range_if(self.tiles.known.promised_range).low

    def _in_last_turn(self, form: Expression, turn: Turn) -> Expression | None:
        """Return the expression in the last turn of an enclosing loop, where it is smallest; None if there is no such
        loop."""
        step = form.step(turn)
        if step is None or not step.is_constant or step.constant >= 0:
            return None
        if turn.count is None or not self.tiles.holds(turn.needs):
            return None
        return _with_remainders(form - of(turn) * step + (_of_one_that_runs(turn.count) - 1) * step)


class Proofs:
    """The tiles of an entry, and provers for its loads, stores and loops."""

    def __init__(self, entry: Entry) -> None:
        self._points: dict[Op, ProgramPoint] = {}
        self.tiles = LinearTiles(Affines(entry.body, self._note))

    def _note(self, walk: Walk, op: Op, point: ProgramPoint) -> None:
        if isinstance(op, LoadPtr | StorePtr | For):
            self._points[op] = point

    def __contains__(self, op: Op) -> bool:
        """Return whether the analysis has come to an operation."""
        return op in self._points

    def prover(self, op: Op, also: Iterable[Known] = ()) -> Prover:
        return Prover(op, self.tiles, self._points[op], also)


def _of_one_that_runs(count: Expression) -> Expression:
    """Return the number of turns of a loop that has at least one."""
    for symbol in count.symbols():
        if isinstance(symbol, Function) and symbol.kind is Kind.LARGEST and not symbol.needs and count == of(symbol):
            others = [argument for argument in symbol.arguments if argument.range.constant != 0]
            return others[0] if len(others) == 1 else count
    return count


def _with_remainders(form: Expression) -> Expression:
    """Return the same form, with ``a mod b - a`` in place of a multiple of ``-b * floor(a / b)``."""
    for product, factor in form.terms.items():
        (symbol,) = product if len(product) == 1 else (None,)
        if isinstance(symbol, Function) and symbol.is_floor_by_constant:
            dividend, divisor = symbol.arguments
            times, rest = divmod(-factor, divisor.constant)
            if times > 0 and rest == 0:
                remainder = function(Kind.MODULO, dividend, divisor) - dividend
                return _with_remainders(form - of(symbol) * factor + remainder * times)
    return form
