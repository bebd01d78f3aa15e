"""Preparation with compact tiles, which make index arithmetic and pointer accesses cheap.

`CompactPreparation` is the door: it prepares the operations that can keep a tile compact by the rules of this file, and
a load or store through affine pointers as one strided box. Everything else, strict mode and observed launches included,
goes by the plain rules on arrays. A result that is no compact tile, or whose elements would wrap around, is made by the
plain rule of the operation; memory that refuses a box is asked for each address, and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.analysis.structure import EXITS, RegionExit, carried_arguments, target_of
from tileir.interp.api import BlockState
from tileir.interp.cells import CELLS, Cell, CheckedAccess
from tileir.interp.compact_tiles import AffineTile, BoxMask, CompactTile, NumberType, expanded, holds_numbers
from tileir.interp.memory import Memory
from tileir.interp.prepare import Linker, Preparation
from tileir.interp.program import Fetch, Frame, Input, Region, Step, effect_step, fetch, pure_step
from tileir.interp.tiling import are_distinct
from tileir.ir import types as t
from tileir.ir.attributes import Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.rules import Rules
from tileir.ops.control import For
from tileir.ops.conversion import ExtI
from tileir.ops.core import Constant, Iota, Offset
from tileir.ops.integer import AddI, AndI, CmpI, MulI, SubI
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.shapes import Broadcast, Permute, Reshape

Function = Callable[..., object]


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


@pure(CmpI)
def _compare(op: CmpI) -> Compacted | None:
    predicate = op.comparison_predicate
    if not predicate.is_order or op.lhs.tile.element is t.I1:
        return None
    swapped, slack = predicate.is_greater, int(not predicate.is_strict)
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
