"""Atomic operations and multicast memory, element by element (spec: atomics#top, spec: multimem#top)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tileir.host import undefined
from tileir.interp.api import BlockState, EffectRule
from tileir.interp.cells import CELLS, CheckedAccess
from tileir.interp.memory import Memory
from tileir.interp.tiling import Part, TensorView, TileView, locator
from tileir.interp.views import load_tile, outside_tile, scattered, store_tile, window
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode
from tileir.ir.rules import Rules
from tileir.ops.atomics import AtomicCas, AtomicRedView, AtomicRmw
from tileir.ops.multimem import MultimemLoadReduceView, MultimemReduceView, MultimemStoreView

effects: Rules[EffectRule] = Rules()

Combine = Callable[..., np.ndarray]
"""Maps old values and arguments to new values, element by element, all of the memory's dtype."""
Running = Callable[[np.ndarray], np.ndarray]
"""Maps an old value followed by arguments to all values that the element takes in turn, the old one first."""

MANY = 16
"""Equal addresses from which on they are served address by address instead of turn by turn."""


class Mode(NamedTuple):
    """The computation of an atomic operation; without `running` only turn by turn."""

    combine: Combine
    running: Running | None = None


def _unsigned(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.itemsize}")


def _signed_mode(function: np.ufunc) -> Mode:
    return Mode(function, lambda values: function.accumulate(values, dtype=values.dtype))


def _unsigned_mode(function: np.ufunc) -> Mode:
    return Mode(
        lambda old, argument: function(_unsigned(old), _unsigned(argument)).view(old.dtype),
        lambda values: function.accumulate(_unsigned(values)).view(values.dtype),
    )


MODES: dict[AtomicMode, Mode] = {
    AtomicMode.AND: _signed_mode(np.bitwise_and),
    AtomicMode.OR: _signed_mode(np.bitwise_or),
    AtomicMode.XOR: _signed_mode(np.bitwise_xor),
    AtomicMode.ADD: _signed_mode(np.add),
    AtomicMode.ADDF: _signed_mode(np.add),
    AtomicMode.MAX: _signed_mode(np.maximum),
    AtomicMode.MIN: _signed_mode(np.minimum),
    AtomicMode.UMAX: _unsigned_mode(np.maximum),
    AtomicMode.UMIN: _unsigned_mode(np.minimum),
    AtomicMode.XCHG: Mode(lambda old, argument: argument, lambda values: values),
}


def update(
    memory: Memory,
    addresses: np.ndarray,
    arguments: tuple[np.ndarray, ...],
    mode: Mode,
    access: CheckedAccess,
    mask: np.ndarray | None = None,
) -> np.ndarray:
    """Replace the element at each address by ``mode.combine(old, *arguments)``; gives the old ones.

    Of equal addresses each sees what the one before it in row-major order has left. ``mask`` is what chose the
    addresses.
    """
    old = np.empty(addresses.size, access.cell.raw)
    if mask is None:
        mask = np.ones(addresses.shape, np.bool_)
    flat_arguments = [np.ravel(argument) for argument in arguments]
    for part in memory.resolve(addresses.ravel(), access, mask):
        lanes = slice(None) if part.lanes is None else part.lanes
        served = [argument[lanes] for argument in flat_arguments]
        places = np.asarray(part.where)
        found = old[lanes] = _update_places(part.flat, places, served, mode)
        memory.changes += part.flat[places].tobytes() != found.tobytes()
    return old.reshape(addresses.shape)


