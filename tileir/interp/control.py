"""Control flow and calls (spec: control#top, spec: calls#top)."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from tileir.analysis.structure import RegionExit
from tileir.host import extern, undefined
from tileir.host.undefined import assertion_text
from tileir.interp.api import BlockState, EffectRule
from tileir.interp.faults import Fault
from tileir.interp.prepare import ControlRule, Preparation
from tileir.interp.program import Control, Exit, Frame, store
from tileir.ir.core import Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import shown
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.ir.types import TileType, TokenType
from tileir.numerics.bits import first_index
from tileir.ops.calls import Call, PreviewCall
from tileir.ops.control import Assert, For, If, Loop

controls: Rules[ControlRule] = Rules()
effects: Rules[EffectRule] = Rules()

ITERATIONS_PER_TURN = 1 << 8
"""A `loop` gives way to other tile blocks this often, so that one that spins on weak loads ends."""

MAX_COMPARED = 64
"""Elements of a tile that is compared with what it was an iteration ago."""

Steps = Generator[None, None, Exit | None]


@controls(If)
def _if(op: If, preparation: Preparation) -> Control:
    condition = preparation.slot(op.condition)
    then = preparation.region(op.then)
    otherwise = None if op.otherwise is None else preparation.region(op.otherwise)
    results = preparation.results(op)

    def run(frame: Frame, block: BlockState) -> Steps:
        region = then if frame[condition] else otherwise
        if region is None:
            return None
        left = yield from region.run(frame, block)
        if left.kind is not RegionExit.YIELD:
            return left
        store(frame, results, left.values)
        return None

    return run


@controls(For)
def _for(op: For, preparation: Preparation) -> Control:
    bounds, initial = preparation.fetch([op.lower, op.upper, op.step]), preparation.carried(op)
    body = preparation.region(op.body)
    results = preparation.results(op)
    counter = _counter(op)

    def run(frame: Frame, block: BlockState) -> Steps:
        values = initial(frame)
        for induction in counter(block, *bounds(frame)):
            block.begin_iteration()
            block.changes()
            store(frame, body.arguments, (induction, *values))
            left = yield from body.run(frame, block)
            if left.kind is not RegionExit.CONTINUE:
                return left
            values = left.values
        store(frame, results, values)
        return None

    return run


def _counter(op: For) -> Callable[..., Generator[object, None, None]]:
    """Yield the induction values. The mathematical range ends where the type overflows, which strict mode traps."""
    ty = op.lower.type
    scalar, modulus, limit = dtype_of(ty.element).type, 1 << ty.element.bits, 1 << (ty.element.bits - 1)

    def number(value: object, unsigned: bool) -> int:
        bits = int(value) % modulus  # type: ignore[call-overload]
        return bits if unsigned or bits < limit else bits - modulus

    def count(block: BlockState, lower: object, upper: object, step: object) -> Generator[object, None, None]:
        stride = number(step, unsigned=False)
        if stride <= 0:
            raise Fault(undefined.no_step(stride))
        numbers = range(number(lower, op.unsigned), number(upper, op.unsigned), stride)
        for value in numbers:
            yield scalar(value if value < limit else value - modulus)
        if numbers and numbers[-1] + stride >= (modulus if op.unsigned else limit):
            block.overflowed(op, undefined.counter_overflow(ty.number, numbers[-1], stride))

    return count


@controls(Loop)
def _loop(op: Loop, preparation: Preparation) -> Control:
    initial = preparation.fetch(op.initial)
    body = preparation.region(op.body)
    results = preparation.results(op)

    def run(frame: Frame, block: BlockState) -> Steps:
        left = Exit(RegionExit.CONTINUE, initial(frame))
        while left.kind is RegionExit.CONTINUE:
            block.begin_iteration()
            values = left.values
            store(frame, body.arguments, values)
            left = yield from body.run(frame, block)
            if left.kind is RegionExit.CONTINUE and _ends_turn(block, op, values, left.values):
                yield
        if left.kind is not RegionExit.BREAK:
            return left
        store(frame, results, left.values)
        return None

    return run


def _ends_turn(block: BlockState, op: Loop, given: tuple[object, ...], passed: tuple[object, ...]) -> bool:
    """Return, after an iteration that is not the last, whether it is another tile block's turn."""
    if all(map(_same, given, passed)):
        block.repeats(op)
    else:
        block.changes()
    return block.waits or block.iterations % ITERATIONS_PER_TURN == 0


def _same(old: object, new: object) -> bool:
    """Return whether a value is unchanged. For a large tile or a view, only an identical object counts."""
    if old is new:
        return True
    if not isinstance(old, np.ndarray | np.generic) or not isinstance(new, np.ndarray | np.generic):
        return False
    return old.size <= MAX_COMPARED and old.tobytes() == new.tobytes()


@effects(Assert)
def _assert(op: Assert) -> Callable[[BlockState, np.ndarray], None]:
    def check(block: BlockState, condition: np.ndarray) -> None:
        if not condition.all():
            raise Fault(assertion_text(op, block.id, condition), index=first_index(~condition))

    return check


TARGET = "interp"


@controls(Call)
def _call(op: Call, preparation: Preparation) -> Control:
    arguments = preparation.fetch(op.args)
    function = preparation.linker.callee(op.callee, op)
    results = preparation.results(op)

    def run(frame: Frame, block: BlockState) -> Steps:
        left = yield from function.body.run(function.frame(arguments(frame)), block)
        store(frame, results, left.values)
        return None

    return run


@effects(PreviewCall)
def _preview_call(op: PreviewCall) -> Callable[[BlockState, tuple[object, ...]], object]:
    """Call the stand-in of the host; tokens pass it by."""
    function = _stand_in(op)
    constants = tuple(map(extern.constant_of, op.const_args))
    tiles = [position for position, value in enumerate(op.args) if isinstance(value.type, TileType)]
    types = [value.type for value in op.outputs if isinstance(value.type, TileType)]

    def run(block: BlockState, values: tuple[object, ...]) -> object:
        block.changes()
        given = function(*constants, *[_read_only(values[position]) for position in tiles])
        try:
            made = iter(extern.tiles_of(given, types))
        except ValueError as error:
            raise Fault(f"the stand-in for '{shown(op.callee)}': {error}") from None
        results = tuple(None if isinstance(value.type, TokenType) else next(made) for value in op.outputs)
        return results[0] if len(results) == 1 else results

    return run


def _stand_in(op: PreviewCall) -> extern.StandIn:
    found = extern.stand_in(op.callee)
    if found is None:
        what = f"'{op.spec.name}' calls '{shown(op.callee)}', code of a GPU that is linked in"
        raise UnsupportedError(f"{what}; tileir.register_stand_in gives it a Python function", TARGET, op.loc)
    foreign = next((value for value in [*op.args, *op.outputs] if not _passes(value)), None)
    if foreign is not None:
        what = f"'{op.spec.name}': a stand-in takes and gives tiles and tokens, got {foreign.type!r}"
        raise UnsupportedError(what, TARGET, op.loc)
    return found


def _passes(value: Value) -> bool:
    return isinstance(value.type, TileType | TokenType)


def _read_only(value: object) -> np.ndarray:
    view = np.asarray(value).view()
    view.flags.writeable = False
    return view
