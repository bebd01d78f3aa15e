"""Tile values and views while a kernel is lowered.

A tile is an expression evaluated per element, a dense buffer in the arena, or a strided window of memory. Every form
answers one question: the element at an index. An element-wise operation only wraps its operands in an expression;
nothing is computed until something needs all elements (a store, a reduction, a loop-carried value), which then runs one
loop for the whole chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Int, Real
from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR, Num, decode, encode, is_native, is_number, memory_type
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.vectorizability import GuardedLoad
from tileir.cpu.emit.vectors import rounded_to_bf16, transposed
from tileir.ir import types as t
from tileir.ir.attributes import Rounding


class Tile:
    """Base: `type` is the tile's type, `at` gives one element."""

    type: t.TileType

    @property
    def element(self) -> t.ElementType | t.PointerType:
        return self.type.element

    def at(self, emit: Emitter, index: Index) -> Num:
        raise NotImplementedError


class ExpressionTile(Tile):
    """A tile whose elements are computed where they are used."""

    def __init__(self, type: t.TileType, compute: Callable[[Emitter, Index], Num]) -> None:
        self.type = type
        self._compute = compute
        self.place: ir.DIValue | None = None
        """The location of its instructions, where code says which operation they come from."""

    def at(self, emit: Emitter, index: Index) -> Num:
        key = (id(self), *map(_identity, index))
        if key not in emit.memo:
            emit.memo[key] = ((self, index), self._computed(emit, index))
        return emit.memo[key][1]

    def _computed(self, emit: Emitter, index: Index) -> Num:
        if self.place is None:
            return self._compute(emit, index)
        with emit.at_place(self.place):
            return self._compute(emit, index)


def _identity(position: ir.Value) -> object:
    """Return a key that is equal for the same register and for equal constants."""
    return (position.constant,) if isinstance(position, ir.Constant) else id(position)


class Converted(ExpressionTile):
    """The elements of `source`, each converted to another type, in a rounding mode."""

    def __init__(self, type: t.TileType, source: Tile, convert: Compute, rounding: Rounding) -> None:
        super().__init__(type, lambda emit, index: convert(emit.builder, source.at(emit, index)))
        self.source, self.rounding = source, rounding


class Permuted(ExpressionTile):
    """The elements of `source` in another order of dimensions: dimension i is dimension `permutation[i]` there."""

    def __init__(self, type: t.TileType, source: Tile, permutation: Sequence[int]) -> None:
        def compute(emit: Emitter, index: Index) -> Num:
            return source.at(emit, tuple(index[permutation.index(dim)] for dim in range(len(permutation))))

        super().__init__(type, compute)
        self.source = source
        self.permutation = permutation


@dataclass(frozen=True, eq=False)
class Scalar(Tile):
    """A tile with one element, already in a register."""

    type: t.TileType
    number: Num

    def at(self, emit: Emitter, index: Index) -> Num:
        return self.number


@dataclass(frozen=True, eq=False)
class Window(Tile):
    """Elements in memory or the arena at ``base + sum(index * strides)``; strides count elements.

    A dense arena buffer is the window whose strides are those of row-major order. `shared`: it may be memory that a
    store can change, so its elements must be read before one does.
    """

    type: t.TileType
    base: ir.Value
    strides: tuple[ir.Value, ...]
    shared: bool = False
    known: ir.Value | None = None
    """The address as an i64; 0 for a copy in the arena, which LLVM must see as private."""
    place: ir.DIValue | None = None
    """The location of the reading code, if memory belongs to an operation and code records its instructions' lines."""
    ahead: tuple[ir.Value, ...] = ()
    """The distances in bytes to memory that is prefetched while this is read or written, i64."""

    def address(self, emit: Emitter, index: Index) -> ir.Value:
        offset = distance(emit.builder, index, self.strides)
        return emit.builder.gep(self.base, [offset], source_etype=memory_type(self.element), inbounds=True)

    def at(self, emit: Emitter, index: Index) -> Num:
        if self.place is None:
            return self._read(emit, index)
        with emit.at_place(self.place):
            return self._read(emit, index)

    def _read(self, emit: Emitter, index: Index) -> Num:
        address = self.address(emit, index)
        loaded = emit.builder.load(address, typ=memory_type(self.element), align=self.element.byte_size)
        emit.fetch_once(loaded, self.ahead, index)
        return from_memory(emit.builder, self.element, emit.independent(loaded))

    def put(self, emit: Emitter, index: Index, number: Num) -> ir.Instruction:
        value = to_memory(emit.builder, number)
        stored = emit.builder.store(value, self.address(emit, index), align=self.element.byte_size)
        emit.fetch_with(stored, self.ahead)
        return emit.independent(stored)


