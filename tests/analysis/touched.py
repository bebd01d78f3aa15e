"""Launches on the interpreter whose every access is compared with the footprint that is found for it.

Usage::

    with compared_launches() as tally:
        kernel.launch(...)                   # fails if a byte is touched that no footprint has
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock

import numpy as np

import tileir
from tileir.analysis.disjoint import Proved, Refuted, Verdict, disjoint
from tileir.analysis.evaluation import Blocks, Program, Unmapped
from tileir.analysis.extents import Extent
from tileir.analysis.footprint import Footprint, footprints
from tileir.analysis.symbols import StorageKind
from tileir.interp import machine
from tileir.interp.api import BlockState
from tileir.interp.cells import CheckedAccess
from tileir.interp.memory import Memory
from tileir.interp.prepare import Observer
from tileir.ir.core import Op
from tileir.ops.pointers import Alloca
from tileir.runtime import interpreter
from tileir.runtime.arguments import Argument, ArrayArgument, PointerArgument
from tileir.runtime.grid import Grid
from tileir.runtime.memory import give_memory

Coordinates = tuple[int, int, int]
MOST_BYTES = 1 << 24
"""Extents of more bytes are compared by their bounds only."""
MOST_PAIRS = 12
MOST_BLOCKS = 6
"""Limits of pairs of accesses, and of tile blocks, that are compared for touching the same bytes."""


@dataclass
class Tally:
    """Counts of the extents of single tile blocks that were compared."""

    exact: int = 0
    inexact: int = 0
    loose: int = 0
    """Inexact ones that have bytes that were not touched."""
    unmapped: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    proved: int = 0
    refuted: int = 0


class Watch(Observer):
    """The memory that each operation touches in each tile block: pairs of addresses and a size in bytes."""

    def __init__(self) -> None:
        self.now: tuple[Op, Coordinates] | None = None
        self.touched: dict[tuple[Op, Coordinates], list[tuple[np.ndarray, int]]] = defaultdict(list)
        self.allocated: dict[Coordinates, list[int]] = defaultdict(list)
        self.ran: set[tuple[Op, Coordinates]] = set()

    def effect(self, op: Op, function: Callable[..., object]) -> Callable[..., object]:
        def run(block: BlockState, *values: object) -> object:
            self.now = (op, block.id)
            self.ran.add(self.now)
            result = function(block, *values)
            if isinstance(op, Alloca):
                self.allocated[block.id].append(int(result))  # type: ignore[call-overload]
            return result

        return run

    def touches(self, addresses: np.ndarray, access: CheckedAccess) -> None:
        assert self.now is not None
        self.touched[self.now].append((np.array(addresses, np.uint64).ravel(), access.cell.size))


@contextmanager
def compared_launches() -> Iterator[Tally]:
    """Inside, every launch on the interpreter is compared with its footprints, once it has ended without a trap."""
    tally = Tally()

    def prepare(target: object, kernel: tileir.Kernel, check: bool, options: dict[str, object]) -> Callable[..., None]:
        settings = interpreter.settings_of(check, options)

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            watch = Watch()
            storage = kernel.module.globals
            memory = Memory((), storage.addresses, watch)
            give_memory(memory, arguments, storage)
            values = [interpreter.rank_zero_tile(argument) for argument in arguments]
            program = machine.prepare(kernel.module, kernel.entry, settings, watch)
            machine.execute(program, tuple(grid), values, memory, settings, watch)
            Comparison(kernel, tuple(grid), arguments, watch, tally).compare()

        return run

    with mock.patch.object(interpreter.Interpreter, "prepare", prepare):
        yield tally


class Comparison:
    """One launch beside its footprints."""

    def __init__(
        self, kernel: tileir.Kernel, grid: Coordinates, arguments: Sequence[Argument], watch: Watch, tally: Tally
    ) -> None:
        self.kernel = kernel
        self.grid = grid
        self.watch = watch
        self.tally = tally
        self.found = footprints(kernel.entry)
        self.program = Program(self.found)
        self.numbers = [_number(argument) for argument in arguments]
        self.bases = [_base(argument) for argument in arguments]
        self.ops = list(kernel.entry.walk())
        self.by_block: dict[int, dict[Coordinates, set[int]]] = {}

    def compare(self) -> None:
        self._compare_blocks(None)
        self._compare_verdicts()
        blocks = sorted({block for _, block in self.watch.ran})
        for block in blocks[:: max(1, len(blocks) // 8)]:
            self._compare_blocks(tuple((at, at + 1) for at in block))  # type: ignore[arg-type]

    def _compare_blocks(self, blocks: Blocks | None) -> None:
        trusting = self.program.extents(self.numbers, self.grid, blocks)
        careful = self.program.extents(self.numbers, self.grid, blocks, trust=False)
        for footprint, one, other in zip(self.found, trusting, careful):
            if footprint.position >= 0:
                for extent in (one, other):
                    self._compare(footprint, extent, blocks)

    def _compare(self, footprint: Footprint, extent: Extent | Unmapped, blocks: Blocks | None) -> None:
        if isinstance(extent, Unmapped):
            self.tally.unmapped[extent.why] += blocks is not None
            return
        op = self.ops[footprint.position]
        place = f"{self.kernel.name}: {op.spec.name} at {op.loc}, blocks {blocks}: {extent}"
        accesses = list(self._accesses(op, footprint, blocks))
        for offsets, size in accesses:
            inside = not extent.empty and extent.low <= offsets.min() and offsets.max() + size <= extent.high
            assert inside, f"{place}: {offsets.min()} to {offsets.max() + size}"
        if extent.high - extent.low > MOST_BYTES or extent.empty:
            return
        mask = extent.mask(extent.low, extent.high)
        touched = np.zeros(mask.shape, np.bool_)
        for offsets, size in accesses:
            for byte in range(size):
                touched[offsets + (byte - extent.low)] = True
        assert not (touched & ~mask).any(), f"{place}: {extent.low + np.flatnonzero(touched & ~mask)[:4]}"
        if extent.exact:
            assert not (mask & ~touched).any(), f"{place}: not {extent.low + np.flatnonzero(mask & ~touched)[:4]}"
        if blocks is not None:
            self.tally.exact += extent.exact
            self.tally.inexact += not extent.exact
            self.tally.loose += not np.array_equal(mask, touched)

    # ------------------------------------------------------------ accesses of different tile blocks

    def _compare_verdicts(self) -> None:
        """Check that every proof or refutation about two accesses holds in this launch."""
        known = [one for one in self.found if not one.unknown and one.position >= 0]
        pairs = [(a, b) for at, a in enumerate(known) for b in known[at:] if a.writes or b.writes]
        for a, b in pairs[:MOST_PAIRS]:
            for arguments, grid in ((None, None), (self.numbers, None), (self.numbers, self.grid)):
                for across_blocks in (True, False):
                    found = disjoint(a, b, across_blocks=across_blocks, arguments=arguments, grid=grid)
                    self._compare_verdict(a, b, across_blocks, found)

    def _compare_verdict(self, a: Footprint, b: Footprint, across_blocks: bool, found: Verdict) -> None:
        place = f"{self.kernel.name}: {self.ops[a.position].loc} and {self.ops[b.position].loc}: {found}"
        if isinstance(found, Proved) and not found.assuming:
            self.tally.proved += 1
            one, other = self._touched_by_block(a), self._touched_by_block(b)
            for first in one.keys() & other.keys() if not across_blocks else one:
                seconds = [first] if not across_blocks else [block for block in other if block != first]
                assert not any(one[first] & other[second] for second in seconds), place
        if isinstance(found, Refuted) and found.grid == self.grid:
            self.tally.refuted += 1
            for footprint, block in ((a, found.first), (b, found.second)):
                touched = self._touched_by_block(footprint)
                assert block not in touched or found.offset in touched[block], place

    def _touched_by_block(self, footprint: Footprint) -> dict[Coordinates, set[int]]:
        """The bytes of an operation of each of the first tile blocks."""
        if footprint.position not in self.by_block:
            op = self.ops[footprint.position]
            found: dict[Coordinates, set[int]] = {}
            for block in sorted(block for other, block in self.watch.ran if other is op)[:MOST_BLOCKS]:
                one = tuple((at, at + 1) for at in block)
                offsets = [
                    (offsets[:, None] + np.arange(size)).ravel() for offsets, size in self._accesses(op, footprint, one)
                ]
                found[block] = set(np.concatenate([np.zeros(0, np.int64), *offsets]).tolist())
            self.by_block[footprint.position] = found
        return self.by_block[footprint.position]

    def _accesses(self, op: Op, footprint: Footprint, blocks: Blocks | None) -> Iterator[tuple[np.ndarray, int]]:
        """Accesses of the operation: offsets from the beginning of the memory of its footprint, and a size."""
        for (other, block), touched in self.watch.touched.items():
            if other is op and (blocks is None or all(low <= at < high for at, (low, high) in zip(block, blocks))):
                for addresses, size in touched:
                    if addresses.size:
                        base = self._base(footprint, block, addresses)
                        yield (addresses - np.uint64(base)).view(np.int64), size

    def _base(self, footprint: Footprint, block: Coordinates, addresses: np.ndarray) -> int:
        storage = footprint.storage
        assert storage is not None
        if storage.kind is StorageKind.GLOBAL:
            return self.kernel.module.globals.addresses[storage.name]
        if storage.kind is StorageKind.PARAMETER:
            return self.bases[storage.number]
        lowest = int(addresses.min())
        return max(base for base in self.watch.allocated[block] if base <= lowest)


def _number(argument: Argument) -> int | None:
    value = getattr(argument, "value", None)
    return int(value) if isinstance(value, np.integer | np.bool_) else None


def _base(argument: Argument) -> int:
    if isinstance(argument, ArrayArgument):
        return argument.array.address
    return argument.pointer.address if isinstance(argument, PointerArgument) else 0
