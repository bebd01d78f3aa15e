"""Intervals of the numbers that symbols are, while a footprint is evaluated.

Each symbol has a *slot*. ``2 * stride * row + 2 * column`` is a `Sum` over slots; once the stride is known to be 192 it
is linear in the other two. A guard ``columns - column - 1 >= 0`` takes from the interval of the column what it forbids.

Knows: bounds of sums, what a guard says of each slot in it, symbols that depend on others. Does not know: footprints.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.analysis.ranges import Range
from tileir.analysis.symbols import RANGES, Kind

Terms = tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Sum:
    """``constant`` plus, for each of `terms`, a factor times the numbers of some slots."""

    constant: int
    terms: Terms

    def bounds(self, low: list[int], high: list[int]) -> tuple[int, int]:
        """Of the sum, from those of the slots."""
        least = most = self.constant
        for factor, slots in self.terms:
            a = b = factor
            for slot in slots:
                x, y = low[slot], high[slot]
                if x == y:
                    a *= x
                    b *= x
                else:
                    products = (a * x, a * y, b * x, b * y)
                    a, b = min(products), max(products)
            if a > b:
                a, b = b, a
            least += a
            most += b
        return least, most

    def linear(self, low: list[int], high: list[int]) -> tuple[int, dict[int, int], bool]:
        """The part that is known already, the factor of each slot that is not, and whether that is all: no products
        of two such slots."""
        constant, factors, plain = self.constant, dict[int, int](), True
        for factor, slots in self.terms:
            free = [slot for slot in slots if low[slot] != high[slot]]
            for slot in slots:
                if low[slot] == high[slot]:
                    factor *= low[slot]
            if not free or not factor:
                constant += factor
            elif len(free) == 1:
                factors[free[0]] = factors.get(free[0], 0) + factor
            else:
                plain = False
        return constant, {slot: factor for slot, factor in factors.items() if factor}, plain


@dataclass(frozen=True)
class Fits:
    """A condition that a sum lies in [`low`, `high`]."""

    sum: Sum
    low: int
    high: int
    promised: bool

    def holds(self, state: State) -> bool:
        if self.promised and state.trust:
            return True
        least, most = self.sum.bounds(state.low, state.high)
        return self.low <= least and most <= self.high


@dataclass
class State:
    """The interval of each slot; whether all numbers in it occur, whatever the other slots are; whether promises of the
    program are relied on."""

    low: list[int]
    high: list[int]
    full: list[bool]
    trust: bool

    def copy(self) -> State:
        return State(self.low.copy(), self.high.copy(), self.full.copy(), self.trust)


# ---------------------------------------------------------------- steps: symbols that depend on others


@dataclass(frozen=True)
class TurnStep:
    slot: int
    count: Sum
    needs: tuple[Fits, ...]

    def run(self, state: State) -> None:
        """All turns occur if it is known how many there are."""
        if all(need.holds(state) for need in self.needs):
            least, most = self.count.bounds(state.low, state.high)
            state.high[self.slot] = min(most - 1, state.high[self.slot])
            state.full[self.slot] = least == most


@dataclass(frozen=True)
class FunctionStep:
    slot: int
    kind: Kind
    a: Sum
    b: Sum
    needs: tuple[Fits, ...]

    def run(self, state: State) -> None:
        if all(need.holds(state) for need in self.needs):
            a, b = (Range(1, *operand.bounds(state.low, state.high)) for operand in (self.a, self.b))
            found = RANGES[self.kind](a, b)
            if found is not None:
                state.low[self.slot] = max(found.low, state.low[self.slot])
                state.high[self.slot] = min(found.high, state.high[self.slot])


@dataclass(frozen=True)
class EitherStep:
    slot: int
    a: Sum
    b: Sum

    def run(self, state: State) -> None:
        a, b = (operand.bounds(state.low, state.high) for operand in (self.a, self.b))
        state.low[self.slot], state.high[self.slot] = min(a[0], b[0]), max(a[1], b[1])


Step = TurnStep | FunctionStep | EitherStep


# ---------------------------------------------------------------- guards


@dataclass(frozen=True)
class Bound:
    """A guard: `sum` is at least 0, as long as `needs` hold."""

    sum: Sum
    needs: tuple[Fits, ...]
    promised: bool

    def apply(self, state: State, before: State) -> bool | None:
        """Narrow the slots. Whether nothing is lost by that: None if the guard holds nowhere.

        Its conditions are judged by `before`, in which the guard itself has narrowed nothing.
        """
        if (self.promised and not state.trust) or not all(need.holds(before) for need in self.needs):
            return False
        low, high = state.low, state.high
        least, most = self.sum.bounds(low, high)
        if least >= 0:
            return True
        if most < 0:
            return None
        _, factors, plain = self.sum.linear(low, high)
        for slot, factor in factors.items():
            if factor > 0:
                # The others give at most `most - factor * high`.
                low[slot] = max(low[slot], high[slot] - most // factor)
            elif factor < 0:
                high[slot] = min(high[slot], low[slot] + most // -factor)
        return plain and len(factors) == 1 and all(state.full[slot] for slot in factors)


@dataclass(frozen=True)
class CoordinateSlot:
    """A coordinate: the slot of a sum of others."""

    slot: int
    sum: Sum

    def free(self, state: State) -> list[int]:
        """The slots in the sum that are not known."""
        return list(self.sum.linear(state.low, state.high)[1])

    def start(self, state: State) -> None:
        state.low[self.slot], state.high[self.slot] = self.sum.bounds(state.low, state.high)
        state.full[self.slot] = self._dense(state)

    def _dense(self, state: State) -> bool:
        """Whether each number between its bounds occurs."""
        _, factors, plain = self.sum.linear(state.low, state.high)
        reach = 0
        for factor, slot in sorted((abs(factor), slot) for slot, factor in factors.items()):
            if factor > reach + 1 or not state.full[slot]:
                return False
            reach += factor * (state.high[slot] - state.low[slot])
        return plain
