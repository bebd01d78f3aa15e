"""Filling panels: the factors of a matrix product copied into the arena in the order in which the inner loop reads.

*Rows* keeps each line along K together; *strips* cuts the lines into strips as wide as a register block and stores,
step by step along K, the words of a strip side by side.

A factor is seen as (line, k): a line is a row of the left one or a column of the right one. Memory is read along the
dimension in which neighbours lie side by side; where that is K and strips are wanted, squares of words are transposed
in registers. Elements that a vector load cannot widen are converted in a pass of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from llvmlite import ir

from tileir.cpu.emit.elements import FLOAT, HALF, I8, I32, I64, Num, encode, is_number, memory_type
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.tiles import Converted, ExpressionTile, Permuted, Tile, Window, distance, wide
from tileir.cpu.emit.vectors import f8_as_bf16, interleaved, prefetch, transposed
from tileir.cpu.matmul.microkernel import Panel, put_column
from tileir.cpu.matmul.policy import ROW_PADDING
from tileir.cpu.matmul.products import IN_BF16, SIDE, Product
from tileir.ir import types as t
from tileir.ir.attributes import Rounding

LONG_ROW = 1024
"""Bytes from which on rows are padded."""
SMALLEST_SQUARE = 4
LINES_AT_A_TIME = 64
"""The most lines that are read together; the number of needed lines is rounded up to a multiple."""
LONGEST_FETCHED = 512
"""Bytes of a row of the next tile that is prefetched: in longer ones the processor sees what comes next."""
UNROLLED = 8
"""Vectors of a row that are copied by straight-line code."""


@dataclass(frozen=True)
class Strided:
    """Elements in memory: (line, k) at ``base[line * by_line + k * by_k]``."""

    element: t.ElementType
    base: ir.Value
    by_line: ir.Value
    by_k: ir.Value

    @property
    def along_k(self) -> bool:
        return is_number(self.by_k, 1)

    @property
    def along_lines(self) -> bool:
        return is_number(self.by_line, 1)

    def moved(self, builder: ir.IRBuilder, line: ir.Value, k: ir.Value) -> Strided:
        """Return the elements from (line, k) on."""
        return self._from(builder, distance(builder, (line, k), (self.by_line, self.by_k)))

    def next_line(self, builder: ir.IRBuilder) -> Strided:
        """Return the elements from the next line on."""
        return self._from(builder, self.by_line)

    def _from(self, builder: ir.IRBuilder, offset: ir.Value) -> Strided:
        return replace(self, base=builder.gep(self.base, [offset], source_etype=memory_type(self.element)))


@dataclass(frozen=True)
class Factor:
    """One operand, one batch of it: `lines` x `depth` elements.

    `memory`: the memory that holds the elements, if any does; `origin`: the memory that they are computed from.
    `is_outside`: it may lie outside the arena; `address`: that of its first element, 0 inside the arena.
    `needed`: the number of lines needed, if not all; up to `LINES_AT_A_TIME` more may be read.
    `signed`: whether memory has signed i8, where the elements are wider. `rounded`: memory has f32, and the elements
    are the nearest numbers of tf32.
    """

    element: t.ElementType
    lines: int
    depth: int
    at: Callable[[Emitter, ir.Value, ir.Value], Num]
    memory: Strided | None
    is_outside: bool = False
    needed: ir.Value | None = None
    origin: Strided | None = None
    address: ir.Value | None = None
    signed: bool = False
    rounded: bool = False

    @property
    def lines_needed(self) -> ir.Value:
        return I64(self.lines) if self.needed is None else self.needed


class Extended(ExpressionTile):
    """Integers of 8 bits, `signed` or not, as those of a wider type."""

    def __init__(self, source: Tile, element: t.ElementType, signed: bool) -> None:
        def extend(emit: Emitter, index: Index) -> Num:
            number = wide(emit.builder, source.at(emit, index))
            return Num(element, wide=extended(emit.builder, number, memory_type(element), signed))

        super().__init__(source.type.with_element(element), extend)
        self.source, self.signed = source, signed


def extended(builder: ir.IRBuilder, numbers: ir.Value, kind: ir.Type, signed: bool) -> ir.Value:
    """Return integers, or a vector of them, as those of a wider type."""
    return builder.sext(numbers, kind) if signed else builder.zext(numbers, kind)


def factor(emit: Emitter, tile: Tile, which: ir.Value, k_first: bool) -> Factor:
    """Return batch `which` of a tile; `k_first`: K is the first of its two last dimensions."""
    element, shape = tile.type.number, tile.type.shape
    batch = (which,) if len(shape) == 3 else ()

    def at(emit: Emitter, line: ir.Value, k: ir.Value) -> Num:
        return tile.at(emit, (*batch, k, line) if k_first else (*batch, line, k))

    lines, depth = (shape[-1], shape[-2]) if k_first else (shape[-2], shape[-1])
    source = tile.source if isinstance(tile, Extended | Converted) else tile
    window, strides = _window_of(source)
    if window is None or not isinstance(source.element, t.ElementType):
        return Factor(element, lines, depth, at, None)
    offset = emit.builder.mul(which, strides[0]) if batch else I64(0)
    origin = emit.builder.gep(window.base, [offset], source_etype=memory_type(source.element))
    by_line, by_k = reversed(strides[-2:]) if k_first else strides[-2:]
    memory = Strided(source.element, origin, by_line, by_k)
    address = None if batch else window.known
    made = Factor(element, lines, depth, at, None, window.shared, origin=memory, address=address)
    if isinstance(tile, Converted):
        is_rounded = (source.element, element, tile.rounding) == (t.F32, t.TF32, Rounding.NEAREST_EVEN)
        return replace(made, memory=memory, rounded=True) if is_rounded else made
    return replace(made, memory=memory, signed=isinstance(tile, Extended) and tile.signed)


def _window_of(tile: Tile) -> tuple[Window | None, Sequence[ir.Value]]:
    """Return the memory that a tile is read from, and how far apart neighbours of each dimension of the tile lie."""
    if isinstance(tile, Permuted):
        window, strides = _window_of(tile.source)
        return window, [strides[dim] for dim in tile.permutation] if window is not None else ()
    return (tile, tile.strides) if isinstance(tile, Window) else (None, ())


TAG_BYTES = 4 * 8
"""Bytes of a tag: an address, 0 for none, the distances of lines and of steps along K, and the number of lines."""


@dataclass(frozen=True)
class PanelPlace:
    """The place of a tile in a panel with room for `capacity` steps: those from `first` on."""

    panel: ir.Value
    capacity: int
    first: ir.Value
    tag: ir.Value | None
    """The address of the tag that identifies the tile there; None if tiles do not stay."""
    kept: ir.Value


@dataclass
class Packer:
    """Copies one factor into a panel for a product, in vectors of at most `lanes` words."""

    emit: Emitter
    product: Product
    source: Factor
    lanes: int
    flips: bool = False
    """True if sign bits of the elements, which are i8, are inverted in the panel."""
    place: PanelPlace | None = None
    """The place of the words in a panel that is there already; None for a panel of their own."""

    @property
    def steps(self) -> int:
        return self.source.depth // self.product.group

    @property
    def capacity(self) -> int:
        """Steps that the panel has room for."""
        return self.steps if self.place is None else self.place.capacity

    @contextmanager
    def unless_packed(self) -> Iterator[None]:
        """Emit code that packs the tile if the panel does not hold it; from then on it does."""
        place, source, builder = self.place, self.source, self.emit.builder
        if place is None or place.tag is None:
            yield
            return
        assert source.origin is not None
        cells = [builder.gep(place.tag, [I64(8 * word)], source_etype=I8) for word in range(TAG_BYTES // 8)]
        valid = builder.and_(place.kept, builder.icmp_unsigned("!=", source.address, I64(0)))
        address = builder.select(valid, source.address, I64(0))
        words = [address, source.origin.by_line, source.origin.by_k, source.lines_needed]
        packed = valid
        for cell, word in zip(cells, words):
            packed = builder.and_(packed, builder.icmp_unsigned("==", builder.load(cell, typ=I64), word))
        with self.emit.when(builder.not_(packed)):
            for cell, word in zip(cells, words):
                builder.store(word, cell)
            yield

    # ------------------------------------------------------------ the two layouts

    def left(self, rows: int, uses_matrix_unit: bool = False) -> Panel:
        """Return a panel to broadcast single words from, for blocks of `rows` rows, or with steps side by side."""
        memory = self.source.memory
        transposes = memory is not None and memory.along_lines and rows >= SMALLEST_SQUARE
        return self.strips(rows) if transposes and not uses_matrix_unit else self.rows()

    def rows(self) -> Panel:
        """Return each line with its words along K side by side."""
        size = self.product.element.memory_bits * self.product.group // 8
        memory = self.source.memory
        if memory is not None and self.place is None and self._serves_as_rows(memory, size):
            return Panel(memory.base, self.steps, self.steps, 1)
        pitch = self.capacity + (ROW_PADDING // size if self.capacity * size >= LONG_ROW else 0)
        whole, target = self._target(self.source.lines * pitch, 1)
        if memory is not None and memory.along_k and self.widens(memory):
            self._in_function(Packer._copy_rows, target, memory, pitch)
        else:
            self._fill(target, I64(pitch * self.product.group), I64(1))
        return Panel(whole, pitch, pitch, 1)

    def _serves_as_rows(self, memory: Strided, word_bytes: int) -> bool:
        """Return whether the elements already lie in the arena as the panel would hold them."""
        if self.source.is_outside or memory.element is not self.product.element:
            return False
        if self.flips or self.source.rounded:
            return False
        dense = isinstance(memory.by_line, ir.Constant) and memory.by_line.constant == self.source.depth
        return dense and memory.along_k and self.steps * word_bytes < LONG_ROW

    def strips(self, width: int) -> Panel:
        """Return strips of `width` lines; in a strip, the words of a step side by side."""
        whole, target = self._target(self.source.lines * self.steps, width)
        square = min(self.lanes, self.steps, width)
        memory = self._readable(square)
        if memory.along_lines:
            self._in_function(Packer._copy_strips, target, memory, width)
        else:
            self._in_function(Packer._transpose_strips, target, memory, width, square)
        return Panel(whole, self.capacity, 1, width)

    def few_lines(self) -> Panel:
        """Return one strip of 16 needed lines for a matrix unit."""
        memory = self.source.memory
        if memory is None or not memory.along_k or not self.widens(memory):
            return self.strips(SIDE)
        whole, target = self._target(SIDE * self.steps, SIDE)
        self._in_function(Packer._scatter_lines, target, memory)
        return Panel(whole, self.capacity, 1, SIDE)

    def _target(self, words: int, by_step: int) -> tuple[ir.Value, ir.Value]:
        """Return a panel, of so many words if it is a new one, and where the first step of the source goes in it."""
        if self.place is None:
            panel = self.emit.buffer(words * self.product.group * self.product.element.byte_size)
            return panel, panel
        builder = self.emit.builder
        word = builder.mul(self.place.first, I64(by_step))
        return self.place.panel, builder.gep(self.place.panel, [word], source_etype=self.product.word)

    # ------------------------------------------------------------ element by element

    def _readable(self, square: int) -> Strided:
        """Return the source where vectors of words can be read along lines, or along K in squares: else a copy of
        it."""
        memory, element, emit = self.source.memory, self.product.element, self.emit
        in_squares = memory is not None and memory.along_k and square >= SMALLEST_SQUARE
        if memory is not None and self.widens(memory) and (memory.along_lines or in_squares):
            return memory
        lines, depth = self.source.lines, self.source.depth
        copy = emit.buffer(lines * depth * element.byte_size)
        by_line, by_k = (I64(depth), I64(1)) if in_squares else (I64(1), I64(lines))
        self._fill(copy, by_line, by_k)
        return Strided(element, copy, by_line, by_k)

    def _fill(self, target: ir.Value, by_line: ir.Value, by_k: ir.Value) -> None:
        """Write each element as the product takes it, the unit stride of the target innermost."""
        lines, depth = self.source.lines, self.source.depth
        window = Window(t.tile(self.product.element, lines, depth), target, (by_line, by_k))
        extents: list[int | ir.Value] = [lines if self.source.needed is None else self.source.needed, depth]

        def one(line: ir.Value, k: ir.Value) -> None:
            window.put(self.emit, (line, k), self._number(line, k))

        if is_number(by_k, 1):
            self.emit.loop_nest(extents, lambda index: one(*index))
        else:
            self.emit.loop_nest(extents[::-1], lambda index: one(*reversed(index)))

    def _number(self, line: ir.Value, k: ir.Value) -> Num:
        found, element, builder = self.source.at(self.emit, line, k), self.product.element, self.emit.builder
        if self.flips:
            return Num(element, wide=flipped(builder, wide(builder, found)))
        return found if element is self.source.element else Num(element, wide=wide(builder, found))

    # ------------------------------------------------------------ in vectors

    def widens(self, memory: Strided) -> bool:
        """Return whether a vector load can turn the elements in memory into those of the panel."""
        element = self.product.element
        wider = (t.F16, t.BF16) if element is t.F32 else IN_BF16 if element is t.BF16 else ()
        is_extended = memory.element is t.I8 and element in (t.I16, t.I64)
        return memory.element is element or memory.element in wider or is_extended

    def load(self, memory: Strided, line: ir.Value, k: ir.Value, count: int) -> ir.Value:
        """Return the words of `count` neighbours in memory, as they are in a panel but for their order."""
        builder = self.emit.builder
        address = memory.moved(builder, line, k).base
        stored = HALF if memory.element is t.F16 and self.product.element is t.F32 else memory_type(memory.element)
        align = memory.element.byte_size
        loaded = builder.load(address, typ=ir.VectorType(stored, count), align=align)
        if self.source.rounded:
            return builder.bitcast(encode(builder, t.TF32, loaded), loaded.type)
        if memory.element is self.product.element:
            return flipped(builder, loaded) if self.flips else loaded
        if memory.element is t.I8:
            kind = ir.VectorType(memory_type(self.product.element), count)
            return extended(builder, loaded, kind, self.source.signed)
        if memory.element in IN_BF16:
            return f8_as_bf16(builder, memory.element, loaded)
        floats = ir.VectorType(FLOAT, count)
        if memory.element is t.F16:
            return builder.fpext(loaded, floats)
        words = ir.VectorType(I32, count)
        shift = ir.Constant(words, [16] * count)
        return builder.bitcast(builder.shl(builder.zext(loaded, words), shift), floats)

    def _prefetches(self, memory: Strided) -> bool:
        """Return whether tiles follow along K that are likely to be far away, in rows too short for the processor."""
        extent = self.source.depth if memory.along_k else self.source.lines
        is_short = extent * memory.element.byte_size <= LONGEST_FETCHED
        return is_short and self.source.is_outside and self.capacity > self.steps

    def _read(self, memory: Strided, line: ir.Value, k: ir.Value, count: int) -> ir.Value:
        """Load neighbours in memory as `load` does, and prefetch those of the next tile along K."""
        if self._prefetches(memory):
            builder = self.emit.builder
            prefetch(builder, memory.moved(builder, line, builder.add(k, I64(self.source.depth))).base)
        return self.load(memory, line, k, count)

    def _store(self, target: ir.Value, word: ir.Value, vector: ir.Value) -> None:
        address = self.emit.builder.gep(target, [word], source_etype=self.product.word)
        self.emit.builder.store(vector, address, align=self.product.element.byte_size)

    def _in_function(self, copy: Callable[..., None], target: ir.Value, memory: Strided, *sizes: int) -> None:
        """Emit a call of `copy` (target, memory, `sizes`) as a function that all equal copies share."""
        strides = memory.by_line, memory.by_k
        known = tuple(stride.constant if isinstance(stride, ir.Constant) else None for stride in strides)
        source = self.source
        part = [] if source.needed is None else [source.needed]
        extents = self.lanes, self.capacity, source.lines, source.depth, len(part)

        def body(emit: Emitter, arguments: Sequence[ir.Value]) -> None:
            target, base, *given = arguments
            by_line, by_k = (given.pop(0) if stride is None else I64(stride) for stride in known)
            source = replace(self.source, needed=given.pop(0) if part else None)
            inner = replace(self, emit=emit, source=source)
            copy(inner, target, Strided(memory.element, base, by_line, by_k), *sizes)

        given = [stride for stride, number in zip(strides, known) if number is None]
        kind = memory.element, self.product, self.flips, source.signed, source.rounded, self._prefetches(memory)
        key = (copy.__name__, *kind, *known, *extents, *sizes)
        self.emit.shared(key, [target, memory.base, *given, *part], body)

    def _copy_rows(self, target: ir.Value, memory: Strided, pitch: int) -> None:
        builder, group = self.emit.builder, self.product.group
        count = min(self.lanes, self.steps)
        with self.emit.counted(I64(0), self.source.lines_needed) as line:
            row, here = builder.mul(line, I64(pitch)), memory.moved(builder, line, I64(0))

            def copy(step: ir.Value) -> None:
                vector = self._read(here, I64(0), builder.mul(step, I64(group)), count * group)
                self._store(target, builder.add(row, step), vector)

            each(self.emit, self.steps, count, copy)

    def _copy_strips(self, target: ir.Value, memory: Strided, width: int) -> None:
        """Copy a vector of elements at a time from each step of a group, which make `group` vectors of words."""
        builder, group = self.emit.builder, self.product.group
        count = min(self.lanes * group, width)
        with self.emit.counted(I64(0), I64(self.steps)) as step:
            k = builder.mul(step, I64(group))
            places = [memory.moved(builder, I64(0), builder.add(k, I64(below))) for below in range(group)]

            def copy(line: ir.Value) -> None:
                rows = [self._read(place, line, I64(0), count) for place in places]
                self._store(target, self._strip_word(line, step, width), interleaved(builder, rows))

            if self.source.needed is None:
                each(self.emit, self.source.lines, count, copy)
            else:
                with self.emit.counted(I64(0), self.source.needed, count) as line:
                    copy(line)

    def _transpose_strips(self, target: ir.Value, memory: Strided, width: int, square: int) -> None:
        emit, builder, group = self.emit, self.emit.builder, self.product.group
        words = ir.VectorType(self.product.word, square)
        all_lines, all_steps = ((I64(0), extent, square) for extent in (self.source.lines_needed, I64(self.steps)))
        with emit.counted(*all_lines) as line, emit.counted(*all_steps) as step:
            k = builder.mul(step, I64(group))
            lines = [memory.moved(builder, line, k)]
            while len(lines) < square:
                lines.append(lines[-1].next_line(builder))
            rows = [self._read(place, I64(0), I64(0), square * group) for place in lines]
            columns = transposed(builder, [builder.bitcast(row, words) for row in rows])
            for below, column in enumerate(columns):
                self._store(target, self._strip_word(line, builder.add(step, I64(below)), width), column)

    def _scatter_lines(self, target: ir.Value, memory: Strided) -> None:
        """Scatter line by line, as only needed lines may be read."""
        builder, words = self.emit.builder, SIDE * self.product.group
        with self.emit.counted(I64(0), self.source.lines_needed) as line:

            def copy(step: ir.Value) -> None:
                vector = self.load(memory, line, builder.mul(step, I64(self.product.group)), words)
                place = builder.add(builder.mul(step, I64(SIDE)), line)
                put_column(builder, builder.gep(target, [place], source_etype=self.product.word), vector)

            each(self.emit, self.steps, SIDE, copy)

    def _strip_word(self, line: ir.Value, step: ir.Value, width: int) -> ir.Value:
        """Return the place of a word in strips of `width` lines."""
        builder = self.emit.builder
        within = builder.and_(line, I64(width - 1))
        strip = builder.mul(builder.sub(line, within), I64(self.capacity))
        return builder.add(builder.add(strip, builder.mul(step, I64(width))), within)


def flipped(builder: ir.IRBuilder, words: ir.Value) -> ir.Value:
    """Return integers, or a vector of them, with the sign bit of each of their bytes inverted."""
    if isinstance(words.type, ir.VectorType):
        mask = ir.Constant(words.type, [_sign_bits(words.type.element)] * words.type.count)
    else:
        mask = words.type(_sign_bits(words.type))
    return builder.xor(words, mask)


def _sign_bits(kind: ir.IntType) -> int:
    """Return a mask of the sign bits of all bytes."""
    return int.from_bytes(b"\x80" * (kind.width // 8), "little")


def each(emit: Emitter, extent: int, step: int, body: Callable[[ir.Value], None]) -> None:
    """Emit `body` for 0, step, ... below extent: written out if they are few."""
    if extent // step <= UNROLLED:
        for position in range(0, extent, step):
            body(I64(position))
    else:
        with emit.counted(I64(0), I64(extent), step) as position:
            body(position)
