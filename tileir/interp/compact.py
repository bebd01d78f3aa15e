"""Compact tiles: tiles that a few numbers describe, which make index arithmetic and pointer accesses cheap.

    %offsets = addi %rows, %columns     128 * block_x * stride + stride * i + j        AffineTile
    %inside = andi %row, %column        begin[0] <= i < end[0] and begin[1] <= j < end[1]        BoxMask

`CompactPreparation` is the door: it prepares the operations that can keep a tile compact by the rules of this file, and
a load or store through affine pointers as one strided box. Everything else, strict mode and observed launches included,
goes by the plain rules on arrays. A result that is no compact tile, or whose elements would wrap around, is made by the
plain rule of the operation; memory that refuses a box is asked for each address, and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tileir.analysis.structure import EXITS, RegionExit, carried_arguments, target_of
from tileir.interp.api import BlockState
from tileir.interp.cells import CELLS, Cell, CheckedAccess
from tileir.interp.memory import Memory
from tileir.interp.prepare import Linker, Preparation
from tileir.interp.program import Fetch, Frame, Input, Region, Step, effect_step, fetch, pure_step
from tileir.interp.tiling import are_distinct
from tileir.ir import types as t
from tileir.ir.attributes import Predicate, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.ops.control import For
from tileir.ops.conversion import ExtI
from tileir.ops.core import Constant, Iota, Offset
from tileir.ops.integer import AddI, AndI, CmpI, MulI, SubI
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.shapes import Broadcast, Permute, Reshape

Function = Callable[..., object]
Numbers = tuple[int, ...]


class CompactTile:
    """A tile that is not an array. It is immutable; its array is made on first use."""

    __slots__ = ("_array", "shape")

    shape: Numbers
    _array: np.ndarray | None

    def expanded(self) -> np.ndarray:
        """Return the tile as an array of its shape and of the dtype of its elements, not to be written to."""
        if self._array is None:
            self._array = self._made()
        return self._array

    def _made(self) -> np.ndarray:
        raise NotImplementedError

    def broadcast(self, shape: Numbers) -> CompactTile:
        """Return the tile repeated along its dimensions of extent 1."""
        raise NotImplementedError

    def reshaped(self, shape: Numbers) -> CompactTile | None:
        """Return the tile with dimensions of extent 1 added and dropped, or one whose elements are all the same."""
        raise NotImplementedError

    def permuted(self, axes: Sequence[int]) -> CompactTile:
        """Return the tile whose dimension k is dimension ``axes[k]`` of this one."""
        raise NotImplementedError


def expanded(value: object) -> object:
    """Return a value as every rule takes it."""
    return value.expanded() if isinstance(value, CompactTile) else value


class NumberType:
    """The numbers that an element of a type can be, read as signed; addresses are unsigned."""

    __slots__ = ("dtype", "high", "low")

    def __init__(self, element: t.ElementType | t.PointerType) -> None:
        signed = not isinstance(element, t.PointerType)
        bits = element.memory_bits
        self.low = -(1 << (bits - 1)) if signed else 0
        self.high = (1 << (bits - signed)) - 1
        self.dtype = dtype_of(element)

    def tile(self, base: int, strides: Numbers, shape: Numbers) -> AffineTile | None:
        """Return the tile of these elements; None if one of them is no number of this type."""
        low = high = base
        for stride, extent in zip(strides, shape):
            if stride < 0:
                low += stride * (extent - 1)
            else:
                high += stride * (extent - 1)
        return AffineTile(base, strides, shape, self, low) if self.low <= low and high <= self.high else None


class AffineTile(CompactTile):
    """Integers or addresses: element (i, j, ...) is ``base + i * strides[0] + j * strides[1] + ...``, without wrapping.

    ``low`` is the smallest of them. The stride of a dimension of extent 1 is 0.
    """

    __slots__ = ("base", "low", "strides", "type")

    def __init__(self, base: int, strides: Numbers, shape: Numbers, type: NumberType, low: int) -> None:
        self.base = base
        self.strides = strides
        self.shape = shape
        self.type = type
        self.low = low
        self._array = None

    def _made(self) -> np.ndarray:
        """Return the elements as an array; sums are taken modulo 2^64 and lose no bit."""
        total = np.array(self.base % (1 << 64), np.uint64).reshape((1,) * len(self.shape))
        for dim, (stride, extent) in enumerate(zip(self.strides, self.shape)):
            if stride:
                column = (extent,) + (1,) * (len(self.shape) - dim - 1)
                steps = np.arange(extent, dtype=np.uint64) * np.uint64(stride % (1 << 64))
                total = total + steps.reshape(column)
        return np.broadcast_to(total.astype(self.type.dtype), self.shape)

    @property
    def uniform(self) -> bool:
        """True if all elements are the same."""
        return not any(self.strides)

    def plus(self, other: AffineTile, times: int = 1) -> AffineTile | None:
        """Return the sum with a multiple of another tile."""
        strides = tuple([one + two * times for one, two in zip(self.strides, other.strides)])
        return self.type.tile(self.base + other.base * times, strides, self.shape)

    def scaled(self, factor: int) -> AffineTile | None:
        strides = tuple([stride * factor for stride in self.strides])
        return self.type.tile(self.base * factor, strides, self.shape)

    def retyped(self, type: NumberType) -> AffineTile | None:
        """Return the same numbers in another type."""
        return type.tile(self.base, self.strides, self.shape)

    def broadcast(self, shape: Numbers) -> AffineTile:
        return AffineTile(self.base, self.strides, shape, self.type, self.low)

    def reshaped(self, shape: Numbers) -> AffineTile | None:
        if self.uniform:
            return AffineTile(self.base, (0,) * len(shape), shape, self.type, self.low)
        places = kept_dimensions(self.shape, shape)
        if places is None:
            return None
        strides = tuple([0 if dim is None else self.strides[dim] for dim in places])
        return AffineTile(self.base, strides, shape, self.type, self.low)

    def permuted(self, axes: Sequence[int]) -> AffineTile:
        strides, shape = tuple([self.strides[axis] for axis in axes]), tuple([self.shape[axis] for axis in axes])
        return AffineTile(self.base, strides, shape, self.type, self.low)

    def below(self, other: AffineTile, slack: int) -> BoxMask | None:
        """Return the mask of elements less than another tile's plus `slack`; None if that depends on two dimensions."""
        distance = other.base + slack - self.base
        begin, end, depends = [0] * len(self.shape), list(self.shape), False
        for dim, (own, others) in enumerate(zip(self.strides, other.strides)):
            rise = own - others
            if rise and depends:
                return None
            if rise > 0:
                end[dim] = min(max(-(-distance // rise), 0), end[dim])
            elif rise < 0:
                begin[dim] = min(max(distance // rise + 1, 0), end[dim])
            depends |= rise != 0
        if not depends and distance <= 0:
            return BoxMask.none(self.shape)
        return BoxMask.of(tuple(begin), tuple(end), self.shape)


class BoxMask(CompactTile):
    """A mask that is 1 where ``begin[d] <= index[d] < end[d]`` in every dimension; where it is nowhere, both are 0."""

    __slots__ = ("begin", "end")

    def __init__(self, begin: Numbers, end: Numbers, shape: Numbers) -> None:
        self.begin = begin
        self.end = end
        self.shape = shape
        self._array = None

    @classmethod
    def of(cls, begin: Numbers, end: Numbers, shape: Numbers) -> BoxMask:
        for first, last in zip(begin, end):
            if first >= last:
                return cls.none(shape)
        return cls(begin, end, shape)

    @classmethod
    def none(cls, shape: Numbers) -> BoxMask:
        """Return the mask that is 0 everywhere."""
        nowhere = (0,) * len(shape)
        return cls(nowhere, nowhere, shape)

    @classmethod
    def all(cls, shape: Numbers) -> BoxMask:
        """Return the mask that is 1 everywhere."""
        return cls((0,) * len(shape), shape, shape)

    def _made(self) -> np.ndarray:
        mask = np.zeros(self.shape, np.bool_)
        mask[self.selector] = True
        return mask

    @property
    def full(self) -> bool:
        return self.end == self.shape and not any(self.begin)

    @property
    def empty(self) -> bool:
        return self.end[0] == 0

    @property
    def counts(self) -> Numbers:
        """The extents of the box."""
        return tuple([last - first for first, last in zip(self.begin, self.end)])

    @property
    def selector(self) -> tuple[slice, ...]:
        """Picks the box out of the tile."""
        return tuple(map(slice, self.begin, self.end))

    def both(self, other: BoxMask) -> BoxMask:
        """Return the mask of elements that are 1 in both."""
        begin, end = tuple(map(max, self.begin, other.begin)), tuple(map(min, self.end, other.end))
        return BoxMask.of(begin, end, self.shape)

    def broadcast(self, shape: Numbers) -> BoxMask:
        if self.empty:
            return BoxMask.none(shape)
        kept = [old == new for old, new in zip(self.shape, shape)]
        end = tuple([last if same else extent for same, last, extent in zip(kept, self.end, shape)])
        return BoxMask(self.begin, end, shape)

    def reshaped(self, shape: Numbers) -> BoxMask | None:
        if self.empty or self.full:
            return BoxMask.none(shape) if self.empty else BoxMask.all(shape)
        places = kept_dimensions(self.shape, shape)
        if places is None:
            return None
        begin = tuple([0 if dim is None else self.begin[dim] for dim in places])
        end = tuple([1 if dim is None else self.end[dim] for dim in places])
        return BoxMask(begin, end, shape)

    def permuted(self, axes: Sequence[int]) -> BoxMask:
        picked = [tuple([numbers[axis] for axis in axes]) for numbers in (self.begin, self.end, self.shape)]
        return BoxMask(*picked)


def kept_dimensions(old: Numbers, new: Numbers) -> tuple[int | None, ...] | None:
    """Return, for each dimension of a new shape, the old dimension it is, None for a new one of extent 1; None if the
    shapes differ in more than dimensions of extent 1."""
    wide = [dim for dim, extent in enumerate(old) if extent > 1]
    if [old[dim] for dim in wide] != [extent for extent in new if extent > 1]:
        return None
    following = iter(wide)
    return tuple([next(following) if extent > 1 else None for extent in new])


def holds_numbers(element: t.Type) -> bool:
    """Return whether a tile of this element type can be affine."""
    return isinstance(element, t.PointerType) or element in (t.I8, t.I16, t.I32, t.I64)


# ------------------------------------------------------------ rules of pure operations

Compacted = Callable[..., CompactTile | None]
"""Maps operands to the compact result; None where there is none."""
CompactRule = Callable[[Op], Compacted | None]
"""``rule(op)``; None where the operation cannot have a compact result."""

pure: Rules[CompactRule] = Rules()


def may_be_compact(ty: t.Type) -> bool:
    """Return whether values of this type may be compact tiles."""
    return isinstance(ty, t.TileType) and ty.count > 1 and (ty.element is t.I1 or holds_numbers(ty.element))


# ------------------------------------------------------------ tiles that are compact from the start


@pure(Iota)
def _iota(op: Iota) -> Compacted | None:
    ty = op.result.tile
    if ty.element is t.I1:
        return None
    tile = NumberType(ty.element).tile(0, (1,), ty.shape)
    return lambda: tile


@pure(Constant)
def _constant(op: Constant) -> Compacted | None:
    ty = op.result.tile
    if not op.value.is_splat or ty.element is t.I1:
        return None
    number = int.from_bytes(op.value.data, "little", signed=True)
    tile = NumberType(ty.element).tile(number, (0,) * ty.rank, ty.shape)
    return lambda: tile


@pure(Broadcast)
def _broadcast(op: Broadcast) -> Compacted | None:
    ty, single = op.result.tile, op.source.tile.count == 1
    shape, strides = ty.shape, (0,) * ty.rank
    type = None if ty.element is t.I1 else NumberType(ty.element)

    def broadcast(source: object) -> CompactTile | None:
        if isinstance(source, CompactTile):
            return source.broadcast(shape)
        if not single or type is None:
            return None
        number = source.item()  # type: ignore[attr-defined]
        return AffineTile(number, strides, shape, type, number)

    return broadcast


# ------------------------------------------------------------ shapes


@pure(Reshape)
def _reshape(op: Reshape) -> Compacted:
    shape = op.result.tile.shape
    return lambda source: source.reshaped(shape) if isinstance(source, CompactTile) else None


@pure(Permute)
def _permute(op: Permute) -> Compacted:
    axes = tuple(op.permutation)
    return lambda source: source.permuted(axes) if isinstance(source, CompactTile) else None


# ------------------------------------------------------------ arithmetic


@pure(AddI, SubI)
def _sum(op: AddI | SubI) -> Compacted | None:
    if op.result.tile.element is t.I1:
        return None
    times = 1 if isinstance(op, AddI) else -1

    def add(lhs: object, rhs: object) -> CompactTile | None:
        return lhs.plus(rhs, times) if isinstance(lhs, AffineTile) and isinstance(rhs, AffineTile) else None

    return add


@pure(MulI)
def _product(op: MulI) -> Compacted | None:
    if op.result.tile.element is t.I1:
        return None

    def multiply(lhs: object, rhs: object) -> CompactTile | None:
        if not isinstance(lhs, AffineTile) or not isinstance(rhs, AffineTile):
            return None
        if rhs.uniform:
            return lhs.scaled(rhs.base)
        return rhs.scaled(lhs.base) if lhs.uniform else None

    return multiply


@pure(ExtI)
def _exti(op: ExtI) -> Compacted | None:
    if not holds_numbers(op.source.type.element):
        return None
    type, unsigned = NumberType(op.to.type.element), op.signedness is Signedness.UNSIGNED

    def extend(source: object) -> CompactTile | None:
        if not isinstance(source, AffineTile) or (unsigned and source.low < 0):
            return None
        return source.retyped(type)

    return extend


@pure(Offset)
def _offset(op: Offset) -> Compacted | None:
    bits = op.ptr.tile.pointer.pointee.memory_bits
    if bits < 8:
        return None
    size = bits // 8

    def move(ptr: object, offset: object) -> CompactTile | None:
        return ptr.plus(offset, size) if isinstance(ptr, AffineTile) and isinstance(offset, AffineTile) else None

    return move


# ------------------------------------------------------------ masks


@pure(AndI)
def _and(op: AndI) -> Compacted | None:
    if op.result.tile.element is not t.I1:
        return None
    return lambda lhs, rhs: lhs.both(rhs) if isinstance(lhs, BoxMask) and isinstance(rhs, BoxMask) else None


_ORDERS: dict[Predicate, tuple[bool, int]] = {
    Predicate.LESS_THAN: (False, 0),
    Predicate.LESS_THAN_OR_EQUAL: (False, 1),
    Predicate.GREATER_THAN: (True, 0),
    Predicate.GREATER_THAN_OR_EQUAL: (True, 1),
}
"""For each ordering: True if the operands are swapped, and the number added to the second so that "less" compares
them."""


@pure(CmpI)
def _compare(op: CmpI) -> Compacted | None:
    if op.comparison_predicate not in _ORDERS or op.lhs.tile.element is t.I1:
        return None
    swapped, slack = _ORDERS[op.comparison_predicate]
    unsigned = op.signedness is Signedness.UNSIGNED

    def compare(lhs: object, rhs: object) -> CompactTile | None:
        if not isinstance(lhs, AffineTile) or not isinstance(rhs, AffineTile):
            return None
        if unsigned and (lhs.low < 0 or rhs.low < 0):
            return None
        return rhs.below(lhs, slack) if swapped else lhs.below(rhs, slack)

    return compare


# ------------------------------------------------------------ loads and stores

CompactEffectRule = Callable[[Op, Function], Function]
"""``rule(op, plain)`` gives a function of the same operands as `plain`, the operation's own, but compact ones too."""

effects: Rules[CompactEffectRule] = Rules()

_MASKS = (BoxMask, type(None))
"""The masks by which a box is chosen; without a mask it is the whole tile."""


@effects(LoadPtr)
def load_ptr(op: LoadPtr, plain: Function) -> Function:
    cell = CELLS[op.source.tile.pointer.pointee]

    def run(block: BlockState, source: object, mask: object, padding: object, token: None) -> object:
        tile = _loaded(block.memory, source, mask, padding, CheckedAccess(cell, block.id, "load"))
        if tile is not None:
            return tile, None
        return plain(block, expanded(source), expanded(mask), expanded(padding), token)

    return run


@effects(StorePtr)
def store_ptr(op: StorePtr, plain: Function) -> Function:
    cell = CELLS[op.destination.tile.pointer.pointee]

    def run(block: BlockState, destination: object, value: object, mask: object, token: None) -> object:
        tile: np.ndarray = expanded(value)  # type: ignore[assignment]
        if _stored(block.memory, destination, tile, mask, CheckedAccess(cell, block.id, "store")):
            return None
        return plain(block, expanded(destination), tile, expanded(mask), token)

    return run


def _loaded(memory: Memory, source: object, mask: object, padding: object, access: CheckedAccess) -> np.ndarray | None:
    """Return the tile at these addresses; None if each must be looked up separately."""
    if not isinstance(source, AffineTile) or not isinstance(mask, _MASKS):
        return None
    cell = access.cell
    if mask is None or mask.full:
        raw = _box(memory, source, None, access)
        return raw if raw is None else _as_tile(raw, cell)
    raw = None if mask.empty else _box(memory, source, mask, access)
    if raw is None and not mask.empty:
        return None
    tile = np.zeros(source.shape, cell.dtype) if padding is None else np.array(expanded(padding))
    if raw is not None:
        tile[mask.selector] = cell.to_tile(raw)
    return tile


def _as_tile(raw: np.ndarray, cell: Cell) -> np.ndarray:
    return raw.copy() if cell.plain else cell.to_tile(raw)


def _stored(memory: Memory, destination: object, tile: np.ndarray, mask: object, access: CheckedAccess) -> bool:
    """Write the elements that the mask selects, unless each address must be looked up separately."""
    if not isinstance(destination, AffineTile) or not isinstance(mask, _MASKS):
        return False
    if mask is not None and mask.empty:
        return True
    if mask is not None and mask.full:
        mask = None
    if not are_distinct(destination.strides, destination.shape if mask is None else mask.counts):
        return False
    raw = _box(memory, destination, mask, access)
    if raw is None:
        return False
    raw[...] = access.cell.to_memory(tile if mask is None else tile[mask.selector])
    return True


def _box(memory: Memory, tile: AffineTile, mask: BoxMask | None, access: CheckedAccess) -> np.ndarray | None:
    """Return the elements at the addresses that the mask chooses, in place."""
    size = access.cell.size
    for stride in tile.strides:
        if stride < 0 or stride % size:
            return None
    if mask is None:
        return memory.window(tile.base, tile.shape, tile.strides, access)
    first = tile.base
    for stride, begin in zip(tile.strides, mask.begin):
        first += stride * begin
    return memory.window(first, mask.counts, tile.strides, access)


# ------------------------------------------------------------ preparation


class CompactPreparation(Preparation):
    """Preparation in which a value may be a compact tile.

    Only rules made for compact tiles, and the loop that carries one, read it as it is; a slot that anything else reads
    is expanded before.
    """

    def __init__(self, linker: Linker, body: Block) -> None:
        super().__init__(linker, body)
        self._compact: set[Value] = set()
        """The values that may be compact tiles."""
        self._read: list[int] = []
        """Slots of these that the operation at hand reads as arrays."""

    def slot(self, value: Value) -> int:
        slot = super().slot(value)
        if value in self._compact:
            self._read.append(slot)
        return slot

    def before(self) -> tuple[Step, ...]:
        slots, self._read = tuple(self._read), []
        return (_expanding(slots),) if slots else ()

    def region(self, block: Block) -> Region:
        read, self._read = self._read, []
        region = super().region(block)
        self._read = read
        return region

    def carried(self, op: For) -> Fetch:
        for initial, argument, result in zip(op.initial, carried_arguments(op), op.outputs):
            if initial in self._compact:
                self._compact |= {argument, result}
        return fetch(tuple(map(super().slot, op.initial)))

    def passed_on(self, terminator: Op) -> Fetch:
        """Return a fetch that keeps tiles compact where the loop that a terminator continues carries compact ones."""
        loop = target_of(terminator)
        if not isinstance(loop, For) or EXITS[type(terminator)] is not RegionExit.CONTINUE:
            return super().passed_on(terminator)
        pairs = zip(terminator.operands, carried_arguments(loop))
        as_it_is = super().slot
        return fetch(tuple((as_it_is if argument in self._compact else self.slot)(value) for value, argument in pairs))

    def effect(self, op: Op, function: Function) -> Step:
        rule = effects.get(type(op))
        if rule is None or self._compact.isdisjoint(op.operands):
            return super().effect(op, function)
        return effect_step(rule(op, function), self._compact_inputs(op), self.results(op))

    def pure(self, op: Op, function: Function) -> Step | None:
        run = self._compacting(op, function)
        if run is None:
            return super().pure(op, function)
        self._compact.update(op.results)
        return None if self.compute(op, run) else pure_step(run, self._compact_inputs(op), self.results(op))

    def compute(self, op: Op, function: Function) -> bool:
        as_it_is = not self._compact.isdisjoint(op.results)
        return super().compute(op, function if as_it_is else lambda *values: function(*map(expanded, values)))

    def _compact_inputs(self, op: Op) -> list[Input]:
        inputs = self.inputs(op)
        self._read.clear()
        return inputs

    def _compacting(self, op: Op, plain: Function) -> Function | None:
        """Return the function that takes compact tiles and gives one where it can; None if the operation never does."""
        rule = pure.get(type(op))
        if rule is None or not may_be_compact(op.results[0].type):
            return None
        if op.operands and not any(value in self._compact or value.tile.count == 1 for value in op.operands):
            return None
        compacted = rule(op)
        if compacted is None:
            return None

        def run(*values: object) -> object:
            found = compacted(*values)
            return plain(*map(expanded, values)) if found is None else found

        return run


def _expanding(slots: tuple[int, ...]) -> Step:
    """Return the step that puts arrays in place of compact tiles."""

    def step(frame: Frame, block: BlockState) -> None:
        for slot in slots:
            value = frame[slot]
            if isinstance(value, CompactTile):
                frame[slot] = value.expanded()

    return step
