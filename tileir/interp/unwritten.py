"""Memory that notices reads of storage which nothing was written to (spec: undefined#catalogue).

Knows: which bytes of each live `alloca` have been written. Does not know: who is told of a read (`prepare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tileir.host.allocation import Allocation
from tileir.interp.accesses import CheckedAccess
from tileir.interp.memory import Memory, ResolvedElements
from tileir.ir.diagnostics import Coordinates


class TrackingMemory(Memory):
    """Memory that sets `read_unwritten`. An access counts as soon as its elements have been found."""

    def __init__(self, allocations: Iterable[Allocation] = (), globals: dict[str, int] | None = None) -> None:
        super().__init__(allocations, globals)
        self._fresh: dict[int, np.ndarray] = {}
        """The bytes of each live storage, by its address: whether nothing was written there."""

    def allocate(self, size: int, alignment: int, owner: Coordinates | None) -> int:
        base = super().allocate(size, alignment, owner)
        self._fresh[base] = np.ones(size, np.bool_)
        return base

    def free(self, base: int) -> None:
        super().free(base)
        del self._fresh[base]

    def resolve(
        self, addresses: np.ndarray, access: CheckedAccess, mask: np.ndarray | None = None
    ) -> list[ResolvedElements]:
        found = super().resolve(addresses, access, mask)
        if self._fresh:
            self._visit(addresses, access)
        return found

    def window(
        self, address: int, shape: Sequence[int], strides: Sequence[int], access: CheckedAccess
    ) -> np.ndarray | None:
        found = super().window(address, shape, strides, access)
        if found is not None and self._fresh:
            addresses = np.array(address, np.uint64)
            for extent, stride in zip(shape, strides):
                addresses = np.add.outer(addresses, np.arange(extent, dtype=np.uint64) * np.uint64(stride))
            self._visit(addresses, access)
        return found

    def _visit(self, addresses: np.ndarray, access: CheckedAccess) -> None:
        """Note what is written, and reads of what is not. An update does both."""
        flat, size = np.asarray(addresses).ravel(), access.cell.size
        for base, fresh in self._fresh.items():
            offsets = (flat - np.uint64(base)).astype(np.int64)
            inside = offsets[(offsets >= 0) & (offsets < fresh.size)]
            touched = np.add.outer(inside, np.arange(size))
            if access.verb != "store" and fresh[touched].any():
                self.read_unwritten = True
            if access.write:
                fresh[touched] = False
