"""The arrays of a launch over workers: what each is, and which parts of those in pieces each band has.

Does not know: what workers are sent (`tasks`), nor how results are put together (`returned`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tileir.distributed.pieces import BandPiece, pieces_of
from tileir.distributed.places import is_dask
from tileir.distributed.plan import BandPlan
from tileir.distributed.sending import Sender
from tileir.distributed.stored import is_stored


@dataclass(frozen=True)
class SentArrays:
    """The `arrays` of a launch that has been planned, and the `names` of all parameters, by position.

    `shared` are arrays in memory that workers of this machine have as files.
    """

    plan: BandPlan
    arrays: dict[int, Any]
    names: Sequence[str]
    sender: Sender
    shared: dict[int, np.memmap]

    @cached_property
    def pieces(self) -> dict[int, list[BandPiece]]:
        """Of arrays of Dask and of Zarr, what each band has."""
        found = {at: value for at, value in self.arrays.items() if is_dask(value) or is_stored(value)}
        return {at: pieces_of(value, at, self.plan.bands) for at, value in found.items()}
