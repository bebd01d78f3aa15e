"""Zarr arrays: chunks in a folder that all workers see.

Knows: which arrays these are, where they are, what is written as a whole, and how workers read and write rectangles of
them. Does not know: which rectangles (`pieces`), and who may write at the same time (`places`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from tileir.distributed.rectangles import Rectangle, slices

_FOLDERS = ("LocalStore", "DirectoryStore", "NestedDirectoryStore")
"""The stores of Zarr 3 and 2 in which a chunk is a file, and is replaced as a whole."""


@dataclass(frozen=True)
class StoredPiece:
    """What a band reads of the array in the folder `path`, and what it writes there itself; None for nothing."""

    path: str
    given: Rectangle | None
    written: Rectangle | None

    def read_into(self, array: np.ndarray) -> None:
        if self.given is not None:
            array[slices(self.given)] = _opened(self.path, "r")[slices(self.given)]

    def write_from(self, array: np.ndarray) -> None:
        if self.written is not None:
            _opened(self.path, "r+")[slices(self.written)] = array[slices(self.written)]


def _opened(path: str, mode: str) -> Any:
    return import_module("zarr").open_array(path, mode=mode)


def is_stored(value: object) -> bool:
    return type(value).__name__ == "Array" and type(value).__module__.partition(".")[0] == "zarr"


def folder_of(array: Any, name: str) -> str:
    """Where an array is. Raises TypeError if that is no folder of chunks."""
    store = array.store
    if type(store).__name__ not in _FOLDERS:
        raise TypeError(
            f"parameter '{name}': expected a Zarr array in a folder, got one in a {type(store).__name__} "
            "(hint: wrap it in a dask.array)"
        )
    return os.path.join(os.path.abspath(getattr(store, "root", None) or store.path), array.path)


def written_as_one(array: Any) -> tuple[int, ...]:
    """The shape of what is written as a whole: a shard, or a chunk where there are no shards."""
    return tuple(getattr(array, "shards", None) or array.chunks)
