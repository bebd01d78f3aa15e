"""Masks and conditions as linear inequalities.

``cmpi less_than %row, %rows, signed`` holds where ``rows - row - 1 >= 0``; ``andi`` of two masks where the inequalities
of both hold; an unsigned comparison with a number that is not negative where ``0 <= row`` and ``row < rows``; and
``cmpi not_equal %block, 0`` where ``block - 1 >= 0``, as no block id is below 0.

The inequalities follow from a tile of i1 being true; `exact` says whether the converse holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tileir.analysis.expressions import Expression, TooLarge, number
from tileir.analysis.forms import NOTHING, Affine, Forms, Needs, Reading, relaned
from tileir.analysis.symbols import Either, NoWrap, Unknown
from tileir.analysis.values import permuted, reshaped
from tileir.ir.attributes import Predicate, Signedness
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import core, extension, integer, misc, shapes

DEEPEST = 64
"""Operations between a mask and the comparisons that it is made of."""
MAX_GUARDS = 16
"""Inequalities in one condition; more are left out."""


@dataclass(frozen=True)
class Guard:
    """``form >= 0``, as long as `needs` hold. ``promised``: by the program, in an `assume`."""

    form: Expression
    needs: Needs = NOTHING
    promised: bool = False

    def of(self, change: Callable[[Expression], Expression]) -> Guard:
        """Return the same guard with changed expressions."""
        needs = frozenset(need.of(change(need.form)) for need in self.needs)
        return Guard(change(self.form), needs, self.promised)


@dataclass(frozen=True)
class Condition:
    """The conjunction of `guards`. ``complete``: it is equivalent to them."""

    guards: tuple[Guard, ...] = ()
    complete: bool = True

    def __and__(self, other: Condition) -> Condition:
        guards = tuple(dict.fromkeys((*self.guards, *other.guards)))
        return Condition(guards[:MAX_GUARDS], self.complete and other.complete and len(guards) <= MAX_GUARDS)

    def __invert__(self) -> Condition:
        """Return the contrary, as far as it can be said."""
        if len(self.guards) != 1 or not self.complete:
            return UNKNOWN
        (guard,) = self.guards
        return Condition((replace(guard, form=-guard.form - 1),))

    def at(self, index: tuple[Expression, ...]) -> Condition:
        """Return the condition of the element at another index. Raises `TooLarge`."""
        return replace(self, guards=tuple(guard.of(lambda form: relaned(form, index)) for guard in self.guards))


UNKNOWN = Condition((), complete=False)
TRUE = Condition()
FALSE = Condition((Guard(number(-1)),))


def compared(predicate: Predicate, signedness: Signedness, a: Affine, b: Affine) -> Condition:
    """Return the condition that a comparison holds."""
    if not predicate.is_order:
        x, y = a.signed, b.signed
        bounds = tuple(guard for guard in (_less(x, y), _less(y, x)) if guard.needs or guard.form.range.low < 0)
        equal = Condition(bounds)
        return equal if predicate is Predicate.EQUAL else ~equal
    if predicate.is_greater:
        a, b = b, a
    strict = predicate.is_strict
    if signedness is Signedness.SIGNED or (a.range.low >= 0 and b.range.low >= 0):
        return Condition((_less(a.signed, b.signed, strict),))
    return _unsigned_less(a, b, strict)


def _less(x: Reading, y: Reading, strict: bool = False) -> Guard:
    """Return the guard ``x <= y``, or ``x < y``."""
    return Guard(y.form - x.form - int(strict), x.needs | y.needs)


def _unsigned_less(a: Affine, b: Affine, strict: bool) -> Condition:
    """Return the condition of an unsigned comparison: a number below one that is not negative when read as signed is
    not negative either."""
    x, y = a.signed, b.signed
    half = NoWrap(y.form, 0, (1 << (b.bits - 1)) - 1)
    needs = x.needs | b.needs | (NOTHING if half.holds() else frozenset({half}))
    return Condition((Guard(x.form, needs), Guard(y.form - x.form - int(strict), needs)))


# ---------------------------------------------------------------- masks of a program


def condition(value: Value, known: Forms, depth: int = DEEPEST) -> Condition:
    """Return the condition that an element of a tile of i1 is 1."""
    found = known.conditions.get(value)
    if not isinstance(found, Condition):
        found = known.conditions[value] = _found(value, known, depth)
    return found


def _found(value: Value, known: Forms, depth: int) -> Condition:
    op = value.op
    rule = None if op is None or depth == 0 else rules.get(type(op))
    try:
        return _set(known.of(value).signed) if op is None or rule is None else rule(op, known, depth - 1)
    except TooLarge:
        return UNKNOWN


def _set(bit: Reading) -> Condition:
    """Return the condition that a bit is 1: its signed reading is below 0."""
    if bit.form.mentions(lambda symbol: isinstance(symbol, Unknown | Either)):
        return UNKNOWN
    return Condition((Guard(-bit.form - 1, bit.needs),))


Rule = Callable[[Op, Forms, int], Condition]
rules: Rules[Rule] = Rules()


@rules(core.Constant)
def _constant(op: core.Constant, known: Forms, depth: int) -> Condition:
    form = known.of(op.result).form
    return TRUE if form.is_constant and form.constant else UNKNOWN if not form.is_constant else FALSE


@rules(integer.CmpI)
def _compared(op: integer.CmpI, known: Forms, depth: int) -> Condition:
    return compared(op.comparison_predicate, op.signedness, known.of(op.lhs), known.of(op.rhs))


@rules(integer.AndI)
def _and(op: integer.AndI, known: Forms, depth: int) -> Condition:
    return condition(op.lhs, known, depth) & condition(op.rhs, known, depth)


@rules(integer.XOrI)
def _xor(op: integer.XOrI, known: Forms, depth: int) -> Condition:
    """Return the contrary, if one operand is true everywhere."""
    for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if condition(one, known, depth) == TRUE:
            return ~condition(other, known, depth)
    return UNKNOWN


@rules(core.Select)
def _select(op: core.Select, known: Forms, depth: int) -> Condition:
    if condition(op.val_if_false, known, depth) != FALSE:
        return UNKNOWN
    return condition(op.cond, known, depth) & condition(op.val_if_true, known, depth)


@rules(misc.Assume, extension.OptimizationBarrier, shapes.Broadcast)
def _same(op: Op, known: Forms, depth: int) -> Condition:
    """Return the operand's condition: a broadcast changes none, as a dimension of one element is in no expression."""
    return condition(op.operands[0], known, depth)


@rules(shapes.Reshape)
def _reshape(op: shapes.Reshape, known: Forms, depth: int) -> Condition:
    return condition(op.source, known, depth).at(reshaped(op.source.tile.shape, op.result.tile.shape))


@rules(shapes.Permute)
def _permute(op: shapes.Permute, known: Forms, depth: int) -> Condition:
    return condition(op.source, known, depth).at(permuted(op.result.tile.shape, op.permutation))
