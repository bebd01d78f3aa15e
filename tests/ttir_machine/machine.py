"""Running a function over a grid.

Blocks take turns: a block gives way after each instruction through which blocks can notice each other, and after each
round of an ``scf.while``, so that one which waits for another does not wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.ttir_machine import (
    access,
    atomics,
    descriptors,
    elementwise,
    folds,
    functions,
    products,
    ptx,
    shapes,
)
from tests.ttir_machine.memory import Allocation, Memory
from tests.ttir_machine.races import RaceDetector
from tests.ttir_machine.values import Lanes, MachineFault, argument, dtype_of, signed, unsigned
from tileir.gpu.ttir.ir.code import Instruction, TtirBlock, TtirFunction, TtirType, TtirValue
from tileir.ir.diagnostics import place_text

Rule = Callable[..., "Lanes | list[Lanes]"]
Turns = Generator[None, None, list[Lanes]]
"""A run that gives way now and then, and in the end has values."""

RULES: dict[str, Rule] = {
    name: rule
    for chapter in (
        shapes.RULES,
        access.RULES,
        folds.RULES,
        products.RULES,
        atomics.RULES,
        descriptors.RULES,
        ptx.RULES,
    )
    for name, rule in chapter.items()
}
"""Rules that need the block they are run in, or the poison of their operands."""
LANE_RULES = {**elementwise.RULES, **functions.RULES}
"""Rules for every lane on its own."""
ENDS = ("scf.yield", "scf.condition", "tt.return", "tt.reduce.return", "tt.scan.return")
GIVES_WAY = frozenset(atomics.RULES)
MAX_TURNS = 2_000_000
"""Turns that blocks may give away before a launch counts as hanging."""


@dataclass
class RunningBlock:
    """One block of the grid: its place, and the values so far."""

    place: tuple[int, int, int]
    grid: tuple[int, int, int]
    memory: Memory
    values: dict[TtirValue, Lanes] = field(default_factory=dict)
    batched: tuple[int, ...] | None = None

    def run(self, block: TtirBlock, arguments: Sequence[Lanes]) -> Turns:
        """Execute a block; the values are those that its last instruction hands on."""
        self._bind(block.arguments, arguments)
        for instruction in block.instructions:
            operands = [self.values[operand] for operand in instruction.operands]
            if instruction.name in ENDS:
                return operands
            try:
                if instruction.name in CONTROLS:
                    results = yield from CONTROLS[instruction.name](self, instruction, operands)
                else:
                    results = self._apply(instruction, operands)
            except MachineFault as fault:
                raise _placed(fault, instruction) from None
            self._bind(instruction.results, results)
            if instruction.name in GIVES_WAY or instruction.attributes.get("pure") is False:
                yield
        raise MachineFault("a block ends without a terminator")

    def batch(self, block: TtirBlock, arguments: Sequence[Lanes], shape: tuple[int, ...]) -> list[Lanes]:
        """Execute a region of scalars on lanes of `shape` at a time."""
        outer, self.batched = self.batched, shape
        results = finished(self.run(block, arguments))
        self.batched = outer
        return [result.moved(lambda x: np.broadcast_to(x, shape)) for result in results]

    def _apply(self, instruction: Instruction, operands: list[Lanes]) -> list[Lanes]:
        simple = LANE_RULES.get(instruction.name)
        if simple is not None:
            result = simple(instruction, *(operand.data for operand in operands))
            made = result if isinstance(result, Lanes) else Lanes(np.asarray(result))
            return [made.tainted(*operands)]
        rule = RULES.get(instruction.name)
        if rule is None:
            raise MachineFault("the machine does not know this instruction")
        self.memory.begin(instruction)
        found = rule(self, instruction, *operands)
        return found if isinstance(found, list) else [found]

    def _bind(self, names: Sequence[TtirValue], lanes: Sequence[Lanes]) -> None:
        assert len(names) == len(lanes), (names, lanes)
        for name, value in zip(names, lanes):
            self._check(name.type, value)
            self.values[name] = value

    def _check(self, type: TtirType, lanes: Lanes) -> None:
        shape = lanes.data.shape
        fits = shape == type.shape or (self.batched is not None and type.shape == ())
        if lanes.data.dtype != dtype_of(type.element) or not fits:
            raise MachineFault(f"expected {type}, got {lanes.data.dtype} of shape {shape}")


def finished(turns: Turns) -> list[Lanes]:
    """The values in the end, without giving way to anything."""
    while True:
        try:
            next(turns)
        except StopIteration as end:
            values: list[Lanes] = end.value
            return values


def _placed(fault: MachineFault, instruction: Instruction) -> MachineFault:
    """The fault with the innermost instruction that it is of."""
    if getattr(fault, "instruction", None) is not None:
        return fault
    placed = MachineFault(f"{place_text(instruction.loc) or 'somewhere'}: '{instruction.name}': {fault}")
    placed.instruction = instruction  # type: ignore[attr-defined]
    return placed


# ------------------------------------------------------------ control flow


def _truth(lanes: Lanes, what: str) -> bool:
    found = lanes.required(what)
    if found.shape:
        raise MachineFault(f"{what} differs from lane to lane")
    return bool(found)


def _if(frame: RunningBlock, instruction: Instruction, operands: list[Lanes]) -> Turns:
    then, otherwise = instruction.regions
    chosen = then if _truth(operands[0], "a branch") else otherwise
    return (yield from frame.run(chosen, [])) if chosen.instructions else []


def _for(frame: RunningBlock, instruction: Instruction, operands: list[Lanes]) -> Turns:
    """From the lower to below the upper bound; the step is above 0."""
    reading = unsigned if instruction.attributes.get("unsignedCmp") else signed
    lower, upper, step = (int(reading(bound.required("the bound of a loop"))) for bound in operands[:3])
    if step <= 0:
        raise MachineFault(f"the step of a loop is {step}")
    carried = operands[3:]
    counter = operands[0].data.dtype
    for number in range(lower, upper, step):
        index = Lanes(np.asarray(number % (1 << (8 * counter.itemsize))).astype(counter))
        carried = yield from frame.run(instruction.regions[0], [index, *carried])
    return carried


def _while(frame: RunningBlock, instruction: Instruction, operands: list[Lanes]) -> Turns:
    before, after = instruction.regions
    carried = operands
    while True:
        condition, *values = yield from frame.run(before, carried)
        if not _truth(condition, "the condition of a loop"):
            return values
        carried = yield from frame.run(after, values)
        yield


CONTROLS: dict[str, Callable[[RunningBlock, Instruction, list[Lanes]], Turns]] = {
    "scf.if": _if,
    "scf.for": _for,
    "scf.while": _while,
}


# ------------------------------------------------------------ a launch


def run(
    function: TtirFunction,
    grid: tuple[int, ...],
    arguments: Sequence[int | np.generic | descriptors.Descriptor],
    allocations: Sequence[Allocation],
    ordered: bool = False,
) -> None:
    """Execute `function` for each block of `grid`; pointers are addresses within `allocations`.

    With `ordered` barriers must stand between accesses of a block to the same memory. Raises MachineFault.
    """
    extents = (*grid, 1, 1, 1)[:3]
    memory = Memory(allocations)
    types = [parameter.type for parameter in function.body.arguments]
    assert len(types) == len(arguments), (types, arguments)
    given = [
        descriptors.lanes_of(value) if isinstance(value, descriptors.Descriptor) else argument(value, type)
        for value, type in zip(arguments, types)
    ]
    frames = [
        RunningBlock((x, y, z), (extents[0], extents[1], extents[2]), RaceDetector(memory) if ordered else memory)
        for z in range(extents[2])
        for y in range(extents[1])
        for x in range(extents[0])
    ]
    with np.errstate(all="ignore"):
        _take_turns([frame.run(function.body, given) for frame in frames])


def _take_turns(waiting: list[Turns]) -> None:
    """Let each go on until it gives way, round by round, until all have ended."""
    turns = 0
    while waiting:
        still: list[Turns] = []
        for block in waiting:
            try:
                next(block)
                still.append(block)
            except StopIteration:
                pass
        turns += len(still)
        if turns > MAX_TURNS:
            raise MachineFault("the blocks wait for each other for ever")
        waiting = still
