"""Memory through pointers: tokens, loads, stores, `alloca`, fences (spec: pointers#top).

Operations run in program order, which every token order allows, so a token carries nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.host import undefined
from tileir.interp.api import BlockState, EffectRule, PureRule
from tileir.interp.faults import Fault
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.pointers import (
    Alloca,
    GdcLaunchDependents,
    GdcWait,
    JoinTokens,
    LoadPtr,
    MakeToken,
    MemoryFenceAlias,
    StorePtr,
)

pure: Rules[PureRule] = Rules()
effects: Rules[EffectRule] = Rules()


@pure(MakeToken, JoinTokens, GdcLaunchDependents, GdcWait, MemoryFenceAlias)
def pass_token(op: Op) -> Callable[..., object]:
    """Pass a token, which has no value; there is no other kernel to wait for and no second view of memory to fence."""
    return lambda *tokens: None


@effects(LoadPtr)
def load_ptr(op: LoadPtr) -> Callable[..., object]:
    element = op.source.tile.pointer.pointee

    def run(
        block: BlockState,
        source: np.ndarray,
        mask: np.ndarray | None,
        padding: np.ndarray | None,
        token: None,
    ) -> tuple[np.ndarray, None]:
        if block.options.strict and mask is not None and padding is None and not mask.all():
            block.warn(op, undefined.UNPADDED_MASK)
        return block.memory.load(source, element, mask, padding, block.id), None

    return run


@effects(StorePtr)
def store_ptr(op: StorePtr) -> Callable[..., object]:
    element = op.destination.tile.pointer.pointee
    weak = op.memory_ordering_semantics is MemoryOrdering.WEAK

    def run(
        block: BlockState, destination: np.ndarray, value: np.ndarray, mask: np.ndarray | None, token: None
    ) -> None:
        if block.options.strict:
            _check_distinct(op, block, destination if mask is None else destination[mask], weak)
        block.memory.store(destination, value, element, mask, block.id)

    return run


def _check_distinct(op: Op, block: BlockState, addresses: np.ndarray, weak: bool) -> None:
    """Check for equal addresses in one store: a data race if it is weak, otherwise any of the values may stay."""
    if np.unique(addresses).size == addresses.size:
        return
    if weak:
        raise Fault(undefined.WEAK_DUPLICATES)
    block.warn(op, undefined.DUPLICATES)


@effects(Alloca)
def alloca(op: Alloca) -> Callable[..., object]:
    element = op.result.tile.pointer.pointee
    size = element.memory_size(op.num_elem)
    alignment, shared = max(op.alignment, element.alignment), op.shared

    def run(block: BlockState) -> np.uint64:
        base = block.memory.allocate(size, alignment, None if shared else block.id)
        block.allocations.append(base)
        return np.uint64(base)

    return run
