"""The pass ``dce``: leave out what nothing visible depends on, including results and carried values of control flow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tileir.analysis.effects import token_results
from tileir.analysis.structure import carried_arguments, passed_on, target_of
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.traits import SYMBOL
from tileir.ir.types import TOKEN
from tileir.ops.calls import Call
from tileir.ops.control import Break, Continue, For, If, Loop, Return, Yield
from tileir.passes.facts import is_needed, is_weak_load, may_trap
from tileir.passes.rebuilding import Aspect, Exactness, Rebuilding, Row

_JUMPS = (Break, Continue, Return)
_HANDING_ON = (Loop, Yield, Break, Continue)
_LASTING = (Call, Loop)


class Liveness:
    """The needed part of a module: operations in `ops`, values in `values`. With `kept`, operations that may trap count
    as needed.
    """

    def __init__(self, module: Module, kept: bool = False) -> None:
        self.ops: set[Op] = set()
        self.values: set[Value] = set()
        self._feeds: dict[Value, list[Value]] = defaultdict(list)
        """The values that a value, carried or handed on by control flow, is made of."""
        self._waiting: list[Value] = []
        ops = list(module.walk())
        for op in ops:
            if op.regions or op.spec.terminator:
                for source, target in passed_on(op):
                    self._feeds[target].append(source)
        for op in ops:
            if _is_root(op) or (kept and may_trap(op)):
                self.need(op)
        self._settle()

    def need(self, op: Op) -> None:
        """Mark an operation that must run, and those around it."""
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
        """Mark the operands that an operation needs whenever it runs; the others are marked at the values they
        become."""
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
        """Mark the end of a region that runs: the values it hands to anything but an `if` or a loop are needed."""
        self.ops.add(end)
        around = end.parent_op
        if isinstance(end, Return) or (isinstance(end, Yield) and not isinstance(around, If)):
            for value in end.operands:
                self._need_value(value)


def _is_root(op: Op) -> bool:
    """Return whether an operation is needed even if its results are not."""
    if isinstance(op, _JUMPS):
        return _may_be_left_early(op)
    if not op.operands and SYMBOL in op.spec.traits:
        return True
    return isinstance(op, _LASTING) or is_needed(op)


def _may_be_left_early(op: Op) -> bool:
    """Return whether a jump does more than end the body of its loop or function in the ordinary way."""
    return isinstance(op.parent_op, If)


# ---------------------------------------------------------------- leaving it out


UNUSED = Row(
    "unused", "dce", "OP(...) whose results nobody uses", "nothing", Exactness.EXACT,
    "a result that nobody uses cannot be seen", "OP has no effect and cannot trap, nor can anything in its regions",
    Aspect.USES,
)  # fmt: skip
UNUSED_RISK = Row(
    "unused-risk", "dce", "OP(...) whose results nobody uses", "nothing", Exactness.PROMISED,
    "a result that nobody uses cannot be seen; an operation that would trap has undefined behaviour anyway",
    "OP has no effect but reading weakly", Aspect.USES,
)  # fmt: skip
UNUSED_LOAD = Row(
    "unused-value", "dce", "weak load whose token alone is used", "the token that it waits for", Exactness.PROMISED,
    "a load that is not there orders nothing, and the token passes through (spec: tokens#program-order)",
)  # fmt: skip
UNUSED_RESULT = Row(
    "unused-result", "dce", "if, for or loop with a result or carried value that nobody uses", "the same without it",
    Exactness.EXACT, "a carried value that only makes its own next value cannot be seen", changes=Aspect.USES,
)  # fmt: skip
ROWS = (UNUSED, UNUSED_RISK, UNUSED_LOAD, UNUSED_RESULT)


_CONTROL = (For, Loop, If)
_EXITS = (Yield, Continue, Break)


class Dropping(Rebuilding):
    """The walk that leaves out what `Liveness` does not find."""

    def module(self, module: Module) -> Module:
        self.live = Liveness(module, kept=self.log.exact)
        return super().module(module) if any(map(self._is_changed, module.walk())) else module

    def _is_changed(self, op: Op) -> bool:
        """Return whether an operation is removed or loses a part."""
        if op not in self.live.ops:
            return True
        if op.regions:
            return isinstance(op, _CONTROL) and self._loses(op)
        return self._only_token(op)

    def visit(self, op: Op) -> None:
        if op not in self.live.ops:
            self.log.note(UNUSED_RISK if any(map(may_trap, op.walk())) else UNUSED, op)
        elif self._only_token(op):
            self.log.note(UNUSED_LOAD, op, self.pass_token(op))
        elif isinstance(op, _CONTROL) and self._loses(op):
            self._control(op)
        elif isinstance(op, _EXITS):
            self._exit(op)
        else:
            super().visit(op)

    def _only_token(self, op: Op) -> bool:
        """Return whether only the token of a load is used, and the load may be removed."""
        if not (is_weak_load(op) and self.log.allows(UNUSED_LOAD)):
            return False
        return bool(token_results(op)) and not any(
            value in self.live.values for value in op.results if value.type is not TOKEN
        )

    # ------------------------------------------------------------ control flow

    def _kept(self, op: Op) -> list[int]:
        """Return the positions of the results, and carried values, that are needed."""
        live = self.live.values
        if isinstance(op, For | Loop):
            carried = [(argument,) for argument in carried_arguments(op)]
            pairs = zip(op.results, carried_arguments(op)) if isinstance(op, For) else carried
            return [at for at, pair in enumerate(pairs) if any(one in live for one in pair)]
        return [at for at, result in enumerate(op.results) if result in live]

    def _results_kept(self, op: Op) -> list[int]:
        if isinstance(op, Loop):
            return [at for at, result in enumerate(op.results) if result in self.live.values]
        return self._kept(op)

    def _loses(self, op: For | Loop | If) -> bool:
        """Return whether a result or carried value is not needed."""
        carried = 0 if isinstance(op, If) else len(op.initial)
        return len(self._results_kept(op)) < len(op.results) or len(self._kept(op)) < carried

    def _control(self, op: For | Loop | If) -> None:
        kept, results = self._kept(op), self._results_kept(op)
        self.log.note(UNUSED_RESULT, op)
        made = self._made(op, kept, [op.results[at].type for at in results])
        if op.discardable:
            made.discardable = dict(op.discardable)
        self.bind([op.results[at] for at in results], self.emit(made))

    def _made(self, op: For | Loop | If, kept: Sequence[int], types: list) -> Op:
        loc, attributes = self.place(op.loc), op.attributes.copy()
        if isinstance(op, If):
            regions = tuple(None if block is None else self.region(block) for block in op.regions)
            return If(self.given([op.condition]), types, attributes, regions, loc)
        initial = self.given(op.initial[at] for at in kept)
        body = self._body(op.body, kept, 1 if isinstance(op, For) else 0)
        if isinstance(op, For):
            bounds = self.given([op.lower, op.upper, op.step])
            return For([*bounds, *initial], types, attributes, (body,), loc, (1, 1, 1, len(initial)))
        return Loop(initial, types, attributes, (body,), loc, (len(initial),))

    def _body(self, block: Block, kept: Sequence[int], first: int) -> Block:
        places = [*range(first), *(first + at for at in kept)]
        made = Block([block.args[at].type for at in places])
        made.arg_locs = tuple(block.arg_locs[at] for at in places) if block.arg_locs else ()
        made.arg_names = tuple(block.arg_names[at] for at in places) if block.arg_names else ()
        self.bind([block.args[at] for at in places], made.args)
        self.into(made, block.ops)
        return made

    def _exit(self, op: Yield | Continue | Break) -> None:
        around = target_of(op)
        places: Sequence[int] = range(len(op.operands))
        if isinstance(around, If) and isinstance(op, Yield):
            places = self._kept(around)
        elif isinstance(around, For | Loop) and not isinstance(op, Yield):
            places = self._kept(around) if isinstance(op, Continue) else self._results_kept(around)
        if len(places) == len(op.operands):
            super().visit(op)
            return
        values: list[Value] = self.given(op.operands[at] for at in places)
        self.emit(type(op)(values, [], op.attributes.copy(), (), self.place(op.loc), (len(values),)))
