"""Arrays of a launch that are in pieces, as bands get and give them.

Knows: which rectangle of such an array each band is given, and which it gives back. Does not know: how rectangles
travel (`launching`), and which may meet (`places`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tileir.distributed.footprints import BandFootprint
from tileir.distributed.rectangles import Rectangle, bytes_of, hull_of, rectangle_around


@dataclass(frozen=True)
class BandPiece:
    """What one band is given of an array, and what it gives back; None for nothing."""

    given: Rectangle | None
    written: Rectangle | None


def pieces_of(array: Any, at: int, bands: Sequence[BandFootprint]) -> list[BandPiece]:
    """The pieces of each band of the array of parameter `at`."""
    return [_piece(array, at, band) for band in bands]


def _piece(array: Any, at: int, band: BandFootprint) -> BandPiece:
    shape, size = array.shape, array.dtype.itemsize
    reads, writes = (
        [rectangle_around(box, shape, size) for box in boxes.get(at, ())] for boxes in (band.reads, band.writes)
    )
    written = hull_of(writes)
    if written is not None and not (len(writes) == 1 and band.writes[at][0] == bytes_of(written, shape, size)):
        # What lies between is given back unchanged.
        reads.append(written)
    return BandPiece(hull_of(reads), written)
