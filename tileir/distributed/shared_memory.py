"""Arrays in shared memory, for workers on this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tileir.distributed.array_kinds import reserve

PLACE = Path("/dev/shm")
"""The file system in memory that Linux has."""
LEAST_BYTES = 1 << 20
"""Smaller arrays travel faster than a file is made."""


@contextmanager
def shared_files(arrays: Mapping[int, np.ndarray], filled: Collection[int]) -> Iterator[dict[int, np.memmap]]:
    """Yield files like the large ones of `arrays`; those of `filled` with their content, the others with zeros.

    None where there is no place in memory for all of them, beside as much again.
    """
    large = {at: array for at, array in arrays.items() if array.nbytes >= LEAST_BYTES}
    if not large or not _has_room(sum(array.nbytes for array in large.values())):
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="tileir-", dir=PLACE) as folder:
        yield _made(Path(folder), large, filled)


def _made(folder: Path, arrays: Mapping[int, np.ndarray], filled: Collection[int]) -> dict[int, np.memmap]:
    """Return the files in a folder; none if others have taken the room meanwhile."""
    files = {}
    try:
        for at, array in arrays.items():
            files[at] = np.memmap(folder / str(at), array.dtype, "w+", shape=array.shape)
            reserve(folder / str(at), 0, array.nbytes)
            if at in filled:
                files[at][...] = array
    except OSError:
        return {}
    return files


def _has_room(size: int) -> bool:
    try:
        return os.access(PLACE, os.W_OK) and shutil.disk_usage(PLACE).free > 2 * size
    except OSError:
        return False
