"""Atomic operations: each element is a transaction of its own (specification, operations 4).

Knows: what each mode computes, and what equal addresses in one tile see of each other: they take effect in row-major
order, as the catalogue of unspecified behaviour fixes it.
Does not know: when another tile block gets its turn (`prepare`); a tile operation runs without interruption.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tileir.interp.api import BlockState, EffectRule
from tileir.interp.cells import CELLS
from tileir.interp.faults import Access
from tileir.interp.memory import Memory
from tileir.interp.pointers import pointee
from tileir.interp.tiling import Part, TensorView, TileView, locator
from tileir.interp.views import scattered, window
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode
from tileir.ir.rules import Rules
from tileir.ops.atomics import AtomicCas, AtomicRedView, AtomicRmw

effects: Rules[EffectRule] = Rules()

Combine = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From old values and arguments to new values, element by element, all of the memory's dtype."""


def _unsigned(function: np.ufunc) -> Combine:
    def combine(old: np.ndarray, argument: np.ndarray) -> np.ndarray:
        dtype = old.dtype
        unsigned = f"u{dtype.itemsize}"
        return function(old.view(unsigned), argument.view(unsigned)).view(dtype)

    return combine


COMBINE: dict[AtomicMode, Combine] = {
    AtomicMode.AND: np.bitwise_and,
    AtomicMode.OR: np.bitwise_or,
    AtomicMode.XOR: np.bitwise_xor,
    AtomicMode.ADD: np.add,
    AtomicMode.ADDF: np.add,
    AtomicMode.MAX: np.maximum,
    AtomicMode.MIN: np.minimum,
    AtomicMode.UMAX: _unsigned(np.maximum),
    AtomicMode.UMIN: _unsigned(np.minimum),
    AtomicMode.XCHG: lambda old, argument: argument,
}


def update(
    memory: Memory,
    addresses: np.ndarray,
    arguments: tuple[np.ndarray, ...],
    combine: Callable[..., np.ndarray],
    access: Access,
    mask: np.ndarray | None = None,
) -> np.ndarray:
    """Replace the element at each address by ``combine(old, *arguments)``; gives the old ones.

    Of equal addresses each sees what the one before it in row-major order has left.
    """
    old = np.empty(addresses.size, access.cell.raw)
    flat_arguments = [np.ravel(argument) for argument in arguments]
    for part in memory.resolve(addresses.ravel(), access, mask):
        lanes = np.arange(addresses.size) if part.lanes is None else part.lanes
        places = np.asarray(part.where)
        for chosen in _turns(places):
            where, served = places[chosen], lanes[chosen]
            old[served] = part.flat[where]
            part.flat[where] = combine(old[served], *(argument[served] for argument in flat_arguments))
    return old.reshape(addresses.shape)


def _turns(index: np.ndarray) -> Sequence[np.ndarray | slice]:
    """Positions in groups: no group holds an index twice, and equal indices keep their order."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    if starts.size == index.size:
        return [slice(None)]
    lengths = np.diff(np.append(starts, index.size))
    turn = np.empty(index.size, np.int64)
    turn[order] = np.arange(index.size) - np.repeat(starts, lengths)
    by_turn = np.argsort(turn, kind="stable")
    return np.split(by_turn, np.cumsum(np.bincount(turn))[:-1])


@effects(AtomicRmw)
def atomic_rmw(op: AtomicRmw) -> Callable[..., object]:
    cell, combine = CELLS[pointee(op.pointers)], COMBINE[op.mode]

    def run(
        block: BlockState, pointers: np.ndarray, argument: np.ndarray, mask: np.ndarray | None, token: None
    ) -> tuple[np.ndarray, None]:
        access = Access(cell, block.id, "update")
        if mask is None or mask.all():
            return update(block.memory, pointers, (argument,), combine, access), None
        if block.options.strict:
            block.warn(op, "the result of a masked-off element is implementation-defined")
        old = np.zeros(pointers.shape, cell.dtype)
        if mask.any():
            old[mask] = update(block.memory, pointers[mask], (argument[mask],), combine, access, mask)
        return old, None

    return run


@effects(AtomicCas)
def atomic_cas(op: AtomicCas) -> Callable[..., object]:
    cell = CELLS[pointee(op.pointers)]
    bits = f"u{cell.size}"

    def combine(old: np.ndarray, expected: np.ndarray, value: np.ndarray) -> np.ndarray:
        return np.where(old.view(bits) == expected.view(bits), value, old)

    def run(
        block: BlockState,
        pointers: np.ndarray,
        expected: np.ndarray,
        value: np.ndarray,
        mask: np.ndarray | None,
        token: None,
    ) -> tuple[np.ndarray, None]:
        access = Access(cell, block.id, "update")
        if mask is None or mask.all():
            return update(block.memory, pointers, (expected, value), combine, access), None
        old = np.array(expected)
        if mask.any():
            arguments = (expected[mask], value[mask])
            old[mask] = update(block.memory, pointers[mask], arguments, combine, access, mask)
        return old, None

    return run


@effects(AtomicRedView)
def atomic_red_view(op: AtomicRedView) -> Callable[..., object]:
    view, combine = op.view.type, COMBINE[op.mode]
    locate = locator(op, view, op.index, op.inbounds)

    def run(block: BlockState, view: TileView, index: tuple[np.ndarray, ...], value: np.ndarray, token: None) -> None:
        part = locate(block, view.tensor, index)
        if part is not None:
            reduce_tile(block, view.tensor, part, view.type.element, value, combine)

    return run


def reduce_tile(
    block: BlockState,
    tensor: TensorView,
    part: Part,
    element: t.ElementType,
    value: np.ndarray,
    combine: Combine,
) -> None:
    """Combine the elements of `value` that lie in the tensor into memory."""
    access = Access(CELLS[element], block.id, "update")
    raw = window(block, tensor, part, access) if part.distinct and part.sparse is None else None
    if raw is not None:
        raw[...] = combine(raw, value if part.full else value[part.selector])
        return
    addresses, mask = scattered(tensor, part, access.cell.size, value.shape)
    if mask is not None:
        addresses, value = addresses[mask], value[mask]
    update(block.memory, addresses, (value,), combine, access, mask)
