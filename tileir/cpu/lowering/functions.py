"""Entries and device functions as LLVM functions.

    i32 kernel(ptr arguments, ptr grid, i32 x, i32 y, i32 z, ptr arena)

`arguments` are the slots of a launch's record (`cpu.emit.record`): one per parameter, then one per global of the module
with its address, then the table of bounds (`cpu.memory.bounds`). `grid` holds three i32 extents. `arena` is the memory
behind the first line of the thread's arena. The result is 0, the number of the trap site that stopped the block, or
`ABANDONED`. A kernel that may wait for other tile blocks is a coroutine, which gives its handle: its result stands in
the first line of the arena.

    i32 function(ptr slots, ptr grid extents..., i32 x, y, z, ptr arena, i64 frame, ptr fuel, allocations..., values...)

The code of device functions mostly stands where they are called; where that would repeat too much of it they become
functions. The buffers of one lie in the arena from `frame` on, behind those of its callers. Its result is 0 or the
status with which the tile block ends. A tile of several elements is handed over by its address, dense; a view as the
numbers it is made of; everything else as it is. Results are written where the caller says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.analysis.coarsening import Coarsening
from tileir.cpu.emit.coroutines import Coroutine
from tileir.cpu.emit.driver import KERNEL_ARGUMENTS, add_driver
from tileir.cpu.emit.elements import I8, I32, I64, PTR, Num, memory_type
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.emit.exits import field_of
from tileir.cpu.emit.record import (
    FUEL,
    JOINED_NAME,
    KERNEL_NAME,
    SLOTS,
    STATUS,
    TrapSite,
)
from tileir.cpu.emit.slots import Slot, kinds_of, new_slot, value_of, words_of
from tileir.cpu.emit.tiles import (
    Bounds,
    Lowered,
    Scalar,
    Tile,
    Window,
    fill,
    from_memory,
    new_buffer,
    row_major,
)
from tileir.cpu.llvm.metadata import DebugLines, PlaceOf
from tileir.cpu.llvm.printing import NativeFunction, NativeModule
from tileir.cpu.lowering.products import reserve_panels
from tileir.cpu.lowering.state import Counters, JoinedBlocks, JumpTarget, KernelState, Lowering, NativeRules
from tileir.cpu.memory.bounds import add_allocation
from tileir.cpu.plan import KernelPlan
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ops.calls import Func
from tileir.ops.module import Entry

# ---------------------------------------------------------------- entries


_ARENA = 5


@dataclass
class LoweredKernel:
    """A lowered entry: the LLVM module, what a thread needs, and where it can trap."""

    plan: KernelPlan
    module: ir.Module
    joined: ir.Module | None
    """The module of the function that runs several tile blocks as one, if it is apart from that for one."""
    arena_size: int
    traps: list[TrapSite]
    prints: list[Op]
    warnings: list[tuple[Op, str]]
    """The warnings it may give, by number."""
    waiting: list[Op]
    """The loops in which a tile block may be set aside."""
    values: dict[Value, Lowered]
    """The form that each value had when everything was lowered."""
    drives: bool
    """True if the module has a driver of its own (`cpu.emit.driver`)."""


@dataclass(frozen=True)
class Instruments:
    """Instrumentation of a kernel: source lines, counters, and times of tile blocks.

    `place_of` gives the line of an operation in the file `file`. `stamps` is the address of a word with the address
    of the table of tile blocks (`cpu.emit.driver`), 0 while there is none.
    """

    place_of: PlaceOf | None = None
    file: str = ""
    counters: Counters | None = None
    stamps: int | None = None

    @property
    def watches_blocks(self) -> bool:
        """True if each tile block is observed separately."""
        return self.counters is not None or self.stamps is not None


PLAIN = Instruments()


def lower_entry(
    entry: Entry,
    plan: KernelPlan,
    global_names: Sequence[str],
    rules: NativeRules,
    layout: str,
    instruments: Instruments = PLAIN,
    apart: bool = False,
) -> LoweredKernel:
    """Return the LLVM function of `entry`; `global_names` are the globals of its module, in the order of their slots.
    A function that runs several tile blocks as one is in the same module, or `apart` in one of its own.

    Raises UnsupportedError for an operation without native code.
    """
    module, joined = _module(plan, layout), None
    function = _function(module, KERNEL_NAME, ir.FunctionType(PTR if plan.waits else I32, KERNEL_ARGUMENTS))
    emit = _entry_emitter(function)
    if instruments.place_of is not None:
        emit.describe(DebugLines(module, instruments.place_of, entry.sym_name, instruments.file))
    kernel = _kernel_state(entry.body, plan, global_names, rules, instruments.counters)
    lowering = _lowering(kernel, emit)
    _bind_arguments(lowering, entry.body)
    reserve_panels(lowering)
    lowering.run(entry.body)
    _end(emit)
    if plan.coarsening is not None:
        joined = _module(plan, layout) if apart else None
        _add_joined(lowering, plan.coarsening, entry.body, joined or module)
    drives = plan.waits or instruments.stamps is not None
    if drives:
        add_driver(module, instruments.stamps, plan.waits)
    return LoweredKernel(
        plan,
        module,
        joined,
        emit.arena_size,
        emit.traps,
        kernel.prints,
        kernel.warnings,
        kernel.waiting,
        lowering.values,
        drives,
    )


def _module(plan: KernelPlan, layout: str) -> NativeModule:
    module = NativeModule(KERNEL_NAME, plan.target)
    module.data_layout = layout
    return module


def _kernel_state(
    body: Block, plan: KernelPlan, global_names: Sequence[str], rules: NativeRules, counters: Counters | None
) -> KernelState:
    first = len(body.args)
    pointers = sum(isinstance(argument.tile.element, t.PointerType) for argument in body.args)
    slots = {name: first + position for position, name in enumerate(global_names)}
    return KernelState(plan, rules, slots, first + len(slots), pointers + len(slots), counters)


def _add_joined(single: Lowering, coarsening: Coarsening, body: Block, module: ir.Module) -> None:
    """Add the function that runs several tile blocks as one to a module."""
    caller = single.emit
    function = _function(module, JOINED_NAME, ir.FunctionType(I32, [*KERNEL_ARGUMENTS, I64]))
    emit = _entry_emitter(function)
    if module is caller.module:
        emit.functions = caller.functions
    emit.describe(caller.lines)
    lowering = _lowering(single.kernel, emit)
    lowering.joined = JoinedBlocks(coarsening, function.args[-1])
    _bind_arguments(lowering, body)
    lowering.run(body)
    _end(emit)
    caller.arena_size = max(caller.arena_size, emit.arena_size)


def _accesses_null(function: ir.Function) -> None:
    """Have an access through a null pointer made, not taken as a sign that the code before it is never reached."""
    # llvmlite takes no attributes but those it knows.
    set.add(function.attributes, "null_pointer_is_valid")


def _function(module: ir.Module, name: str, type: ir.FunctionType) -> ir.Function:
    function = NativeFunction(module, type, name)
    function.args[_ARENA].add_attribute("noalias")
    _accesses_null(function)
    return function


def _entry_emitter(function: ir.Function) -> Emitter:
    """Return the emitter of a function, where its first operation goes."""
    builder, status, exit = _begun(function)
    arena, coroutine = function.args[_ARENA], None
    if function.function_type.return_type == PTR:
        coroutine = Coroutine(builder, field_of(builder, arena, STATUS))
    return Emitter(function, builder, arena, exit, status, coroutine)


def _begun(function: ir.Function) -> tuple[ir.IRBuilder, ir.Value, ir.Block]:
    """Begin a function: where its code goes, the cell of its status, and the block in which it ends."""
    start, exit = function.append_basic_block("start"), function.append_basic_block("exit")
    builder = ir.IRBuilder(start)
    status = builder.alloca(I32)
    builder.store(I32(0), status)
    return builder, status, exit


def _lowering(kernel: KernelState, emit: Emitter) -> Lowering:
    """Return the state in which the body of an entry is lowered."""
    builder = emit.builder
    arguments, grid, x, y, z = emit.function.args[:_ARENA]
    extents = [builder.load(builder.gep(grid, [I64(axis)], source_etype=I32), typ=I32) for axis in range(3)]
    fuel = emit.stack(I64)
    builder.store(builder.load(builder.gep(arguments, [I64(FUEL - SLOTS)], source_etype=I8), typ=I64), fuel)
    return Lowering(kernel, emit, kernel.plan.body, [x, y, z], extents, arguments, fuel)


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


# ---------------------------------------------------------------- device functions


_COMMON = 8
"""Arguments before the allocations: slots, three extents, three coordinates, the arena; then come frame and fuel."""


def call_function(lowering: Lowering, function: Func, arguments: Sequence[Lowered], outputs: Sequence[Value]) -> None:
    """Call the code of a device function, which is made at the first call, and bind the results."""
    emit, builder = lowering.emit, lowering.builder
    made = _device_function(lowering, function)
    cells = [_result_cells(lowering, value.type) for value in outputs]
    places = [cell for group in cells for cell in group]
    with emit.region():
        given = [word for argument in arguments for word in words_of(emit, argument)]
        marks = [word for one in lowering.allocations for word in _allocation(one)]
        common = [lowering.arguments, *lowering.grid, *lowering.block_id, emit.arena, emit.free_place(), lowering.fuel]
        emit.arena_size = max(emit.arena_size, emit.arena_used + lowering.kernel.frames[function])
        emit.leave_with(builder.call(made, [*common, *marks, *given, *places]))
    for value, group in zip(outputs, cells):
        lowering.values[value] = _result(lowering, value.type, group)


def _device_function(lowering: Lowering, function: Func) -> ir.Function:
    """Return the LLVM function of a device function for as many live allocations as there are here."""
    key, functions = (function, len(lowering.allocations)), lowering.kernel.functions
    if key not in functions:
        functions[key] = _made(lowering, function)
    return functions[key]


def _made(caller: Lowering, function: Func) -> ir.Function:
    body, outputs = function.body, function.function_type.results
    kinds = [kind for parameter in body.args for kind in kinds_of(parameter.type)]
    places = [PTR for type in outputs for _ in kinds_of(type)]
    marks = [I64] * (4 * len(caller.allocations))
    common = [PTR, *[I32] * 6, PTR, I64, PTR]
    module = caller.emit.module
    name = module.get_unique_name("tileir.function")
    made = NativeFunction(module, ir.FunctionType(I32, [*common, *marks, *kinds, *places]), name)
    made.linkage = "internal"
    made.attributes.add("noinline")
    _accesses_null(made)
    lowering = _callee(caller, made, body)
    rest = list(made.args[len(common) + len(marks) :])
    for parameter in body.args:
        taken = [rest.pop(0) for _ in kinds_of(parameter.type)]
        lowering.values[parameter] = value_of(lowering.builder, parameter.type, taken, lowering.checked)
    _run_body(lowering, body, outputs, rest)
    frames = caller.kernel.frames
    frames[function] = max(frames.get(function, 0), lowering.emit.arena_size)
    return made


def _callee(caller: Lowering, made: ir.Function, body: Block) -> Lowering:
    """Return the state in which a device function is lowered."""
    arguments, *numbers = made.args[: _COMMON - 1]
    emit, here, fuel = _function_emitter(caller.emit, made), caller.plan.functions[body], made.args[_COMMON + 1]
    lowering = Lowering(caller.kernel, emit, here, numbers[3:], numbers[:3], arguments, fuel)
    words = iter(made.args[_COMMON + 2 :])
    for _ in caller.allocations:
        begin, end, writable_end, marks = (next(words) for _ in range(4))
        add_allocation(lowering, Bounds(begin, end, writable_end, end, marks if caller.strict else None))
    return lowering


def _function_emitter(caller: Emitter, made: ir.Function) -> Emitter:
    """Return the emitter of a function, where its first operation goes."""
    builder, status, exit = _begun(made)
    arena, frame = made.args[_COMMON - 1 : _COMMON + 1]
    emit = Emitter(made, builder, arena, exit, status, frame=frame, arena_used=0, arena_size=0)
    emit.traps, emit.functions = caller.traps, caller.functions
    emit.counts_changes = caller.counts_changes
    emit.describe(caller.lines)
    return emit


def _run_body(lowering: Lowering, body: Block, outputs: Sequence[t.Type], places: list[ir.Value]) -> None:
    """Emit the body and its end, where results are written to where the caller wants them."""
    emit, builder = lowering.emit, lowering.builder
    results: list[Slot] = [new_slot(emit, type, lowering.checked) for type in outputs]
    returned = builder.append_basic_block("returned")
    lowering.returns.append(JumpTarget(returned, results))
    lowering.run(body)
    builder.position_at_end(returned)
    for slot, type in zip(results, outputs):
        value = slot.read(emit)
        taken = [places.pop(0) for _ in kinds_of(type)]
        if isinstance(type, t.TileType) and type.count > 1:
            assert isinstance(value, Tile)
            fill(emit, Window(type, taken[0], row_major(type.shape)), value)
        else:
            for word, place in zip(words_of(emit, value), taken):
                builder.store(word, place)
    builder.branch(emit.exit)
    builder.position_at_end(emit.exit)
    builder.ret(builder.load(emit.status, typ=I32))


# ---------------------------------------------------------------- values


def _result_cells(lowering: Lowering, type: t.Type) -> list[ir.Value]:
    """Return places for the registers of a result, or for the elements of a tile."""
    if isinstance(type, t.TileType) and type.count > 1:
        return [new_buffer(lowering.emit, type).base]
    return [lowering.emit.stack(kind) for kind in kinds_of(type)]


def _result(lowering: Lowering, type: t.Type, cells: list[ir.Value]) -> Lowered:
    if isinstance(type, t.TileType) and type.count > 1:
        return Window(type, cells[0], row_major(type.shape))
    words = [lowering.builder.load(cell, typ=kind) for cell, kind in zip(cells, kinds_of(type))]
    return value_of(lowering.builder, type, words, lowering.checked)


def _allocation(bounds: Bounds) -> list[ir.Value]:
    return [bounds.begin, bounds.end, bounds.writable_end, I64(0) if bounds.marks is None else bounds.marks]
