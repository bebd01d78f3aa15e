"""Exits of regions, and the values that tell the code around a region which one it took.

Knows: the exits of Tile IR (`yield`, `continue`, `break`, `return`), which of them a region may take, and how the exit
that was taken travels in the results of one instruction. Does not know: the code of any operation (`control`).

TTIR has structured control flow only: a region runs to its end. So a region that may be left in several ways yields a
code that says which, and the values that travel with it. Values of different exits share a result where their types
agree, as only one exit is taken; the results that the taken exit has nothing for are zeros.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tileir.analysis.exits import EXITS, RegionExit
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, I64, TtirType, TtirValue
from tileir.ir.core import Block, Op
from tileir.ops import control
from tileir.ops.module import Entry

_GOES_ON = frozenset({RegionExit.YIELD})


# ---------------------------------------------------------------- what the program says


def exits_of(block: Block) -> frozenset[RegionExit]:
    """The exits that the region may take."""
    found: frozenset[RegionExit] = frozenset()
    for op in block.ops:
        if type(op) in EXITS:
            return found | {EXITS[type(op)]}
        through = exits_through(op)
        found |= through - _GOES_ON
        if RegionExit.YIELD not in through:
            return found
    return found | _GOES_ON


def exits_through(op: Op) -> frozenset[RegionExit]:
    """The exits by which control leaves an operation; `RegionExit.YIELD` stands for the operation after it."""
    if isinstance(op, control.If):
        otherwise = _GOES_ON if op.otherwise is None else exits_of(op.otherwise)
        return exits_of(op.then) | otherwise
    if isinstance(op, control.Loop):
        return _GOES_ON | (exits_of(op.body) & {RegionExit.RETURN})
    if isinstance(op, control.Assert) and _stands_in_entry(op):
        return _GOES_ON | {RegionExit.RETURN}
    return _GOES_ON


def _stands_in_entry(op: Op) -> bool:
    """Whether `return` may stand where `op` does without a loop or a call to leave.

    There an assertion that fails ends the tile block. Elsewhere the block goes on, as it may
    (spec: control#assert-failure): no loop is to pay for it.
    """
    parent = op.parent_op
    while isinstance(parent, control.If):
        parent = parent.parent_op
    return isinstance(parent, Entry)


def leaves(op: Op) -> bool:
    """Whether what stands behind the operation may be skipped."""
    return exits_through(op) != _GOES_ON


# ---------------------------------------------------------------- what the code says


@dataclass(frozen=True)
class RegionOutcome:
    """The end of a piece of code: the values that travel with each exit that it may take.

    `code` is the exit taken, if there is more than one; then the values come from `ResultLayout.unpacked`. Code that
    may take no exit at all never ends.
    """

    values: dict[RegionExit, list[TtirValue]]
    code: TtirValue | None = None

    def without(self, exit: RegionExit) -> RegionOutcome:
        """The outcome where `exit` is known not to be taken."""
        others = {other: values for other, values in self.values.items() if other is not exit}
        return RegionOutcome(others, self.code if len(others) > 1 else None)

    def is_by(self, build: Builder, exit: RegionExit) -> TtirValue:
        """Whether `exit` is taken, as an i1."""
        if self.code is None:
            return build.truth(exit in self.values)
        return build.compare("eq", self.code, build.integer(I32, exit))


Slot = tuple[TtirType, int]
"""The n-th value of a type."""


class ResultLayout:
    """The results that hold any of some outcomes: the code if there is more than one exit, then the slots."""

    def __init__(self, outcomes: Iterable[RegionOutcome]) -> None:
        values = {exit: values for outcome in outcomes for exit, values in outcome.values.items()}
        self._places = {exit: list(_slots(values[exit])) for exit in sorted(values)}
        self._slots = list(dict.fromkeys(slot for slots in self._places.values() for slot in slots))
        self._coded = len(self._places) > 1

    @property
    def types(self) -> list[TtirType]:
        return [I32] * self._coded + [type for type, _ in self._slots]

    def packed(self, build: Builder, outcome: RegionOutcome) -> list[TtirValue]:
        """The results for an outcome."""
        held = {slot: value for values in outcome.values.values() for slot, value in zip(_slots(values), values)}
        values = [held[slot] if slot in held else placeholder(build, slot[0]) for slot in self._slots]
        return [self._code(build, outcome), *values] if self._coded else values

    def unpacked(self, results: Sequence[TtirValue]) -> RegionOutcome:
        """The outcome that the results hold."""
        held = dict(zip(self._slots, results[self._coded :]))
        values = {exit: [held[slot] for slot in slots] for exit, slots in self._places.items()}
        return RegionOutcome(values, results[0] if self._coded else None)

    def _code(self, build: Builder, outcome: RegionOutcome) -> TtirValue:
        if outcome.code is not None:
            return outcome.code
        return build.integer(I32, next(iter(outcome.values), RegionExit.YIELD))


def _slots(values: Sequence[TtirValue]) -> Iterator[Slot]:
    seen: Counter[TtirType] = Counter()
    for value in values:
        yield value.type, seen[value.type]
        seen[value.type] += 1


def placeholder(build: Builder, type: TtirType) -> TtirValue:
    """A value of `type` that nobody looks at."""
    if type.is_pointer:
        return build.op("tt.int_to_ptr", build.integer(type.of(I64.element), 0), type=type)
    return build.bits(type, 0)
