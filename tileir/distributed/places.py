"""Where the arrays of a launch are: in memory, in a file, in the pieces of Dask, in the chunks of Zarr.

Knows: how they are told apart, and what each asks of a plan. Does not know: how they travel (`launching`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tileir.distributed.footprints import BandFootprint
from tileir.distributed.pieces import BandPiece, pieces_of
from tileir.distributed.plan import BandPlan, PlaceRules
from tileir.distributed.rectangles import any_meet
from tileir.distributed.room import reserve
from tileir.distributed.stored import folder_of, is_stored, written_as_one
from tileir.ir.diagnostics import UnsupportedError


def is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) or is_dask(value) or is_stored(value)


def is_dask(value: object) -> bool:
    return type(value).__module__.startswith("dask.array")


def is_file(array: object) -> bool:
    """Whether an array is a file, from its beginning on: a part of one has the file of the whole."""
    if not isinstance(array, np.memmap) or array.filename is None or isinstance(array.base, np.memmap):
        return False
    # What was changed in a copy on write is in no file.
    return array.mode in ("r", "r+", "w+")


def is_reread(bands: Sequence[BandFootprint], at: int, stored: bool = False) -> bool:
    """Whether a band reads an array that it writes: to run it again it needs what was there before.

    `stored`: of an array in chunks, which are read and written as a whole, also one that another band writes.
    """
    if stored:
        return any(at in band.reads for band in bands) and any(at in band.writes for band in bands)
    return any(at in band.reads and at in band.writes for band in bands)


# ---------------------------------------------------------------- plans


def rules_for(arrays: Mapping[int, Any], names: Sequence[str], memory: int | None) -> PlaceRules:
    """What a plan must keep for these arrays. Raises UnsupportedError or TypeError for one that no band can have."""
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

    held = tuple(at for at, array in arrays.items() if not is_file(array))
    return PlaceRules(accept, allowed if stored else None, memory, held)


def _are_apart(array: Any, at: int, bands: Sequence[BandFootprint]) -> bool:
    """Whether no two bands write the same element, or the same chunk where they write chunks themselves."""
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
    """Room on the disk for all that is written into files. Raises OSError."""
    for at, array in arrays.items():
        if not is_file(array):
            continue
        if at in plan.merged:
            reserve(array.filename, int(array.offset), array.nbytes)
        for box in (box for band in plan.bands for box in band.writes.get(at, ())):
            reserve(array.filename, int(array.offset) + box.start, box.end - box.start)
