"""The observer of the explorer: accesses are answered by the model, and PENDING spreads through all that follows.

Tokens carry the instructions before them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from tileir.analysis.effects import access_of, accesses_of, own_effect, reachable
from tileir.analysis.structure import RegionExit, exits_from
from tileir.explore.blocks import PENDING, Halt, ReplayedBlock, any_pending, joined_tokens
from tileir.explore.events import AccessInstruction, ExecutedOp, PromisedStore, Tokens
from tileir.explore.program import ModelProgram
from tileir.interp.api import BlockState
from tileir.interp.prepare import ControlRule, Observer, Preparation, RegionRule
from tileir.interp.program import Control, Exit, Frame, Step, store
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.effects import Effect
from tileir.ir.storage import dtype_of
from tileir.ir.types import TileType, TokenType
from tileir.ops.calls import Call
from tileir.ops.control import Assert, For, If, Loop
from tileir.ops.misc import PrintTko
from tileir.ops.pointers import Alloca

NO_TOKENS: Tokens = frozenset()


class ExploredAccess:
    """The rule of an operation that accesses memory; called as the rule is."""

    def __init__(self, program: ModelProgram, op: Op, function: Callable[..., object]) -> None:
        self._op = op
        self._function = function
        self._site = program.site(op)
        self._after = program.extra_tokens(self._site.number)
        names = [operand.name for operand in op.spec.operands]
        declared = self._site.access.declared
        self._token = next((at for at, operand in enumerate(op.spec.operands) if _is_token(op, operand.position)), None)
        self._expected = names.index(declared.expected) if declared.expected else None
        self._value = names.index(declared.value) if declared.value else None
        self._mask = names.index(declared.mask) if declared.mask else None
        self._gives_tile = any(isinstance(result.type, TileType) for result in op.results)

    def __call__(self, block: ReplayedBlock, *values: object) -> object:
        instance = block.instance(self._site.number)
        before = self._before(block, values)
        operands = [value for at, value in enumerate(values) if at != self._token]
        if before is PENDING or any_pending(operands):
            return self._put_off(block, instance, before, values)
        assert isinstance(before, frozenset), "tokens carry instructions"
        tile = self._make(block, instance, before, values)
        token = before | {instance}
        block.latest[self._site.number] = token
        return self._results(tile, token)

    def _before(self, block: ReplayedBlock, values: tuple[object, ...]) -> object:
        """Return the instructions that it waits for."""
        token = values[self._token] if self._token is not None else None
        extra = [block.latest.get(number, NO_TOKENS) for number in self._after]
        return joined_tokens(token, *extra)

    def _put_off(
        self, block: ReplayedBlock, instance: ExecutedOp, before: object, values: tuple[object, ...]
    ) -> object:
        """Return pending results, as the operands are not known yet: neither what it reads nor what it writes."""
        if self._site.access.writes:
            self._promise(block, before, values)
            block.wrote += 1
        token = before | {instance} if isinstance(before, frozenset) else PENDING
        block.latest[self._site.number] = token
        return self._results(PENDING, token)

    def _promise(self, block: ReplayedBlock, before: object, values: tuple[object, ...]) -> None:
        """Say where it will write, if that is known."""
        value = self._site.access.value
        if value is None or any_pending(one for at, one in enumerate(values) if at not in (self._token, self._value)):
            block.skipped.add(self._site.number)
            return
        zeros = np.zeros(value.tile.shape, dtype_of(value.tile.element))[()]
        block.answering.begin({})
        self._function(block, *(zeros if at == self._value else one for at, one in enumerate(values)))
        known = before if isinstance(before, frozenset) else NO_TOKENS
        block.promised.append(PromisedStore(self._site.number, frozenset(block.answering.cells), known))

    def _results(self, tile: object, token: object) -> object:
        if not self._gives_tile:
            return token if self._op.results else None
        return (tile, token) if len(self._op.results) > 1 else tile

    def _make(self, block: ReplayedBlock, instance: ExecutedOp, before: Tokens, values: tuple[object, ...]) -> object:
        """Make the access; the tile that it gives, PENDING if a lane has no answer."""
        memory, answers, access = block.answering, block.answers.get(instance, {}), self._site.access
        memory.begin(answers)
        found = self._function(block, *values)
        cells, left, awaits = memory.cells, memory.left(), block.awaits
        answered = not access.reads or len(answers) == len(cells)
        written: tuple[int | None, ...] = tuple(left) if access.writes else (None,) * len(cells)
        if access.updates:
            stores = self._stores(values, answers, len(cells))
            written = tuple(value if stores[lane] else None for lane, value in enumerate(left))
        block.wrote += access.writes and (not answered or any(value is not None for value in written))
        block.instructions.append(AccessInstruction(instance, self._site, before, cells, written, awaits))
        tile = found[0] if isinstance(found, tuple) else found
        if not self._gives_tile:
            return None
        if not answered:
            return PENDING
        block.values[self._site.number] = np.asarray(tile)
        return tile

    def _stores(self, values: tuple[object, ...], answers: dict[int, int], lanes: int) -> list[bool]:
        """Return whether each lane of an update has an answer and writes; a compare-and-swap writes only on the
        expected value."""
        if self._expected is None:
            return [lane in answers for lane in range(lanes)]
        expected = np.asarray(values[self._expected])
        mask = values[self._mask] if self._mask is not None else None
        chosen = np.ravel(expected if mask is None else expected[np.asarray(mask)])
        bits = chosen.view(f"u{chosen.dtype.itemsize}").tolist()
        return [answers.get(lane) == bits[lane] for lane in range(lanes)]


def _is_token(op: Op, position: int) -> bool:
    return any(isinstance(value.type, TokenType) for value in op.operand_group(position))


Function = Callable[..., object]
Flow = Generator[None, None, Exit | None]
TARGET = "explore"


@dataclass(frozen=True)
class LoopLimits:
    """The limits on exploring loops: `iterations` of one that changes something, and the numbers of loops `kept`, of
    which one iteration that changes nothing is explored."""

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
    """Return the function; of a pending operand it makes pending results."""
    pending = PENDING if len(op.results) == 1 else (PENDING,) * len(op.results) or None

    def run(*values: object) -> object:
        return pending if any_pending(values) else function(*values)

    return run


def _noting(op: Op, function: Function) -> Function:
    """Return the function, with what the tile block has to know of it."""
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
    """Return the step of a reduction, whose results are pending if anything that it reads is."""
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
    """Pass over an `if` or `for` that depends on a pending value, unless it may be left early."""
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
    """Return whether a carried value is unchanged; tokens count as unchanged."""
    if old is PENDING or new is PENDING:
        return False
    if isinstance(old, frozenset):
        return True
    if isinstance(old, np.ndarray | np.generic) and isinstance(new, np.ndarray | np.generic):
        return old.tobytes() == new.tobytes()
    return old is new or old == new
