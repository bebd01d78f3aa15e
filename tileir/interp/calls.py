"""Calls of device functions (spec: calls#top).

Knows: that a call runs the prepared function in a frame of its own. Does not know: how functions are prepared
(`prepare`).
"""

from __future__ import annotations

from collections.abc import Generator

from tileir.interp.api import BlockState
from tileir.interp.prepare import ControlRule, Preparation
from tileir.interp.program import Control, Exit, Frame, store
from tileir.ir.rules import Rules
from tileir.ops.calls import Call

controls: Rules[ControlRule] = Rules()

Steps = Generator[None, None, Exit | None]


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
