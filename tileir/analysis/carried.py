"""Values that a loop carries, as expressions of its turn.

Pointers that each turn moves by ``64 * stride`` from where they start are ``start + 64 * stride * turn``. To find that,
the body is looked at once with a symbol for each carried value (`Carried`): what the next turn is given, less that
symbol, is the step.

Knows: how a step is found, and which are the same in each turn. Does not know: how a body is looked at
(`analysis.affine`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tileir.analysis import ranges
from tileir.analysis.expressions import ZERO, Expression, Symbol, TooLarge, of
from tileir.analysis.forms import Affine, Needs, mentions_lanes


class Carried(Symbol):
    """A value that a loop carries while its step is sought; `index` says which element."""

    __slots__ = ("index", "number")
    __match_args__ = ("number", "index")

    def __init__(self, number: int, index: tuple[Expression, ...]) -> None:
        super().__init__((9, number, *(part.key for part in index)), ranges.signed(65))
        self.number = number
        self.index = index

    def inner(self) -> tuple[Expression, ...]:
        return self.index

    def replaced(self, inner: tuple[Expression, ...]) -> Expression:
        return of(Carried(self.number, inner))


@dataclass(frozen=True)
class Progress:
    """The way of a carried value: ``start + step * turns`` after some turns; without a `step` it has moved by a
    number that is the same for all elements. `needs` are the conditions of one turn."""

    start: Affine
    step: Expression | None
    needs: Needs

    @property
    def is_uniform(self) -> bool:
        """Whether all elements move by the same distance, whether arithmetic wraps around or not."""
        forms = (need.form for need in self.needs)
        return not any(map(mentions_lanes, forms)) and (self.step is None or not mentions_lanes(self.step))

    def after(self, turns: Expression, moved: Expression) -> Affine | None:
        """After `turns`, or having moved by `moved` where there is no step."""
        try:
            form = self.start.form + (moved if self.step is None else self.step * turns)
            needs = (need.of(need.form.substituted(lambda symbol: _filled(symbol, form))) for need in self.needs)
            return Affine(form, self.start.bits, self.start.needs.union(needs))
        except TooLarge:
            return None


def _filled(symbol: Symbol, form: Expression) -> Expression | None:
    """The carried value itself in the place of its symbol."""
    return form if isinstance(symbol, Carried) else None


def progress(
    start: Affine, carried: Carried, nexts: Sequence[Affine], varies: Callable[[Symbol], bool]
) -> Progress | None:
    """The progress of a value that is the symbol `carried` in the body, from what the jumps to the next turn hand on.

    ``varies``: whether a symbol is another number in each turn. None if no more can be said than the type does.
    """
    needs: Needs = frozenset().union(*(found.needs for found in nexts))
    steps = [found.form - of(carried) for found in nexts]
    others = (form for form in (*steps, *(need.form for need in needs)))
    if any(form.mentions(lambda symbol: isinstance(symbol, Carried) and symbol != carried) for form in others):
        return None
    if any(step.mentions(lambda symbol: isinstance(symbol, Carried)) for step in steps):
        return None
    if all(step == steps[0] and not step.mentions(varies) for step in steps):
        return Progress(start, steps[0] if steps else ZERO, needs)
    return None if any(map(mentions_lanes, steps)) else Progress(start, None, needs)
