"""The kinds of arrays that a distributed launch takes, where their bytes lie, and whether there is room for a copy."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tileir.distributed.boxes import Rectangle, any_meet, slices
from tileir.distributed.footprints import BandFootprint, BandPiece, pieces_of
from tileir.distributed.plan import BandPlan, PlaceRules
from tileir.ir.diagnostics import UnsupportedError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def reserve(path: str | Path, begin: int, size: int) -> None:
    """Give bytes of a file a place on the disk, where the system can do that; what is in them stays.

    Raises OSError with the name of the file if there is no room.
    """
    if not size or not hasattr(os, "posix_fallocate"):
        return
    with open(path, "r+b") as file:
        try:
            os.posix_fallocate(file.fileno(), begin, size)
        except OSError as error:
            if error.errno in _FULL:
                raise OSError(
                    error.errno, f"no room for the {size} bytes that the kernel may write", str(path)
                ) from None


_FOLDERS = ("LocalStore", "DirectoryStore", "NestedDirectoryStore")
"""The stores of Zarr 3 and 2 in which a chunk is a file, and is replaced as a whole."""


@dataclass(frozen=True)
class StoredPiece:
    """The part of the array in the folder `path` that a band reads, and the part it writes there itself; None for
    nothing."""

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
    """Return the folder of an array. Raises TypeError if it is no folder of chunks."""
    store = array.store
    if type(store).__name__ not in _FOLDERS:
        raise TypeError(
            f"parameter '{name}': expected a Zarr array in a folder, got one in a {type(store).__name__} "
            "(hint: wrap it in a dask.array)"
        )
    return os.path.join(os.path.abspath(getattr(store, "root", None) or store.path), array.path)


def written_as_one(array: Any) -> tuple[int, ...]:
    """Return the shape of what is written as a whole: a shard, or a chunk where there are no shards."""
    return tuple(getattr(array, "shards", None) or array.chunks)


def is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) or is_dask(value) or is_stored(value)


def is_dask(value: object) -> bool:
    return type(value).__module__.startswith("dask.array")


def is_file(array: object) -> bool:
    """Return whether an array is a file from its beginning; a slice has the file of the whole array."""
    if not isinstance(array, np.memmap) or array.filename is None or isinstance(array.base, np.memmap):
        return False
    # What was changed in a copy on write is in no file.
    return array.mode in ("r", "r+", "w+")


def is_reread(bands: Sequence[BandFootprint], at: int, stored: bool = False) -> bool:
    """Return whether a band reads an array that it writes, so that running it again needs the old contents.

    `stored`: the array is in chunks, which are read and written as a whole, so another band's writes count too.
    """
    if stored:
        return any(at in band.reads for band in bands) and any(at in band.writes for band in bands)
    return any(at in band.reads and at in band.writes for band in bands)


# ---------------------------------------------------------------- plans


def rules_for(arrays: Mapping[int, Any], names: Sequence[str], memory: int | None, why: str) -> PlaceRules:
    """Return the rules that a plan must keep for these arrays. Raises UnsupportedError or TypeError for an array that
    no band can have."""
    in_pieces = {at: array for at, array in arrays.items() if is_dask(array) or is_stored(array)}
    stored = {at: array for at, array in in_pieces.items() if is_stored(array)}
    for at, array in in_pieces.items():
        if not array.ndim or any(np.isnan(extent) for extent in array.shape):
            raise UnsupportedError(f"parameter '{names[at]}': an array in pieces without a known shape", "distributed")
        if at in stored:
            folder_of(array, names[at])

    def accept(bands: Sequence[BandFootprint]) -> None:
        for at, array in in_pieces.items():
            if not _are_apart(array, at, bands):
                what = "chunk of a Zarr array" if at in stored else "rows and columns of a dask.array"
                raise UnsupportedError(f"parameter '{names[at]}': bands that write into the same {what}", "distributed")

    def allowed(first: BandFootprint, last: BandFootprint) -> bool:
        return all(_are_apart(array, at, (first, last)) for at, array in stored.items())

    mapped = tuple(at for at, array in arrays.items() if is_file(array))
    return PlaceRules(accept, allowed if stored else None, memory, why, mapped)


def _are_apart(array: Any, at: int, bands: Sequence[BandFootprint]) -> bool:
    """Return whether no two bands write the same element, or the same chunk where they write chunks themselves."""
    pieces = pieces_of(array, at, bands)
    if is_stored(array) and not is_reread(bands, at, stored=True):
        return not any_meet(_in_units(pieces, written_as_one(array)))
    return not any_meet(_in_units(pieces, (1,) * array.ndim))


def _in_units(pieces: Sequence[BandPiece], unit: Sequence[int]) -> list[tuple[tuple[int, int], ...]]:
    written = [piece.written for piece in pieces if piece.written is not None]
    return [tuple((first // size, -(-last // size)) for (first, last), size in zip(one, unit)) for one in written]


# ---------------------------------------------------------------- arrays that are written


def require_separate(arrays: Mapping[int, Any], plan: BandPlan, names: Sequence[str]) -> None:
    """Raise ValueError where an array that is written cannot be, or shares memory with another."""
    for at in {at for band in plan.bands for at in band.writes} | plan.merged.keys():
        for other, array in arrays.items():
            if other != at and _share(arrays[at], array):
                raise ValueError(f"parameters '{names[at]}' and '{names[other]}' share memory that the kernel writes")
        if not _is_writable(arrays[at]):
            raise ValueError(f"parameter '{names[at]}': the kernel writes it, and it cannot be written")


def _share(one: Any, other: Any) -> bool:
    if is_stored(one) and is_stored(other):
        return folder_of(one, "") == folder_of(other, "")
    return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.shares_memory(one, other)


def _is_writable(array: Any) -> bool:
    if is_stored(array):
        return not array.read_only
    return not isinstance(array, np.ndarray) or bool(array.flags.writeable)


def reserve_files(arrays: Mapping[int, Any], plan: BandPlan) -> None:
    """Reserve room on the disk for everything that is written into files. Raises OSError."""
    for at, array in arrays.items():
        if not is_file(array):
            continue
        if at in plan.merged:
            reserve(array.filename, int(array.offset), array.nbytes)
        for box in (box for band in plan.bands for box in band.writes.get(at, ())):
            reserve(array.filename, int(array.offset) + box.start, box.end - box.start)
