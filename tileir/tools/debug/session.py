"""A launch under the debugger: breakpoints, watched memory, steps; going back is running again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tileir.interp.api import BlockState
from tileir.interp.observer import Listener, Values
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.diagnostics import Coordinates, Trap
from tileir.ir.effects import AccessTrait
from tileir.ir.loc import Source
from tileir.ir.types import TokenType
from tileir.runtime.arguments import Argument
from tileir.runtime.grid import Grid
from tileir.runtime.module import Kernel
from tileir.tools.debug.expressions import ExpressionError, evaluate
from tileir.tools.interpreted import BoundLaunch, placed, run_listened
from tileir.tools.lsp.reading import read
from tileir.tools.program_lines import LinePlace, ProgramLines
from tileir.tools.view.pictures import values_of


def value_names(module: Module, source: Source) -> dict[Value, str]:
    """Return the name, with its ``%``, of every value of `module`, whose text is `source`."""
    reading = read(Source(source.name, source.text))
    if reading.faults:
        return {}
    names = {name.value: name.name for name in reading.definitions.values()}
    found: dict[Value, str] = {}
    for own, other in zip(module.walk(), reading.module.walk()):
        _give(own.results, other.results, names, found)
        for block, like in zip(own.regions, other.regions):
            if isinstance(block, Block) and isinstance(like, Block):
                _give(block.args, like.args, names, found)
    return found


def _give(own: Sequence[Value], other: Sequence[Value], names: dict[Value, str], found: dict[Value, str]) -> None:
    """Name a value; a member of a pack behind the first has that one's name and its number."""
    first, base = "", 0
    for index, (value, like) in enumerate(zip(own, other)):
        if like in names:
            first, base = names[like], index
        if first:
            found[value] = first if index == base else f"{first}#{index - base}"


def named(op: Op, names: dict[Value, str]) -> str:
    """Return an operation with the names of its results and operands, for a person."""
    results = ", ".join(names.get(result, "_") for result in op.results)
    operands = ", ".join(names.get(operand, "_") for operand in op.operands)
    return f"{results} = {op.spec.name} {operands}".removeprefix(" = ").rstrip()


@dataclass
class Breakpoint:
    """A place where the run stops: a line of a file, or all operations of a name; `block` and `condition` narrow it."""

    number: int
    line: int | None = None
    file: str | None = None
    op: str | None = None
    block: Coordinates | None = None
    condition: str | None = None
    once: bool = False
    hits: int = 0

    def __str__(self) -> str:
        place = f"'{self.op}'" if self.op else f"line {self.line}"
        where = f" in tile block {self.block}" if self.block else ""
        return f"{self.number}: {place}{where}" + (f" if {self.condition}" if self.condition else "")


@dataclass
class WatchedExpression:
    """An expression over arrays at whose change the run stops."""

    text: str
    last: bytes


@dataclass
class Stop:
    """The point where the run stands: in front of `op`, in a tile block, because of `reason`."""

    op: Op
    values: Values
    block: Coordinates
    reason: str
    moment: int


@dataclass
class _BlockKnowledge:
    """The state of a tile block: the latest value of each name, the enclosing operations, how often operations ran."""

    values: dict[Value, object] = field(default_factory=dict)
    around: list[Op] = field(default_factory=list)
    runs: Counter[Op] = field(default_factory=Counter)


class _Again(BaseException):
    """The run is to begin anew."""


class _Quit(BaseException):
    """The run is to end."""


Front = Callable[["DebugSession", Stop], None]
"""Is called where the run stops; when it returns, the run goes on as it has said."""


