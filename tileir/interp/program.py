"""A prepared program: what runs when a tile block runs.

Values live in a *frame*: a list with one slot per live value. A step reads and writes slots by index. Most operations
are plain steps, called one after the other. Control flow and operations at which another tile block may get its turn
are generators, which yield exactly there; so straight code pays one generator per execution of a region, not per
operation. An early exit is a return value of the generator: the region it leaves hands it on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tileir.analysis.structure import RegionExit
from tileir.interp.api import BlockState
from tileir.interp.faults import Fault
from tileir.ir.core import Op
from tileir.ir.loc import Source

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
        """A fresh frame with the arguments in it."""
        frame = self.template.copy()
        store(frame, self.body.arguments, arguments)
        return frame


@dataclass(frozen=True)
class PreparedProgram:
    """A prepared entry: `name` and `source` are for messages."""

    name: str
    function: PreparedFunction
    source: Source | None
