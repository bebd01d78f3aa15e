"""The view that a rule gets of the block it runs in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tests.ttir_machine.memory import Memory
from tests.ttir_machine.values import Lanes
from tileir.gpu.ttir.ir.code import TtirBlock


class Frame(Protocol):
    """A block of the grid, at `place`."""

    place: tuple[int, int, int]
    grid: tuple[int, int, int]
    memory: Memory
    batched: tuple[int, ...] | None
    """In the region of a reduction or scan: the shape of the lanes that it is run on at a time."""

    def batch(self, block: TtirBlock, arguments: Sequence[Lanes], shape: tuple[int, ...]) -> list[Lanes]:
        """Execute a region of scalars on lanes of `shape` at a time."""
