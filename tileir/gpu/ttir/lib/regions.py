"""Regions as TTIR: loops and branches, early exits from them, counted loops, and bodies that generate elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tileir.analysis.structure import EXITS, RegionExit, runs_once
from tileir.gpu.ttir.analysis.late_loads import with_late_loads
from tileir.gpu.ttir.forms import flat_types, flattened
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, I64, TtirBlock, TtirType, TtirValue
from tileir.gpu.ttir.lib.mailbox_writes import post_failure
from tileir.gpu.ttir.lib.subtiles import reduced
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.core import Block, Op
from tileir.ir.loc import Location
from tileir.ir.traits import ELEMENTWISE
from tileir.ops import control
from tileir.ops.control import For
from tileir.ops.extension import Generate

_GOES_ON = frozenset({RegionExit.YIELD})


# ---------------------------------------------------------------- what the program says


def exits_of(block: Block) -> frozenset[RegionExit]:
    """Return the exits that the region may take."""
    found: frozenset[RegionExit] = frozenset()
    for op in block.ops:
        if type(op) in EXITS:
            return found | {EXITS[type(op)]}
        through = exits_through(op)
        found |= through - _GOES_ON
        if RegionExit.YIELD not in through:
            return found
    return found | _GOES_ON


def exits_through(op: Op) -> frozenset[RegionExit]:
    """Return the exits by which control leaves an operation; `RegionExit.YIELD` stands for the operation after it."""
    if isinstance(op, control.If):
        otherwise = _GOES_ON if op.otherwise is None else exits_of(op.otherwise)
        return exits_of(op.then) | otherwise
    if isinstance(op, control.Loop):
        return _GOES_ON | (exits_of(op.body) & {RegionExit.RETURN})
    if isinstance(op, control.Assert) and runs_once(op):
        # A failure ends the tile block. Elsewhere the block goes on, as it may (spec: control#assert-failure), so that
        # loops do not pay for it.
        return _GOES_ON | {RegionExit.RETURN}
    return _GOES_ON


def leaves(op: Op) -> bool:
    """Return whether the code behind the operation may be skipped."""
    return exits_through(op) != _GOES_ON


# ---------------------------------------------------------------- what the code says


@dataclass(frozen=True)
class RegionOutcome:
    """The end of a piece of code: the values that travel with each exit that it may take.

    `code` is the exit taken, if there is more than one; then the values come from `ResultLayout.unpacked`. Code that
    may take no exit at all never ends.
    """

    values: dict[RegionExit, list[TtirValue]]
    code: TtirValue | None = None

    def without(self, exit: RegionExit) -> RegionOutcome:
        """Return the outcome where `exit` is known not to be taken."""
        others = {other: values for other, values in self.values.items() if other is not exit}
        return RegionOutcome(others, self.code if len(others) > 1 else None)

    def is_by(self, build: Builder, exit: RegionExit) -> TtirValue:
        """Emit an i1 that is set if `exit` is taken."""
        if self.code is None:
            return build.truth(exit in self.values)
        return build.compare("eq", self.code, build.integer(I32, exit))


Slot = tuple[TtirType, int]
"""The n-th value of a type."""


class ResultLayout:
    """The results that hold any of some outcomes: the code if there is more than one exit, then the slots."""

    def __init__(self, outcomes: Iterable[RegionOutcome]) -> None:
        values = {exit: values for outcome in outcomes for exit, values in outcome.values.items()}
        self._places = {exit: list(_slots(values[exit])) for exit in sorted(values)}
        self._slots = list(dict.fromkeys(slot for slots in self._places.values() for slot in slots))
        self._coded = len(self._places) > 1

    @property
    def types(self) -> list[TtirType]:
        return [I32] * self._coded + [type for type, _ in self._slots]

    def packed(self, build: Builder, outcome: RegionOutcome) -> list[TtirValue]:
        """Return the results for an outcome."""
        held = {slot: value for values in outcome.values.values() for slot, value in zip(_slots(values), values)}
        values = [held[slot] if slot in held else placeholder(build, slot[0]) for slot in self._slots]
        return [self._code(build, outcome), *values] if self._coded else values

    def unpacked(self, results: Sequence[TtirValue]) -> RegionOutcome:
        """Return the outcome that the results hold."""
        held = dict(zip(self._slots, results[self._coded :]))
        values = {exit: [held[slot] for slot in slots] for exit, slots in self._places.items()}
        return RegionOutcome(values, results[0] if self._coded else None)

    def _code(self, build: Builder, outcome: RegionOutcome) -> TtirValue:
        if outcome.code is not None:
            return outcome.code
        return build.integer(I32, next(iter(outcome.values), RegionExit.YIELD))


def _slots(values: Sequence[TtirValue]) -> Iterator[Slot]:
    seen: Counter[TtirType] = Counter()
    for value in values:
        yield value.type, seen[value.type]
        seen[value.type] += 1


def placeholder(build: Builder, type: TtirType) -> TtirValue:
    """Return a value of `type` that nobody looks at."""
    if type.is_pointer:
        return build.op("tt.int_to_ptr", build.integer(type.of(I64.element), 0), type=type)
    return build.bits(type, 0)


def carried(lowering: TtirLowering, values: Sequence[core.Value]) -> list[TtirValue]:
    """Return the TTIR values that carry values of the program into another region."""
    return [part for value in values for part in flattened(lowering.values[value])]


# ---------------------------------------------------------------- regions


def run(lowering: TtirLowering, ops: Sequence[Op]) -> RegionOutcome:
    """Return the code of the operations of a region, which ends with one of the exits of the outcome."""
    walk = _Walk(lowering, with_late_loads(ops, lowering.users, lowering.order)[::-1], [])
    outcome = None
    while outcome is None:
        outcome = walk.step()
    for branch in reversed(walk.opened):
        outcome = branch.closed(lowering.build, outcome)
    return outcome


@dataclass
class _Opened:
    """An ``scf.if`` that is being made: what follows stands in `rest`, `other` ends by `outcome`."""

    condition: TtirValue
    around: TtirBlock
    rest: TtirBlock
    other: TtirBlock
    outcome: RegionOutcome
    rest_first: bool
    loc: Location

    def closed(self, build: Builder, outcome: RegionOutcome) -> RegionOutcome:
        """Join the ends of both branches, given that of `rest`."""
        build.block, build.loc = self.around, self.loc
        branches = [(self.rest, outcome), (self.other, self.outcome)]
        return _chosen(build, self.condition, branches if self.rest_first else branches[::-1])


@dataclass
class _Walk:
    """The operations yet to be lowered, next one last, and the branches opened on the way to them.

    The operations of a branch that alone goes on stand in front of those behind the `if`.
    """

    lowering: TtirLowering
    waiting: list[Op]
    opened: list[_Opened]

    def step(self) -> RegionOutcome | None:
        """Lower the next operation; how the code ends if nothing can follow."""
        lowering, op = self.lowering, self.waiting.pop()
        exit = EXITS.get(type(op))
        if exit is RegionExit.YIELD and self.waiting:
            assert op.parent_op is not None
            lowering.rebuilt_all(op.parent_op.results, carried(lowering, op.operands))
        elif exit is not None:
            return RegionOutcome({exit: carried(lowering, op.operands)})
        elif leaves(op):
            lowering.build.loc = op.loc
            lowering.put_in_order(op)
            return self._leaving(op)
        else:
            lowering.lower(op)
        return None

    def _leaving(self, op: Op) -> RegionOutcome | None:
        """Lower an operation that may be left."""
        if isinstance(op, control.Loop):
            return self._go_on(op, repeated(self.lowering, op), RegionExit.BREAK)
        if isinstance(op, control.If):
            then, otherwise = _goes_on(op.then), _goes_on(op.otherwise)
            if then == otherwise:
                return self._go_on(op, branches(self.lowering, op), RegionExit.YIELD)
            self._go_on_in(op, op.then if then else op.otherwise, then)
        else:
            assert isinstance(op, control.Assert)
            self._assert(op)
        return None

    def _go_on(self, op: Op, outcome: RegionOutcome, exit: RegionExit) -> RegionOutcome | None:
        """Go on behind an operation if it ended by `exit`."""
        if exit not in outcome.values:
            return outcome
        self.lowering.rebuilt_all(op.results, outcome.values[exit])
        others = outcome.without(exit)
        if others.values:
            self._open(outcome.is_by(self.lowering.build, exit), TtirBlock(), others, rest_first=True)
        return None

    def _go_on_in(self, op: control.If, region: core.Block | None, rest_first: bool) -> None:
        """Go on in the one branch that does."""
        left = op.otherwise if rest_first else op.then
        assert left is not None
        with self.lowering.build.region() as other:
            outcome = run(self.lowering, left.ops)
        self._open(self.lowering.value(op.condition), other, outcome, rest_first)
        if region is not None:
            self.waiting += reversed(region.ops)

    def _assert(self, op: control.Assert) -> None:
        """Go on if the assertion holds; otherwise the tile block ends."""
        build, condition = self.lowering.build, self.lowering.value(op.condition)
        holds = all_hold(build, condition)
        with build.region() as other:
            post_failure(self.lowering, self.lowering.site(op), condition)
        self._open(holds, other, RegionOutcome({RegionExit.RETURN: []}), rest_first=True)

    def _open(self, condition: TtirValue, other: TtirBlock, outcome: RegionOutcome, rest_first: bool) -> None:
        build = self.lowering.build
        branch = _Opened(condition, build.block, TtirBlock(), other, outcome, rest_first, build.loc)
        self.opened.append(branch)
        build.block = branch.rest


def _goes_on(region: core.Block | None) -> bool:
    return region is None or RegionExit.YIELD in exits_of(region)


def _chosen(build: Builder, condition: TtirValue, branches: Sequence[tuple[TtirBlock, RegionOutcome]]) -> RegionOutcome:
    """Make two blocks the branches of an ``scf.if``."""
    layout = ResultLayout(outcome for _, outcome in branches)
    for block, outcome in branches:
        with build.at(block):
            build.effect("scf.yield", *layout.packed(build, outcome))
    return layout.unpacked(build.insert("scf.if", [condition], layout.types, regions=[block for block, _ in branches]))


# ---------------------------------------------------------------- if and loop


def branches(lowering: TtirLowering, op: control.If) -> RegionOutcome:
    """Return the code of an `if` and how it ends."""
    made = []
    for region in (op.then, op.otherwise):
        with lowering.build.region() as block:
            outcome = RegionOutcome({RegionExit.YIELD: []}) if region is None else run(lowering, region.ops)
        made.append((block, outcome))
    lowering.build.loc = op.loc
    return _chosen(lowering.build, lowering.value(op.condition), made)


def repeated(lowering: TtirLowering, op: control.Loop) -> RegionOutcome:
    """Return the code of a `loop`, left by `RegionExit.BREAK` or `RegionExit.RETURN`."""
    build, initial = lowering.build, carried(lowering, op.initial)
    if RegionExit.CONTINUE not in exits_of(op.body):
        lowering.rebuilt_all(op.body.args, initial)
        return run(lowering, op.body.ops)
    with build.region(*(value.type for value in initial)) as body:
        lowering.rebuilt_all(op.body.args, body.arguments)
        outcome = run(lowering, op.body.ops)
        build.loc = op.loc
        layout = ResultLayout([outcome])
        build.effect("scf.condition", outcome.is_by(build, RegionExit.CONTINUE), *layout.packed(build, outcome))
    with build.region(*layout.types) as again:
        values = layout.unpacked(again.arguments).values.get(RegionExit.CONTINUE)
        build.effect("scf.yield", *(values or [placeholder(build, value.type) for value in initial]))
    results = build.insert("scf.while", initial, layout.types, regions=[body, again])
    return layout.unpacked(results).without(RegionExit.CONTINUE)


def bind_left(lowering: TtirLowering, results: Sequence[core.Value], outcome: RegionOutcome, exit: RegionExit) -> None:
    """Bind results to what travelled with `exit`. What follows code that never takes it has values, but never runs."""
    values = outcome.values.get(exit)
    if values is None:
        types = [type for result in results for type in flat_types(result.type)]
        values = [placeholder(lowering.build, type) for type in types]
    lowering.rebuilt_all(results, values)


# ---------------------------------------------------------------- assert


def all_hold(build: Builder, condition: TtirValue) -> TtirValue:
    """Emit a scalar that is true if every element is."""
    if not condition.type.is_tensor:
        return condition
    found = build.resized(condition, "i32", signed=False)
    for axis in reversed(range(len(found.type.shape))):
        found = reduced(build, found, axis, "arith.minui")
    return build.compare("ne", found, build.integer(found.type, 0))


# ---------------------------------------------------------------- counted loops


@dataclass(frozen=True)
class Count:
    """Lower bound, upper bound and step of a ``scf.for``, and the induction value of the program for each position."""

    bounds: tuple[TtirValue, TtirValue, TtirValue]
    induction: Callable[[TtirValue], TtirValue]

    @property
    def type(self) -> TtirType:
        return self.bounds[0].type


def count_of(lowering: TtirLowering, op: For) -> Count:
    lower, upper, step = (lowering.value(bound) for bound in (op.lower, op.upper, op.step))
    if lower.type.bits < 32 or (op.unsigned and lower.type.bits < 64):
        return _widened(lowering, op, lower, upper, step)
    if not op.unsigned and _ends_inside(lowering, upper, step):
        return Count((lower, upper, step), lambda position: position)
    return _counted(lowering, op, lower, upper, step)


def unforeseen(lowering: TtirLowering, count: Count) -> Count:
    """Return the same range, hiding from the compiler that it has an element.

    If the compiler knew that of a second loop of products, it would compute values that both loops use on the path
    around the first one, and set the sums there instead of in front of both. The assembler would then make each
    ``wgmma`` wait for the one before.
    """
    build, (lower, upper, step) = lowering.build, count.bounds
    hidden = build.vendor.unforeseen(upper)
    known = lowering.known.of(upper)
    lowering.known.promise(hidden, known.divisor, known.low, known.high)
    return replace(count, bounds=(lower, hidden, step))


def _widened(lowering: TtirLowering, op: For, lower: TtirValue, upper: TtirValue, step: TtirValue) -> Count:
    """Return the same range in a type that has room for the sum."""
    build, narrow = lowering.build, lower.type.element
    wide = I32 if lower.type.bits < 32 else I64
    lower, upper = (build.resized(bound, wide.element, signed=not op.unsigned) for bound in (lower, upper))
    step = build.resized(step, wide.element, signed=True)
    if lowering.known.of(step).low <= 0:
        upper = build.select(_is_positive(build, step), upper, lower)
        step = build.op("arith.maxsi", step, build.integer(wide, 1))
    return Count((lower, upper, step), lambda position: build.resized(position, narrow, signed=True))


def _counted(lowering: TtirLowering, op: For, lower: TtirValue, upper: TtirValue, step: TtirValue) -> Count:
    """Return the iterations by number; more than the type has room for cannot be run to the end."""
    build, type = lowering.build, lower.type
    zero, one = build.integer(type, 0), build.integer(type, 1)
    any_run = build.compare("ult" if op.unsigned else "slt", lower, upper)
    if lowering.known.of(step).low <= 0:
        any_run = build.op("arith.andi", any_run, _is_positive(build, step))
        step = build.op("arith.maxsi", step, one)
    span = build.op("arith.subi", build.op("arith.subi", upper, lower), one)
    number = build.op("arith.addi", build.op("arith.divui", span, step), one)
    number = build.op("arith.minui", number, build.integer(type, (1 << (type.bits - 1)) - 1))

    def induction(position: TtirValue) -> TtirValue:
        found = build.op("arith.addi", lower, build.op("arith.muli", position, step))
        if not op.unsigned:
            lowering.known.count(found, lower, upper, step)
        return found

    return Count((zero, build.select(any_run, number, zero), one), induction)


def _is_positive(build: Builder, step: TtirValue) -> TtirValue:
    return build.compare("sgt", step, build.integer(step.type, 0))


def _ends_inside(lowering: TtirLowering, upper: TtirValue, step: TtirValue) -> bool:
    """Return whether the sum of an induction value and the step never overflows the type, read as signed."""
    known, limit = lowering.known.of(step), 1 << (step.type.bits - 1)
    return known.low > 0 and (known.high == 1 or lowering.known.of(upper).high <= limit - known.high)


# ---------------------------------------------------------------- generated tiles


def generated(lowering: TtirLowering, op: Generate) -> TtirValue:
    """Return the tile."""
    if not op.result.type.shape:
        return run(lowering, op.body.ops).values[RegionExit.YIELD][0]
    if all(map(_is_elementwise, op.body.ops[:-1])):
        return _Widened(lowering, op.result.type.shape).run(op)
    return _element_by_element(lowering, op)


def _is_elementwise(op: Op) -> bool:
    """Return whether it works on tensors in place of scalars, or is the same for all elements."""
    if op.regions or not all(isinstance(result.type, t.TileType) and not result.type.shape for result in op.results):
        return False
    return ELEMENTWISE in op.spec.traits or not op.operands


@dataclass
class _Widened:
    """A body with tensors of `shape` for what differs from element to element."""

    lowering: TtirLowering
    shape: tuple[int, ...]
    wide: dict[core.Value, core.Value] = field(default_factory=dict)
    """The tensors, by the scalars that they stand for."""

    def run(self, op: Generate) -> TtirValue:
        build = self.lowering.build
        *operations, end = op.body.ops
        for axis, argument in enumerate(op.body.args):
            self._stand(argument, build.positions(axis, *self.shape))
        for inner in operations:
            if inner.operands:
                self._lower(inner)
            else:
                self.lowering.lower(inner)
        return self.lowering.value(self._wide(end.operands[0]))

    def _lower(self, op: Op) -> None:
        """Lower the operation on tensors."""
        types: list[t.Type] = [self._type(result) for result in op.results]
        operands = [self._wide(operand) for operand in op.operands]
        widened = type(op)(operands, types, op.attributes, (), op.loc, op.segments)
        self.lowering.lower(widened)
        self.wide.update(zip(op.results, widened.results))

    def _wide(self, value: core.Value) -> core.Value:
        """Return the tensor for a scalar; of one that is the same for all elements a splat."""
        if value not in self.wide:
            self._stand(value, self.lowering.build.splat(self.lowering.value(value), *self.shape))
        return self.wide[value]

    def _stand(self, scalar: core.Value, tensor: TtirValue) -> None:
        self.wide[scalar] = core.Value(self._type(scalar), scalar.owner, scalar.index)
        self.lowering.bind(self.wide[scalar], tensor)

    def _type(self, scalar: core.Value) -> t.TileType:
        return t.TileType(self.shape, scalar.tile.element)


def _element_by_element(lowering: TtirLowering, op: Generate) -> TtirValue:
    """Emit a loop that puts one element after the other into the tile."""
    build, type = lowering.build, lowering.type_of(op.result)
    numbers = build.numbers(*type.shape)

    def step(number: TtirValue, carried: Sequence[TtirValue]) -> list[TtirValue]:
        for argument, position in zip(op.body.args, build.places(number, *type.shape)):
            lowering.bind(argument, position)
        element = run(lowering, op.body.ops).values[RegionExit.YIELD][0]
        build.loc = op.loc
        here = build.compare("eq", numbers, build.like(number, numbers))
        return [build.select(here, build.like(element, carried[0]), carried[0])]

    return build.repeated(type.count, [placeholder(build, type)], step)[0]
