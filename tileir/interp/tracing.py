"""The tile block that wrote a byte last.

Knows: how to see it from the accesses of a launch. Does not know: why somebody asks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.interp.accesses import CheckedAccess
from tileir.interp.memory import Memory, ResolvedElements
from tileir.ir.diagnostics import Coordinates


class TracedMemory(Memory):
    """Memory that remembers in `writer` which tile block wrote the byte at `address` last."""

    def __init__(self, address: int, globals: dict[str, int] | None = None) -> None:
        super().__init__((), globals)
        self.address = address
        self.writer: Coordinates | None = None

    def resolve(
        self, addresses: np.ndarray, access: CheckedAccess, mask: np.ndarray | None = None
    ) -> list[ResolvedElements]:
        if access.write:
            self._look(addresses, access)
        return super().resolve(addresses, access, mask)

    def window(
        self, address: int, shape: Sequence[int], strides: Sequence[int], access: CheckedAccess
    ) -> np.ndarray | None:
        if access.write:
            steps = [np.arange(extent) * step for extent, step in zip(shape, strides)]
            box = np.array(address, np.uint64)
            for step in steps:
                box = np.add.outer(box, step.astype(np.uint64))
            self._look(box, access)
        return super().window(address, shape, strides, access)

    def _look(self, addresses: np.ndarray, access: CheckedAccess) -> None:
        """Note the block if one of the elements covers the byte."""
        behind = np.uint64(self.address) - addresses
        if (behind < np.uint64(access.cell.size)).any():
            self.writer = access.block
