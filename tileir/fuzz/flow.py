"""Statements of control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tileir.cpu.lowering.safepoints import PATIENCE
from tileir.fuzz.draft import ACQUIRE, SHAPES, ProgramScope
from tileir.fuzz.memory import MemoryStatements
from tileir.ir import types as t
from tileir.ir.attributes import (
    Predicate,
    Signedness,
)
from tileir.ir.core import Block, Value
from tileir.ops import (
    control,
    integer,
)


class FlowStatements(MemoryStatements):
    """Loops and branches."""

    def _carried(self) -> list[Value]:
        """Return one to three values to carry, tiles or scalars; the same one may come twice."""
        found = [value for value in (self.pick(lambda type: True) for _ in range(self.choose((1, 2, 3)))) if value]
        return found

    def _inside(self, block: Block, values: Sequence[Value], fill: Callable[[], None]) -> None:
        """Make statements of a region, which sees what is known outside; ended by `fill`."""
        outer = self.scope
        token = block.args[-1] if block.args and isinstance(block.args[-1].type, t.TokenType) else outer.token
        self.scope = ProgramScope(block, [*outer.values, *values], token, outer.depth + 1)
        for _ in range(self.choose((1, 2, 3, 4))):
            self.statement()
        fill()
        self.scope = outer

    def _results(self, carried: Sequence[Value]) -> list[Value]:
        """Return values of the types carried, then the token. A carried value may come back in another place."""
        return [*(self.like(value.tile) for value in carried), self.scope.token]

    def counted(self) -> None:
        carried = self._carried()
        types = [*(value.type for value in carried), t.TOKEN]
        lower, upper, step = (self.a_number(self.choose(options)) for options in ((0, 1), (3, 1, 0), (1, 2)))
        body = Block([t.tile(t.I32), *types])
        start = [*carried, self.scope.token]

        def end() -> None:
            self.scope.block.append(control.Continue.build(operands=self._results(carried)))

        self._inside(body, [*body.args[1:-1], *([body.args[0]] if t.I32 in self.elements else [])], end)
        fields: dict[str, Any] = {
            "lowerBound": lower,
            "upperBound": upper,
            "step": step,
            "initValues": start,
            "body": body,
        }
        self.emit(control.For.build(types, **fields))

    def loop(self) -> None:
        """Make a loop of at most three rounds: a counter ends it, early or late in the body."""
        self._loop((1, 2, 3), lambda: None)

    def wait(self) -> None:
        """Make a loop that looks for writes of other tile blocks, so long that native code lets these run."""
        often = PATIENCE + 2 if self.scope.depth == 0 else 2
        self._loop((often, 1), lambda: self.load_pointers(SHAPES[:3], (ACQUIRE,)))

    def _loop(self, rounds: Sequence[int], begin_end: Callable[[], None]) -> None:
        carried = self._carried()
        types = [*(value.type for value in carried), t.TOKEN]
        zero, one, limit = self.a_number(0), self.a_number(1), self.a_number(self.choose(rounds))
        body = Block([t.tile(t.I32), *types])
        start = [zero, *carried, self.scope.token]

        def end() -> None:
            begin_end()
            self._end_of_loop(body.args[0], one, limit, carried)

        self._inside(body, body.args[1:-1], end)
        self.emit(control.Loop.build(types, initValues=start, body=body))

    def _end_of_loop(self, counter: Value, one: Value, limit: Value, carried: Sequence[Value]) -> None:
        block = self.scope.block
        following = block.append(integer.AddI.build([t.tile(t.I32)], lhs=counter, rhs=one)).results[0]
        done = block.append(
            integer.CmpI.build(
                [t.tile(t.I1)],
                comparison_predicate=Predicate.GREATER_THAN_OR_EQUAL,
                signedness=Signedness.SIGNED,
                lhs=following,
                rhs=limit,
            )
        ).results[0]
        then = Block()
        then.append(control.Break.build(operands=self._results(carried)))
        block.append(control.If.build(condition=done, then=then))
        if self.choose((False, True)):
            self.statement()
        self.scope.block.append(control.Continue.build(operands=[following, *self._results(carried)]))

    def branch(self) -> None:
        condition = self.like(t.tile(t.I1))
        carried = self._carried()
        types = [*(value.type for value in carried), t.TOKEN]
        then, otherwise = Block(), Block()
        for block in (then, otherwise):
            self._inside(block, (), lambda: self._end_of_branch(carried))
        self.emit(control.If.build(types, condition=condition, then=then, otherwise=otherwise))

    def _end_of_branch(self, carried: Sequence[Value]) -> None:
        self.scope.block.append(control.Yield.build(operands=self._results(carried)))