class DebugSession(Listener):
    """A launch under the debugger. `front` is asked what to do at each stop."""

    def __init__(
        self,
        kernel: Kernel,
        grid: Grid,
        arguments: Sequence[Argument],
        front: Front,
        blocks: Sequence[Coordinates] | None = None,
    ) -> None:
        """Prepare a checked launch; `blocks` are the tile blocks that run, all by default."""
        super().__init__()
        self._front = front
        self._bind: Callable[[], BoundLaunch] = lambda: placed(kernel, grid, arguments)
        self.launch = self._bind()
        self.lines = ProgramLines(kernel.module)
        for op in kernel.module.walk():
            self.lines.of(op)
        self.names = value_names(kernel.module, self.lines.program)
        self.breakpoints: list[Breakpoint] = []
        self.watched: list[WatchedExpression] = []
        self.trap: Trap | None = None
        self.stop: Stop | None = None
        self._blocks = blocks
        self._before = [one.copy() for one in self._written()]
        self._numbers = 0
        self._moment = 0
        self._passed: list[int] = []
        self._earliest = 0
        self._rule: Callable[[Op], str | None] = lambda op: "begin"
        self._known: dict[Coordinates, _BlockKnowledge] = {}
        self._ended: set[Coordinates] = set()
        self._changed: str | None = None
        self._latest: tuple[Op, Values] | None = None

    # ------------------------------------------------------------ the run

    def run(self) -> None:
        """Run the launch, as often as it is asked for; gives up control where it stops, and at its end."""
        while True:
            self._restart()
            try:
                run_listened(self.launch, self, self._blocks)
                return
            except _Again:
                continue
            except _Quit:
                return
            except Trap as trap:
                self.trap = trap
            try:
                self._halt_at_trap()
                return
            except _Again:
                continue
            except _Quit:
                return

    def _restart(self) -> None:
        for memory, content in zip(self._written(), self._before):
            memory[...] = content
        self.launch = self._bind()
        self._moment, self.trap, self._changed = 0, None, None
        self._passed.clear()
        self._known.clear()
        self._ended.clear()
        for one in self.watched:
            one.last = self._content(one.text)

    def _written(self) -> list[np.ndarray]:
        return self.launch.memory.writable_bytes()

    # ------------------------------------------------------------ what is heard

    def block_begins(self, block: BlockState) -> None:
        self._known[block.id] = _BlockKnowledge()

    def block_ends(self, block: BlockState) -> None:
        self._ended.add(block.id)

    def before(self, op: Op, values: Values) -> None:
        known = self._knowledge
        known.values.update(zip(op.operands, values))
        self._moment += 1
        reason = self._reason(op)
        if reason is not None:
            self._halt(op, values, reason)
        self._latest = (op, values)
        known.runs[op] += 1
        if any(op.regions):
            known.around.append(op)

    def after(self, op: Op, values: Values, results: Values) -> None:
        known = self._knowledge
        if known.around and known.around[-1] is op:
            known.around.pop()
        known.values.update((value, content) for value, content in zip(op.results, results) if content is not None)
        if self.watched and op.spec.trait(AccessTrait) is not None:
            self._look_at_memory(op)

    @property
    def _knowledge(self) -> _BlockKnowledge:
        assert self.block is not None, "an operation runs in a tile block"
        return self._known[self.block.id]

    def _look_at_memory(self, op: Op) -> None:
        for one in self.watched:
            now = self._content(one.text)
            if now != one.last:
                one.last = now
                self._changed = f"{one.text} has changed, by '{op.spec.name}' at {self.place(op)}"

    # ------------------------------------------------------------ stopping

    def _reason(self, op: Op) -> str | None:
        """Return why the run stops in front of an operation; None if it does not."""
        changed, self._changed = self._changed, None
        hit = self._hit(op)
        if hit is not None:
            self._passed.append(self._moment)
        if self._moment < self._earliest:
            return None
        return changed or (self._rule(op) if hit is None else f"breakpoint {hit.number}")

    def _hit(self, op: Op) -> Breakpoint | None:
        for one in self.breakpoints:
            if self._is_at(one, op):
                one.hits += 1
                if one.once:
                    self.breakpoints.remove(one)
                return one
        return None

    def _is_at(self, one: Breakpoint, op: Op) -> bool:
        assert self.block is not None
        if one.block not in (None, self.block.id):
            return False
        if one.op is not None and one.op != op.spec.name:
            return False
        if one.line is not None and not self._begins_line(one, op):
            return False
        if one.condition is None:
            return True
        try:
            return bool(np.asarray(self.evaluate(one.condition)).all())
        except ExpressionError:
            return False

    def _begins_line(self, one: Breakpoint, op: Op) -> bool:
        return any(place.line == one.line and one.file in (None, place.file) for place in self.lines.of(op))

    def _halt(self, op: Op, values: Values, reason: str) -> None:
        assert self.block is not None
        self.stop = Stop(op, values, self.block.id, reason, self._moment)
        self._rule, self._earliest = lambda op: None, 0
        self._front(self, self.stop)

    def _halt_at_trap(self) -> None:
        assert self.trap is not None and self._latest is not None
        op, values = self._latest
        self.stop = Stop(op, values, self.trap.block or (0, 0, 0), "trap", self._moment)
        self._rule = lambda op: None
        self._front(self, self.stop)

    # ------------------------------------------------------------ going on

    def step(self, count: int = 1) -> None:
        """Stop in front of the next operation, or of the `count`-th next."""
        target = self._moment + count
        self._rule = lambda op: "step" if self._moment >= target else None

    def step_over(self) -> None:
        """Stop when what stands in the regions of this operation has run, in the same tile block."""
        stop, depth = self._here()
        self._rule = lambda op: "step" if self._is_out(stop, depth) else None

    def step_out(self) -> None:
        """Stop behind the region around."""
        stop, depth = self._here()
        self._rule = lambda op: "step" if self._is_out(stop, depth - 1) else None

    def next_block(self) -> None:
        """Stop when a tile block begins."""
        self._rule = lambda op: "tile block" if not self._knowledge.runs else None

    def resume(self) -> None:
        """Run up to the next breakpoint."""
        self._rule = lambda op: None

    def go_to(self, moment: int) -> None:
        """Run again, and stop at a moment, the first at the earliest."""
        target = max(1, moment)
        self._rule = lambda op: "back"
        self._earliest = target
        raise _Again

    def last_hit(self) -> int:
        """Return the moment of the latest breakpoint before this one; the first moment if there is none."""
        earlier = [moment for moment in self._passed if moment < self._moment]
        return earlier[-1] if earlier else 1

    def quit(self) -> None:
        """End the run where it is."""
        raise _Quit

    def _here(self) -> tuple[Coordinates, int]:
        assert self.stop is not None
        return self.stop.block, len(self._known[self.stop.block].around)

    def _is_out(self, block: Coordinates, depth: int) -> bool:
        assert self.block is not None
        return (self.block.id == block and len(self._knowledge.around) <= depth) or block in self._ended

    # ------------------------------------------------------------ questions

    def add(self, **given: object) -> Breakpoint:
        """Set a breakpoint; the fields are those of `Breakpoint`."""
        self._numbers += 1
        self.breakpoints.append(Breakpoint(self._numbers, **given))  # type: ignore[arg-type]
        return self.breakpoints[-1]

    def watch(self, text: str) -> None:
        """Stop when the value of an expression over arrays changes. Raises ExpressionError."""
        self.evaluate(text)
        self.watched.append(WatchedExpression(text, self._content(text)))

    def _content(self, text: str) -> bytes:
        try:
            return np.asarray(evaluate(text, {}, self.arrays)).tobytes()
        except ExpressionError:
            return b""

    @property
    def arrays(self) -> dict[str, object]:
        """The arrays of the launch by name, as they are now."""
        found = {one.name: values_of(one.array) for one in self.launch.arrays}
        return {name: values for name, values in found.items() if values is not None}

    @property
    def values(self) -> dict[str, tuple[Value, object]]:
        """The values that are known in the tile block, by name, the latest of each."""
        block = self.stop.block if self.block is None and self.stop else self.block.id if self.block else None
        known = self._known.get(block) if block is not None else None
        if known is None:
            return {}
        return {self.names[value]: (value, content) for value, content in known.values.items() if value in self.names}

    def evaluate(self, text: str) -> object:
        """Return the value of an expression. Raises ExpressionError."""
        block = self.block.id if self.block else self.stop.block if self.stop else (0, 0, 0)
        places = dict(zip(("block_x", "block_y", "block_z"), block))
        return evaluate(text, {name: one for name, (_, one) in self.values.items()}, {**self.arrays, **places})

    def place(self, op: Op) -> str:
        """Return the line of an operation, in words."""
        found = self.line(op)
        return f"line {found.line}" if found else "no line"

    def line(self, op: Op) -> LinePlace | None:
        """Return the line of an operation: that of the file that a person wrote, where it is known."""
        places = self.lines.of(op)
        return places[min(1, len(places) - 1)] if places else None

    def line_with_operation(self, line: int, file: str | None) -> int | None:
        """Return the line, or the next one behind it, at which an operation runs; None if there is none."""
        items = self.launch.kernel.module.items
        ops = (op for item in items for op in item.walk() if op is not item and not op.spec.terminator)
        places = (place for op in ops for place in self.lines.of(op))
        return min((place.line for place in places if file in (None, place.file) and place.line >= line), default=None)

    def described(self, op: Op) -> str:
        return named(op, self.names)

    def around(self) -> list[tuple[Op, int]]:
        """Return the operations around the current one, the innermost first, with the iteration of each."""
        assert self.stop is not None
        known = self._known[self.stop.block]
        found = []
        for op in reversed(known.around):
            region = next((one for one in op.regions if one is not None), None)
            first = region.ops[0] if region is not None and region.ops else None
            found.append((op, known.runs[first] if first is not None else 0))
        return found

    def cause(self, op: Op, depth: int = 3) -> list[tuple[int, Value, object]]:
        """Return the values that an operation was given, and those that they were made of: how far back, value,
        content."""
        assert self.stop is not None
        known, found, seen = self._known[self.stop.block].values, [], set()
        layer = list(op.operands)
        for distance in range(depth):
            following: list[Value] = []
            for value in layer:
                if value in seen or isinstance(value.type, TokenType):
                    continue
                seen.add(value)
                found.append((distance, value, known.get(value)))
                following += value.op.operands if value.op is not None else []
            layer = following
        return found
