"""A launch on the interpreter with a listener, who is told of every operation before and after it runs.

Knows: the interpreter's rules with the listener around them, and how such a launch is carried out.
Does not know: what is done with what is heard (`tools.view`).

Nothing is computed beforehand, so the listener hears of constants too. The bodies of `reduce` and `scan` run with
arrays in the place of scalars, as always.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tileir.host import running
from tileir.interp.api import BlockState, LaunchState, Options
from tileir.interp.faults import Fault
from tileir.interp.machine import TABLES
from tileir.interp.memory import Memory
from tileir.interp.prepare import Preparation, RuleTables, prepare
from tileir.interp.program import Exit, Frame
from tileir.interp.scheduler import Running, coordinates, run_all
from tileir.interp.watch import Watch
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates
from tileir.ir.rules import Rules
from tileir.runtime.arguments import Argument, ArrayArgument, Binder, Parameter
from tileir.runtime.grid import Grid, GridLike, checked_grid
from tileir.runtime.interpreter import Interpreter, rank_zero_tile
from tileir.runtime.launch import bind
from tileir.runtime.memory import give_memory
from tileir.runtime.module import Kernel, required_kernel
from tileir.runtime.options import Check, LaunchOptions
from tileir.runtime.targets import Run, Target, target_named

Values = Sequence[object]
"""One for each operand or result, in order: a tile, a view, None for a token or for an operand that is absent."""


class Listener:
    """Hears of a launch. `block` is the tile block that runs."""

    def __init__(self) -> None:
        self.block: BlockState | None = None

    def block_begins(self, block: BlockState) -> None:
        """A tile block starts."""

    def block_ends(self, block: BlockState) -> None:
        """A tile block is done."""

    def before(self, op: Op, values: Values) -> None:
        """An operation is about to run."""

    def after(self, op: Op, values: Values, results: Values) -> None:
        """An operation has run; one that leaves the region around it gives no results."""


@dataclass(frozen=True)
class BoundLaunch:
    """A launch whose arguments were checked and lie in `memory`."""

    kernel: Kernel
    grid: Coordinates
    arguments: Sequence[Argument]
    memory: Memory

    @property
    def arrays(self) -> list[ArrayArgument]:
        """The arrays that the kernel is given, and those that it reaches through them."""
        own = [argument for argument in self.arguments if isinstance(argument, ArrayArgument)]
        return [one for argument in own for one in (argument, *argument.reaches)]


def bound_arguments(kernel: Kernel, grid: GridLike, args: Sequence[object]) -> tuple[Grid, list[Argument]]:
    """Check a launch as target ``interp`` does. Raises TypeError, ValueError, `DiagnosticError`, `UnsupportedError`."""
    required_kernel(kernel).module.require_valid()
    extents = checked_grid(grid, kernel.name)
    return extents, bind(kernel, args, target_named("interp"))


def placed(
    kernel: Kernel, grid: Grid, arguments: Sequence[Argument], memory: Callable[[dict[str, int]], Memory]
) -> BoundLaunch:
    """A launch with its arguments in memory, which `memory` makes, given the addresses of globals."""
    storage = kernel.module.globals
    made = memory(storage.addresses)
    give_memory(made, arguments, storage)
    return BoundLaunch(kernel, grid, arguments, made)


def run_listened(
    launch: BoundLaunch, listener: Listener, options: Options, blocks: Iterable[Coordinates] | None = None
) -> None:
    """Run the tile blocks of a launch (default: all of the grid). Raises `Trap`."""
    kernel = launch.kernel
    program = prepare(kernel.module, kernel.entry, listened_tables(TABLES, listener), options.strict)
    state = LaunchState(kernel.name, launch.grid, launch.memory, options, program.source)
    values = [rank_zero_tile(argument) for argument in launch.arguments]

    def start(id: Coordinates) -> Running:
        block = BlockState(id, state)
        return block, turns(block)

    def turns(block: BlockState) -> Generator[None, None, None]:
        flow = program.function.body.run(program.function.frame(values), block)
        listener.block = block
        listener.block_begins(block)
        while True:
            listener.block = block
            try:
                next(flow)
            except StopIteration:
                break
            finally:
                listener.block = None
            yield
        listener.block_ends(block)

    chosen = coordinates(launch.grid) if blocks is None else list(blocks)
    try:
        running.begin(state)
        with np.errstate(all="ignore"):
            run_all(chosen, start, Watch(state), options.seed)
    finally:
        running.end(state)


# ---------------------------------------------------------------- rules with a listener


def listened_tables(tables: RuleTables, listener: Listener) -> RuleTables:
    """The rules of all chapters with the listener around each."""
    return RuleTables(
        pure=_each(tables.pure, lambda rule: lambda op: _heard(op, rule(op), listener)),
        effects=_each(tables.effects, lambda rule: lambda op: _heard_effect(op, rule(op), listener)),
        regions=_each(tables.regions, lambda rule: lambda op, at: _heard_region(op, at, rule, listener)),
        controls=_each(tables.controls, lambda rule: lambda op, at: _heard_control(op, at, rule, listener)),
        strict=tables.strict,
    )


def _each(rules: Rules, change: Callable) -> Rules:
    changed: Rules = Rules()
    for op, rule in rules.items():
        changed(op)(change(rule))
    return changed


def _heard(op: Op, function: Callable[..., object], listener: Listener) -> Callable[..., object]:
    def run(*given: object) -> object:
        if listener.block is None:
            raise Fault("nothing is computed before the launch")
        values = _flat(op, given)
        listener.before(op, values)
        result = function(*given)
        listener.after(op, values, _results(op, result))
        return result

    return run


def _heard_effect(op: Op, function: Callable[..., object], listener: Listener) -> Callable[..., object]:
    def run(block: BlockState, *given: object) -> object:
        values = _flat(op, given)
        listener.before(op, values)
        result = function(block, *given)
        listener.after(op, values, _results(op, result))
        return result

    return run


def _flat(op: Op, given: Sequence[object]) -> list[object]:
    """One value for each operand."""
    found: list[object] = []
    for operand, value in zip(op.spec.operands, given):
        if operand.variadic:
            found += value  # type: ignore[arg-type]
        elif op.segments[operand.position]:
            found.append(value)
    return found


def _results(op: Op, result: object) -> Values:
    if len(op.results) > 1:
        return result if isinstance(result, tuple) else (result,)
    return (result,) if op.results else ()


def _heard_region(op: Op, at: Preparation, rule: Callable, listener: Listener) -> Callable[[Frame, BlockState], None]:
    operands = [at.slot(value) for value in op.operands]
    step = rule(op, at)
    results = _slots(at, op)

    def run(frame: Frame, block: BlockState) -> None:
        values = [frame[slot] for slot in operands]
        listener.before(op, values)
        step(frame, block)
        listener.after(op, values, results(frame))

    return run


def _heard_control(
    op: Op, at: Preparation, rule: Callable, listener: Listener
) -> Callable[[Frame, BlockState], Iterator[None]]:
    operands = [at.slot(value) for value in op.operands]
    control = rule(op, at)
    results = _slots(at, op)

    def run(frame: Frame, block: BlockState) -> Generator[None, None, Exit | None]:
        values = [frame[slot] for slot in operands]
        listener.before(op, values)
        left: Exit | None = yield from control(frame, block)
        listener.after(op, values, () if left is not None else results(frame))
        return left

    return run


def _slots(at: Preparation, op: Op) -> Callable[[Frame], Values]:
    """The function that reads the results; None for one that nobody uses, which has no slot."""
    slots = [at.slots.of(result) for result in op.results]
    return lambda frame: [None if slot is None else frame[slot] for slot in slots]


# ---------------------------------------------------------------- launches of others


Tool = Callable[[Kernel, Grid, Sequence[Argument]], None]
"""Is handed each launch, checked, and runs it."""


class ToolTarget:
    """A target whose launches a tool runs: ``interp`` if none is given."""

    gives_output = True

    def __init__(self, tool: Tool, usual: Target | None = None) -> None:
        self._usual = usual or Interpreter()
        self.name = self._usual.name
        self.description = f"{self._usual.description}, watched by a tool"
        self.devices: tuple[str, ...] = self._usual.devices
        self._tool = tool

    def binder(self, parameter: Parameter) -> Binder:
        return self._usual.binder(parameter)

    def prepare(self, kernel: Kernel, check: Check, options: LaunchOptions) -> Run:
        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            self._tool(kernel, grid, arguments)

        return run
