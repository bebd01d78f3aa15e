"""The state of an entry while it becomes an LLVM function: forms of values, targets of jumps, rules, counters."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from llvmlite import ir

from tileir.analysis.affine import Affines
from tileir.analysis.effects import access_of
from tileir.cpu.analysis.coarsening import Coarsening
from tileir.cpu.analysis.loads import Loads
from tileir.cpu.emit.elements import I8, I64, PTR, Num
from tileir.cpu.emit.emitter import Emitter, Extent, as_i64
from tileir.cpu.emit.record import ENTRY
from tileir.cpu.emit.slots import Slot
from tileir.cpu.emit.tiles import (
    Bounds,
    ExpressionTile,
    Lowered,
    NativeTensorView,
    NativeTileView,
    Scalar,
    Tile,
    Window,
    fill,
    is_dense,
    materialized,
    new_buffer,
    scalar,
    wide,
)
from tileir.cpu.matmul.multiplication import LoopProduct
from tileir.cpu.matmul.policy import ProductPlan
from tileir.cpu.plan import FunctionPlan, KernelPlan
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ir.diagnostics import UnsupportedError

# ---------------------------------------------------------------- counters


def segments(block: Block) -> Iterator[list[Op]]:
    """Yield the operations of a block in pieces that run from begin to end: control may leave the block in a region."""
    segment: list[Op] = []
    for op in block.ops:
        segment.append(op)
        if op.regions:
            yield segment
            segment = []
    if segment:
        yield segment


class Counters:
    """Numbers in memory for the operations `ops`, all 0 at first: how often each segment ran, elements of accesses.

    Operations in the bodies of reductions, scans and generators have no number of their own.
    """

    def __init__(self, ops: Iterable[Op]) -> None:
        self._places = {op: 2 * number for number, op in enumerate(ops)}
        self._numbers = (ctypes.c_int64 * (2 * len(self._places)))()
        self._first: dict[Op, Op] = {}

    def clear(self) -> None:
        """Begin again at 0."""
        ctypes.memset(self._numbers, 0, ctypes.sizeof(self._numbers))

    def of_segment(self, ops: list[Op]) -> int:
        """Return the place of the number of a segment."""
        for op in ops:
            self._first[op] = ops[0]
        return self._places[ops[0]]

    def of_access(self, op: Op) -> int:
        """Return the place of the number of elements that an operation has accessed."""
        return self._places[op] + 1

    def add(self, emit: Emitter, place: int, more: ir.Value) -> None:
        """Add to a number; threads may do so at once."""
        address = ctypes.addressof(self._numbers) + 8 * place
        emit.builder.atomic_rmw("add", emit.builder.inttoptr(I64(address), PTR), more, "monotonic")

    def executed(self, op: Op) -> int | None:
        """Return how often an operation has run; None if it is not counted."""
        first = self._first.get(op)
        return None if first is None else self._numbers[self._places[first]]

    def accessed(self, op: Op) -> int:
        """Return how many elements of memory an operation has accessed."""
        return self._numbers[self.of_access(op)]


# ---------------------------------------------------------------- rules and state


Lower = Callable[["Lowering", Op], None]
"""A rule: emits the code of an operation and binds its results."""


@dataclass(frozen=True)
class NativeRules:
    """The rules of all chapters. Those of `strict` run before the operation and emit the checks of strict mode; those
    of `counted` count the elements it accesses."""

    always: Mapping[type[Op], Lower]
    strict: Mapping[type[Op], Lower]
    counted: Mapping[type[Op], Lower]


@dataclass
class JoinedBlocks:
    """Tile blocks that are run as one: along which axis and with which longer tiles, and how many they are, an i64.

    If anything is irregular, the code ends before it stores anything, with the status `SEPARATELY`.
    """

    coarsening: Coarsening
    count: ir.Value
    covered: dict[Value, tuple[ir.Value, ...]] = field(default_factory=dict)
    """The number of elements in memory along each dimension of loaded tiles."""

    def extents(self, value: Value, builder: ir.IRBuilder) -> tuple[Extent, ...]:
        """Return the extents of the tile of `value`."""
        return tuple(
            builder.mul(self.count, I64(extent)) if dim == self.coarsening.dims.get(value) else extent
            for dim, extent in enumerate(value.tile.shape)
        )


@dataclass(frozen=True)
class ActiveCount:
    """The elements that a guard leaves active along a dimension: the first `count` of them, or all behind those for a
    guard that leaves the last ones.

    It is right if `regular` holds: numbers rise by one as they seem to. Without a dimension `count` is 1 if all
    elements are active, and 0 if none is.
    """

    count: ir.Value
    regular: ir.Value


@dataclass
class JumpTarget:
    """The place that a `break` or `continue` leads to: the block, and the slots that take its operands."""

    block: ir.Block
    slots: list[Slot]


@dataclass
class LoopTargets:
    """The innermost loop around: where its `break` and `continue` go."""

    leave: JumpTarget | None
    again: JumpTarget


@dataclass
class KernelState:
    """What the functions of a kernel share while they are lowered."""

    plan: KernelPlan
    rules: NativeRules
    global_slots: dict[str, int]
    bounds_slot: int
    """The first slot of the table of bounds (`cpu.memory.bounds`)."""
    bounds_count: int
    """Memories in the table of bounds: pointer parameters, then globals."""
    counters: Counters | None = None
    """Set if the code is to count what it runs."""
    prints: list[Op] = field(default_factory=list)
    """Operations that the host carries out; it is called with a number into this list (`cpu.lowering.safepoints`)."""
    warnings: list[tuple[Op, str]] = field(default_factory=list)
    """The warnings the kernel may give; the host is called with a number (`cpu.lowering.reports`)."""
    waiting: list[Op] = field(default_factory=list)
    """The loops in which the tile block may be set aside, by their numbers."""
    functions: dict[tuple[Op, int], ir.Function] = field(default_factory=dict)
    """The device functions that are called, by the number of allocations that are alive where they are."""
    frames: dict[Op, int] = field(default_factory=dict)
    """Bytes of the arena that each of them needs."""


@dataclass
class Lowering:
    """The state of the lowering of one function: an entry, its code for joined tile blocks, or a device function."""

    kernel: KernelState
    emit: Emitter
    here: FunctionPlan
    """The decisions about the function whose code is emitted."""
    block_id: list[ir.Value]
    grid: list[ir.Value]
    arguments: ir.Value
    fuel: ir.Value
    """The stack cell that counts down the iterations which the tile block may still run."""
    fetched: dict[Op, list[ir.Value]] = field(default_factory=dict)
    """For stores to come, the addresses from which on memory is prefetched with them."""
    joined: JoinedBlocks | None = None
    """Set if the code runs several tile blocks as one (`cpu.analysis.coarsening`)."""
    scratch: dict[tuple[str, int], ir.Value] = field(default_factory=dict)
    """Stack cells for words that functions are asked with, by their use and number."""
    bounds: dict[int, Bounds] = field(default_factory=dict)
    """The bounds that go with the base of a pointer, by the identity of the base."""
    allocations: list[Bounds] = field(default_factory=list)
    """The allocations of the block that are alive where the builder stands."""
    values: dict[Value, Lowered] = field(default_factory=dict)
    panels: dict[Op, LoopProduct] = field(default_factory=dict)
    """The panels of products in enclosing loops whose tiles are not packed into new ones each time."""
    keeps_panels: ir.Value | None = None
    """An i1 that is set if packed tiles of such products stay, as some may be shared; None if they never do."""
    active_counts: dict[Op, ActiveCount] = field(default_factory=dict)
    active_rows: dict[Op, Tile] = field(default_factory=dict)
    """The counts of the comparisons that guard boxes and rows."""
    rising: dict[Value, ir.Value] = field(default_factory=dict)
    """For each of the remainders that boxes are made of, an i1 that is set if it does not start again in its tile."""
    read_in_part: set[Op] = field(default_factory=set)
    """Stores of tiles whose other elements may not be there to read."""
    loops: list[LoopTargets] = field(default_factory=list)
    yields: list[JumpTarget] = field(default_factory=list)
    """Targets of `yield`, that of the innermost `if` last."""
    returns: list[JumpTarget] = field(default_factory=list)
    """Targets of `return` of the device functions whose code is emitted; empty in the entry itself."""

    @contextmanager
    def function(self, body: Block, end: JumpTarget) -> Iterator[None]:
        """Lower `body` of a device function inside the block, with decisions of its own; `return` jumps to `end`."""
        outer, self.here = self.here, self.plan.functions[body]
        self.returns.append(end)
        yield
        self.returns.pop()
        self.here = outer

    # ------------------------------------------------------------ the plan

    @property
    def plan(self) -> KernelPlan:
        return self.kernel.plan

    @property
    def checked(self) -> bool:
        return self.plan.checked

    @property
    def strict(self) -> bool:
        return self.plan.strict

    @property
    def joined_first(self) -> bool:
        """True if this is the code for single tile blocks that the code for joined ones falls back to."""
        return self.joined is None and self.plan.coarsening is not None

    @property
    def known(self) -> Affines:
        return self.here.known

    @property
    def loads(self) -> Loads:
        return self.here.loads

    @property
    def products(self) -> Mapping[Op, ProductPlan]:
        return self.here.products

    # ------------------------------------------------------------ values

    @property
    def builder(self) -> ir.IRBuilder:
        return self.emit.builder

    def slot_address(self, number: int) -> ir.Value:
        return self.builder.gep(self.arguments, [I64(8 * number)], source_etype=I8)

    def slot(self, number: int) -> ir.Value:
        """Return the 8 bytes of an argument slot, as an i64."""
        return self.builder.load(self.slot_address(number), typ=I64)

    def given_base(self, address: ir.Value, memory: int) -> ir.Value:
        """Return the pointer to a memory of the launch, known by its position in the table of bounds."""
        base = self.builder.inttoptr(address, PTR)
        if self.checked:
            entry = self.kernel.bounds_slot + ENTRY * memory
            self.bounds[id(base)] = Bounds(address, *(self.slot(entry + word) for word in range(1, ENTRY)))
        return base

    def tile(self, value: Value) -> Tile:
        found = self.values[value]
        assert isinstance(found, Tile)
        return found

    def tensor_view(self, value: Value) -> NativeTensorView:
        found = self.values[value]
        assert isinstance(found, NativeTensorView)
        return found

    def tile_view(self, value: Value) -> NativeTileView:
        found = self.values[value]
        assert isinstance(found, NativeTileView)
        return found

    def scalar(self, value: Value) -> Num:
        """Return the only element of a tile of one element."""
        return scalar(self.emit, self.tile(value))

    def number(self, value: Value) -> ir.Value:
        """Return a scalar in a register."""
        return wide(self.builder, self.scalar(value))

    def unsigned(self, value: Value) -> ir.Value:
        """Return a scalar integer read as unsigned, as an i64."""
        return as_i64(self.builder, self.number(value))

    def blocks(self) -> ir.Value:
        """Return the number of tile blocks, an i64."""
        found = I64(1)
        for extent in self.grid:
            found = self.builder.mul(found, self.builder.zext(extent, I64))
        return found

    def extents(self, value: Value) -> tuple[Extent, ...]:
        """Return the extents of the tile of `value`; one of them is an i64 where tile blocks are joined."""
        return value.tile.shape if self.joined is None else self.joined.extents(value, self.builder)

    def bind(self, value: Value, lowered: Lowered) -> None:
        """Give `value` its form; a tile that does not fuse into its consumer is computed now."""
        if isinstance(lowered, Tile) and not self._stays(value):
            lowered = self._computed(value, lowered)
        self.values[value] = lowered

    def _computed(self, value: Value, tile: Tile) -> Tile:
        if not isinstance(tile, ExpressionTile) or value.op is None or tile.type.count == 1:
            return materialized(self.emit, tile)
        place = self.place_for(value, value.op)
        fill(self.emit, place, tile)
        return place

    def place_for(self, value: Value, by: Op) -> Window:
        """Return memory for a tile that `by` computes: that of an operand which is not read again, or a new buffer."""
        for operand in self.here.reused.get((value, by), ()):
            found = self.values[operand]
            if isinstance(found, Window) and not found.shared and is_dense(found):
                return Window(value.tile, found.base, found.strides)
        return new_buffer(self.emit, value.tile)

    def _stays(self, value: Value) -> bool:
        """Return whether a tile stays an expression. Where tile blocks are joined, longer tiles get no buffer."""
        if self.joined is not None and value in self.joined.coarsening.dims:
            return True
        return value in self.here.expressions

    def bind_number(self, value: Value, number: ir.Value) -> None:
        """Bind a scalar tile to a register."""
        self.values[value] = Scalar(value.tile, Num(value.tile.element, wide=number))

    def combined(self, body: Block, arguments: Sequence[Num]) -> list[Num]:
        """Emit the body of a reduction or generator where the builder stands; gives what it yields for `arguments`."""
        for value, number in zip(body.args, arguments):
            self.values[value] = Scalar(value.tile, number)
        *operations, terminator = body.ops
        for op in operations:
            self.lower(op)
        return [self.scalar(value) for value in terminator.operands]

    def run(self, block: Block) -> None:
        alive = len(self.allocations)
        if self.kernel.counters is not None:
            self._run_counted(block, self.kernel.counters)
        else:
            for op in block.ops:
                self.lower(op)
        del self.allocations[alive:]

    def _run_counted(self, block: Block, counters: Counters) -> None:
        for ops in segments(block):
            counters.add(self.emit, counters.of_segment(ops), I64(1))
            for op in ops:
                count = self.kernel.rules.counted.get(type(op))
                if count is not None:
                    count(self, op)
                self.lower(op)

    def lower(self, op: Op) -> None:
        if self.emit.lines is None:
            self._lower(op)
            return
        place = self.emit.lines.location(op, self.emit.function)
        with self.emit.at_place(place):
            self._lower(op)
        for result in op.results:
            self._keep_place(result, place)

    def _keep_place(self, result: Value, place: ir.DIValue | None) -> None:
        """Attribute what is computed or read at the uses of a result to the operation that made it."""
        made = self.values.get(result)
        if isinstance(made, ExpressionTile) and made.place is None:
            made.place = place
        elif isinstance(made, Window) and made.shared and made.place is None:
            self.values[result] = replace(made, place=place)

    def _lower(self, op: Op) -> None:
        rule = self.kernel.rules.always.get(type(op))
        if rule is None:
            raise UnsupportedError(f"'{op.spec.name}' has no native code", "cpu", op.loc)
        look = self.kernel.rules.strict.get(type(op)) if self.strict else None
        if look is not None:
            look(self, op)
        rule(self, op)
        self.values.update((result, None) for result in op.results if isinstance(result.type, t.TokenType))
        access = access_of(op)
        if access is not None and access.writes and access.result is None:
            self.emit.changed()