class MaskedWindow(ExpressionTile):
    """A window of which the first `counts` elements of each dimension may be read; the others are `outside`, a constant
    in memory form. Neighbours along the last dimension lie side by side."""

    def __init__(self, emit: Emitter, window: Window, counts: Sequence[ir.Value], outside: ir.Constant) -> None:
        super().__init__(window.type, self._read)
        self.window = window
        self._counts = counts
        self._outside = outside
        self._elsewhere = emit.stack(outside.type)
        emit.builder.store(outside, self._elsewhere)

    def _read(self, emit: Emitter, index: Index) -> Num:
        builder, end = emit.builder, self._end(emit, index[:-1])
        kind, align = memory_type(self.element), self.element.byte_size
        place = builder.gep(self.window.base, [distance(builder, index, self.window.strides)], source_etype=kind)
        inside = builder.icmp_unsigned("<", index[-1], end)
        loaded = builder.load(builder.select(inside, place, self._elsewhere), typ=kind, align=align)
        emit.guarded[loaded] = GuardedLoad(place, inside, self._outside)
        emit.fetch_once(loaded, self.window.ahead, index)
        return from_memory(builder, self.element, emit.independent(loaded))

    def _end(self, emit: Emitter, row: Index) -> ir.Value:
        """Return how many elements of a row may be read, the same value for all of them."""
        key = (id(self), *map(_identity, row))
        if key not in emit.memo:
            builder, end = emit.builder, self._counts[-1]
            for at, count, extent in zip(row, self._counts, self.type.shape):
                if not is_number(count, extent):
                    end = builder.select(builder.icmp_unsigned("<", at, count), end, I64(0))
            emit.memo[key] = ((self, row), Num(t.I64, wide=end))
        return emit.memo[key][1].wide


Lowered = Tile | object
"""The form of a value while lowering: a tile, a view (`cpu.emit.tiles`), or None for a token."""


