"""The extent of memory at a raw address, as the operating system tells it.

Knows: the table of mappings of this process, where the system has one. Does not know: kernels.
"""

from __future__ import annotations

from typing import NamedTuple

TABLE = "/proc/self/maps"


class Mapping(NamedTuple):
    """Mapped memory from `start` up to `end`."""

    start: int
    end: int
    writable: bool


def mapping_at(address: int) -> Mapping | None:
    """The readable mapping that holds `address`; None if there is none. Raises OSError where it cannot be known."""
    with open(TABLE, encoding="ascii", errors="replace") as table:
        for line in table:
            extent, access = line.split(maxsplit=2)[:2]
            start, end = (int(bound, 16) for bound in extent.split("-"))
            if start <= address < end:
                return Mapping(start, end, "w" in access) if "r" in access else None
    return None
