"""Device functions as LLVM functions, for kernels in which their code would be repeated too often.

    i32 function(ptr slots, ptr grid extents..., i32 x, y, z, ptr arena, i64 frame, ptr fuel, allocations..., values...)

Knows: how values cross a call. Does not know: which functions are called (`analysis.placement`), what their
operations mean.

The buffers of a function lie in the arena from `frame` on, behind those of its callers. Its result is 0 or the status
with which the tile block ends. A tile of several elements is handed over by its address, dense; a view as the numbers
it is made of; everything else as it is. Results are written where the caller says.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.analysis.affine import Affines
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.emit.elements import I1, I32, I64, PTR, memory_type
from tileir.cpu.emit.emitter import Emitter, accesses_null
from tileir.cpu.emit.slots import Slot, new_slot
from tileir.cpu.emit.tiles import (
    Bounds,
    Fit,
    Lowered,
    NativeTensorView,
    NativeTileView,
    Scalar,
    Tile,
    Window,
    fill,
    from_memory,
    materialized,
    new_buffer,
    row_major,
    scalar,
    to_memory,
)
from tileir.cpu.lowering.state import JumpTarget, Lowering
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value

_COMMON = 8
"""Arguments before the allocations: slots, three extents, three coordinates, the arena; then come frame and fuel."""


def call_function(lowering: Lowering, function: Op, arguments: Sequence[Lowered], outputs: Sequence[Value]) -> None:
    """Call the code of a device function, which is made at the first call, and bind the results."""
    emit, builder = lowering.emit, lowering.builder
    made = _function(lowering, function)
    cells = [_result_cells(lowering, value.type) for value in outputs]
    places = [cell for group in cells for cell in group]
    with emit.region():
        given = [word for argument in arguments for word in _words_of(emit, argument)]
        marks = [word for one in lowering.allocations for word in _allocation(one)]
        common = [lowering.arguments, *lowering.grid, *lowering.block_id, emit.arena, emit.free_place(), lowering.fuel]
        emit.arena_size = max(emit.arena_size, emit.arena_used + lowering.frames[function])
        emit.leave_with(builder.call(made, [*common, *marks, *given, *places]))
    for value, group in zip(outputs, cells):
        lowering.values[value] = _result(lowering, value.type, group)


def _function(lowering: Lowering, function: Op) -> ir.Function:
    """The LLVM function of a device function for as many live allocations as there are here."""
    key = function, len(lowering.allocations)
    if key not in lowering.functions:
        lowering.functions[key] = _made(lowering, function)
    return lowering.functions[key]


def _made(caller: Lowering, function: Op) -> ir.Function:
    body = function.regions[0]
    assert body is not None, "a function has a body"
    outputs = function.attributes["function_type"].results
    kinds = [kind for parameter in body.args for kind in _kinds(parameter.type)]
    places = [PTR for type in outputs for _ in _kinds(type)]
    marks = [I64] * (4 * len(caller.allocations))
    common = [PTR, *[I32] * 6, PTR, I64, PTR]
    module = caller.emit.module
    name = module.get_unique_name("tileir.function")
    made = ir.Function(module, ir.FunctionType(I32, [*common, *marks, *kinds, *places]), name)
    made.linkage = "internal"
    made.attributes.add("noinline")
    accesses_null(made)
    lowering = _callee(caller, made, body)
    rest = list(made.args[len(common) + len(marks) :])
    for parameter in body.args:
        taken = [rest.pop(0) for _ in _kinds(parameter.type)]
        lowering.values[parameter] = _value_of(parameter.type, taken, lowering)
    _run(lowering, body, outputs, rest)
    caller.frames[function] = max(caller.frames.get(function, 0), lowering.emit.arena_size)
    return made


def _callee(caller: Lowering, made: ir.Function, body: Block) -> Lowering:
    """The state in which a function is lowered; what belongs to the kernel is shared."""
    arguments, *numbers = made.args[: _COMMON - 1]
    lowering = Lowering(
        _emitter(caller.emit, made),
        Fusion(body),
        Affines(body),
        caller.rules,
        numbers[3:],
        numbers[:3],
        arguments,
        caller.global_slots,
        made.args[_COMMON + 1],
        caller.checks,
        caller.bounds_slot,
        caller.bounds_count,
        caller.placement,
        caller.counters,
    )
    lowering.share(caller)
    words = iter(made.args[_COMMON + 2 :])
    for _ in caller.allocations:
        begin, end, writable_end, marks = (next(words) for _ in range(4))
        lowering.allocations.append(Bounds(begin, end, writable_end, marks if caller.strict else None))
    return lowering


def _emitter(caller: Emitter, made: ir.Function) -> Emitter:
    """The emitter of a function, where its first operation goes."""
    start, exit = made.append_basic_block("start"), made.append_basic_block("exit")
    builder = ir.IRBuilder(start)
    status = builder.alloca(I32)
    builder.store(I32(0), status)
    arena, frame = made.args[_COMMON - 1 : _COMMON + 1]
    emit = Emitter(made.module, made, builder, arena, exit, status, frame=frame, arena_used=0, arena_size=0)
    emit.traps, emit.functions = caller.traps, caller.functions
    emit.counts_changes = caller.counts_changes
    emit.describe(caller.lines)
    return emit


def _run(lowering: Lowering, body: Block, outputs: Sequence[t.Type], places: list[ir.Value]) -> None:
    """The code of the body, and of its end, where results are written to where the caller wants them."""
    emit, builder = lowering.emit, lowering.builder
    results: list[Slot] = [new_slot(emit, type) for type in outputs]
    returned = builder.append_basic_block("returned")
    lowering.returns.append(JumpTarget(returned, results))
    lowering.run(body)
    builder.position_at_end(returned)
    for slot, type in zip(results, outputs):
        value = slot.read(emit)
        taken = [places.pop(0) for _ in _kinds(type)]
        if isinstance(type, t.TileType) and type.count > 1:
            assert isinstance(value, Tile)
            fill(emit, Window(type, taken[0], row_major(type.shape)), value)
        else:
            for word, place in zip(_words_of(emit, value), taken):
                builder.store(word, place)
    builder.branch(emit.exit)
    builder.position_at_end(emit.exit)
    builder.ret(builder.load(emit.status, typ=I32))


# ---------------------------------------------------------------- values


def _tensor_of(type: t.Type) -> t.TensorViewType | None:
    if isinstance(type, t.TensorViewType):
        return type
    return type.tensor_view if isinstance(type, t.TileViewType) else None


def _kinds(type: t.Type) -> list[ir.Type]:
    """The types of the registers that hold a value."""
    if isinstance(type, t.TokenType):
        return []
    tensor = _tensor_of(type)
    if tensor is not None:
        return [I1, I1, PTR, *[I64] * (2 * tensor.rank)]
    tile = t.checked_cast(type, t.TileType)
    return [memory_type(tile.element) if tile.count == 1 else PTR]


def _words_of(emit: Emitter, value: Lowered) -> list[ir.Value]:
    """The registers that hold a value."""
    if isinstance(value, NativeTileView):
        return _words_of(emit, value.tensor)
    if isinstance(value, NativeTensorView):
        fit = (I1(0), I1(0)) if value.fit is None else (value.fit.read, value.fit.write)
        return [*fit, value.base, *value.extents, *value.strides]
    if not isinstance(value, Tile):
        return []
    if value.type.count == 1:
        return [to_memory(emit.builder, scalar(emit, value))]
    return [_dense(emit, value).base]


def _dense(emit: Emitter, tile: Tile) -> Window:
    """The tile in a buffer of the arena, in row-major order."""
    held = materialized(emit, tile)
    order = row_major(tile.type.shape)
    if isinstance(held, Window) and all(
        isinstance(stride, ir.Constant) and stride == dense for stride, dense in zip(held.strides, order)
    ):
        return held
    buffer = new_buffer(emit, tile.type)
    fill(emit, buffer, held)
    return buffer


def _value_of(type: t.Type, words: list[ir.Value], lowering: Lowering) -> Lowered:
    """The value that registers hold."""
    tensor = _tensor_of(type)
    if tensor is not None:
        readable, writable, base, *numbers = words
        fit = Fit(None, readable, writable) if lowering.checked else None
        view = NativeTensorView(base, tuple(numbers[: tensor.rank]), tuple(numbers[tensor.rank :]), fit)
        return NativeTileView(view, type) if isinstance(type, t.TileViewType) else view
    if isinstance(type, t.TokenType):
        return None
    tile = t.checked_cast(type, t.TileType)
    if tile.count > 1:
        return Window(tile, words[0], row_major(tile.shape))
    return Scalar(tile, from_memory(lowering.builder, tile.element, words[0]))


def _result_cells(lowering: Lowering, type: t.Type) -> list[ir.Value]:
    """Places for the registers of a result, or for the elements of a tile."""
    if isinstance(type, t.TileType) and type.count > 1:
        return [new_buffer(lowering.emit, type).base]
    return [lowering.emit.stack(kind) for kind in _kinds(type)]


def _result(lowering: Lowering, type: t.Type, cells: list[ir.Value]) -> Lowered:
    if isinstance(type, t.TileType) and type.count > 1:
        return Window(type, cells[0], row_major(type.shape))
    words = [lowering.builder.load(cell, typ=kind) for cell, kind in zip(cells, _kinds(type))]
    return _value_of(type, words, lowering)


def _allocation(bounds: Bounds) -> list[ir.Value]:
    return [bounds.begin, bounds.end, bounds.writable_end, I64(0) if bounds.marks is None else bounds.marks]
