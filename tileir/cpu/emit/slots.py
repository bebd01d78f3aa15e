"""Storage for values that cross control flow: loop-carried values and results of `if`, `for` and `loop`.

A scalar lives in a stack slot that LLVM turns into a register; a tile in two arena buffers that trade places, so that a
new value may be computed from the old one; a view as the numbers it is made of; a token nowhere.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I64, PTR, memory_type
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.emit.tiles import (
    Fit,
    Lowered,
    NativeTensorView,
    NativeTileView,
    Scalar,
    Tile,
    Window,
    fill,
    from_memory,
    new_buffer,
    row_major,
    scalar,
    to_memory,
)
from tileir.ir import types as t


class Slot:
    """One carried value. Write all slots of a jump first (`write`), then make the values current (`publish`)."""

    def read(self, emit: Emitter) -> Lowered:
        raise NotImplementedError

    def write(self, emit: Emitter, value: Lowered) -> None:
        raise NotImplementedError

    def differs(self, emit: Emitter) -> ir.Value:
        """Emit a test, an i1, whether the written value differs from the current one; 1 if that is not tracked."""
        return I1(1)

    def publish(self, emit: Emitter) -> None:
        raise NotImplementedError


class TokenSlot(Slot):
    def read(self, emit: Emitter) -> Lowered:
        return None

    def write(self, emit: Emitter, value: Lowered) -> None:
        pass

    def differs(self, emit: Emitter) -> ir.Value:
        return I1(0)

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

    def differs(self, emit: Emitter) -> ir.Value:
        """Compare bits, so that NaN equals itself."""
        builder, pattern = emit.builder, ir.IntType(8 * self.type.element.byte_size)
        numbers = builder.load(self._cell, typ=self._memory), self._written
        old, new = (one if self._memory == pattern else builder.bitcast(one, pattern) for one in numbers)
        return builder.icmp_unsigned("!=", old, new)

    def publish(self, emit: Emitter) -> None:
        emit.builder.store(self._written, self._cell)


class TileSlot(Slot):
    def __init__(self, emit: Emitter, type: t.TileType) -> None:
        self.type = type
        self._current, self._next = emit.stack(PTR), emit.stack(PTR)
        for cell in (self._current, self._next):
            emit.builder.store(new_buffer(emit, type).base, cell)
        self._read: Window | None = None
        self._written: Tile | None = None

    @property
    def _in_place(self) -> bool:
        """Return whether the tile was written where it was read, as by a product that adds to its accumulator."""
        written, read = self._written, self._read
        return read is not None and isinstance(written, Window) and written.base is read.base

    def read(self, emit: Emitter) -> Lowered:
        self._read = Window(self.type, emit.builder.load(self._current, typ=PTR), row_major(self.type.shape))
        return self._read

    def write(self, emit: Emitter, value: Lowered) -> None:
        assert isinstance(value, Tile)
        self._written = value
        if not self._in_place:
            target = emit.builder.load(self._next, typ=PTR)
            fill(emit, Window(self.type, target, row_major(self.type.shape)), value)

    def differs(self, emit: Emitter) -> ir.Value:
        """Return 0 only if the tile that was read is handed on as it is; elements are not compared."""
        return I1(self._written is not self._read)

    def publish(self, emit: Emitter) -> None:
        if self._in_place:
            return
        builder = emit.builder
        current, following = builder.load(self._current, typ=PTR), builder.load(self._next, typ=PTR)
        builder.store(following, self._current)
        builder.store(current, self._next)


class TensorSlot(Slot):
    """A tensor view: whether it fits its memory, its address, extents and strides in stack cells.

    Which memory that is does not go with it: where it does not fit, elements are looked up in all memory.
    """

    def __init__(self, emit: Emitter, rank: int) -> None:
        self._rank = rank
        self._kinds = [I1, I1, PTR, *[I64] * (2 * rank)]
        self._cells = [emit.stack(kind) for kind in self._kinds]
        self._checked = False
        self._written: list[ir.Value] = []

    def read(self, emit: Emitter) -> NativeTensorView:
        """Return the written view; the code that writes it is emitted first."""
        readable, writable, base, *numbers = (
            emit.builder.load(cell, typ=kind) for cell, kind in zip(self._cells, self._kinds)
        )
        fit = Fit(None, readable, writable) if self._checked else None
        return NativeTensorView(base, tuple(numbers[: self._rank]), tuple(numbers[self._rank :]), fit)

    def write(self, emit: Emitter, value: Lowered) -> None:
        assert isinstance(value, NativeTensorView)
        fit = value.fit
        self._checked = fit is not None
        flags = [I1(0), I1(0)] if fit is None else [fit.read, fit.write]
        self._written = [*flags, value.base, *value.extents, *value.strides]

    def publish(self, emit: Emitter) -> None:
        for value, cell in zip(self._written, self._cells):
            emit.builder.store(value, cell)


class TileViewSlot(Slot):
    """A tile view: the tensor it cuts into tiles."""

    def __init__(self, emit: Emitter, type: t.TileViewType) -> None:
        self.type = type
        self._tensor = TensorSlot(emit, type.tensor_view.rank)

    def read(self, emit: Emitter) -> Lowered:
        return NativeTileView(self._tensor.read(emit), self.type)

    def write(self, emit: Emitter, value: Lowered) -> None:
        assert isinstance(value, NativeTileView)
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
    tile = t.checked_cast(type, t.TileType)
    return ScalarSlot(emit, tile) if tile.count == 1 else TileSlot(emit, tile)


def pass_values(emit: Emitter, slots: list[Slot], values: list[Lowered]) -> None:
    """Hand `values` to the reader of `slots`, as one step."""
    for slot, value in zip(slots, values):
        slot.write(emit, value)
    for slot in slots:
        slot.publish(emit)
