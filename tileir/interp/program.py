"""A prepared program: what runs when a tile block runs.

Values live in a *frame*: a list with one slot per live value. A step reads and writes slots by index. Most operations
are plain steps, called one after the other. Control flow and operations at which another tile block may get its turn
are generators, which yield exactly there; so straight code pays one generator per execution of a region, not per
operation. An early exit is a return value of the generator: the region it leaves hands it on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from tileir.analysis.structure import RegionExit, last_uses
from tileir.host import limits
from tileir.interp.api import BlockState
from tileir.interp.faults import Fault
from tileir.ir.core import Block, Op, Value
from tileir.ir.loc import Source
from tileir.ir.types import TileType
from tileir.ops.core import Constant
from tileir.ops.shapes import Broadcast

Frame = list[object]
NOTHING = 0
"""The slot of absent operands: it always holds None."""


class Exit(NamedTuple):
    """The terminator that ended a region, with the values of its operands."""

    kind: RegionExit
    values: tuple[object, ...]


Flow = Generator[None, None, Exit]
Step = Callable[[Frame, BlockState], None]
Control = Callable[[Frame, BlockState], Generator[None, None, Exit | None]]
"""A step that may switch tile blocks; it gives None, or the exit by which the region around it is left."""
Fetch = Callable[[Frame], tuple[object, ...]]


def store(frame: Frame, slots: Iterable[int], values: Iterable[object]) -> None:
    for slot, value in zip(slots, values):
        frame[slot] = value


class Chunk(NamedTuple):
    """Plain steps, then at most one that controls."""

    steps: tuple[Step, ...]
    control: Control | None


class Region:
    """A prepared region: `arguments` are the slots of its block arguments, `finish` makes the exit at its end.

    ``origin`` gives the operation of each step. A `scoped` region frees on leaving what was allocated in it.
    """

    __slots__ = ("arguments", "chunks", "finish", "origin", "run")

    def __init__(
        self,
        arguments: tuple[int, ...],
        chunks: Iterable[Chunk],
        finish: Callable[[Frame], Exit],
        origin: dict[Step | Control, Op],
        scoped: bool,
    ) -> None:
        self.arguments = arguments
        self.chunks = tuple(chunks)
        self.finish = finish
        self.origin = origin
        self.run: Callable[[Frame, BlockState], Flow] = self._run_scoped if scoped else self._run

    def _run(self, frame: Frame, block: BlockState) -> Flow:
        step: Step | Control
        try:
            for steps, control in self.chunks:
                for step in steps:
                    step(frame, block)
                if control is not None:
                    step = control
                    left = yield from control(frame, block)
                    if left is not None:
                        return left
        except Fault as fault:
            raise block.trap(fault, self.origin[step]) from None
        return self.finish(frame)

    def _run_scoped(self, frame: Frame, block: BlockState) -> Flow:
        mark = len(block.allocations)
        left = yield from self._run(frame, block)
        block.release(mark)
        return left

    def run_here(self, frame: Frame, block: BlockState) -> tuple[object, ...]:
        """Run a region that never switches tile blocks, and give what it yields."""
        flow = self.run(frame, block)
        try:
            while True:
                next(flow)
        except StopIteration as stop:
            values: tuple[object, ...] = stop.value.values
            return values


@dataclass(frozen=True)
class PreparedFunction:
    """A prepared entry or device function: a frame with the constants in place, and the body."""

    template: Frame
    body: Region

    def frame(self, arguments: Iterable[object]) -> Frame:
        """Return a fresh frame with the arguments in it."""
        frame = self.template.copy()
        store(frame, self.body.arguments, arguments)
        return frame


@dataclass(frozen=True)
class PreparedProgram:
    """A prepared entry: `name` and `source` are for messages."""

    name: str
    function: PreparedFunction
    source: Source | None


Input = int | tuple[int, ...]
"""The slot of a single operand, or the slots of a variadic one."""
Function = Callable[..., object]


def fetch(slots: tuple[int, ...]) -> Fetch:
    """Return the values in `slots`, as a tuple."""
    if not slots:
        return lambda frame: ()
    if len(slots) == 1:
        (only,) = slots
        return lambda frame: (frame[only],)
    return itemgetter(*slots)


def pure_step(function: Function, inputs: Sequence[Input], outputs: tuple[int, ...]) -> Step:
    """Return the step of ``function(*values)``."""
    maker = _PURE.get(len(inputs)) if len(outputs) == 1 and _all_single(inputs) else None
    if maker is not None:
        return maker(function, *inputs, *outputs)
    values = _fetch_inputs(inputs)
    return _storing(lambda frame, block: function(*values(frame)), outputs)


def effect_step(function: Function, inputs: Sequence[Input], outputs: tuple[int, ...]) -> Step:
    """Return the step of ``function(block, *values)``."""
    values = _fetch_inputs(inputs)
    return _storing(lambda frame, block: function(block, *values(frame)), outputs)


def _all_single(inputs: Sequence[Input]) -> bool:
    return all(isinstance(slot, int) for slot in inputs)


def _fetch_inputs(inputs: Sequence[Input]) -> Fetch:
    singles = tuple(slot for slot in inputs if isinstance(slot, int))
    if len(singles) == len(inputs):
        return fetch(singles)
    getters = [itemgetter(slot) if isinstance(slot, int) else fetch(slot) for slot in inputs]
    return lambda frame: tuple([getter(frame) for getter in getters])


def _storing(call: Callable[[Frame, BlockState], object], outputs: tuple[int, ...]) -> Step:
    """Call, then put the result, or the members of the tuple of results, where they belong."""
    if not outputs:
        return call  # type: ignore[return-value]
    if len(outputs) == 1:
        (only,) = outputs

        def store_one(frame: Frame, block: BlockState) -> None:
            frame[only] = call(frame, block)

        return store_one

    def store_many(frame: Frame, block: BlockState) -> None:
        for slot, value in zip(outputs, call(frame, block)):  # type: ignore[call-overload]
            frame[slot] = value

    return store_many


def _nullary(function: Function, out: int) -> Step:
    def step(frame: Frame, block: BlockState) -> None:
        frame[out] = function()

    return step


def _unary(function: Function, a: int, out: int) -> Step:
    def step(frame: Frame, block: BlockState) -> None:
        frame[out] = function(frame[a])

    return step


def _binary(function: Function, a: int, b: int, out: int) -> Step:
    def step(frame: Frame, block: BlockState) -> None:
        frame[out] = function(frame[a], frame[b])

    return step


def _ternary(function: Function, a: int, b: int, c: int, out: int) -> Step:
    def step(frame: Frame, block: BlockState) -> None:
        frame[out] = function(frame[a], frame[b], frame[c])

    return step


_PURE: dict[int, Callable[..., Step]] = {0: _nullary, 1: _unary, 2: _binary, 3: _ternary}


class Slots:
    """The slots of one function. `template` is the frame that a run starts with; constants keep their slot for good."""

    def __init__(self, body: Block) -> None:
        self.template: Frame = [None]
        self._free: list[int] = []
        self._live_bytes = 0
        """Bytes of the tiles that are live, at the least."""
        self._slot_of: dict[Value, int] = {}
        self._constants: dict[Value, int] = {}
        self._last_use = last_uses(body)
        self._dying: defaultdict[Op, list[Value]] = defaultdict(list)
        for value, op in self._last_use.items():
            self._dying[op].append(value)

    def of(self, value: Value) -> int | None:
        """Return the slot of a live value or constant; None if it has none."""
        slot = self._slot_of.get(value)
        return self._constants.get(value) if slot is None else slot

    def define(self, values: Iterable[Value]) -> tuple[int, ...]:
        """Return slots for values that are defined together; slots of unused values are freed at once.

        Raises UnsupportedError where the tiles that are live take more than the memory of this machine.
        """
        values = tuple(values)
        slots = tuple(map(self._take, values))
        for value in values:
            if value not in self._last_use:
                self._give_up(value)
        return slots

    def keep(self, value: Value, content: object) -> int:
        """Return a slot that holds the content of a constant from the start and is never used for anything else."""
        slot = self._constants[value] = NOTHING if content is None else self._new(content)
        return slot

    def free_after(self, op: Op) -> None:
        """Give up the slots of the values whose last use is `op`."""
        for value in self._dying.pop(op, ()):
            if value in self._slot_of:
                self._give_up(value)

    def _take(self, value: Value) -> int:
        self._live_bytes += _own_bytes(value)
        if self._live_bytes > limits.physical_memory():
            raise limits.no_memory(self._live_bytes, "interp")
        slot = self._free.pop() if self._free else self._new(None)
        self._slot_of[value] = slot
        return slot

    def _give_up(self, value: Value) -> None:
        self._live_bytes -= _own_bytes(value)
        self._free.append(self._slot_of.pop(value))

    def _new(self, content: object) -> int:
        self.template.append(content)
        return len(self.template) - 1


def _own_bytes(value: Value) -> int:
    """Return the number of bytes that a value takes; none where all elements may be the same ones in memory."""
    if not isinstance(value.type, TileType) or isinstance(value.owner, Broadcast | Constant):
        return 0
    return value.type.count * value.type.element.byte_size