def _update_places(flat: np.ndarray, where: np.ndarray, arguments: list[np.ndarray], mode: Mode) -> np.ndarray:
    order = np.argsort(where, kind="stable")
    ordered = where[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    if starts.size == where.size:
        old = flat[where]
        flat[where] = mode.combine(old, *arguments)
        return old
    old = np.empty(where.size, flat.dtype)
    lengths = np.diff(np.append(starts, where.size))
    longest = int(lengths.max()) if mode.running is None else MANY
    _by_turn(flat, where, arguments, mode.combine, old, order, starts, np.minimum(lengths, longest))
    if mode.running is not None:
        for group in np.flatnonzero(lengths > MANY).tolist():
            chosen = order[starts[group] + MANY : starts[group] + lengths[group]]
            _by_address(flat, int(where[chosen[0]]), arguments[0][chosen], mode.running, old, chosen)
    return old


def _by_turn(
    flat: np.ndarray,
    where: np.ndarray,
    arguments: list[np.ndarray],
    combine: Combine,
    old: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    lengths: np.ndarray,
) -> None:
    """Process the first lane of every address at once, then the second of those that have one, and so on."""
    for turn in range(int(lengths.max())):
        chosen = order[starts[lengths > turn] + turn]
        places = where[chosen]
        old[chosen] = flat[places]
        flat[places] = combine(old[chosen], *(argument[chosen] for argument in arguments))


def _by_address(
    flat: np.ndarray, place: int, arguments: np.ndarray, running: Running, old: np.ndarray, chosen: np.ndarray
) -> None:
    """Group the lanes of each address, in order."""
    values = running(np.concatenate((flat[place : place + 1], arguments)))
    old[chosen] = values[:-1]
    flat[place] = values[-1]


@effects(AtomicRmw)
def atomic_rmw(op: AtomicRmw) -> Callable[..., object]:
    cell, mode = CELLS[op.pointers.tile.pointer.pointee], MODES[op.mode]

    def run(
        block: BlockState, pointers: np.ndarray, argument: np.ndarray, mask: np.ndarray | None, token: None
    ) -> tuple[np.ndarray, None]:
        access = CheckedAccess(cell, block.id, "update")
        if mask is None or mask.all():
            return update(block.memory, pointers, (argument,), mode, access), None
        if block.options.strict:
            block.warn(op, undefined.MASKED_UPDATE)
        old = np.zeros(pointers.shape, cell.dtype)
        if mask.any():
            old[mask] = update(block.memory, pointers[mask], (argument[mask],), mode, access, mask)
        return old, None

    return run


@effects(AtomicCas)
def atomic_cas(op: AtomicCas) -> Callable[..., object]:
    cell = CELLS[op.pointers.tile.pointer.pointee]
    bits = f"u{cell.size}"

    def combine(old: np.ndarray, expected: np.ndarray, value: np.ndarray) -> np.ndarray:
        return np.where(old.view(bits) == expected.view(bits), value, old)

    mode = Mode(combine)

    def run(
        block: BlockState,
        pointers: np.ndarray,
        expected: np.ndarray,
        value: np.ndarray,
        mask: np.ndarray | None,
        token: None,
    ) -> tuple[np.ndarray, None]:
        access = CheckedAccess(cell, block.id, "update")
        if mask is None or mask.all():
            return update(block.memory, pointers, (expected, value), mode, access), None
        old = np.array(expected)
        if mask.any():
            arguments = (expected[mask], value[mask])
            old[mask] = update(block.memory, pointers[mask], arguments, mode, access, mask)
        return old, None

    return run


@effects(AtomicRedView)
def atomic_red_view(op: AtomicRedView) -> Callable[..., object]:
    view, mode = op.view.type, MODES[op.mode]
    locate = locator(op, view, op.index, op.inbounds)

    def run(block: BlockState, view: TileView, index: tuple[np.ndarray, ...], value: np.ndarray, token: None) -> None:
        part = locate(block, view.tensor, index)
        if part is not None:
            reduce_tile(block, view.tensor, part, view.type.element, value, mode)

    return run


def reduce_tile(
    block: BlockState,
    tensor: TensorView,
    part: Part,
    element: t.ElementType,
    value: np.ndarray,
    mode: Mode,
) -> None:
    """Combine the elements of `value` that lie in the tensor into memory."""
    access = CheckedAccess(CELLS[element], block.id, "update")
    raw = window(block, tensor, part, access) if part.distinct and part.sparse is None else None
    if raw is not None:
        raw[...] = mode.combine(raw, value if part.full else value[part.selector])
        return
    addresses, mask = scattered(tensor, part, access.cell.size, value.shape)
    if mask is not None:
        addresses, value = addresses[mask], value[mask]
    update(block.memory, addresses, (value,), mode, access, mask)


@effects(MultimemLoadReduceView)
def multimem_load_reduce_view(op: MultimemLoadReduceView) -> Callable[..., object]:
    view = op.view.type
    element, outside = view.element, outside_tile(op, view)
    locate = locator(op, view, op.index, op.inbounds)

    def run(block: BlockState, view: TileView, index: tuple[np.ndarray, ...], token: None) -> tuple[np.ndarray, None]:
        part = locate(block, view.tensor, index)
        return (outside if part is None else load_tile(block, view.tensor, part, element, outside)), None

    return run


@effects(MultimemReduceView)
def multimem_reduce_view(op: MultimemReduceView) -> Callable[..., object]:
    view, mode = op.view.type, MODES[op.reduction.atomic_mode(op.view.type.element.is_float)]
    locate = locator(op, view, op.index, op.inbounds)

    def run(block: BlockState, view: TileView, tile: np.ndarray, index: tuple[np.ndarray, ...], token: None) -> None:
        part = locate(block, view.tensor, index)
        if part is not None:
            reduce_tile(block, view.tensor, part, view.type.element, tile, mode)

    return run


@effects(MultimemStoreView)
def multimem_store_view(op: MultimemStoreView) -> Callable[..., object]:
    view = op.view.type
    locate = locator(op, view, op.index, op.inbounds)

    def run(block: BlockState, view: TileView, tile: np.ndarray, index: tuple[np.ndarray, ...], token: None) -> None:
        part = locate(block, view.tensor, index)
        if part is not None:
            store_tile(block, view.tensor, part, view.type.element, tile)

    return run
