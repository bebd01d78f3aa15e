"""An entry as an LLVM function.

Knows: the shape of that function. Does not know: what an operation means (`cpu.rules`), nor how code is compiled or
called (`cpu.llvm.engine`, `cpu.run.execution`).

    i32 kernel(ptr arguments, ptr grid, i32 x, i32 y, i32 z, ptr arena)

`arguments` are the slots of a launch's record (`cpu.emit.record`): one per parameter, then one per global of the module
with its address, then the table of bounds (`cpu.memory.bounds`). `grid` holds three i32 extents. `arena` is the memory
behind the first line of the thread's arena. The result is 0, the number of the trap site that stopped the block, or
`ABANDONED`. A kernel that may wait for other tile blocks is a coroutine, which gives its handle: its result stands in
the first line of the arena.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.analysis.affine import Affines
from tileir.analysis.effects import reachable
from tileir.analysis.placement import CallPlacement
from tileir.cpu.analysis.coarsening import Coarsening, coarsening_of
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.analysis.streams import streams_of
from tileir.cpu.emit.coroutines import Coroutine
from tileir.cpu.emit.driver import KERNEL_ARGUMENTS, JoinedBlocksRun, add_driver
from tileir.cpu.emit.elements import I8, I32, I64, PTR, Num, memory_type
from tileir.cpu.emit.emitter import Emitter, accesses_null
from tileir.cpu.emit.exits import field_of
from tileir.cpu.emit.record import (
    COLUMNS,
    FUEL,
    JOINED_COLUMNS,
    JOINED_NAME,
    KERNEL_NAME,
    SLOTS,
    STATUS,
    CheckLevel,
    TrapSite,
)
from tileir.cpu.emit.tiles import Lowered, Scalar, from_memory
from tileir.cpu.llvm.metadata import DebugLines, PlaceOf
from tileir.cpu.lowering.counting import Counters
from tileir.cpu.lowering.panels import reserve_panels
from tileir.cpu.lowering.safepoints import may_wait
from tileir.cpu.lowering.state import JoinedBlocks, Lowering, NativeRules
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ops.module import Entry

_ARENA = 5
MOST_JOINED = 1 << 20
"""Elements of a tile of joined tile blocks at most: they are run without a look at what else goes on."""


@dataclass
class LoweredKernel:
    """A lowered entry: the LLVM module, what a thread needs, and where it can trap."""

    module: ir.Module
    arena_size: int
    traps: list[TrapSite]
    prints: list[Op]
    warnings: list[tuple[Op, str]]
    """What it may warn of, by its numbers."""
    waiting: list[Op]
    """The loops in which a tile block may be set aside."""
    values: dict[Value, Lowered]
    """The form that each value had when everything was lowered."""
    joined: JoinedBlocksRun | None = None
    """Set if the module has a function that runs several tile blocks as one."""
    drives: bool = False
    """Whether the module has a driver of its own (`cpu.emit.driver`)."""
    band: int = COLUMNS
    """Columns of a band of tile blocks that are not joined."""

    @property
    def columns(self) -> int:
        """Tile blocks are numbered in bands of so many columns (`cpu.emit.record`)."""
        return JOINED_COLUMNS if self.joined is not None and self.joined.axis == 1 else self.band


@dataclass(frozen=True)
class Instruments:
    """What code does beside running the kernel: say which lines it comes from, count, note when tile blocks ran.

    `place_of` gives the line of an operation, of which `file` is the usual file. `stamps` is the address of a word with
    the address of the table of tile blocks (`cpu.emit.driver`), 0 while there is none.
    """

    place_of: PlaceOf | None = None
    file: str = ""
    counters: Counters | None = None
    stamps: int | None = None

    @property
    def watches_blocks(self) -> bool:
        """Whether each tile block is looked at by itself."""
        return self.counters is not None or self.stamps is not None


PLAIN = Instruments()


def lower_entry(
    entry: Entry,
    global_names: Sequence[str],
    rules: NativeRules,
    triple: str,
    layout: str,
    checks: CheckLevel,
    instruments: Instruments = PLAIN,
) -> LoweredKernel:
    """The LLVM function of `entry`; `global_names` are the globals of its module, in the order of their slots.

    Raises UnsupportedError for an operation without native code.
    """
    module = ir.Module(KERNEL_NAME)
    module.triple, module.data_layout = triple, layout
    function = _kernel_function(module, waits=may_wait(reachable(entry)))
    emit = _emitter(function)
    if instruments.place_of is not None:
        emit.describe(DebugLines(module, instruments.place_of, entry.sym_name, instruments.file))
    known = Fusion(entry.body), Affines(entry.body)
    lowering = _lowering(emit, entry.body, known, global_names, rules, checks)
    lowering.counters = instruments.counters
    lowering.streams = streams_of(entry)
    coarsening = None if instruments.watches_blocks else _coarsening(lowering, entry.body)
    lowering.joined_first = coarsening is not None
    _bind_arguments(lowering, entry.body)
    reserve_panels(lowering, entry)
    lowering.run(entry.body)
    _end(emit)
    joined = None if coarsening is None else _joined(lowering, coarsening, entry.body, global_names)
    drives = emit.coroutine is not None or instruments.stamps is not None
    if drives:
        add_driver(module, instruments.stamps, emit.coroutine is not None)
    return LoweredKernel(
        module,
        emit.arena_size,
        emit.traps,
        lowering.prints,
        lowering.warnings,
        lowering.waiting,
        lowering.values,
        joined,
        drives,
        lowering.band,
    )


def _coarsening(lowering: Lowering, body: Block) -> Coarsening | None:
    """How tile blocks may be run as one; None if they are not."""
    if lowering.strict or lowering.emit.coroutine is not None:
        return None
    found = coarsening_of(body, lowering.fusion, lowering.known, lowering.loads)
    return None if found is None or 2 * found.largest > MOST_JOINED else found


def _joined(single: Lowering, coarsening: Coarsening, body: Block, global_names: Sequence[str]) -> JoinedBlocksRun:
    """The function that runs several tile blocks as one."""
    caller = single.emit
    function = _function(caller.module, JOINED_NAME, ir.FunctionType(I32, [*KERNEL_ARGUMENTS, I64]))
    emit = _emitter(function)
    emit.functions = caller.functions
    emit.describe(caller.lines)
    lowering = _lowering(emit, body, (single.fusion, single.known), global_names, single.rules, single.checks)
    lowering.joined = JoinedBlocks(coarsening, function.args[-1])
    lowering.streams = single.streams
    _bind_arguments(lowering, body)
    lowering.run(body)
    _end(emit)
    caller.arena_size = max(caller.arena_size, emit.arena_size)
    return JoinedBlocksRun(coarsening.axis, MOST_JOINED // coarsening.largest)


def _kernel_function(module: ir.Module, waits: bool) -> ir.Function:
    return _function(module, KERNEL_NAME, ir.FunctionType(PTR if waits else I32, KERNEL_ARGUMENTS))


def _function(module: ir.Module, name: str, type: ir.FunctionType) -> ir.Function:
    function = ir.Function(module, type, name)
    function.args[_ARENA].add_attribute("noalias")
    accesses_null(function)
    return function


def _emitter(function: ir.Function) -> Emitter:
    """The emitter of a function, where its first operation goes."""
    start, exit = function.append_basic_block("start"), function.append_basic_block("exit")
    builder = ir.IRBuilder(start)
    status = builder.alloca(I32)
    builder.store(I32(0), status)
    coroutine = Coroutine(builder) if function.function_type.return_type == PTR else None
    return Emitter(function.module, function, builder, function.args[_ARENA], exit, status, coroutine)


def _lowering(
    emit: Emitter,
    body: Block,
    known: tuple[Fusion, Affines],
    global_names: Sequence[str],
    rules: NativeRules,
    checks: CheckLevel,
) -> Lowering:
    builder = emit.builder
    arguments, grid, x, y, z = emit.function.args[:_ARENA]
    extents = [builder.load(builder.gep(grid, [I64(axis)], source_etype=I32), typ=I32) for axis in range(3)]
    fuel = emit.stack(I64)
    builder.store(builder.load(builder.gep(arguments, [I64(FUEL - SLOTS)], source_etype=I8), typ=I64), fuel)
    first = len(body.args)
    pointers = sum(isinstance(argument.tile.element, t.PointerType) for argument in body.args)
    return Lowering(
        emit,
        *known,
        rules,
        [x, y, z],
        extents,
        arguments,
        {name: first + position for position, name in enumerate(global_names)},
        fuel,
        checks,
        bounds_slot=first + len(global_names),
        bounds_count=pointers + len(global_names),
        placement=CallPlacement(body),
    )


def _end(emit: Emitter) -> None:
    """Give the status, where code comes when it ends."""
    builder = emit.builder
    builder.position_at_end(emit.exit)
    status = builder.load(emit.status, typ=I32)
    if emit.coroutine is None:
        builder.ret(status)
    else:
        builder.store(status, field_of(builder, emit.arena, STATUS))
        emit.coroutine.end()


def _bind_arguments(lowering: Lowering, body: Block) -> None:
    builder, memories = lowering.builder, 0
    for position, argument in enumerate(body.args):
        element = argument.tile.element
        loaded = builder.load(lowering.slot_address(position), typ=memory_type(element))
        number = from_memory(builder, element, loaded)
        if isinstance(element, t.PointerType):
            number = Num(element, wide=I64(0), base=lowering.given_base(loaded, memories))
            memories += 1
        lowering.values[argument] = Scalar(argument.tile, number)
