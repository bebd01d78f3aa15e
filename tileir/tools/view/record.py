"""The record of a launch: which tile block has touched what in which operation, and values on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from time import perf_counter

import numpy as np

from tileir.analysis.effects import MemoryAccess
from tileir.interp.api import BlockState
from tileir.interp.cells import CheckedAccess
from tileir.interp.memory import box_addresses
from tileir.interp.observer import Listener, Values
from tileir.interp.scheduler import coordinates
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates
from tileir.ir.effects import AccessTrait
from tileir.ir.types import TileType
from tileir.tools.interpreted import BoundLaunch
from tileir.tools.view.pictures import Picture, Rectangle

MOST_RECORDS = 300_000
"""Rectangles of a launch; of what comes behind only the one around each access of each tile block is kept."""
MOST_VALUES = 20_000
"""Results of operations whose values are kept."""
FEW_BLOCKS = 16
"""The number of tile blocks up to which all keep their values."""
CORNER = 8
"""Rows and columns of a tile that are kept."""


@dataclass
class TouchRecord:
    """One rectangle: tile block and operation by number, the part of an array that is touched, and the execution."""

    block: int
    op: int
    array: int
    turn: int
    rectangle: Rectangle
    exact: bool = True


@dataclass
class BlockRecord:
    """The sums of one tile block. `seconds` are those of the interpreter."""

    id: Coordinates
    operations: int = 0
    read: int = 0
    written: int = 0
    outside: int = 0
    seconds: float = 0.0


@dataclass
class OpRecord:
    """The sums of one operation."""

    count: int = 0
    read: int = 0
    written: int = 0
    outside: int = 0


@dataclass
class ValueRecord:
    """The result of one execution of an operation: its corner, and its extremes."""

    block: int
    op: int
    turn: int
    result: int
    tile: np.ndarray


@dataclass
class RecordedLaunch:
    """All that was recorded. Operations count in program order, tile blocks in the order in which they began."""

    ops: list[Op]
    pictures: list[Picture]
    blocks: list[BlockRecord] = field(default_factory=list)
    per_op: list[OpRecord] = field(default_factory=list)
    touched: list[TouchRecord] = field(default_factory=list)
    values: list[ValueRecord] = field(default_factory=list)
    complete: bool = True
    """True if no rectangle is missing."""


class Recorder(Listener):
    """Makes the record of a launch; keeps values of the tile blocks `watched`."""

    def __init__(self, launch: BoundLaunch, watched: Collection[Coordinates]) -> None:
        super().__init__()
        ops = [op for item in launch.kernel.module.items for op in item.walk()]
        pictures = [Picture.of(one.name, one.array) for one in launch.arrays]
        self.record = RecordedLaunch(ops, pictures, per_op=[OpRecord() for _ in ops])
        self._watched = watched
        self._boxes: list[tuple[int, tuple[int, ...], tuple[int, ...], int]] = []
        self._elements: list[np.ndarray] = []
        self._number = {op: number for number, op in enumerate(ops)}
        self._blocks: dict[Coordinates, int] = {}
        self._turns: Counter[tuple[int, int]] = Counter()
        self._around: dict[tuple[int, int, int], TouchRecord] = {}
        self._single = {op for op in ops if op.spec.trait(AccessTrait) and MemoryAccess.of(op).sparse_dim is not None}
        self._begin: dict[Coordinates, float] = {}

    # ------------------------------------------------------------ what is heard

    def block_begins(self, block: BlockState) -> None:
        self._blocks[block.id] = len(self.record.blocks)
        self.record.blocks.append(BlockRecord(block.id))
        self._begin[block.id] = perf_counter()

    def block_ends(self, block: BlockState) -> None:
        self.record.blocks[self._blocks[block.id]].seconds = perf_counter() - self._begin.pop(block.id)

    def before(self, op: Op, values: Values) -> None:
        self._boxes, self._elements = [], []
        self.boxes = op not in self._single

    def after(self, op: Op, values: Values, results: Values) -> None:
        assert self.block is not None, "an operation runs in a tile block"
        number, block = self._number[op], self._blocks[self.block.id]
        turn = self._turns[block, number]
        self._turns[block, number] = turn + 1
        self.record.per_op[number].count += 1
        self.record.blocks[block].operations += 1
        if op.spec.trait(AccessTrait) is not None:
            self._touched(op, number, block, turn)
        if self.block.id in self._watched:
            self._keep(number, block, turn, results)

    # ------------------------------------------------------------ memory

    def touches(self, addresses: np.ndarray, access: CheckedAccess) -> None:
        self._elements.append(np.ravel(addresses))

    def touches_box(self, address: int, shape: Sequence[int], strides: Sequence[int], access: CheckedAccess) -> None:
        self._boxes.append((address, tuple(shape), tuple(strides), access.cell.size))

    def _touched(self, op: Op, number: int, block: int, turn: int) -> None:
        access = MemoryAccess.of(op)
        size = 0
        count = 0
        for address, shape, strides, itemsize in self._boxes:
            elements = int(np.prod(shape))
            count, size = count + elements, itemsize
            self._box(block, number, turn, address, shape, strides)
        for addresses in self._elements:
            count += addresses.size
            self._single_elements(block, number, turn, addresses)
        size = size or self._size(op)
        tile = access.value or access.result
        lanes = tile.type.count if tile is not None and isinstance(tile.type, TileType) else count
        for one in (self.record.per_op[number], self.record.blocks[block]):
            one.read += count * size * access.reads
            one.written += count * size * access.writes
            one.outside += max(0, lanes - count)

    def _size(self, op: Op) -> int:
        tile = MemoryAccess.of(op).value or MemoryAccess.of(op).result
        return max(1, tile.tile.element.memory_bits // 8) if tile is not None else 1

    def _box(self, block: int, op: int, turn: int, address: int, shape: Sequence[int], strides: Sequence[int]) -> None:
        found = self._picture_at(address)
        if found is None:
            return
        number, picture = found
        rectangles = picture.box(address, shape, strides)
        if rectangles is not None:
            self._note(block, op, number, turn, rectangles, True)
            return
        self._note(block, op, number, turn, *picture.elements(box_addresses(address, shape, strides)))

    def _single_elements(self, block: int, op: int, turn: int, addresses: np.ndarray) -> None:
        for number, picture in enumerate(self.record.pictures):
            inside = addresses[(addresses >= np.uint64(picture.address)) & (addresses < np.uint64(picture.end))]
            if inside.size:
                self._note(block, op, number, turn, *picture.elements(inside))

    def _picture_at(self, address: int) -> tuple[int, Picture] | None:
        for number, picture in enumerate(self.record.pictures):
            if picture.address <= address < picture.end:
                return number, picture
        return None

    def _note(self, block: int, op: int, array: int, turn: int, rectangles: Iterable[Rectangle], exact: bool) -> None:
        for rectangle in rectangles:
            if len(self.record.touched) < MOST_RECORDS:
                self.record.touched.append(TouchRecord(block, op, array, turn, rectangle, exact))
            else:
                self._note_around(block, op, array, turn, rectangle)

    def _note_around(self, block: int, op: int, array: int, turn: int, rectangle: Rectangle) -> None:
        """Note, beyond the budget, the rectangle around all of an access of a tile block."""
        self.record.complete = False
        known = self._around.get((block, op, array))
        if known is None:
            known = self._around[block, op, array] = TouchRecord(block, op, array, turn, rectangle, False)
            self.record.touched.append(known)
        known.rectangle = _around(known.rectangle, rectangle)

    # ------------------------------------------------------------ values

    def _keep(self, op: int, block: int, turn: int, results: Values) -> None:
        for position, value in enumerate(results):
            if isinstance(value, np.ndarray | np.generic) and len(self.record.values) < MOST_VALUES:
                self.record.values.append(ValueRecord(block, op, turn, position, np.array(value)))


def _around(a: Rectangle, b: Rectangle) -> Rectangle:
    top, left = min(a[0], b[0]), min(a[1], b[1])
    return top, left, max(a[0] + a[2], b[0] + b[2]) - top, max(a[1] + a[3], b[1] + b[3]) - left


def usually_watched(grid: Coordinates) -> list[Coordinates]:
    """Return the tile blocks whose values are kept if nobody says which: of many the first, the middle and the last."""
    if prod(grid) <= FEW_BLOCKS:
        return list(coordinates(grid))
    middle = (grid[0] // 2, grid[1] // 2, grid[2] // 2)
    return [(0, 0, 0), middle, (grid[0] - 1, grid[1] - 1, grid[2] - 1)]
