"""One launch made ready for the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tileir.explore.blocks import BlockRunner
from tileir.explore.memory import AnsweringMemory
from tileir.explore.program import ModelProgram, ProgramChanges, Root
from tileir.explore.rules import ExplorerObserver, LoopLimits
from tileir.explore.search import Reach, Search
from tileir.interp.api import LaunchState, Options
from tileir.interp.machine import TABLES
from tileir.interp.prepare import prepare
from tileir.interp.scheduler import coordinates
from tileir.ir.core import Module, Value
from tileir.ir.diagnostics import Coordinates
from tileir.ir.types import PointerType
from tileir.ops.module import Entry


@dataclass(frozen=True)
class ExploredLaunch:
    """A launch with its arguments in place; `iterations` of a loop are explored."""

    module: Module
    entry: Entry
    grid: Coordinates
    arguments: Sequence[object]
    memory: AnsweringMemory
    iterations: int

    @property
    def blocks(self) -> list[Coordinates]:
        return list(coordinates(self.grid))

    def search(self, changes: ProgramChanges, kept: frozenset[int]) -> Search:
        """Return the search for the executions of a changed program, with one iteration more of the loops that are
        `kept`.

        Raises `UnsupportedError` for what the model does not cover.
        """
        program = ModelProgram(self.entry, changes)
        observer = ExplorerObserver(program, LoopLimits(self.iterations, kept))
        function = prepare(self.module, self.entry, TABLES, False, observer).function
        state = LaunchState(self.entry.sym_name, self.grid, self.memory, Options(), self.module.source)
        runner = BlockRunner(function, state, self.blocks, self.arguments)
        return Search(program, runner, self.memory.initial, self._reaches(program))

    def _reaches(self, program: ModelProgram) -> dict[Root, Reach]:
        """Return the extents of the memory that parameters and globals lead to."""
        (body,) = program.entry.regions
        assert body is not None, "an entry has a body"
        given: dict[Root, int] = {}
        given.update(self.memory.globals)
        for parameter, value in zip(body.args, self.arguments):
            if isinstance(value, np.uint64) and _is_pointer(parameter):
                given[parameter] = int(value)
        found = {root: self.memory.find(address) for root, address in given.items()}
        return {root: Reach(one.base, one.end) for root, one in found.items() if one is not None}


def _is_pointer(parameter: Value) -> bool:
    return isinstance(parameter.tile.element, PointerType)
