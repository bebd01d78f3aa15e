"""TTIR of memory through pointers (spec: pointers#top).

The hint `latency` is not used: how far ahead loads are issued is for Triton's compiler to say, for whole loops.
"""

from __future__ import annotations

from tileir.gpu.ttir.ir.builder import MemoryOrder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib import scalars
from tileir.gpu.ttir.lib.memory import block_memory, from_memory, to_memory
from tileir.gpu.ttir.lib.words import Word
from tileir.gpu.ttir.lowering import HIDDEN_ALIGNMENT, Lower, TtirLowering
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import pointers

rules: Rules[Lower] = Rules()


@rules(pointers.MakeToken, pointers.JoinTokens)
def lower_token(lowering: TtirLowering, op: Op) -> None:
    """Emit nothing: order is a matter of the program."""


# ---------------------------------------------------------------- loads and stores


@rules(pointers.LoadPtr)
def lower_load_ptr(lowering: TtirLowering, op: pointers.LoadPtr) -> TtirValue:
    build, element = lowering.build, pointee(op.source)
    mask, padding = lowering.optional(op.mask), lowering.optional(op.paddingValue)
    other = None if padding is None else to_memory(build, element, padding)
    found = build.load(lowering.value(op.source), mask, other, MemoryOrder.of(op))
    if element is t.F4E2M1FN:
        found = build.op("arith.andi", found, build.integer(found.type, 15))
    return from_memory(build, element, found)


@rules(pointers.StorePtr)
def lower_store_ptr(lowering: TtirLowering, op: pointers.StorePtr) -> None:
    elements = to_memory(lowering.build, pointee(op.destination), lowering.value(op.value))
    places, mask = lowering.value(op.destination), lowering.optional(op.mask)
    lowering.build.store(places, elements, mask, MemoryOrder.of(op))


def pointee(pointers: core.Value) -> t.ElementType:
    """Return the element type that a tile of pointers points to."""
    return pointers.tile.pointer.pointee


# ---------------------------------------------------------------- alloca


@rules(pointers.Alloca)
def lower_alloca(lowering: TtirLowering, op: pointers.Alloca) -> TtirValue:
    """Allocate a part of the memory of blocks: this part for every block of the grid, then the next part.

    So the place does not depend on other allocations. In a loop it is the same every time, which `barriers` takes care
    of.
    """
    element = pointee(op.result)
    alignment = max(op.alignment, element.alignment)
    more = alignment - HIDDEN_ALIGNMENT if alignment > HIDDEN_ALIGNMENT else 0
    address = block_memory(lowering, element.memory_size(op.num_elem) + more)
    if more:
        number = Word(lowering.build, lowering.build.cast("tt.ptr_to_int", address, "i64"))
        address = scalars.moved(lowering, address, (-number & (alignment - 1)).value)
    return lowering.build.bitcast(address, lowering.type_of(op.result).element)


# ---------------------------------------------------------------- other kernels, other addresses


@rules(pointers.GdcLaunchDependents)
def lower_gdc_launch_dependents(lowering: TtirLowering, op: pointers.GdcLaunchDependents) -> None:
    if lowering.arch.has_grid_dependencies:
        lowering.build.effect("tt.grid_dependency_launch_dependents")


@rules(pointers.GdcWait)
def lower_gdc_wait(lowering: TtirLowering, op: pointers.GdcWait) -> None:
    """Make every thread wait. Where kernels do not overlap there is nothing to wait for."""
    if lowering.arch.has_grid_dependencies:
        lowering.build.effect("tt.grid_dependency_wait")


@rules(pointers.MemoryFenceAlias)
def lower_memory_fence_alias(lowering: TtirLowering, op: pointers.MemoryFenceAlias) -> None:
    """Give every thread a fence, between the barrier in front and its next access."""
    build = lowering.build
    build.vendor.fence_aliases(lambda: build.bitcast(block_memory(lowering, 4), "!tt.ptr<i32>"))
