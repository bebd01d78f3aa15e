"""TTIR of memory through pointers (specification 8.6).

Knows: tokens, loads, stores, `alloca`, and what waits for or makes way to other kernels. Does not know: which order
tokens ask for (`order`), nor the instructions that access memory (`transfers`).

The hint `latency` is not used: how far ahead loads are issued is for Triton's compiler to say, for whole loops.
"""

from __future__ import annotations

from tileir.gpu.ttir import cells, scalars, transfers
from tileir.gpu.ttir.code import I32, Value
from tileir.gpu.ttir.lowering import HIDDEN_ALIGNMENT, BlockMemory, Lower, Lowering
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import memory

rules: Rules[Lower] = Rules()

BLOCK_MEMORY = BlockMemory(0)
"""Stands for the memory of blocks while its size is not known yet."""


@rules(memory.MakeToken, memory.JoinTokens)
def lower_token(lowering: Lowering, op: Op) -> None:
    lowering.bind_token(op.results[0])


# ---------------------------------------------------------------- loads and stores


@rules(memory.LoadPtr)
def lower_load_ptr(lowering: Lowering, op: memory.LoadPtr) -> None:
    build, element = lowering.build, pointee(op.source)
    mask = _optional(lowering, op.mask)
    padding = _optional(lowering, op.paddingValue)
    other = None if padding is None else cells.to_memory(build, element, padding)
    found = transfers.load(
        lowering, lowering.value(op.source), mask, other, op.memory_ordering_semantics, op.memory_scope
    )
    if element is t.F4E2M1FN:
        found = build.op("arith.andi", found, build.integer(found.type, 15))
    lowering.bind(op.result, cells.from_memory(build, element, found))
    lowering.bind_token(op.result_token)


@rules(memory.StorePtr)
def lower_store_ptr(lowering: Lowering, op: memory.StorePtr) -> None:
    elements = cells.to_memory(lowering.build, pointee(op.destination), lowering.value(op.value))
    mask = _optional(lowering, op.mask)
    transfers.store(
        lowering,
        lowering.value(op.destination),
        elements,
        mask,
        op.memory_ordering_semantics,
        op.memory_scope,
    )
    lowering.bind_token(op.result_token)


def pointee(pointers: core.Value) -> t.ElementType:
    """The element type that a tile of pointers points to."""
    assert isinstance(pointers.type, t.TileType) and isinstance(pointers.type.element, t.PointerType)
    return pointers.type.element.pointee


def _optional(lowering: Lowering, value: core.Value | None) -> Value | None:
    return None if value is None else lowering.value(value)


# ---------------------------------------------------------------- alloca


@rules(memory.Alloca)
def lower_alloca(lowering: Lowering, op: memory.Alloca) -> None:
    """A part of the memory of blocks: first of this part for every block of the grid, then of the next.

    So the place does not depend on what else the program allocates. In a loop it is the same every time, which is
    `order`'s concern.
    """
    element = pointee(op.result)
    natural = -(-element.memory_bits // 8)
    alignment = max(op.alignment, natural)
    more = alignment - HIDDEN_ALIGNMENT if alignment > HIDDEN_ALIGNMENT else 0
    address = block_memory(lowering, -(-op.num_elem * element.memory_bits // 8) + more)
    if more:
        address = _aligned(lowering, address, alignment)
    lowering.bind(op.result, lowering.build.bitcast(address, lowering.type_of(op.result).element))


def block_memory(lowering: Lowering, size: int) -> Value:
    """The address of `size` more bytes that this block has for itself, a multiple of `HIDDEN_ALIGNMENT`."""
    before, own = lowering.block_memory, -(-size // HIDDEN_ALIGNMENT) * HIDDEN_ALIGNMENT
    lowering.block_memory += own
    return _part(lowering, before, own)


def _part(lowering: Lowering, before: int, size: int) -> Value:
    """Behind `before` bytes for every block: that of `size` bytes for each which belongs to this block."""
    blocks, own = _grid(lowering)
    base = lowering.parameter(BLOCK_MEMORY)
    skipped = scalars.product(lowering, blocks, scalars.number(lowering, before))
    offset = scalars.product(lowering, own, scalars.number(lowering, size))
    return scalars.moved(lowering, base, scalars.total(lowering, skipped, offset))


def _grid(lowering: Lowering) -> tuple[Value, Value]:
    """The number of blocks, and the linear number of this one."""
    build = lowering.build
    places, extents = (
        [scalars.unsigned(lowering, build.op(name, type=I32, axis=axis)) for axis in range(3)]
        for name in ("tt.get_program_id", "tt.get_num_programs")
    )
    count, own = extents[2], places[2]
    for place, extent in ((places[1], extents[1]), (places[0], extents[0])):
        own = scalars.total(lowering, scalars.product(lowering, own, extent), place)
        count = scalars.product(lowering, count, extent)
    return count, own


def _aligned(lowering: Lowering, address: Value, alignment: int) -> Value:
    """The next multiple of `alignment`."""
    build = lowering.build
    number = build.cast("tt.ptr_to_int", address, "i64")
    up = build.op(
        "arith.andi",
        build.op("arith.subi", scalars.number(lowering, 0), number),
        scalars.number(lowering, alignment - 1),
    )
    return scalars.moved(lowering, address, up)


# ---------------------------------------------------------------- other kernels, other addresses


@rules(memory.GdcLaunchDependents)
def lower_gdc_launch_dependents(lowering: Lowering, op: memory.GdcLaunchDependents) -> None:
    if lowering.arch.has_grid_dependencies:
        lowering.build.effect("tt.grid_dependency_launch_dependents")
    lowering.bind_token(op.result_token)


@rules(memory.GdcWait)
def lower_gdc_wait(lowering: Lowering, op: memory.GdcWait) -> None:
    """Every thread waits. Where kernels do not overlap there is nothing to wait for."""
    if lowering.arch.has_grid_dependencies:
        lowering.build.effect("tt.grid_dependency_wait")
    lowering.bind_token(op.result_token)


@rules(memory.MemoryFenceAlias)
def lower_memory_fence_alias(lowering: Lowering, op: memory.MemoryFenceAlias) -> None:
    """Every thread has its fence, between the barrier in front and whatever it does next."""
    lowering.build.asm("fence.proxy.alias; mov.u32 $0, 0;", "=r", [], I32, pure=False)
    lowering.bind_token(op.result_token)
