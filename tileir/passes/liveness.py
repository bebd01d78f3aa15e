"""Liveness: the operations and values that something visible depends on.

Knows: how results of control flow depend on what exits hand on and loops carry. Does not know: what is done about it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tileir.analysis.structure import exits_from
from tileir.ir.core import Module, Op, Value
from tileir.ir.traits import SYMBOL
from tileir.ops.calls import Call
from tileir.ops.control import Break, Continue, For, If, Loop, Return, Yield
from tileir.passes.facts import is_needed, may_trap

_JUMPS = (Break, Continue, Return)
_HANDING_ON = (Loop, Yield, Break, Continue)
_LASTING = (Call, Loop)


class Liveness:
    """What of a module is needed: operations in `ops`, values in `values`. An operation that may trap counts as needed
    where faults are to be `kept`.
    """

    def __init__(self, module: Module, kept: bool = False) -> None:
        self.ops: set[Op] = set()
        self.values: set[Value] = set()
        self._feeds: dict[Value, list[Value]] = defaultdict(list)
        """The values that a value, carried or handed on by control flow, is made of."""
        self._waiting: list[Value] = []
        ops = list(module.walk())
        for op in ops:
            if op.regions:
                self._note_flow(op)
        for op in ops:
            if _is_root(op) or (kept and may_trap(op)):
                self.need(op)
        self._settle()

    def need(self, op: Op) -> None:
        """An operation must run, and with it those around it."""
        around: Op | None = op
        while around is not None and around not in self.ops:
            self.ops.add(around)
            self._need_operands(around)
            around = around.parent_op

    def _settle(self) -> None:
        while self._waiting:
            value = self._waiting.pop()
            for source in self._feeds.get(value, ()):
                self._need_value(source)
            if isinstance(value.owner, Op):
                self.need(value.owner)

    def _need_value(self, value: Value) -> None:
        if value not in self.values:
            self.values.add(value)
            self._waiting.append(value)

    def _need_operands(self, op: Op) -> None:
        """What an operation that runs needs for certain; the rest is needed where it arrives."""
        operands: Sequence[Value] = op.operands
        if isinstance(op, For):
            operands = [op.lower, op.upper, op.step]
        elif isinstance(op, _HANDING_ON):
            operands = []
        elif isinstance(op, If):
            operands = [op.condition]
        for region in op.regions:
            if region is not None and region.terminator is not None:
                self._need_end(region.terminator)
        for value in operands:
            self._need_value(value)

    def _need_end(self, end: Op) -> None:
        """The end of a region that runs: what it hands to anything but an `if` or a loop is needed."""
        self.ops.add(end)
        around = end.parent_op
        if isinstance(end, Return) or (isinstance(end, Yield) and not isinstance(around, If)):
            for value in end.operands:
                self._need_value(value)

    def _note_flow(self, op: Op) -> None:
        if isinstance(op, For | Loop):
            self._note_loop(op)
        elif isinstance(op, If):
            for region in op.regions:
                end = None if region is None else region.terminator
                if isinstance(end, Yield):
                    self._note(op.results, end.operands)

    def _note_loop(self, op: For | Loop) -> None:
        carried = op.body.args[1:] if isinstance(op, For) else op.body.args
        self._note(carried, op.initial)
        for result, argument in zip(op.results, carried) if isinstance(op, For) else ():
            self._feeds[result].append(argument)
        for jump in exits_from(op.body):
            if isinstance(jump, Continue):
                self._note(carried, jump.operands)
            elif isinstance(jump, Break):
                self._note(op.results, jump.operands)

    def _note(self, targets: Sequence[Value], sources: Sequence[Value]) -> None:
        for target, source in zip(targets, sources):
            self._feeds[target].append(source)


def _is_root(op: Op) -> bool:
    """Whether an operation is needed whatever becomes of its results."""
    if isinstance(op, _JUMPS):
        return _may_be_left_early(op)
    if not op.operands and SYMBOL in op.spec.traits:
        return True
    return isinstance(op, _LASTING) or is_needed(op)


def _may_be_left_early(op: Op) -> bool:
    """Whether a jump does more than end the body of its loop or function in the ordinary way."""
    around = op.parent_op
    return isinstance(around, If)
