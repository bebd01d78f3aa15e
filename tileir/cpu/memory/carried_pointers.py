"""Tiles of pointers that a `for` loop carries and moves as one: each step adds the same distance to every pointer.

A slot keeps the distance moved so far, beside the initial expression. The pointers are then computed where they are
used, as if they were not carried, so that LLVM sees neighbours in memory. `analysis.walk` recognises such tiles.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.analysis.structure import carried_arguments
from tileir.cpu.emit.elements import I64, Num
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.slots import Slot, new_slot
from tileir.cpu.emit.tiles import ExpressionTile, Lowered, Tile, Window, address_of
from tileir.cpu.lowering.state import Lowering
from tileir.ir.types import PointerType
from tileir.ops import control


class CarriedPointersSlot(Slot):
    """Pointers at a distance, in a stack cell, from those that `origin` has."""

    def __init__(self, emit: Emitter, origin: Tile) -> None:
        self._origin = origin
        self._cell = emit.stack(I64)
        self._written: ir.Value = I64(0)

    def read(self, emit: Emitter) -> Lowered:
        distance = emit.builder.load(self._cell, typ=I64)

        def compute(emit: Emitter, index: Index) -> Num:
            pointer = self._origin.at(emit, index)
            return Num(pointer.element, wide=emit.builder.add(pointer.wide, distance), base=pointer.base)

        return ExpressionTile(self._origin.type, compute)

    def write(self, emit: Emitter, value: Lowered) -> None:
        """Write the pointers the loop starts with, or those read and moved on."""
        if value is self._origin:
            self._written = I64(0)
            return
        assert isinstance(value, Tile)
        first = (I64(0),) * value.type.rank
        here, start = (address_of(emit.builder, tile.at(emit, first)) for tile in (value, self._origin))
        self._written = emit.builder.sub(here, start)

    def publish(self, emit: Emitter) -> None:
        emit.builder.store(self._written, self._cell)


def carried_slots(lowering: Lowering, op: control.For) -> list[Slot]:
    """Return a slot for each value that the loop carries."""
    slots: list[Slot] = []
    for value, argument in zip(op.initial, carried_arguments(op)):
        origin, move = lowering.values[value], lowering.known.move(argument)
        moves_as_one = move is not None and move.is_uniform  # whether arithmetic wraps around or not
        if isinstance(origin, Tile) and _can_be_read_later(origin) and moves_as_one:
            slots.append(CarriedPointersSlot(lowering.emit, origin))
        else:
            slots.append(new_slot(lowering.emit, value.type, lowering.checked))
    return slots


def _can_be_read_later(origin: Tile) -> bool:
    """Return whether the tile holds pointers that stay readable as long as the loop runs."""
    if origin.type.count == 1 or not isinstance(origin.element, PointerType):
        return False
    return not (isinstance(origin, Window) and origin.shared)
