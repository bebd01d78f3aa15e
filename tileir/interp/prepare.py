"""From the operations of an entry to its prepared program.

Knows: how an operation becomes a step by the rule registered for it, when it can be computed beforehand, and where
another tile block may get its turn.
Does not know: any rule (`machine` hands in the tables), nor how steps are run (`program`).

A pure operation whose operands are all known is computed here, once, and costs nothing in any tile block. One that
faults is left for the run, which may never reach it.

A value may be a compact tile (`compact`) where a rule made for these can give one. Only such rules are given it as it
is, and the loop that carries it; a slot that anything else reads is expanded before.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tileir.analysis.effects import access_of, allocations_in, ordering_of
from tileir.analysis.exits import EXITS, RegionExit, target_of
from tileir.analysis.loops import carried_arguments
from tileir.host import undefined
from tileir.interp.api import BlockState, EffectRule, PureRule, StrictCheck, StrictRule
from tileir.interp.compact import expanded
from tileir.interp.compact_accesses import CompactEffectRule
from tileir.interp.compact_rules import CompactRule, compacting
from tileir.interp.faults import Fault
from tileir.interp.program import (
    NOTHING,
    Chunk,
    Control,
    Exit,
    Fetch,
    Frame,
    PreparedFunction,
    PreparedProgram,
    Region,
    Step,
)
from tileir.interp.slots import Slots
from tileir.interp.steps import Input, effect_step, expanding_step, fetch, pure_step
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.rules import Rules
from tileir.ir.shown import shown
from tileir.ir.traits import ALLOCATION_SCOPE
from tileir.ir.types import TileType
from tileir.ops.calls import Func
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
    """The rules of all chapters. `strict` holds the checks that only strict mode makes, `compact` and `compact_effects`
    what else is done with compact tiles, of which strict mode has none."""

    pure: Rules[PureRule]
    effects: Rules[EffectRule]
    regions: Rules[RegionRule]
    controls: Rules[ControlRule]
    strict: Rules[StrictRule]
    compact: Rules[CompactRule] = field(default_factory=Rules)
    compact_effects: Rules[CompactEffectRule] = field(default_factory=Rules)


class Linker:
    """The device functions of a module, each prepared when it is first called."""

    def __init__(self, module: Module, tables: RuleTables, strict: bool) -> None:
        self.tables = tables
        self.strict = strict
        self._declared = {item.sym_name: item for item in module.items if isinstance(item, Func)}
        self._prepared: dict[str, PreparedFunction | None] = {}

    def callee(self, name: str, caller: Op) -> PreparedFunction:
        """The function @name. One that is being prepared calls itself, which is not allowed."""
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
        preparation = Preparation(self, body)
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
        self._compact: set[Value] = set()
        """The values that may be compact tiles."""
        self._read: list[int] = []
        """The slots of these that the operation at hand reads as arrays."""

    def slot(self, value: Value) -> int:
        """The slot to read `value` from, which is no compact tile."""
        slot = self._slot(value)
        if value in self._compact:
            self._read.append(slot)
        return slot

    def _slot(self, value: Value) -> int:
        slot = self.slots.of(value)
        return self.slots.keep(value, self._known[value]) if slot is None else slot

    def fetch(self, values: Sequence[Value]) -> Fetch:
        """The function that reads all of `values`."""
        return fetch(tuple(map(self.slot, values)))

    def carried(self, op: For) -> Fetch:
        """The function that reads the initial values of a loop, which stay compact in it."""
        for initial, argument, result in zip(op.initial, carried_arguments(op), op.outputs):
            if initial in self._compact:
                self._compact |= {argument, result}
        return fetch(tuple(map(self._slot, op.initial)))

    def results(self, op: Op) -> tuple[int, ...]:
        """The slots of the results of `op`, which may be those of operands that it is the last to use."""
        self.slots.free_after(op)
        return self.slots.define(op.results)

    def region(self, block: Block) -> Region:
        """Prepare a region, its block arguments as slots that its user fills."""
        read, self._read = self._read, []
        arguments = self.slots.define(block.args)
        origin: dict[Step | Control, Op] = {}
        chunks = list(self._chunks(block, origin))
        finish = self._finish(block)
        if self._read:
            chunks.append(Chunk((self._expanding(),), None))
        self._read = read
        return Region(arguments, chunks, finish, origin, _allocates(block))

    def _chunks(self, block: Block, origin: dict[Step | Control, Op]) -> Iterator[Chunk]:
        steps: list[Step] = []
        for op in block.ops[:-1]:
            control = self._control(op)
            step = None if control else self._step(op)
            if self._read:
                steps.append(self._expanding())
            if step is not None:
                steps.append(step)
                origin[step] = op
                control = _switch if ordering_of(op) is not MemoryOrdering.WEAK else None
            if control is not None:
                origin.setdefault(control, op)
                yield Chunk(tuple(steps), control)
                steps = []
        yield Chunk(tuple(steps), None)

    def _expanding(self) -> Step:
        """The step that expands the slots which the operation after it reads."""
        slots, self._read = tuple(self._read), []
        return expanding_step(slots)

    def _finish(self, block: Block) -> Callable[[Frame], Exit]:
        """The function that makes the exit of the terminator."""
        terminator = block.terminator
        assert terminator is not None, "a verified region ends in a terminator"
        kind, values = EXITS[type(terminator)], fetch(self._handed_on(terminator))
        self.slots.free_after(terminator)
        if not terminator.operands:
            without_values = Exit(kind, ())
            return lambda frame: without_values
        return lambda frame: Exit(kind, values(frame))

    def _handed_on(self, terminator: Op) -> tuple[int, ...]:
        """The slots of the operands of a terminator, compact where the loop that it continues carries compact tiles."""
        around = target_of(terminator)
        if not isinstance(around, For) or EXITS[type(terminator)] is not RegionExit.CONTINUE:
            return tuple(map(self.slot, terminator.operands))
        pairs = zip(terminator.operands, carried_arguments(around))
        return tuple([(self._slot if argument in self._compact else self.slot)(value) for value, argument in pairs])

    def _control(self, op: Op) -> Control | None:
        rule = self.tables.controls.get(type(op))
        return None if rule is None else rule(op, self)

    def _step(self, op: Op) -> Step | None:
        """The step of an operation without control; None if its results are known already."""
        kind = type(op)
        if kind in self.tables.regions:
            return self.tables.regions[kind](op, self)
        if kind in self.tables.effects:
            return self._effect(op, self.tables.effects[kind](op))
        return self._pure(op, self.tables.pure[kind](op))

    def _effect(self, op: Op, function: Callable[..., object]) -> Step:
        check = self._strict_check(op)
        if check is not None:
            function = _checked_effect(op, check, function)
        access = access_of(op) if self.linker.strict else None
        if access is not None and access.reads:
            function = _noticing(op, function)
        compact = self._compact_effect(op, function)
        inputs = self._inputs(op, self.slot if compact is None else self._slot)
        return effect_step(compact or function, inputs, self.results(op))

    def _compact_effect(self, op: Op, function: Callable[..., object]) -> Callable[..., object] | None:
        """The function of an access with compact operands; None if it has none, or takes none."""
        rule = self.tables.compact_effects.get(type(op))
        return rule(op, function) if rule and not self._compact.isdisjoint(op.operands) else None

    def _pure(self, op: Op, function: Callable[..., object]) -> Step | None:
        compact = self._compacting(op, function)
        if compact is not None:
            self._compact.update(op.results)
            known = self._compute(op, compact, self._known.__getitem__)
            return None if known else pure_step(compact, self._inputs(op, self._slot), self.results(op))
        check = self._strict_check(op)
        if self._compute(op, function if check is None else _silent(check, function), self._known_array):
            return None
        inputs = self._inputs(op)
        if check is None:
            return pure_step(function, inputs, self.results(op))
        checked = _checked_effect(op, check, lambda block, *values: function(*values))
        return effect_step(checked, inputs, self.results(op))

    def _compacting(self, op: Op, function: Callable[..., object]) -> Callable[..., object] | None:
        """The function of a pure operation that may give a compact tile; None if it never does."""
        rule = None if self.linker.strict else self.tables.compact.get(type(op))
        if rule is None or (op.operands and not any(map(self._leads_to_compact, op.operands))):
            return None
        return compacting(op, function, rule)

    def _leads_to_compact(self, value: Value) -> bool:
        return value in self._compact or value.tile.count == 1

    def _strict_check(self, op: Op) -> StrictCheck | None:
        rule = self.tables.strict.get(type(op)) if self.linker.strict else None
        return None if rule is None else rule(op)

    def _inputs(self, op: Op, slot: Callable[[Value], int] | None = None) -> list[Input]:
        """One entry per declared operand."""
        slot = slot or self.slot
        inputs: list[Input] = []
        for operand in op.spec.operands:
            slots = tuple(map(slot, op.operand_group(operand.position)))
            inputs.append(slots if operand.variadic else slots[0] if slots else NOTHING)
        return inputs

    def _compute(self, op: Op, function: Callable[..., object], known: Callable[[Value], object]) -> bool:
        """Compute the results now, if all operands are known and the results are not large."""
        if not all(value in self._known for value in op.operands) or not _all_small(op):
            return False
        try:
            result = function(*_known_values(op, known))
        except Fault:
            return False
        results = (result,) if len(op.results) == 1 else result
        assert isinstance(results, tuple), f"'{op.spec.name}' gives one value per result"
        self._known.update(zip(op.results, results))
        self.slots.free_after(op)
        return True

    def _known_array(self, value: Value) -> object:
        return expanded(self._known[value])


def prepare(module: Module, entry: Op, tables: RuleTables, strict: bool) -> PreparedProgram:
    """Prepare an entry of a verified module."""
    function = Linker(module, tables, strict).prepare(entry)
    return PreparedProgram(entry.attributes["sym_name"], function, module.source)


def _switch(frame: Frame, block: BlockState) -> Generator[None, None, None]:
    """A place where another tile block gets its turn, once this one has used up its own."""
    block.budget -= 1
    if block.budget < 0:
        yield


def _known_values(op: Op, known: Callable[[Value], object]) -> Iterator[object]:
    for operand in op.spec.operands:
        values = tuple(map(known, op.operand_group(operand.position)))
        yield values if operand.variadic else values[0] if values else None


def _allocates(block: Block) -> bool:
    """Whether what is allocated in this region dies with it (spec: memory#alloca)."""
    owner = block.parent
    return owner is not None and ALLOCATION_SCOPE in owner.spec.traits and any(allocations_in(block))


def _all_small(op: Op) -> bool:
    return all(not isinstance(value.type, TileType) or value.type.count <= MAX_KNOWN_ELEMENTS for value in op.results)


def _silent(check: StrictCheck, function: Callable[..., object]) -> Callable[..., object]:
    """The function where there is nothing to report; raises Fault elsewhere."""

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
    """The function of an operation that reads memory, with a warning where nothing was written before."""

    def run(block: BlockState, *values: object) -> object:
        result = function(block, *values)
        if block.memory.read_unwritten:
            block.memory.read_unwritten = False
            block.warn(op, undefined.UNWRITTEN)
        return result

    return run