def row_major(shape: Sequence[int]) -> tuple[ir.Value, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(I64(step))
        step *= extent
    return tuple(reversed(strides))


def distance(builder: ir.IRBuilder, index: Index, strides: Sequence[ir.Value]) -> ir.Value:
    """Return ``sum(index * strides)``, without what is known to make no difference."""
    found: ir.Value | None = None
    for at, stride in zip(index, strides):
        if not is_number(at, 0) and not is_number(stride, 0):
            known = isinstance(at, ir.Constant) and isinstance(stride, ir.Constant)
            if known:
                part = I64(at.constant * stride.constant)
            else:
                part = at if is_number(stride, 1) else builder.mul(at, stride)
            found = part if found is None else builder.add(found, part)
    return I64(0) if found is None else found


def is_dense(window: Window) -> bool:
    """Return whether the elements lie side by side in row-major order."""
    wanted = row_major(window.type.shape)
    return all(isinstance(stride, ir.Constant) and stride == dense for stride, dense in zip(window.strides, wanted))


def new_buffer(emit: Emitter, type: t.TileType) -> Window:
    """Return an uninitialised dense buffer in the arena."""
    return Window(type, emit.buffer(type.count * type.element.byte_size), row_major(type.shape))


def fill(emit: Emitter, target: Window, tile: Tile) -> None:
    """Write every element of `tile` into `target`, in one loop nest."""
    turn = transposition_of(emit, target, tile)
    if turn is not None:
        _fill_transposed(emit, target, turn)
    else:
        emit.loop_nest(tile.type.shape, lambda index: target.put(emit, index, tile.at(emit, index)))


# ---------------------------------------------------------------- transposed tiles

_LEAST_SQUARE = 4


@dataclass(frozen=True)
class TransposedCopy:
    """A copy of memory in which neighbours along `read` become neighbours along `written`, in squares of `size`."""

    source: Window
    read: int
    written: int
    size: int


def transposition_of(emit: Emitter, target: Window, tile: Tile) -> TransposedCopy | None:
    """Return the permutation that stores a tile from memory in another order of its dimensions; None if it is not such
    a copy."""
    source, shape = _in_memory(tile), tile.type.shape
    if source is None or not moves_as_bytes(tile.element):
        return None
    read, written = (_unit_dimension(window) for window in (source, target))
    if read is None or written is None or read == written:
        return None
    lanes = emit.target.vector_bits // 8 // tile.element.byte_size
    size = min(shape[read], shape[written], lanes, 16)
    return TransposedCopy(source, read, written, size) if size >= _LEAST_SQUARE else None


def _in_memory(tile: Tile) -> Window | None:
    """Return the memory that a tile is a copy of, with its dimensions in the tile's order."""
    if isinstance(tile, Permuted):
        source = _in_memory(tile.source)
        return source and replace(source, type=tile.type, strides=tuple(source.strides[i] for i in tile.permutation))
    return tile if isinstance(tile, Window) else None


def _unit_dimension(window: Window) -> int | None:
    """Return the last dimension along which elements are known to lie side by side."""
    dims = enumerate(zip(window.type.shape, window.strides))
    found = [dim for dim, (extent, stride) in dims if extent > 1 and is_number(stride, 1)]
    return found[-1] if found else None


def _fill_transposed(emit: Emitter, target: Window, turn: TransposedCopy) -> None:
    """Read squares in vectors along one dimension, and write them in vectors along the other one."""
    builder, kind, align = emit.builder, memory_type(target.element), target.element.byte_size
    dims = turn.read, turn.written
    shape = [extent // turn.size if dim in dims else extent for dim, extent in enumerate(target.type.shape)]

    def square(index: Index) -> None:
        first = tuple(builder.mul(at, I64(turn.size)) if dim in dims else at for dim, at in enumerate(index))

        def lines(window: Window, along: int) -> Iterator[ir.Value]:
            place = window.address(emit, first)
            yield place
            for _ in range(1, turn.size):
                place = builder.gep(place, [window.strides[along]], source_etype=kind, inbounds=True)
                yield place

        row = ir.VectorType(kind, turn.size)
        rows = [builder.load(place, typ=row, align=align) for place in lines(turn.source, turn.written)]
        for place, column in zip(lines(target, turn.read), transposed(builder, rows)):
            builder.store(column, place, align=align)

    with emit.at_place(turn.source.place):
        emit.loop_nest(shape, square)


# ---------------------------------------------------------------- tiles whose elements are computed


def materialized(emit: Emitter, tile: Tile) -> Tile:
    """Return the tile with its elements computed: in a register if there is one, else in an arena buffer of its own."""
    if isinstance(tile, Scalar) or (isinstance(tile, Window) and not tile.shared):
        return tile
    if tile.type.count == 1:
        return Scalar(tile.type, tile.at(emit, (I64(0),) * tile.type.rank))
    buffer = new_buffer(emit, tile.type)
    fill(emit, buffer, tile)
    return buffer


def dense(emit: Emitter, tile: Tile) -> Window:
    """Compute the tile in row-major order."""
    found = materialized(emit, tile)
    if isinstance(found, Window) and is_dense(found):
        return found
    buffer = new_buffer(emit, tile.type)
    fill(emit, buffer, found)
    return buffer


def scalar(emit: Emitter, tile: Tile) -> Num:
    """Return the only element of a tile of one element."""
    return tile.at(emit, (I64(0),) * tile.type.rank)


# ---------------------------------------------------------------- the two forms of an element

UNUSED_BITS = {t.F4E2M1FN: I8(0x0F), t.TF32: I32(t.TF32_MASK)}
"""The bits of the memory form that count, where not all do."""


def wide(builder: ir.IRBuilder, number: Num) -> ir.Value:
    """Return the register form: an int of the type's width, an f64, or an f32 (exact for every narrower float)."""
    if number.wide is not None:
        return number.wide
    assert number.bits is not None
    return decode(builder, t.checked_cast(number.element, t.ElementType), number.bits)


def bits(builder: ir.IRBuilder, number: Num) -> ir.Value:
    """Return the memory form of a narrow float: its bit pattern in an int of `memory_type`'s width."""
    if number.bits is not None:
        return number.bits
    assert number.wide is not None
    return _encoded(builder, t.checked_cast(number.element, t.ElementType), number.wide)


def _encoded(builder: ir.IRBuilder, element: t.ElementType, number: ir.Value) -> ir.Value:
    target = builder.module.target
    if element is t.BF16 and target.has_masks and target.has_bf16_dot:
        return rounded_to_bf16(builder, number)
    return encode(builder, element, number)


def from_memory(builder: ir.IRBuilder, element: t.ElementType | t.PointerType, loaded: ir.Value) -> Num:
    """Return an element as it is read: of i1 any nonzero byte is 1, unused bits of i4, f4E2M1FN and tf32 are
    dropped."""
    if isinstance(element, t.PointerType) or is_native(element):
        return Num(element, wide=loaded)
    if element in UNUSED_BITS:
        return Num(element, bits=builder.and_(loaded, UNUSED_BITS[element]))
    if element is t.I1:
        return Num(element, wide=builder.icmp_unsigned("!=", loaded, I8(0)))
    if element is t.I4:
        return Num(element, wide=builder.trunc(loaded, ir.IntType(4)))
    if element.is_int:
        return Num(element, wide=loaded)
    return Num(element, bits=loaded)


def moves_as_bytes(element: t.ElementType | t.PointerType) -> bool:
    """Return whether an element is written with the bytes that it is read with."""
    return element not in UNUSED_BITS and element not in (t.I1, t.I4)


def to_memory(builder: ir.IRBuilder, number: Num) -> ir.Value:
    element = number.element
    if isinstance(element, t.ElementType) and element.is_float and not is_native(element):
        return bits(builder, number)
    assert number.wide is not None
    if isinstance(element, t.PointerType):
        return address_of(builder, number)
    return builder.zext(number.wide, I8) if element in (t.I1, t.I4) else number.wide


def address_of(builder: ir.IRBuilder, pointer: Num) -> ir.Value:
    """Return the address as an i64."""
    assert pointer.wide is not None
    if pointer.base is None:
        return pointer.wide
    return builder.add(builder.ptrtoint(pointer.base, I64), pointer.wide)


def pointer_to(builder: ir.IRBuilder, pointer: Num) -> ir.Value:
    """Return the address as an LLVM pointer."""
    assert pointer.wide is not None
    if pointer.base is None:
        return builder.inttoptr(pointer.wide, PTR)
    return builder.gep(pointer.base, [pointer.wide], source_etype=I8)


def boolean(value: ir.Value) -> Num:
    assert value.type == I1
    return Num(t.I1, wide=value)


# ---------------------------------------------------------------- elements as operands and results of formulas


Compute = Callable[..., Num]
"""Maps the builder and one element of each operand to the element of the result."""


Formula = Callable[..., Real]
"""Maps floats to a float."""


def real(builder: ir.IRBuilder, number: Num) -> Real:
    return Real(builder, wide(builder, number))


def integer(builder: ir.IRBuilder, number: Num) -> Int:
    return Int(builder, wide(builder, number))


def held(element: t.ElementType, result: Real) -> Num:
    """Return a result that needs no rounding to be of the element type."""
    return Num(element, wide=result.value)


def rounded(element: t.ElementType, result: Real) -> Num:
    """Return a result in the working type of `element`, rounded to nearest even if that is wider."""
    if is_native(element):
        return held(element, result)
    return Num(element, bits=_encoded(result.builder, element, result.value))


def condition(flag: Flag) -> Num:
    return Num(t.I1, wide=flag.value)


# ---------------------------------------------------------------- views


@dataclass(frozen=True, eq=False)
class Bounds:
    """Addresses, as i64: from `begin` up to `end` memory may be read, up to `writable_end` written.

    `last` is the end of all of it, which is more where it has gaps.
    """

    begin: ir.Value
    end: ir.Value
    writable_end: ir.Value
    last: ir.Value
    marks: ir.Value | None = None
    """The beginning of the marks of an `alloca` (`cpu.memory.strict`), in strict mode."""
    size: int = 0
    """The bytes of an `alloca` of this function."""

    def limit(self, write: bool) -> ir.Value:
        return self.writable_end if write else self.end


@dataclass(frozen=True, eq=False)
class Fit:
    """Comparison of a tensor view with its memory: all of it may be read, and written, two i1; the bounds if known."""

    bounds: Bounds | None
    read: ir.Value
    write: ir.Value

    def usable(self, write: bool) -> ir.Value:
        return self.write if write else self.read


@dataclass(frozen=True, eq=False)
class NativeTensorView:
    """A tensor in memory: its address, extents and strides (i64, elements), one per dimension.

    `fit` is None where accesses are not checked.
    """

    base: ir.Value
    extents: tuple[ir.Value, ...]
    strides: tuple[ir.Value, ...]
    fit: Fit | None = None


@dataclass(frozen=True, eq=False)
class NativeTileView:
    """The tensor that a tile view cuts into tiles."""

    tensor: NativeTensorView
    type: t.TileViewType
