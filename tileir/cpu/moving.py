"""Tiles of pointers that a `for` loop carries and moves as one: each step adds the same distance to every pointer.

Knows: how such a value is recognised, and its slot: the distance moved so far, beside the expression it started from.
The pointers are then computed where they are used, as if they were not carried, so that LLVM sees neighbours in memory.
Does not know: other carried values (`cpu.slots`).
"""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir

from tileir.cpu.elements import I64, Num
from tileir.cpu.emitter import Emitter, Index
from tileir.cpu.lowering import Lowering
from tileir.cpu.slots import Slot, new_slot
from tileir.cpu.tiles import Expression, Lowered, Moved, Tile, Window
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ops import control, core


class MovingSlot(Slot):
    """Pointers at a distance, in a stack cell, from those that `origin` has."""

    def __init__(self, emit: Emitter, origin: Tile) -> None:
        self._origin = origin
        self._cell = emit.stack(I64)
        self._read: tuple[Tile, ir.Value] | None = None
        self._written: ir.Value = I64(0)

    def read(self, emit: Emitter) -> Lowered:
        distance = emit.builder.load(self._cell, typ=I64)

        def compute(emit: Emitter, index: Index) -> Num:
            pointer = self._origin.at(emit, index)
            return Num(pointer.element, wide=emit.builder.add(pointer.wide, distance), base=pointer.base)

        self._read = Expression(self._origin.type, compute), distance
        return self._read[0]

    def write(self, emit: Emitter, value: Lowered) -> None:
        """The pointers the loop starts with, or those read moved on."""
        if value is self._origin:
            self._written = I64(0)
            return
        assert isinstance(value, Moved) and self._read is not None and value.pointers is self._read[0]
        self._written = emit.builder.add(self._read[1], value.distance(emit, (I64(0),) * value.type.rank))

    def publish(self, emit: Emitter) -> None:
        emit.builder.store(self._written, self._cell)


def carried_slots(lowering: Lowering, op: control.For) -> list[Slot]:
    """A slot for each value that the loop carries."""
    jumps = list(_continues(op.body))
    slots: list[Slot] = []
    for position, value in enumerate(op.initial):
        origin = lowering.values[value]
        if isinstance(origin, Tile) and _stays(origin) and all(_moves(op, jump, position) for jump in jumps):
            slots.append(MovingSlot(lowering.emit, origin))
        else:
            slots.append(new_slot(lowering.emit, value.type))
    return slots


def _stays(origin: Tile) -> bool:
    """Whether the tile can be read as long as the loop runs."""
    return origin.type.count > 1 and not (isinstance(origin, Window) and origin.shared)


def _moves(op: control.For, jump: control.Continue, position: int) -> bool:
    """Whether `jump` hands on the pointers that this turn of the loop got, moved by one distance."""
    move, argument = jump.operands[position].op, op.body.args[1 + position]
    if not isinstance(move, core.Offset) or move.ptr is not argument:
        return False
    element = move.result.type.element
    assert isinstance(element, t.PointerType)
    return element.pointee.memory_bits >= 8 and uniform(move.offset)


def uniform(value: Value) -> bool:
    """Whether all elements of the tile are seen to be equal."""
    if isinstance(value.type, t.TileType) and value.type.count == 1:
        return True
    op = value.op
    if isinstance(op, core.Constant):
        return op.value.is_splat
    return isinstance(op, core.Broadcast | core.Reshape) and uniform(op.source)


def _continues(block: Block) -> Iterator[control.Continue]:
    """The jumps to the next turn of the loop that `block` is the body of."""
    for op in block.ops:
        if isinstance(op, control.Continue):
            yield op
        for region in _regions_of_the_same_loop(op):
            yield from _continues(region)


def _regions_of_the_same_loop(op: Op) -> list[Block]:
    if isinstance(op, control.For | control.Loop):
        return []
    return [region for region in op.regions if region is not None]
