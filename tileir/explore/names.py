"""Names that a reader of a program knows: of values, tile blocks and memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import prod

from tileir.explore.conditions import ConditionError, Number, Values
from tileir.explore.events import MemoryCell
from tileir.explore.symmetry import EqualBlocks
from tileir.host.address_space import AddressSpace
from tileir.interp.cells import CELLS
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates
from tileir.ir.loc import SourceLoc
from tileir.ir.types import ElementType

_RESULTS = re.compile(r"((?:%[\w$.-]+(?::\d+)?\s*,\s*)*%[\w$.-]+(?::\d+)?)\s*=\s*\Z")
_VALUE = re.compile(r"(\d+|\(\d+,\d+,\d+\)):%([^\[]+)(\[.*\])?\Z")
LONGEST = 400
"""Characters in front of an operation in which the names of its results are sought."""


def result_names(op: Op) -> list[str]:
    """Return the names of the results of an operation in the text that it was read from, without ``%``; empty without
    text."""
    if not isinstance(op.loc, SourceLoc):
        return []
    end = op.loc.offset
    found = _RESULTS.search(op.loc.source.text[max(0, end - LONGEST) : end])
    names = [name.strip().removeprefix("%") for name in found[1].split(",")] if found else []
    return [] if any(":" in name for name in names) else names


class ElementLayout:
    """An array of a launch: address of its first element, extents, strides in bytes, element type."""

    def __init__(self, address: int, shape: Sequence[int], strides: Sequence[int], element: ElementType) -> None:
        self.element = element
        self._address = address
        self._shape, self._strides = tuple(shape), tuple(strides)

    @property
    def size(self) -> int:
        return CELLS[self.element].size

    @property
    def single(self) -> bool:
        """True if it has one element, which is called by the name of the array."""
        return prod(self._shape) == 1

    @property
    def first(self) -> tuple[int, ...]:
        """The index of the first element."""
        return (0,) * len(self._shape)

    def index(self, address: int) -> tuple[int, ...]:
        """Return the index of the element at an address."""
        left, index = address - self._address, [0] * len(self._shape)
        for dim in sorted(range(len(index)), key=lambda dim: -abs(self._strides[dim])):
            if self._strides[dim] and self._shape[dim] > 1:
                index[dim], left = divmod(left, self._strides[dim])
        return tuple(index)

    def cell(self, index: tuple[int, ...]) -> MemoryCell | None:
        """Return the element at an index; None if there is none."""
        if len(index) != len(self._shape) or not all(0 <= at < extent for at, extent in zip(index, self._shape)):
            return None
        return MemoryCell(self._address + sum(at * step for at, step in zip(index, self._strides)), self.size)


class LaunchNames:
    """The names of one launch. ``watched`` are cells that a verdict line names, with the type of the element."""

    def __init__(
        self,
        memory: AddressSpace,
        layouts: Mapping[str, ElementLayout],
        blocks: Sequence[Coordinates],
        grid: Coordinates,
    ) -> None:
        self.blocks = blocks
        self._linear = grid[1:] == (1, 1)
        self.watched: dict[str, tuple[MemoryCell, ElementType]] = {}
        self._cells: dict[str, MemoryCell] = {}
        self._numbers = {self.block(number): number for number in range(len(blocks))}
        self._memory = memory
        self._layouts = layouts

    def block(self, number: int) -> str:
        """Return the number of a tile block of a grid of one dimension, its coordinates in another."""
        x, y, z = self.blocks[number]
        return str(x) if self._linear else f"({x},{y},{z})"

    def named_blocks(self, names: Iterable[str]) -> set[int]:
        """Return the tile blocks whose values are named."""
        return {self._numbers[name.partition(":%")[0]] for name in names if ":%" in name}

    def value(self, block: int, op: Op, number: int) -> str:
        """Return the value that an access of a tile block gives: ``1:%flag``."""
        names = result_names(op)
        return f"{self.block(block)}:%{names[0] if names else f'{op.spec.name}#{number}'}"

    def cell(self, cell: MemoryCell) -> str:
        """Return ``x`` for the only element of an array, ``x[3]`` for one of several."""
        name = self._cell(cell)
        self._cells[name] = cell
        return name

    def _cell(self, cell: MemoryCell) -> str:
        found = self._memory.find(cell.address)
        if found is None:
            return hex(cell.address)
        part = next((one for one in found.parts if one.base <= cell.address < one.end), found)
        layout = self._layouts.get(part.name)
        if layout is None:
            return f"{part.name}[{(cell.address - part.origin) // cell.size}]"
        if layout.single and cell.size == layout.size:
            return part.name
        return f"{part.name}[{','.join(map(str, layout.index(cell.address)))}]"

    def before(self, cell: MemoryCell) -> int:
        """Return the bits of a cell before the launch."""
        found = self._memory.find(cell.address)
        assert found is not None, "an element of an array lies in memory"
        begin = cell.address - found.base
        return int.from_bytes(found.bytes[begin : begin + cell.size].tobytes(), "little")

    def private(self, cell: MemoryCell) -> bool:
        """Return whether a cell is storage of an `alloca`, which does not outlive the launch."""
        found = self._memory.find(cell.address)
        return found is not None and found.name == "alloca"

    # ------------------------------------------------------------ equal tile blocks

    def exchanged(self, values: Values, exchange: Mapping[int, int], equal: EqualBlocks) -> dict[str, Number]:
        """Return the values of an execution in which tile blocks take the places of others."""
        found = {}
        for name, value in values.items():
            block, place = self._place(name, equal)
            found[name if block is None else self._name(exchange[block], place, equal)] = value
        return found

    def in_order(self, values: Values, equal: EqualBlocks) -> dict[str, Number]:
        """Return values with equal tile blocks in the order of what they did: the same for all their exchanges."""
        own: dict[int, list[tuple[str, Number]]] = {}
        for name, value in values.items():
            block, place = self._place(name, equal)
            if block is not None:
                own.setdefault(block, []).append((str(place), value))
        exchange: dict[int, int] = {}
        for blocks in equal.classes:
            exchange |= dict(zip(sorted(blocks, key=lambda block: sorted(own.get(block, []))), blocks))
        return self.exchanged(values, exchange, equal)

    def _place(self, name: str, equal: EqualBlocks) -> tuple[int | None, str | MemoryCell]:
        """Return the tile block that a value belongs to, if to one, and its name or cell by the first block equal to
        that."""
        label, colon, value = name.partition(":%")
        if colon:
            return self._numbers[label], value
        cell = self._cells[name]
        return equal.owner(cell), equal.partner(cell, None)

    def _name(self, block: int, place: str | MemoryCell, equal: EqualBlocks) -> str:
        return f"{self.block(block)}:%{place}" if isinstance(place, str) else self.cell(equal.partner(place, block))

    # ------------------------------------------------------------ names in verdict lines

    def canonical(self, name: str, ops: Sequence[Op]) -> str:
        """Return the name by which a value goes here. Raises ConditionError for one that the program does not have."""
        value = _VALUE.match(name)
        if value is not None:
            return self._canonical_value(name, value[1], value[2], ops)
        array, _, rest = name.partition("[")
        layout = self._layouts.get(array)
        if layout is None:
            raise ConditionError(f"'{name}': expected one of {', '.join(self._layouts) or 'no array'}, or BLOCK:%VALUE")
        index = tuple(int(part) for part in rest.rstrip("]").split(",")) if rest else None
        if index is None and not layout.single:
            raise ConditionError(f"'{name}': expected an index, as the array has several elements")
        cell = layout.cell(index if index is not None else layout.first)
        if cell is None:
            raise ConditionError(f"'{name}': the array has no such element")
        self.watched[self.cell(cell)] = (cell, layout.element)
        return self.cell(cell)

    def _canonical_value(self, name: str, block: str, value: str, ops: Sequence[Op]) -> str:
        if block not in (self.block(number) for number in range(len(self.blocks))):
            raise ConditionError(f"'{name}': the grid has no tile block {block}")
        if not any(names and names[0] == value for names in map(result_names, ops)):
            raise ConditionError(f"'{name}': no access gives a value %{value}")
        return name
