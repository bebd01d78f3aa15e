"""Faults of a running kernel."""

from __future__ import annotations

Index = int | tuple[int, ...]


class Fault(Exception):
    """Something wrong at run time, raised by a rule; the machine adds kernel, tile block, operation and place.

    ``array`` is the kernel parameter or global concerned, ``index`` a byte offset in it, or the index of the first
    offending element of the tile.
    """

    def __init__(self, message: str, array: str | None = None, index: Index | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.array = array
        self.index = index
