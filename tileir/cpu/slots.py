"""Storage for values that cross control flow: loop-carried values and results of `if`, `for` and `loop`.

Knows: how such a value is kept between the place that writes it and the place that reads it. A scalar lives in a stack
slot that LLVM turns into a register; a tile in two arena buffers that trade places, so that a new value may be computed
from the old one; a view as the numbers it is made of; a token nowhere.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.elements import I64, PTR, memory_type
from tileir.cpu.emitter import Emitter
from tileir.cpu.tensors import TensorView, TileView
from tileir.cpu.tiles import Lowered, Scalar, Tile, Window, fill, from_memory, new_buffer, row_major, scalar, to_memory
from tileir.ir import types as t


class Slot:
    """One carried value. Write all slots of a jump first (`write`), then make the values current (`publish`)."""

    def read(self, emit: Emitter) -> Lowered:
        raise NotImplementedError

    def write(self, emit: Emitter, value: Lowered) -> None:
        raise NotImplementedError

    def publish(self, emit: Emitter) -> None:
        raise NotImplementedError


class TokenSlot(Slot):
    def read(self, emit: Emitter) -> Lowered:
        return None

    def write(self, emit: Emitter, value: Lowered) -> None:
        pass

    def publish(self, emit: Emitter) -> None:
        pass


class ScalarSlot(Slot):
    def __init__(self, emit: Emitter, type: t.TileType) -> None:
        self.type = type
        self._memory = memory_type(type.element)
        self._cell = emit.stack(self._memory)
        self._written: ir.Value | None = None

    def read(self, emit: Emitter) -> Lowered:
        loaded = emit.builder.load(self._cell, typ=self._memory)
        return Scalar(self.type, from_memory(emit.builder, self.type.element, loaded))

    def write(self, emit: Emitter, value: Lowered) -> None:
        assert isinstance(value, Tile)
        self._written = to_memory(emit.builder, scalar(emit, value))

    def publish(self, emit: Emitter) -> None:
        emit.builder.store(self._written, self._cell)


class TileSlot(Slot):
    def __init__(self, emit: Emitter, type: t.TileType) -> None:
        self.type = type
        self._current, self._next = emit.stack(PTR), emit.stack(PTR)
        for cell in (self._current, self._next):
            emit.builder.store(new_buffer(emit, type).base, cell)
        self._in_place = False
        self._read: ir.Value | None = None

    def read(self, emit: Emitter) -> Lowered:
        self._read = emit.builder.load(self._current, typ=PTR)
        return Window(self.type, self._read, row_major(self.type.shape))

    def write(self, emit: Emitter, value: Lowered) -> None:
        assert isinstance(value, Tile)
        self._in_place = isinstance(value, Window) and value.base is self._read
        if not self._in_place:
            target = emit.builder.load(self._next, typ=PTR)
            fill(emit, Window(self.type, target, row_major(self.type.shape)), value)

    def publish(self, emit: Emitter) -> None:
        if self._in_place:
            return
        builder = emit.builder
        current, following = builder.load(self._current, typ=PTR), builder.load(self._next, typ=PTR)
        builder.store(following, self._current)
        builder.store(current, self._next)


class TensorSlot(Slot):
    """A tensor view: its address, extents and strides in stack cells."""

    def __init__(self, emit: Emitter, rank: int) -> None:
        self._rank = rank
        self._kinds = [PTR, *[I64] * (2 * rank)]
        self._cells = [emit.stack(kind) for kind in self._kinds]
        self._written: list[ir.Value] = []

    def read(self, emit: Emitter) -> TensorView:
        base, *numbers = (emit.builder.load(cell, typ=kind) for cell, kind in zip(self._cells, self._kinds))
        return TensorView(base, numbers[: self._rank], numbers[self._rank :])

    def write(self, emit: Emitter, value: Lowered) -> None:
        assert isinstance(value, TensorView)
        self._written = [value.base, *value.extents, *value.strides]

    def publish(self, emit: Emitter) -> None:
        for value, cell in zip(self._written, self._cells):
            emit.builder.store(value, cell)


class TileViewSlot(Slot):
    """A tile view: the tensor it cuts into tiles."""

    def __init__(self, emit: Emitter, type: t.TileViewType) -> None:
        self.type = type
        self._tensor = TensorSlot(emit, type.tensor_view.rank)

    def read(self, emit: Emitter) -> Lowered:
        return TileView(self._tensor.read(emit), self.type)

    def write(self, emit: Emitter, value: Lowered) -> None:
        assert isinstance(value, TileView)
        self._tensor.write(emit, value.tensor)

    def publish(self, emit: Emitter) -> None:
        self._tensor.publish(emit)


def new_slot(emit: Emitter, type: t.Type) -> Slot:
    if isinstance(type, t.TokenType):
        return TokenSlot()
    if isinstance(type, t.TensorViewType):
        return TensorSlot(emit, type.rank)
    if isinstance(type, t.TileViewType):
        return TileViewSlot(emit, type)
    assert isinstance(type, t.TileType)
    return ScalarSlot(emit, type) if type.count == 1 else TileSlot(emit, type)


def pass_values(emit: Emitter, slots: list[Slot], values: list[Lowered]) -> None:
    """Hand `values` to the reader of `slots`, as one step."""
    for slot, value in zip(slots, values):
        slot.write(emit, value)
    for slot in slots:
        slot.publish(emit)
