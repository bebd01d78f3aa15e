"""Counting: how often operations run, and how many elements of memory they access.

Knows: which operations run equally often, where the numbers are, and how code adds to them. Does not know: which
elements an access has (`cpu.memory.counting`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator

from llvmlite import ir

from tileir.cpu.emit.elements import I64, PTR
from tileir.cpu.emit.emitter import Emitter
from tileir.ir.core import Block, Op


def segments(block: Block) -> Iterator[list[Op]]:
    """The operations of a block in pieces that run from begin to end: control may leave the block in a region."""
    segment: list[Op] = []
    for op in block.ops:
        segment.append(op)
        if op.regions:
            yield segment
            segment = []
    if segment:
        yield segment


class Counters:
    """Numbers in memory for the operations `ops`, all 0 at first: how often each segment ran, elements of accesses.

    Operations in the bodies of reductions, scans and generators have no number of their own.
    """

    def __init__(self, ops: Iterable[Op]) -> None:
        self._places = {op: 2 * number for number, op in enumerate(ops)}
        self._numbers = (ctypes.c_int64 * (2 * len(self._places)))()
        self._first: dict[Op, Op] = {}

    def clear(self) -> None:
        """Begin again at 0."""
        ctypes.memset(self._numbers, 0, ctypes.sizeof(self._numbers))

    def of_segment(self, ops: list[Op]) -> int:
        """The place of the number of a segment."""
        for op in ops:
            self._first[op] = ops[0]
        return self._places[ops[0]]

    def of_access(self, op: Op) -> int:
        """The place of the number of elements that an operation has accessed."""
        return self._places[op] + 1

    def add(self, emit: Emitter, place: int, more: ir.Value) -> None:
        """Add to a number; threads may do so at once."""
        address = ctypes.addressof(self._numbers) + 8 * place
        emit.builder.atomic_rmw("add", emit.builder.inttoptr(I64(address), PTR), more, "monotonic")

    def executed(self, op: Op) -> int | None:
        """How often an operation has run; None for one without a number."""
        first = self._first.get(op)
        return None if first is None else self._numbers[self._places[first]]

    def accessed(self, op: Op) -> int:
        """How many elements of memory an operation has accessed."""
        return self._numbers[self.of_access(op)]
