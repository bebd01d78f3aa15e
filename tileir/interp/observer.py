"""Observers for tools: events before and after each operation, and who wrote a byte last.

`prepare.Observer` is what every observer can do; the sanitizer and the explorer have one of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np

from tileir.interp.api import BlockState
from tileir.interp.cells import CheckedAccess
from tileir.interp.faults import Fault
from tileir.interp.memory import MemoryObserver
from tileir.interp.prepare import ControlRule, Observer, Preparation, RegionRule
from tileir.interp.program import Control, Exit, Frame, Step
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates

Function = Callable[..., object]
Values = Sequence[object]
"""One for each operand or result, in order: a tile, a view, None for a token or for an operand that is absent."""


class Listener(Observer):
    """Hears of every operation before and after it runs.

    Nothing is computed ahead of the launch, so it hears of constants too. The bodies of `reduce` and `scan` run with
    arrays in the place of scalars, as always.
    """

    def before(self, op: Op, values: Values) -> None:
        """Note that an operation is about to run."""

    def after(self, op: Op, values: Values, results: Values) -> None:
        """Note that an operation has run; one that leaves its region gives no results."""

    def pure(self, op: Op, function: Function) -> Function:
        def run(*given: object) -> object:
            if self.block is None:
                raise Fault("nothing is computed before the launch")
            return self._heard(op, given, lambda: function(*given))

        return run

    def effect(self, op: Op, function: Function) -> Function:
        return lambda block, *given: self._heard(op, given, lambda: function(block, *given))

    def _heard(self, op: Op, given: Sequence[object], call: Callable[[], object]) -> object:
        values = _per_operand(op, given)
        self.before(op, values)
        result = call()
        self.after(op, values, _per_result(op, result))
        return result

    def region(self, op: Op, preparation: Preparation, rule: RegionRule) -> Step:
        operands = [preparation.slot(value) for value in op.operands]
        step = rule(op, preparation)
        results = _results(op, preparation)

        def run(frame: Frame, block: BlockState) -> None:
            values = [frame[slot] for slot in operands]
            self.before(op, values)
            step(frame, block)
            self.after(op, values, results(frame))

        return run

    def control(self, op: Op, preparation: Preparation, rule: ControlRule) -> Control:
        operands = [preparation.slot(value) for value in op.operands]
        control = rule(op, preparation)
        results = _results(op, preparation)

        def run(frame: Frame, block: BlockState) -> Generator[None, None, Exit | None]:
            values = [frame[slot] for slot in operands]
            self.before(op, values)
            left: Exit | None = yield from control(frame, block)
            self.after(op, values, () if left is not None else results(frame))
            return left

        return run


def _per_operand(op: Op, given: Sequence[object]) -> list[object]:
    """Return one value for each operand, from those for each declared one."""
    found: list[object] = []
    for operand, value in zip(op.spec.operands, given):
        if operand.variadic:
            found += value  # type: ignore[arg-type]
        elif op.segments[operand.position]:
            found.append(value)
    return found


def _per_result(op: Op, result: object) -> Values:
    if len(op.results) > 1:
        return result if isinstance(result, tuple) else (result,)
    return (result,) if op.results else ()


def _results(op: Op, preparation: Preparation) -> Callable[[Frame], Values]:
    """Return the function that reads the results; None for one that nobody uses, which has no slot."""
    slots = [preparation.slots.of(result) for result in op.results]
    return lambda frame: [None if slot is None else frame[slot] for slot in slots]


class LastWriter(MemoryObserver):
    """Remembers in `writer` which tile block wrote the byte at `address` last."""

    def __init__(self, address: int) -> None:
        self._address = np.uint64(address)
        self.writer: Coordinates | None = None

    def touches(self, addresses: np.ndarray, access: CheckedAccess) -> None:
        if access.write and (self._address - addresses < np.uint64(access.cell.size)).any():
            self.writer = access.block
