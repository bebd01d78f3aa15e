"""What the parts of the interpreter share: faults, the shape of a rule, the state of a tile block, the options.

Knows: how a rule is called and what it may ask of the tile block that runs it.
Does not know: any operation, nor how a program is run (`machine`, `scheduler`).

A rule is called once per operation, when its entry is prepared, and gives the function that is called each time the
operation executes. Values are passed one per *declared* operand: a single operand as its value, an optional one as its
value or None, a variadic one as a tuple. Values are never written to; a result may alias an operand.

* a tile: an ``ndarray`` of `ir.storage.dtype_of(element)` and the shape of its type; a rank-0 tile is a 0-d array or,
  as NumPy returns them, a scalar of that dtype (rules take both)
* a token: None
* a tensor view: `interp.views.TensorView`; a tile view: `interp.views.TileView`

Element-wise rules use plain broadcasting: the bodies of `reduce` and `scan` are run with arrays in place of scalars.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from tileir.ir.core import Op
from tileir.ir.diagnostics import Trap
from tileir.ir.loc import Location, Source

if TYPE_CHECKING:
    from tileir.interp.memory import Memory

Index = int | tuple[int, ...]
Coordinates = tuple[int, int, int]
PureRule = Callable[[Op], Callable[..., object]]
"""``rule(op)`` gives ``fn(*values)``, which gives the result, or a tuple when the operation has several results."""
EffectRule = Callable[[Op], Callable[..., object]]
"""``rule(op)`` gives ``fn(block, *values)``; the rest as for `PureRule`."""
StrictRule = Callable[[Op], Callable[..., None] | None]
"""``rule(op)`` gives ``fn(*values)`` that raises `Fault` for undefined behaviour whose default is a value, or None
where this operation has none. Called before the operation itself, in strict mode only."""

MODES = ("default", "strict", "off")
MAX_ITERATIONS = 1 << 24


class Fault(Exception):
    """Something wrong at run time, raised by a rule; the machine adds kernel, tile block, operation and place.

    ``array`` is the kernel parameter or global concerned, ``index`` a byte offset in it, or the index of the first
    offending element of the tile.
    """

    def __init__(self, message: str, array: str | None = None, index: Index | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.array = array
        self.index = index


class KernelWarning(UserWarning):
    """Behaviour that a program should not rely on, met while a kernel ran (one per operation and launch)."""

    def __init__(self, message: str, kernel: str, block: Coordinates, op: str, loc: Location) -> None:
        super().__init__(f"{message} ['{op}', kernel @{kernel}, tile block {block}]")
        self.message = message
        self.kernel = kernel
        self.block = block
        self.op = op
        self.loc = loc


@dataclass(frozen=True)
class Options:
    """How a launch runs (specification, semantics 11).

    ``check``: a violated `assume` traps. ``mode``: ``default``, ``strict`` (all undefined behaviour traps, unspecified
    behaviour warns) or ``off`` (no warnings, nothing checked that costs time). ``max_iterations``: `loop` iterations of
    one tile block before it counts as hanging. ``output``: where `print_tko` writes; None is standard output.
    ``seed``: None starts tile blocks in order and switches between them evenly, a number does both at random.
    """

    check: bool = True
    mode: str = "default"
    max_iterations: int = MAX_ITERATIONS
    output: TextIO | Callable[[str], object] | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode: expected one of {', '.join(MODES)}, got {self.mode!r}")

    @property
    def strict(self) -> bool:
        return self.mode == "strict"

    def write(self, text: str) -> None:
        """Hand `text` to the output, at once."""
        output = sys.stdout if self.output is None else self.output
        if callable(output):
            output(text)
        else:
            output.write(text)


@dataclass
class LaunchState:
    """What the tile blocks of one launch share.

    ``source`` is the text of the program, for messages; ``warnings`` holds the first warning of each operation.
    """

    kernel: str
    grid: Coordinates
    memory: Memory
    options: Options
    source: Source | None = None
    warnings: dict[Op, KernelWarning] = field(default_factory=dict)


class BlockState:
    """One running tile block, as a rule sees it.

    ``id`` and ``grid`` are (x, y, z). ``allocations`` holds the base address of every live `alloca` of this block, in
    order: the rule of `alloca` appends to it, the machine frees what a region leaves behind (``memory.free(base)``).
    ``budget`` counts the switch points left before another tile block gets its turn, ``iterations`` those of `loop`.
    """

    __slots__ = ("allocations", "budget", "grid", "id", "iterations", "launch", "memory", "options")

    def __init__(self, id: Coordinates, launch: LaunchState) -> None:
        self.id = id
        self.launch = launch
        self.grid = launch.grid
        self.memory = launch.memory
        self.options = launch.options
        self.allocations: list[int] = []
        self.budget = 0
        self.iterations = 0

    def write(self, text: str) -> None:
        """Print `text`, which is the whole output of one operation."""
        self.options.write(text)

    def warn(self, op: Op, message: str) -> None:
        """Record a warning, unless this operation has one already."""
        warnings = self.launch.warnings
        if op not in warnings and self.options.mode != "off":
            warnings[op] = KernelWarning(message, self.launch.kernel, self.id, op.spec.name, op.loc)

    def undefined(self, op: Op, message: str, array: str | None = None, index: Index | None = None) -> None:
        """Undefined behaviour that goes on with a stated value: a trap in strict mode, otherwise a warning."""
        if self.options.strict:
            raise Fault(message, array, index)
        self.warn(op, message)

    def trap(self, fault: Fault, op: Op) -> Trap:
        """The fault of an operation of this tile block, as the user sees it."""
        launch = self.launch
        return Trap(
            fault.message,
            kernel=launch.kernel,
            block=self.id,
            op=op.spec.name,
            loc=op.loc,
            array=fault.array,
            index=fault.index,
            source=launch.source,
        )

    def release(self, mark: int) -> None:
        """Free the allocations made since there were `mark` of them."""
        allocations = self.allocations
        while len(allocations) > mark:
            self.memory.free(allocations.pop())
