"""The pass ``licm``: what is the same in every iteration is computed before the loop.

Knows: which operations may leave a loop, and which loads, by what the loop does to memory and how often it runs.
Does not know: where in memory an access goes (`analysis.footprint`): tokens alone order accesses of one tile block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.analysis.effects import accesses_of, effects_of
from tileir.analysis.structure import home_of
from tileir.ir.core import Block, Op, Value
from tileir.ir.effects import Effect
from tileir.ir.types import TileType
from tileir.ops.control import For, Loop
from tileir.ops.floating import DivF, RemF, Sqrt
from tileir.passes.branches import has_plain_body, trip_count
from tileir.passes.facts import is_speculatable, is_weak_load
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.row import Aspect, ChangeLog, Exactness, Row

HOISTED = Row(
    "loop-invariant", "licm", "for or loop { OP(x, ...) }", "OP(x, ...) before the loop", Exactness.EXACT,
    "the operands are the same in every iteration, and the operation can be computed where the loop does not run",
    "x, ... are defined outside the loop; OP cannot trap; it gives one element, or is a quotient, root, function or "
    "product, so that it costs more than to keep its result", Aspect.PLACE,
)  # fmt: skip
HOISTED_LOAD = Row(
    "loop-invariant-load", "licm", "for { weak load p }", "weak load p before the loop", Exactness.PROMISED,
    "no write in the loop is ordered before the load, so that what it changes races (spec: tokens#transformations), "
    "and the first load finds what all find",
    "all operands are defined outside the loop, the token too; the loop runs for certain, has one exit, writes weakly "
    "at most and does not wait", Aspect.PLACE,
)  # fmt: skip
ROWS = (HOISTED, HOISTED_LOAD)

_DISTURBS = Effect.UPDATE | Effect.FENCE | Effect.WAIT | Effect.HOST | Effect.STOP


@dataclass
class _Frame:
    """A block that is being made; `loop`: the operation whose body it is, if that is a loop."""

    block: Block
    loop: For | Loop | None
    still: bool = False
    """Whether the loop certainly runs, and orders nothing that its loads do not wait for."""


class Hoisting(Rebuilding):
    """The walk that moves operations out of loops."""

    def __init__(self, log: ChangeLog) -> None:
        super().__init__(log)
        self.frames: list[_Frame] = []
        self.owners: list[Op] = []

    def visit(self, op: Op) -> None:
        self.owners.append(op)
        super().visit(op)
        self.owners.pop()

    def into(self, block: Block, ops: Sequence[Op]) -> None:  # type: ignore[override]
        owner = self.owners[-1] if self.owners else None
        loop = owner if isinstance(owner, For | Loop) else None
        self.frames.append(_Frame(block, loop, isinstance(loop, For) and self._is_still(loop)))
        super().into(block, ops)
        self.frames.pop()

    def _is_still(self, loop: For) -> bool:
        count = trip_count([self.values[bound] for bound in (loop.lower, loop.upper, loop.step)], loop.unsigned)
        if not count or not has_plain_body(loop) or effects_of(loop) & _DISTURBS:
            return False
        return not any(access.writes and access.is_strong for access in accesses_of(loop))

    def emit(self, op: Op) -> Sequence[Value]:
        loads = is_weak_load(op) and self.log.allows(HOISTED_LOAD)
        if not (loads or (is_speculatable(op) and _is_worth_keeping(op))):
            return super().emit(op)
        homes = {home_of(value) for value in op.operands}
        at = len(self.frames) - 1
        while self.frames[at].loop is not None and self.frames[at].block not in homes:
            if loads and not self.frames[at].still:
                break
            at -= 1
        if at < len(self.frames) - 1:
            self.log.note(HOISTED_LOAD if loads else HOISTED, op, op.results)
        return self.frames[at].block.append(op).results


def _is_worth_keeping(op: Op) -> bool:
    """Whether the results of an operation are better kept through a loop than made again.

    A tile has to lie somewhere meanwhile, and code that makes its elements where they are used is cheaper than that.
    """
    if op.spec.chapter in ("functions", "matmul") or isinstance(op, DivF | Sqrt | RemF):
        return True
    return all(not isinstance(result.type, TileType) or result.type.count == 1 for result in op.results)
