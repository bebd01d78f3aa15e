"""Prepare the operations of an entry as steps.

A pure operation whose operands are all known is computed here, once, and costs nothing in any tile block. One that
faults is left for the run, which may never reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tileir.analysis.effects import access_of, allocations_in, ordering_of
from tileir.analysis.structure import EXITS
from tileir.host import undefined
from tileir.interp.api import BlockState, EffectRule, PureRule, StrictCheck, StrictRule
from tileir.interp.faults import Fault
from tileir.interp.memory import MemoryObserver, UnwrittenReads
from tileir.interp.program import (
    NOTHING,
    Chunk,
    Control,
    Exit,
    Fetch,
    Frame,
    Input,
    PreparedFunction,
    PreparedProgram,
    Region,
    Slots,
    Step,
    effect_step,
    fetch,
    pure_step,
)
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import shown
from tileir.ir.rules import Rules
from tileir.ir.traits import ALLOCATION_SCOPE
from tileir.ir.types import TileType
from tileir.ops.calls import functions_of
from tileir.ops.control import For

TARGET = "interp"
MAX_KNOWN_ELEMENTS = 1 << 18
"""A result larger than this is not computed beforehand, so that a prepared program stays small."""

RegionRule = Callable[[Op, "Preparation"], Step]
"""The rule of an operation that runs its region without switching tile blocks (`reduce`)."""
ControlRule = Callable[[Op, "Preparation"], Control]
"""The rule of an operation that may switch tile blocks, or be left early (`for`)."""


@dataclass(frozen=True)
class RuleTables:
    """The rules of all chapters; `strict` holds the checks that only strict mode makes."""

    pure: Rules[PureRule]
    effects: Rules[EffectRule]
    regions: Rules[RegionRule]
    controls: Rules[ControlRule]
    strict: Rules[StrictRule]


class Observer(MemoryObserver):
    """Watches a launch; this one does nothing.

    While an entry is prepared, it may put a function of its own around the one that runs an operation.
    """

    block: BlockState | None = None
    """The tile block that runs."""

    def pure(self, op: Op, function: Callable[..., object]) -> Callable[..., object]:
        """Return the function that runs a pure operation: ``run(*values)``."""
        return function

    def effect(self, op: Op, function: Callable[..., object]) -> Callable[..., object]:
        """Return the function that runs an operation with an effect: ``run(block, *values)``."""
        return function

    def region(self, op: Op, preparation: Preparation, rule: RegionRule) -> Step:
        """Return the step of an operation that runs its region by itself."""
        return rule(op, preparation)

    def control(self, op: Op, preparation: Preparation, rule: ControlRule) -> Control:
        """Return the step of an operation that may switch tile blocks, or be left early."""
        return rule(op, preparation)

    def strict(self, op: Op, check: StrictCheck) -> StrictCheck:
        """Return the check that strict mode makes before an operation."""
        return check

    def block_begins(self, block: BlockState) -> None:
        """Note that a tile block starts."""

    def block_ends(self, block: BlockState) -> None:
        """Note that a tile block is done."""


UNOBSERVED = Observer()


class Linker:
    """The device functions of a module, each prepared when it is first called."""

    def __init__(
        self, module: Module, tables: RuleTables, strict: bool, kind: type[Preparation], observer: Observer
    ) -> None:
        self.tables = tables
        self.strict = strict
        self.observer = observer
        self._kind = kind
        self._declared = {function.sym_name: function for function in functions_of(module)}
        self._prepared: dict[str, PreparedFunction | None] = {}

    def callee(self, name: str, caller: Op) -> PreparedFunction:
        """Return the function @name. One that is being prepared calls itself, which is not allowed."""
        if name in self._prepared:
            found = self._prepared[name]
            if found is None:
                raise UnsupportedError(f"'{caller.spec.name}': recursive call of @{shown(name)}", TARGET, caller.loc)
            return found
        self._prepared[name] = None
        function = self._prepared[name] = self._function(self._declared[name])
        return function

    def prepare(self, op: Op) -> PreparedFunction:
        """Prepare an entry, or a device function as if it were one."""
        try:
            with np.errstate(all="ignore"):
                return self._function(op)
        except RecursionError:
            raise UnsupportedError("regions and calls nested this deeply", TARGET, op.loc) from None

    def _function(self, op: Op) -> PreparedFunction:
        (body,) = op.regions
        assert body is not None, f"'{op.spec.name}' has a body"
        preparation = self._kind(self, body)
        region = preparation.region(body)
        return PreparedFunction(preparation.slots.template, region)


class Preparation:
    """One function on its way to steps. Rules of operations with regions ask it for slots and prepared regions.

    They do so in this order: operands (`slot`, `fetch`), then regions, then results.
    """

    def __init__(self, linker: Linker, body: Block) -> None:
        self.linker = linker
        self.tables = linker.tables
        self.slots = Slots(body)
        self._known: dict[Value, object] = {}

    def slot(self, value: Value) -> int:
        """Return the slot to read `value` from."""
        slot = self.slots.of(value)
        return self.slots.keep(value, self._known[value]) if slot is None else slot

    def fetch(self, values: Sequence[Value]) -> Fetch:
        """Return the function that reads all of `values`."""
        return fetch(tuple(map(self.slot, values)))

    def carried(self, op: For) -> Fetch:
        """Return the function that reads the initial values of a loop."""
        return self.fetch(op.initial)

    def results(self, op: Op) -> tuple[int, ...]:
        """Return the slots of the results of `op`, which may be those of operands that it is the last to use."""
        self.slots.free_after(op)
        return self.slots.define(op.results)

    def region(self, block: Block) -> Region:
        """Prepare a region, its block arguments as slots that its user fills."""
        arguments = self.slots.define(block.args)
        origin: dict[Step | Control, Op] = {}
        chunks = list(self._chunks(block, origin))
        finish = self._finish(block)
        chunks.append(Chunk(self.before(), None))
        return Region(arguments, chunks, finish, origin, _allocates(block))

    def _chunks(self, block: Block, origin: dict[Step | Control, Op]) -> Iterator[Chunk]:
        steps: list[Step] = []
        for op in block.ops[:-1]:
            control = self._control(op)
            step = None if control else self._step(op)
            steps += self.before()
            if step is not None:
                steps.append(step)
                origin[step] = op
                control = _switch if ordering_of(op) is not MemoryOrdering.WEAK else None
            if control is not None:
                origin.setdefault(control, op)
                yield Chunk(tuple(steps), control)
                steps = []
        yield Chunk(tuple(steps), None)

    def before(self) -> tuple[Step, ...]:
        """Return steps to run before the operation that has just been prepared."""
        return ()

    def _finish(self, block: Block) -> Callable[[Frame], Exit]:
        """Return the function that makes the exit of the terminator."""
        terminator = block.terminator
        assert terminator is not None, "a verified region ends in a terminator"
        kind, values = EXITS[type(terminator)], self.passed_on(terminator)
        self.slots.free_after(terminator)
        if not terminator.operands:
            without_values = Exit(kind, ())
            return lambda frame: without_values
        return lambda frame: Exit(kind, values(frame))

    def passed_on(self, terminator: Op) -> Fetch:
        """Return the function that reads the operands of a terminator."""
        return self.fetch(terminator.operands)

    def _control(self, op: Op) -> Control | None:
        rule = self.tables.controls.get(type(op))
        return None if rule is None else self.linker.observer.control(op, self, rule)

    def _step(self, op: Op) -> Step | None:
        """Return the step of an operation without control; None if its results are known already."""
        kind, observer = type(op), self.linker.observer
        if kind in self.tables.regions:
            return observer.region(op, self, self.tables.regions[kind])
        if kind in self.tables.effects:
            return self.effect(op, self._checked(op, observer.effect(op, self.tables.effects[kind](op))))
        return self.pure(op, observer.pure(op, self.tables.pure[kind](op)))

    def _checked(self, op: Op, function: Callable[..., object]) -> Callable[..., object]:
        """Return the function of an effect, with the checks of strict mode around it."""
        check = self._strict_check(op)
        if check is not None:
            function = _checked_effect(op, check, function)
        access = access_of(op) if self.linker.strict else None
        return _noticing(op, function) if access is not None and access.reads else function

    def effect(self, op: Op, function: Callable[..., object]) -> Step:
        return effect_step(function, self.inputs(op), self.results(op))

    def pure(self, op: Op, function: Callable[..., object]) -> Step | None:
        """Return the step of a pure operation; None if its results are known now."""
        check = self._strict_check(op)
        if self.compute(op, function if check is None else _silent(check, function)):
            return None
        inputs = self.inputs(op)
        if check is None:
            return pure_step(function, inputs, self.results(op))
        checked = _checked_effect(op, check, lambda block, *values: function(*values))
        return effect_step(checked, inputs, self.results(op))

    def _strict_check(self, op: Op) -> StrictCheck | None:
        rule = self.tables.strict.get(type(op)) if self.linker.strict else None
        check = None if rule is None else rule(op)
        return None if check is None else self.linker.observer.strict(op, check)

    def inputs(self, op: Op) -> list[Input]:
        """Return one entry per declared operand."""
        inputs: list[Input] = []
        for operand in op.spec.operands:
            slots = tuple(map(self.slot, op.operand_group(operand.position)))
            inputs.append(slots if operand.variadic else slots[0] if slots else NOTHING)
        return inputs

    def compute(self, op: Op, function: Callable[..., object]) -> bool:
        """Compute the results now, if all operands are known and the results are not large."""
        if not all(value in self._known for value in op.operands) or not _all_small(op):
            return False
        try:
            result = function(*_known_values(op, self._known.__getitem__))
        except Fault:
            return False
        results = (result,) if len(op.results) == 1 else result
        assert isinstance(results, tuple), f"'{op.spec.name}' gives one value per result"
        self._known.update(zip(op.results, results))
        self.slots.free_after(op)
        return True


def prepare(
    module: Module,
    entry: Op,
    tables: RuleTables,
    strict: bool,
    observer: Observer = UNOBSERVED,
    kind: type[Preparation] = Preparation,
) -> PreparedProgram:
    """Prepare an entry of a verified module."""
    function = Linker(module, tables, strict, kind, observer).prepare(entry)
    return PreparedProgram(entry.attributes["sym_name"], function, module.source)


def _switch(frame: Frame, block: BlockState) -> Generator[None, None, None]:
    """Yield a place where another tile block gets its turn, once this one has used up its own."""
    block.budget -= 1
    if block.budget < 0:
        yield


def _known_values(op: Op, known: Callable[[Value], object]) -> Iterator[object]:
    for operand in op.spec.operands:
        values = tuple(map(known, op.operand_group(operand.position)))
        yield values if operand.variadic else values[0] if values else None


def _allocates(block: Block) -> bool:
    """Return whether memory allocated in this region dies with it (spec: memory#alloca)."""
    owner = block.parent
    return owner is not None and ALLOCATION_SCOPE in owner.spec.traits and any(allocations_in(block))


def _all_small(op: Op) -> bool:
    return all(not isinstance(value.type, TileType) or value.type.count <= MAX_KNOWN_ELEMENTS for value in op.results)


def _silent(check: StrictCheck, function: Callable[..., object]) -> Callable[..., object]:
    """Return the function where there is nothing to report; raises Fault elsewhere."""

    def run(*values: object) -> object:
        warning = check(*values)
        if warning is not None:
            raise Fault(warning)
        return function(*values)

    return run


def _checked_effect(op: Op, check: StrictCheck, function: Callable[..., object]) -> Callable[..., object]:
    def run(block: BlockState, *values: object) -> object:
        warning = check(*values)
        if warning is not None:
            block.warn(op, warning)
        return function(block, *values)

    return run


def _noticing(op: Op, function: Callable[..., object]) -> Callable[..., object]:
    """Return the function of an operation that reads memory, with a warning where nothing was written before."""

    def run(block: BlockState, *values: object) -> object:
        result = function(block, *values)
        watch = block.memory.observer
        if isinstance(watch, UnwrittenReads) and watch.found:
            watch.found = False
            block.warn(op, undefined.UNWRITTEN)
        return result

    return run
