"""The clock of a launch: when its time is up, and when its progress is told."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal, get_args

from tileir.host import limits, undefined
from tileir.host.address_space import AccessFault
from tileir.host.kernel_warnings import KernelWarning
from tileir.host.limits import MAX_ITERATIONS
from tileir.host.printing import Output, write
from tileir.interp.faults import Fault, Index
from tileir.interp.memory import Memory
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates, Trap
from tileir.ir.loc import Source

PERIOD = 0.05
"""Seconds between two reports of progress."""


class LaunchClock:
    """The clock of a launch of `total` tile blocks, `done` of which have ended; to be checked when it is `due`."""

    def __init__(
        self,
        kernel: str,
        total: int,
        timeout: float | None,
        progress: Callable[[int, int], object] | None,
        source: Source | None,
    ) -> None:
        self._kernel, self._total, self._timeout, self._source = kernel, total, timeout, source
        self._progress = progress
        self.done = 0
        begin = perf_counter()
        self._deadline = math.inf if timeout is None else begin + timeout
        self._report = math.inf if progress is None else begin + PERIOD
        self.due = min(self._deadline, self._report)

    def look(self) -> None:
        """Raise LaunchTimeout if the time is up; tell of the progress."""
        now = perf_counter()
        if now < self.due:
            return
        if now > self._deadline:
            raise limits.timed_out(self._kernel, self._timeout or 0.0, self._source)
        if self._progress is not None:
            self._progress(self.done, self._total)
            self._report = perf_counter() + PERIOD
        self.due = min(self._deadline, self._report)


PureRule = Callable[[Op], Callable[..., object]]
"""``rule(op)`` gives ``fn(*values)``, which gives the result, or a tuple when the operation has several results."""
EffectRule = Callable[[Op], Callable[..., object]]
"""``rule(op)`` gives ``fn(block, *values)``; the rest as for `PureRule`."""
StrictCheck = Callable[..., "str | None"]
"""``fn(*values)`` raises `Fault` for undefined behaviour whose default is a value, and gives a warning of unspecified
behaviour."""
StrictRule = Callable[[Op], "StrictCheck | None"]
"""``rule(op)`` gives the check of an operation, or None where there is nothing to check. Called before the operation
itself, in strict mode only."""

REPETITIONS = 2
"""Iterations that change nothing, after which the next ones will not either: what they read stays the same."""
LOOKS = 1 << 6
"""Iterations between two checks of the clock."""
Mode = Literal["default", "strict", "off"]
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True)
class Options:
    """Options of a launch (spec: undefined#catalogue).

    ``check``: a violated `assume` traps. ``mode``: ``default``, ``strict`` (all undefined behaviour traps, unspecified
    behaviour warns) or ``off`` (no warnings, nothing checked that costs time). ``max_iterations``: of one tile block in
    its loops before it counts as hanging. ``output``: where `print_tko` writes; None is standard output. ``seed``: None
    starts tile blocks in order and switches between them evenly, a number does both at random. ``timeout``: seconds
    that a launch may take. ``progress`` is told now and then how many tile blocks are done, of how many.
    """

    check: bool = True
    mode: Mode = "default"
    max_iterations: int = MAX_ITERATIONS
    output: Output = None
    seed: int | None = None
    timeout: float | None = None
    progress: Callable[[int, int], object] | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode: expected one of {', '.join(MODES)}, got {self.mode!r}")

    @property
    def strict(self) -> bool:
        return self.mode == "strict"

    def write(self, text: str) -> None:
        """Hand `text` to the output, at once."""
        write(self.output, text)


@dataclass(eq=False)
class LaunchState:
    """The state that the tile blocks of one launch share.

    ``source`` is the text of the program, for messages; ``warnings`` holds the first warning of each operation.
    """

    kernel: str
    grid: Coordinates
    memory: Memory
    options: Options
    source: Source | None = None
    warnings: dict[Op, KernelWarning] = field(default_factory=dict)
    clock: LaunchClock = field(init=False)

    def __post_init__(self) -> None:
        options = self.options
        self.clock = LaunchClock(self.kernel, math.prod(self.grid), options.timeout, options.progress, self.source)


class BlockState:
    """One running tile block, as a rule sees it.

    ``id`` and ``grid`` are (x, y, z). ``allocations`` holds the base address of every live `alloca` of this block, in
    order: the rule of `alloca` appends to it, the machine frees what a region leaves behind (``memory.free(base)``).
    ``budget`` counts the switch points left before another tile block gets its turn, ``iterations`` those of its loops.
    ``loop`` is the `loop` whose iteration it ended last.
    """

    __slots__ = (
        "_quiet",
        "_seen",
        "allocations",
        "budget",
        "grid",
        "id",
        "iterations",
        "launch",
        "loop",
        "memory",
        "options",
    )

    def __init__(self, id: Coordinates, launch: LaunchState) -> None:
        self.id = id
        self.launch = launch
        self.grid = launch.grid
        self.memory = launch.memory
        self.options = launch.options
        self.allocations: list[int] = []
        self.budget = 0
        self.iterations = 0
        self.loop: Op | None = None
        self._quiet, self._seen = 0, -1

    def write(self, text: str) -> None:
        """Print `text`, which is the whole output of one operation."""
        self.changes()
        self.options.write(text)

    # ------------------------------------------------------------ loops, and waiting in them

    def begin_iteration(self) -> None:
        """Count an iteration of a loop. Raises Fault if there are too many, LaunchTimeout if the time is up."""
        self.iterations += 1
        if self.iterations > self.options.max_iterations:
            raise Fault(limits.hang_text(self.options.max_iterations))
        if self.iterations % LOOKS == 0:
            self.launch.clock.look()

    def changes(self) -> None:
        """Note a change that ends the waiting of this tile block, or of others."""
        self.memory.changes += 1

    def repeats(self, loop: Op) -> None:
        """Note that an iteration of `loop` has ended that hands its values on unchanged."""
        self.loop = loop
        if self._seen == self.memory.changes:
            self._quiet += 1
        else:
            self._seen, self._quiet = self.memory.changes, 0

    @property
    def waits(self) -> bool:
        """True if it can only repeat itself until something changes."""
        return self._quiet >= REPETITIONS and self._seen == self.memory.changes

    # ------------------------------------------------------------ faults

    def warn(self, op: Op, message: str) -> None:
        """Record a warning, unless this operation has one already."""
        warnings = self.launch.warnings
        if op not in warnings and self.options.mode != "off":
            warnings[op] = KernelWarning(message, self.launch.kernel, self.id, op.spec.name, op.loc)

    def overclaimed(self, op: Op, fault: AccessFault) -> None:
        """Report a view that claims more than its memory has: strict mode warns, as an access may still be inside."""
        if self.options.strict:
            self.warn(op, fault.message)

    def overflowed(self, op: Op, message: str) -> None:
        """Report a counter that leaves its type: a trap in strict mode, otherwise the loop ends there."""
        if self.options.strict:
            raise Fault(message)

    def undefined(self, op: Op, message: str, array: str | None = None, index: Index | None = None) -> None:
        """Report undefined behaviour that goes on with a stated value: a trap in strict mode, otherwise a warning."""
        if self.options.strict:
            raise Fault(message, array, index)
        self.warn(op, message)

    def trap(self, fault: Fault, op: Op) -> Trap:
        """Return the fault of an operation of this tile block, as the user sees it."""
        launch = self.launch
        return Trap(
            fault.message,
            kernel=launch.kernel,
            block=self.id,
            op=op.spec.name,
            loc=op.loc,
            array=fault.array,
            index=fault.index if undefined.names_element(op) else None,
            source=launch.source,
        )

    def release(self, mark: int) -> None:
        """Free the allocations made since there were `mark` of them."""
        allocations = self.allocations
        while len(allocations) > mark:
            self.memory.free(allocations.pop())
