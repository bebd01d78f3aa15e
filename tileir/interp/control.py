"""How control flow runs (specification, operations 5): if, for, loop, assert, and calls of device functions.

Knows: which region runs when, with which values, and where an exit ends.
Does not know: how a region is executed (`program`).

`yield`, `continue`, `break` and `return` have no rule here: they are the exit of the region they end.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from tileir.interp.api import BlockState, EffectRule, Fault
from tileir.interp.failures import assertion_text, first_index
from tileir.interp.prepare import ControlRule, Preparation
from tileir.interp.program import Control, Exit, ExitKind, Frame, store
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.ir.types import TileType
from tileir.ops.control import Assert, For, If, Loop
from tileir.ops.extension import Call

controls: Rules[ControlRule] = Rules()
effects: Rules[EffectRule] = Rules()

ITERATIONS_PER_TURN = 1 << 8
"""A `loop` gives way to other tile blocks this often, so that one that spins on weak loads ends."""

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
        if left.kind is not ExitKind.YIELD:
            return left
        store(frame, results, left.values)
        return None

    return run


@controls(For)
def _for(op: For, preparation: Preparation) -> Control:
    bounds, initial = preparation.fetch([op.lower, op.upper, op.step]), preparation.fetch(op.initial)
    body = preparation.region(op.body)
    results = preparation.results(op)
    counter = _counter(op)

    def run(frame: Frame, block: BlockState) -> Steps:
        values = initial(frame)
        for induction in counter(block, *bounds(frame)):
            store(frame, body.arguments, (induction, *values))
            left = yield from body.run(frame, block)
            if left.kind is not ExitKind.CONTINUE:
                return left
            values = left.values
        store(frame, results, values)
        return None

    return run


def _counter(op: For) -> Callable[..., Generator[object, None, None]]:
    """The induction values. The mathematical range ends where the type overflows, which strict mode traps."""
    ty = op.lower.type
    assert isinstance(ty, TileType)
    scalar, modulus, limit = dtype_of(ty.element).type, 1 << ty.element.bits, 1 << (ty.element.bits - 1)

    def number(value: object, unsigned: bool) -> int:
        bits = int(value) % modulus  # type: ignore[call-overload]
        return bits if unsigned or bits < limit else bits - modulus

    def count(block: BlockState, lower: object, upper: object, step: object) -> Generator[object, None, None]:
        stride = number(step, unsigned=False)
        if stride <= 0:
            raise Fault(f"the step of 'for' must be positive, got {stride}")
        numbers = range(number(lower, op.unsigned), number(upper, op.unsigned), stride)
        for value in numbers:
            yield scalar(value if value < limit else value - modulus)
        if numbers and block.options.strict and numbers[-1] + stride >= (modulus if op.unsigned else limit):
            raise Fault(f"the induction variable of 'for' overflows {ty.element!r}: {numbers[-1]} + {stride}")

    return count


@controls(Loop)
def _loop(op: Loop, preparation: Preparation) -> Control:
    initial = preparation.fetch(op.initial)
    body = preparation.region(op.body)
    results = preparation.results(op)

    def run(frame: Frame, block: BlockState) -> Steps:
        left = Exit(ExitKind.CONTINUE, initial(frame))
        while left.kind is ExitKind.CONTINUE:
            store(frame, body.arguments, left.values)
            left = yield from body.run(frame, block)
            if _counts_turn(block):
                yield
        if left.kind is not ExitKind.BREAK:
            return left
        store(frame, results, left.values)
        return None

    return run


def _counts_turn(block: BlockState) -> bool:
    """Count an iteration; whether it is another tile block's turn."""
    block.iterations += 1
    if block.iterations > block.options.max_iterations:
        raise Fault(f"hang: a tile block ran more than {block.options.max_iterations} iterations of 'loop'")
    return block.iterations % ITERATIONS_PER_TURN == 0


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


@effects(Assert)
def _assert(op: Assert) -> Callable[[BlockState, np.ndarray], None]:
    def check(block: BlockState, condition: np.ndarray) -> None:
        if not condition.all():
            raise Fault(assertion_text(op, block.id, condition), index=first_index(~condition))

    return check
