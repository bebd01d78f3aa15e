"""Tile blocks of a launch that are equal: exchanging them makes another execution of the same program.

Graphs that differ by such an exchange have the same future, so that the search grows one of them (symmetry reduction,
as in explicit-state model checking). Nothing is assumed of a program: blocks are taken to be equal, and each run that
the search looks at is compared with those of the other blocks with the same answers. They must make the same accesses
of the same cells, or each block of cells that only it accesses, such as its element of an array of results. Once two
blocks differ, `Unequal` says which are left to be taken for equal, and the search begins again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, permutations, product
from math import factorial, prod

from tileir.explore.blocks import Answers, BlockRun, BlockRunner
from tileir.explore.events import AccessInstruction, ElementKey, MemoryCell
from tileir.explore.graph import INITIAL, NOTHING_READ, ExecutionGraph

Classes = tuple[tuple[int, ...], ...]
"""Numbers of tile blocks that are equal, by class."""


class Unequal(Exception):
    """Blocks taken for equal are not: `classes` are those to try next."""

    def __init__(self, classes: Classes) -> None:
        super().__init__(classes)
        self.classes = classes


def classes_without(blocks: int, named: Collection[int]) -> Classes:
    """Return one class of all tile blocks; those `named` are told apart."""
    others = tuple(block for block in range(blocks) if block not in named)
    return tuple(one for one in (others, *((block,) for block in sorted(named))) if one)


@dataclass
class CellOwners:
    """Who accesses which cells: the cells of equal blocks that correspond, by each of them, and what is shared."""

    partners: dict[MemoryCell, dict[int, MemoryCell]] = field(default_factory=dict)
    owner: dict[int, int] = field(default_factory=dict)
    shared: set[int] = field(default_factory=set)

    def take(self, cells: dict[int, MemoryCell]) -> set[int]:
        """Note the cells that equal blocks access at one place; return blocks for which they do not correspond."""
        different = set(cells.values())
        if len(different) == 1:
            touched = {byte for cell in different for byte in range(cell.address, cell.end)}
            self.shared |= touched
            return {self.owner[byte] for byte in touched if byte in self.owner}
        broken = set() if len(different) == len(cells) else set(cells)
        for block, cell in cells.items():
            for byte in range(cell.address, cell.end):
                owner = self.owner.setdefault(byte, block)
                broken |= {owner, block} if owner != block or byte in self.shared else set()
            broken |= {block} if self.partners.setdefault(cell, cells) != cells else set()
        return broken


class EqualBlocks:
    """Runs tile blocks, known runs once, and holds those that are equal against each other.

    ``watched`` are cells that a verdict line names: their owners are not equal to others.
    """

    def __init__(
        self, classes: Classes, runner: BlockRunner, initial: dict[MemoryCell, int], watched: Collection[MemoryCell]
    ) -> None:
        self.classes = classes
        self._runner, self._initial, self._watched = runner, initial, frozenset(watched)
        self.count = sum(map(len, classes))
        self._class = {block: one for one in classes for block in one}
        self._known: dict[tuple[int, Answers], BlockRun] = {}
        self._checked: set[tuple[int, Answers]] = set()
        self._owners = CellOwners()
        self._parts: dict[object, int] = {}
        self._seen: set[object] = set()

    def run(self, block: int, answers: Answers) -> BlockRun:
        """Return the run of a tile block. Raises Unequal."""
        if (block, answers) not in self._checked:
            self._check(block, answers)
        return self._known[block, answers]

    def _run(self, block: int, answers: Answers) -> BlockRun:
        found = self._known.get((block, answers))
        if found is None:
            found = self._known[block, answers] = self._runner.run(block, answers)
        return found

    def _check(self, block: int, answers: Answers) -> None:
        """Compare a run with those of the blocks of its class that have the same answers."""
        equal, runs = self._class[block], {}
        for other in equal:
            renamed = answers if other == block else frozenset((_by(key, other), value) for key, value in answers)
            runs[other] = self._run(other, renamed)
            self._checked.add((other, renamed))
        like = tuple(other for other in equal if _alike(runs[block], runs[other], other))
        if len(like) < len(equal):
            self._split({equal: [like, tuple(other for other in equal if other not in like)]})
        for made in zip(*(runs[other].instructions for other in equal)):
            for cells in zip(*(one.cells for one in made)):
                self._take(dict(zip(equal, cells)))

    def _take(self, cells: dict[int, MemoryCell]) -> None:
        broken, different = self._owners.take(cells), set(cells.values())
        if len(different) > 1 and (different & self._watched or len({self._initial[cell] for cell in different}) > 1):
            broken |= set(cells)
        if broken:
            self._split({equal: [(block,) for block in equal] for equal in map(self._class.__getitem__, broken)})

    def _split(self, parts: Mapping[tuple[int, ...], Sequence[tuple[int, ...]]]) -> None:
        raise Unequal(tuple(one for old in self.classes for one in parts.get(old, (old,))))

    # ------------------------------------------------------------ graphs

    def is_new(self, graph: ExecutionGraph) -> bool:
        """Return whether no graph with equal blocks exchanged has been looked at; note this one."""
        if len(self.classes) == self.count:
            return True
        parts = self._blocks(graph)
        key = tuple(tuple(sorted(parts[block] for block in equal)) for equal in self.classes)
        count = len(self._seen)
        self._seen.add(key)
        return len(self._seen) > count

    def arrangements(self, graph: ExecutionGraph) -> int:
        """Return how many graphs exchanges of equal blocks make of one."""
        parts = self._blocks(graph)
        alike = (Counter(parts[block] for block in equal) for equal in self.classes)
        return prod(factorial(one.total()) // prod(map(factorial, one.values())) for one in alike)

    def _blocks(self, graph: ExecutionGraph) -> list[int]:
        """Return a number for what each tile block has done: equal numbers, equal parts of the graph.

        A write is known by its place in the coherence order of its cell, whoever has made it.
        """
        places = {write: at for order in graph.coherence.values() for at, write in enumerate(order)}
        places |= {INITIAL: -1, NOTHING_READ: -2}
        parts: list[set[object]] = [set() for _ in graph.answers]
        for (instance, lane), number in graph.index.items():
            write = places.get(number, -1)
            parts[instance.block].add((instance.op, instance.path, lane, places[graph.source[number]], write))
        for (instance, lane), refused in graph.refused.items():
            found = frozenset(places[write] for write in graph.choices(refused))
            parts[instance.block].add((instance.op, instance.path, lane, found))
        return [self._parts.setdefault(frozenset(part), len(self._parts)) for part in parts]

    # ------------------------------------------------------------ exchanges

    def partner(self, cell: MemoryCell, block: int | None) -> MemoryCell:
        """Return the cell that corresponds to one for another block, None for the first; a shared one has no other."""
        cells = self._owners.partners.get(cell)
        if cells is None:
            return cell
        return cells[min(cells) if block is None else block]

    def owner(self, cell: MemoryCell) -> int | None:
        """Return the block that a cell belongs to, None for one that is shared."""
        return self._owners.owner.get(cell.address)

    def exchanges(self) -> Iterator[dict[int, int]]:
        """Yield each exchange of equal blocks: which one takes the place of which."""
        orders = product(*(permutations(equal) for equal in self.classes))
        yield from (dict(zip(chain(*self.classes), chain(*order))) for order in orders)


def _by(key: ElementKey, block: int) -> ElementKey:
    return ElementKey(key.instance._replace(block=block), key.lane)


def _alike(one: BlockRun, two: BlockRun, block: int) -> bool:
    """Return whether runs of two blocks do the same; `block` is that of the second."""
    return (
        (one.status, one.skipped, one.reached, one.path, one.stopped)
        == (two.status, two.skipped, two.reached, two.path, two.stopped)
        and [store.op for store in one.promised] == [store.op for store in two.promised]
        and len(one.instructions) == len(two.instructions)
        and all(_same(first, second, block) for first, second in zip(one.instructions, two.instructions))
    )


def _same(first: AccessInstruction, second: AccessInstruction, block: int) -> bool:
    return (
        first.instance._replace(block=block) == second.instance
        and frozenset(one._replace(block=block) for one in first.before) == second.before
        and len(first.cells) == len(second.cells)
        and (first.written, first.awaits) == (second.written, second.awaits)
    )
