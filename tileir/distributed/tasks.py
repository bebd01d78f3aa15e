"""The tasks that workers run, and how their results are put into the arrays of the launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from tileir.distributed.array_kinds import StoredPiece, folder_of, is_dask, is_file, is_reread, is_stored
from tileir.distributed.band import BandArray, BandResult, BandWork, FetchedPart, MappedFile, part_of
from tileir.distributed.boxes import bytes_of, put_together, shape_of, slices
from tileir.distributed.footprints import BandFootprint, BandPiece
from tileir.distributed.sending import SentArrays
from tileir.ir.attributes import AtomicMode

_FROM_ZERO = (AtomicMode.ADD, AtomicMode.XOR)
"""Modes whose bands begin at 0, and are combined with what was there; others begin with what was there."""


def tasks_of(sent: SentArrays, work: BandWork) -> list[tuple[BandWork, list[Any]]]:
    """Return the work of each band, and the data that its worker fetches; `work` is that of any band."""
    return [_task(sent, work, number, band) for number, band in enumerate(sent.plan.bands)]


def _task(sent: SentArrays, work: BandWork, number: int, band: BandFootprint) -> tuple[BandWork, list[Any]]:
    """Return the work of a band, and what its worker fetches."""
    fetched: list[Any] = []
    values = list(work.values)
    for at in sent.arrays:
        values[at] = _array(sent, at, number, band, fetched)
    (x, y, z), begins = shape_of(band.blocks), [first for first, _ in band.blocks]
    values += [begins[axis] for axis in sent.plan.axes]
    return replace(work, grid=(x, y, z), begin=(begins[0], begins[1], begins[2]), values=(*values,)), fetched


def _array(sent: SentArrays, at: int, number: int, band: BandFootprint, fetched: list[Any]) -> BandArray:
    array, reads, writes = sent.arrays[at], band.reads.get(at, []), band.writes.get(at, [])
    plain = BandArray(array.shape, array.dtype)
    if at in sent.plan.merged:
        whole = np.asarray(sent.sender.local(array))
        return replace(plain, whole=np.zeros_like(whole) if sent.plan.merged[at] in _FROM_ZERO else whole)
    if at in sent.pieces:
        return _in_pieces(sent, at, plain, sent.pieces[at][number], fetched)
    mapped = array if is_file(array) else sent.shared.get(at)
    if mapped is not None:
        direct = bool(writes) and not is_reread(sent.plan.bands, at)
        file = MappedFile(str(mapped.filename), int(mapped.offset), direct)
        return replace(plain, file=file, returned=() if direct else tuple(writes))
    given = tuple((box, np.array(box.of(array))) for box in reads)
    return replace(plain, given=given, returned=tuple(writes))


def _in_pieces(sent: SentArrays, at: int, plain: BandArray, piece: BandPiece, fetched: list[Any]) -> BandArray:
    array = sent.arrays[at]
    returned = () if piece.written is None else (bytes_of(piece.written, array.shape, array.dtype.itemsize),)
    if is_stored(array):
        direct = not is_reread(sent.plan.bands, at, stored=True)
        stored = StoredPiece(folder_of(array, sent.names[at]), piece.given, piece.written if direct else None)
        return replace(plain, stored=stored, returned=() if direct else returned)
    if piece.given is None:
        return replace(plain, returned=returned)
    fetched.append(array[slices(piece.given)])
    return replace(plain, part=FetchedPart(piece.given, len(fetched) - 1), returned=returned)


_UFUNCS = {
    AtomicMode.ADD: np.add, AtomicMode.XOR: np.bitwise_xor, AtomicMode.AND: np.bitwise_and,
    AtomicMode.OR: np.bitwise_or, AtomicMode.MAX: np.maximum, AtomicMode.MIN: np.minimum,
    AtomicMode.UMAX: np.maximum, AtomicMode.UMIN: np.minimum,
}  # fmt: skip


def take_back(sent: SentArrays, results: Sequence[BandResult]) -> None:
    """Put into NumPy arrays what bands gave back."""
    for at, mode in sent.plan.merged.items():
        _merge(sent, at, mode, [result.boxes[at][0] for result in results])
    for number, (band, result) in enumerate(zip(sent.plan.bands, results)):
        for at in result.boxes.keys() - sent.plan.merged.keys():
            _put(sent, at, number, band, result)
        for at, mapped in sent.shared.items():
            if not is_reread(sent.plan.bands, at):
                for box in band.writes.get(at, ()):
                    box.of(sent.arrays[at])[...] = box.of(mapped)


def _put(sent: SentArrays, at: int, number: int, band: BandFootprint, result: BandResult) -> None:
    """Write what a band gave back of an array, unless Dask keeps it."""
    array = sent.arrays[at]
    if is_stored(array):
        written = sent.pieces[at][number].written
        if written is not None:
            array[slices(written)] = part_of(result, at, shape_of(written), array.dtype)
    elif not is_dask(array):
        for box, content in zip(band.writes[at], result.boxes[at]):
            box.of(array)[...] = content


def _merge(sent: SentArrays, at: int, mode: AtomicMode, parts: Sequence[np.ndarray]) -> None:
    array = np.array(sent.sender.local(sent.arrays[at]))
    unsigned = mode in (AtomicMode.UMAX, AtomicMode.UMIN) and array.dtype.kind == "i"
    dtype = np.dtype(f"u{array.dtype.itemsize}") if unsigned else array.dtype
    total = array.view(dtype)
    for part in parts:
        total = cast(Callable[..., np.ndarray], _UFUNCS[mode])(total, part.view(dtype))
    if is_dask(sent.arrays[at]):
        sent.arrays[at] = sent.sender.as_dask(total.view(array.dtype), sent.arrays[at])
    else:
        sent.arrays[at][...] = total.view(array.dtype)


def given_back(sent: SentArrays, at: int, futures: Sequence[Any]) -> object:
    """Return an array of the launch as its caller gets it."""
    value = sent.arrays[at]
    if not is_dask(value) or at in sent.plan.merged or not any(at in band.writes for band in sent.plan.bands):
        return value
    parts = [
        (piece.written, sent.sender.as_part(part_of, future, at, shape_of(piece.written), value.dtype))
        for piece, future in zip(sent.pieces[at], futures)
        if piece.written is not None
    ]
    return sent.sender.block(put_together(value.shape, parts, value))
