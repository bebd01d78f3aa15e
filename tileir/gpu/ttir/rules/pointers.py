"""TTIR of memory through pointers (spec: pointers#top).

The hint `latency` is not used: how far ahead loads are issued is for Triton's compiler to say, for whole loops.
"""

from __future__ import annotations

from tileir.gpu.ttir.ir.builder import MemoryOrder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib import transfers
from tileir.gpu.ttir.lib.transfers import aligned, block_memory
from tileir.gpu.ttir.lowering import HIDDEN_ALIGNMENT, Lower, TtirLowering
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import pointers

rules: Rules[Lower] = Rules()


@rules(pointers.MakeToken, pointers.JoinTokens)
def lower_token(lowering: TtirLowering, op: Op) -> None:
    lowering.bind_token(op.results[0])


# ---------------------------------------------------------------- loads and stores


@rules(pointers.LoadPtr)
def lower_load_ptr(lowering: TtirLowering, op: pointers.LoadPtr) -> None:
    build, element = lowering.build, pointee(op.source)
    mask = _optional(lowering, op.mask)
    padding = _optional(lowering, op.paddingValue)
    other = None if padding is None else transfers.to_memory(build, element, padding)
    found = build.load(lowering.value(op.source), mask, other, MemoryOrder.of(op))
    if element is t.F4E2M1FN:
        found = build.op("arith.andi", found, build.integer(found.type, 15))
    lowering.bind(op.result, transfers.from_memory(build, element, found))
    lowering.bind_token(op.result_token)


@rules(pointers.StorePtr)
def lower_store_ptr(lowering: TtirLowering, op: pointers.StorePtr) -> None:
    elements = transfers.to_memory(lowering.build, pointee(op.destination), lowering.value(op.value))
    places, mask = lowering.value(op.destination), _optional(lowering, op.mask)
    lowering.build.store(places, elements, mask, MemoryOrder.of(op))
    lowering.bind_token(op.result_token)


def pointee(pointers: core.Value) -> t.ElementType:
    """Return the element type that a tile of pointers points to."""
    return pointers.tile.pointer.pointee


def _optional(lowering: TtirLowering, value: core.Value | None) -> TtirValue | None:
    return None if value is None else lowering.value(value)


# ---------------------------------------------------------------- alloca


@rules(pointers.Alloca)
def lower_alloca(lowering: TtirLowering, op: pointers.Alloca) -> None:
    """Allocate a part of the memory of blocks: this part for every block of the grid, then the next part.

    So the place does not depend on other allocations. In a loop it is the same every time, which `barriers` takes care
    of.
    """
    element = pointee(op.result)
    alignment = max(op.alignment, element.alignment)
    more = alignment - HIDDEN_ALIGNMENT if alignment > HIDDEN_ALIGNMENT else 0
    address = block_memory(lowering, element.memory_size(op.num_elem) + more)
    if more:
        address = aligned(lowering, address, alignment)
    lowering.bind(op.result, lowering.build.bitcast(address, lowering.type_of(op.result).element))


# ---------------------------------------------------------------- other kernels, other addresses


@rules(pointers.GdcLaunchDependents)
def lower_gdc_launch_dependents(lowering: TtirLowering, op: pointers.GdcLaunchDependents) -> None:
    if lowering.arch.has_grid_dependencies:
        lowering.build.effect("tt.grid_dependency_launch_dependents")
    lowering.bind_token(op.result_token)


@rules(pointers.GdcWait)
def lower_gdc_wait(lowering: TtirLowering, op: pointers.GdcWait) -> None:
    """Make every thread wait. Where kernels do not overlap there is nothing to wait for."""
    if lowering.arch.has_grid_dependencies:
        lowering.build.effect("tt.grid_dependency_wait")
    lowering.bind_token(op.result_token)


@rules(pointers.MemoryFenceAlias)
def lower_memory_fence_alias(lowering: TtirLowering, op: pointers.MemoryFenceAlias) -> None:
    """Give every thread a fence, between the barrier in front and its next access."""
    build = lowering.build
    build.vendor.fence_aliases(lambda: build.bitcast(block_memory(lowering, 4), "!tt.ptr<i32>"))
    lowering.bind_token(op.result_token)
