"""Memory that is never written: an access gets its values from outside, and its writes are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tileir.explore.events import MemoryCell
from tileir.host.allocation import Allocation
from tileir.interp.cells import CheckedAccess
from tileir.interp.memory import Memory, ResolvedElements
from tileir.ir.diagnostics import Coordinates


class AnsweringMemory(Memory):
    """The memory of a launch while its tile blocks are run again and again.

    ``cells`` are those of the access that runs, by lane; ``initial`` what memory held before the launch.
    """

    def __init__(self, allocations: Iterable[Allocation] = (), globals: dict[str, int] | None = None) -> None:
        super().__init__(allocations, globals)
        self.cells: tuple[MemoryCell, ...] = ()
        self.initial: dict[MemoryCell, int] = {}
        self.place: object = None
        self._answers: Mapping[int, int] = {}
        self._content: np.ndarray | None = None
        self._stable: dict[object, int] = {}

    def begin(self, answers: Mapping[int, int]) -> None:
        """Begin an access whose lanes find these values; the others find 0."""
        self._answers = answers
        self.cells, self._content = (), None

    def left(self) -> list[int]:
        """Return the values that the access would leave in its cells."""
        return [] if self._content is None else _bits(self._content).tolist()

    def resolve(
        self, addresses: np.ndarray, access: CheckedAccess, mask: np.ndarray | None = None
    ) -> list[ResolvedElements]:
        parts = super().resolve(addresses, access, mask)
        size = access.cell.size
        self.cells = tuple(MemoryCell(address, size) for address in np.ravel(addresses).tolist())
        self._keep_initial(parts, access)
        self._content = np.zeros(len(self.cells), access.cell.raw)
        bits = _bits(self._content)
        for lane, value in self._answers.items():
            bits[lane] = value
        return [ResolvedElements(self._content, np.arange(len(self.cells)).reshape(np.shape(addresses)))]

    def _keep_initial(self, parts: list[ResolvedElements], access: CheckedAccess) -> None:
        if all(cell in self.initial for cell in self.cells):
            return
        found = np.zeros(len(self.cells), access.cell.raw)
        for part in parts:
            found[slice(None) if part.lanes is None else part.lanes] = np.ravel(part.flat[part.where])
        self.initial |= zip(self.cells, _bits(found).tolist())

    def window(self, *_: object) -> None:
        """Return no box, as every element has an answer of its own."""

    # ------------------------------------------------------------ alloca

    def allocate(self, size: int, alignment: int, owner: Coordinates | None) -> int:
        """Return the storage of the `alloca` at `place`, which is fresh the first time only."""
        base = self._stable.get(self.place)
        if base is None:
            base = self._stable[self.place] = super().allocate(size, alignment, owner)
        self._storage[base].live = True
        return base

    def free(self, base: int) -> None:
        self._storage[base].live = False


def _bits(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.dtype.itemsize}")
