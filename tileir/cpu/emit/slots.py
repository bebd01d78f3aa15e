"""Storage for values that cross control flow: loop-carried values and results of `if`, `for` and `loop`.

A scalar lives in a stack slot that LLVM turns into a register; a tile in two arena buffers that trade places, so that a
new value may be computed from the old one; a view as the numbers it is made of; a token nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    dense,
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


class RegistersSlot(Slot):
    """A token, a tile of one element or a view: the registers that hold it, in stack cells.

    Which memory a tensor view lies in does not go with it: where it does not fit, elements are looked up in all memory.
    """

    def __init__(self, emit: Emitter, type: t.Type, checked: bool) -> None:
        self.type, self._checked = type, checked
        self._kinds = kinds_of(type)
        self._cells = [emit.stack(kind) for kind in self._kinds]
        self._written: list[ir.Value] = []

    def read(self, emit: Emitter) -> Lowered:
        words = [emit.builder.load(cell, typ=kind) for cell, kind in zip(self._cells, self._kinds)]
        return value_of(emit.builder, self.type, words, self._checked)

    def write(self, emit: Emitter, value: Lowered) -> None:
        self._written = words_of(emit, value)

    def differs(self, emit: Emitter) -> ir.Value:
        """Compare the bits of a number, so that NaN equals itself."""
        if not isinstance(self.type, t.TileType):
            return I1(bool(self._cells))
        builder, (kind,), pattern = emit.builder, self._kinds, ir.IntType(8 * self.type.element.byte_size)
        numbers = builder.load(self._cells[0], typ=kind), self._written[0]
        old, new = (one if kind == pattern else builder.bitcast(one, pattern) for one in numbers)
        return builder.icmp_unsigned("!=", old, new)

    def publish(self, emit: Emitter) -> None:
        for value, cell in zip(self._written, self._cells):
            emit.builder.store(value, cell)


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


def new_slot(emit: Emitter, type: t.Type, checked: bool) -> Slot:
    """Return a slot for values of a type; accesses through views are `checked`."""
    if isinstance(type, t.TileType) and type.count > 1:
        return TileSlot(emit, type)
    return RegistersSlot(emit, type, checked)


def pass_values(emit: Emitter, slots: list[Slot], values: list[Lowered]) -> None:
    """Hand `values` to the reader of `slots`, as one step."""
    for slot, value in zip(slots, values):
        slot.write(emit, value)
    for slot in slots:
        slot.publish(emit)


# ---------------------------------------------------------------- values as registers


def kinds_of(type: t.Type) -> list[ir.Type]:
    """Return the types of the registers that hold a value; a tile of several elements is held by its address."""
    if isinstance(type, t.TokenType):
        return []
    tensor = type.tensor_view if isinstance(type, t.TileViewType) else type
    if isinstance(tensor, t.TensorViewType):
        return [I1, I1, PTR, *[I64] * (2 * tensor.rank)]
    tile = t.checked_cast(type, t.TileType)
    return [memory_type(tile.element) if tile.count == 1 else PTR]


def words_of(emit: Emitter, value: Lowered) -> list[ir.Value]:
    """Return the registers that hold a value."""
    if isinstance(value, NativeTileView):
        value = value.tensor
    if isinstance(value, NativeTensorView):
        fit = (I1(0), I1(0)) if value.fit is None else (value.fit.read, value.fit.write)
        return [*fit, value.base, *value.extents, *value.strides]
    if not isinstance(value, Tile):
        return []
    return [to_memory(emit.builder, scalar(emit, value)) if value.type.count == 1 else dense(emit, value).base]


def value_of(builder: ir.IRBuilder, type: t.Type, words: Sequence[ir.Value], checked: bool) -> Lowered:
    """Return the value that registers hold; accesses through views are `checked`."""
    if isinstance(type, t.TokenType):
        return None
    tensor = type.tensor_view if isinstance(type, t.TileViewType) else type
    if isinstance(tensor, t.TensorViewType):
        readable, writable, base, *numbers = words
        fit = Fit(None, readable, writable) if checked else None
        view = NativeTensorView(base, tuple(numbers[: tensor.rank]), tuple(numbers[tensor.rank :]), fit)
        return NativeTileView(view, type) if isinstance(type, t.TileViewType) else view
    tile = t.checked_cast(type, t.TileType)
    if tile.count > 1:
        return Window(tile, words[0], row_major(tile.shape))
    return Scalar(tile, from_memory(builder, tile.element, words[0]))
