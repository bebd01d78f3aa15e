"""The observer of the explorer: a tile block whose reads are answered, or not yet.

PENDING spreads through all that is computed from a read without an answer; tokens carry the instructions before them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from tileir.analysis.effects import access_of, accesses_of, own_effect, reachable
from tileir.analysis.structure import RegionExit, exits_from
from tileir.explore.access import ExploredAccess
from tileir.explore.blocks import Halt, ReplayedBlock
from tileir.explore.pending import PENDING, any_pending, joined_tokens
from tileir.explore.program import ModelProgram
from tileir.interp.api import BlockState
from tileir.interp.prepare import ControlRule, Observer, Preparation, RegionRule
from tileir.interp.program import Control, Exit, Frame, Step, store
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.effects import Effect
from tileir.ir.types import TokenType
from tileir.ops.calls import Call
from tileir.ops.control import Assert, For, If, Loop
from tileir.ops.misc import PrintTko
from tileir.ops.pointers import Alloca

Function = Callable[..., object]
Flow = Generator[None, None, Exit | None]
TARGET = "explore"


@dataclass(frozen=True)
class LoopLimits:
    """How far loops are explored: `iterations` of one that changes something, and the numbers of those `kept`, of which
    an iteration that changes nothing is explored once."""

    iterations: int
    kept: frozenset[int] = frozenset()


class ExplorerObserver(Observer):
    """Watches a program whose reads are answered."""

    def __init__(self, program: ModelProgram, limits: LoopLimits) -> None:
        self._program, self._limits = program, limits

    def pure(self, op: Op, function: Function) -> Function:
        gives_token = any(isinstance(result.type, TokenType) for result in op.results)
        return joined_tokens if gives_token else _spreading(op, function)

    def effect(self, op: Op, function: Function) -> Function:
        if access_of(op) is not None:
            return ExploredAccess(self._program, op, function)
        if own_effect(op) & Effect.HOST:
            raise UnsupportedError(f"'{op.spec.name}': functions of the host", TARGET, op.loc)
        if isinstance(op, PrintTko):
            return lambda block, tiles, token: joined_tokens(token)
        return _noting(op, _spreading(op, function))

    def region(self, op: Op, preparation: Preparation, rule: RegionRule) -> Step:
        return _region(op, preparation, rule)

    def control(self, op: Op, preparation: Preparation, rule: ControlRule) -> Control:
        if isinstance(op, Loop):
            return _loop(op, preparation, self._program, self._limits)
        if isinstance(op, Call):
            return _called(op, preparation, rule, self._program)
        assert isinstance(op, If | For), f"control operation '{op.spec.name}' without a rule here"
        return _decided(op, preparation, rule, self._program)


def _spreading(op: Op, function: Function) -> Function:
    """The function; of a pending operand it makes pending results."""
    pending = PENDING if len(op.results) == 1 else (PENDING,) * len(op.results) or None

    def run(*values: object) -> object:
        return pending if any_pending(values) else function(*values)

    return run


def _noting(op: Op, function: Function) -> Function:
    """The function, with what the tile block has to know of it."""
    if not isinstance(op, Assert | Alloca):
        return function

    def run(block: ReplayedBlock, *values: object) -> object:
        if isinstance(op, Assert) and not any_pending(values):
            block.reached.add(op)
        block.answering.place = (id(op), block.instance(0))
        return function(block, *values)

    return run


# ------------------------------------------------------------ regions and control


def _region(op: Op, preparation: Preparation, rule: RegionRule) -> Step:
    """The step of a reduction, whose results are pending if anything that it reads is."""
    inside = {value for inner in op.walk() for value in inner.results}
    inside |= {value for inner in op.walk() for region in inner.regions if region for value in region.args}
    used = {value for inner in op.walk() for value in inner.operands} - inside
    needed = [preparation.slot(value) for value in used]
    step = rule(op, preparation)
    results = _result_slots(op, preparation)

    def run(frame: Frame, block: BlockState) -> None:
        if any_pending(frame[slot] for slot in needed):
            store(frame, results, [PENDING] * len(results))
        else:
            step(frame, block)

    return run


def _result_slots(op: Op, preparation: Preparation) -> list[int]:
    return [slot for slot in map(preparation.slots.of, op.results) if slot is not None]


def _decided(op: Op, preparation: Preparation, rule: ControlRule, program: ModelProgram) -> Control:
    """`if` and `for`: where what they do depends on a pending value they are passed over, unless they may be left."""
    deciding = [op.condition] if isinstance(op, If) else [op.lower, op.upper, op.step] if isinstance(op, For) else []
    needed = [preparation.slot(value) for value in deciding]
    control, number = rule(op, preparation), program.number(op)
    results = _result_slots(op, preparation)
    leaves = isinstance(op, If) and any(any(exits_from(region)) for region in filter(None, op.regions))
    inside = frozenset(program.writers(reachable(op)))
    accesses = frozenset(program.number(access.op) for access in accesses_of(op))

    def run(frame: Frame, block: BlockState) -> Flow:
        assert isinstance(block, ReplayedBlock)
        if not any_pending(frame[slot] for slot in needed):
            if isinstance(op, If):
                return (yield from control(frame, block))
            block.path += [number, -1]
            left = yield from control(frame, block)
            del block.path[-2:]
            return left
        if leaves:
            raise Halt("pending", op)
        block.skipped |= inside
        block.wrote += bool(inside)
        block.latest |= dict.fromkeys(accesses, PENDING)
        store(frame, results, [PENDING] * len(results))
        return None

    return run


def _called(op: Op, preparation: Preparation, rule: ControlRule, program: ModelProgram) -> Control:
    control, number = rule(op, preparation), program.number(op)

    def run(frame: Frame, block: BlockState) -> Flow:
        assert isinstance(block, ReplayedBlock)
        block.path.append(number)
        left = yield from control(frame, block)
        block.path.pop()
        return left

    return run


def _loop(op: Op, preparation: Preparation, program: ModelProgram, limits: LoopLimits) -> Control:
    assert isinstance(op, Loop)
    initial = preparation.fetch(op.initial)
    body = preparation.region(op.body)
    results = preparation.results(op)
    number = program.number(op)
    allowed = 1 if number in limits.kept else 0

    def run(frame: Frame, block: BlockState) -> Flow:
        assert isinstance(block, ReplayedBlock)
        left, quiet = Exit(RegionExit.CONTINUE, initial(frame)), 0
        block.path += [number, -1]
        block.loops.append(0)
        while left.kind is RegionExit.CONTINUE:
            if block.path[-1] + 1 - quiet >= limits.iterations:
                raise Halt("bounded", op)
            block.begin_iteration()
            block.loops[-1], given = block.wrote, left.values
            store(frame, body.arguments, given)
            left = yield from body.run(frame, block)
            if left.kind is RegionExit.CONTINUE and block.awaits and all(map(_same, given, left.values)):
                quiet += 1
                if quiet > allowed:
                    raise Halt("waiting", op)
        del block.path[-2:]
        block.loops.pop()
        if left.kind is not RegionExit.BREAK:
            return left
        store(frame, results, left.values)
        return None

    return run


def _same(old: object, new: object) -> bool:
    """Whether a carried value is what it was; tokens count as that."""
    if old is PENDING or new is PENDING:
        return False
    if isinstance(old, frozenset):
        return True
    if isinstance(old, np.ndarray | np.generic) and isinstance(new, np.ndarray | np.generic):
        return old.tobytes() == new.tobytes()
    return old is new or old == new
