"""The work of each band of a launch over workers, and what its worker is sent of each array.

Knows: what each kind of array needs before a band. Does not know: how bands are found (`plan`), what happens on a
worker (`band`), nor what comes back (`returned`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tileir.distributed.band import BandArray, BandWork, FetchedPart, MappedFile
from tileir.distributed.footprints import BandFootprint
from tileir.distributed.pieces import BandPiece
from tileir.distributed.places import is_file, is_reread
from tileir.distributed.rectangles import bytes_of, shape_of, slices
from tileir.distributed.sent import SentArrays
from tileir.distributed.stored import StoredPiece, folder_of, is_stored
from tileir.ir.attributes import AtomicMode

_FROM_ZERO = (AtomicMode.ADD, AtomicMode.XOR)
"""Modes whose bands begin at 0, and are combined with what was there; others begin with what was there."""


def tasks_of(sent: SentArrays, work: BandWork) -> list[tuple[BandWork, list[Any]]]:
    """The work of each band, and what its worker fetches; `work` is that of any."""
    return [_task(sent, work, number, band) for number, band in enumerate(sent.plan.bands)]


def _task(sent: SentArrays, work: BandWork, number: int, band: BandFootprint) -> tuple[BandWork, list[Any]]:
    """The work of a band, and what its worker fetches."""
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
