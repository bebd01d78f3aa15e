"""What bands of a launch over workers give back, put into the arrays of the launch.

Knows: what each kind of array needs after a band. Does not know: what bands were sent (`tasks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from tileir.distributed.band import BandResult, part_of
from tileir.distributed.footprints import BandFootprint
from tileir.distributed.places import is_dask, is_reread
from tileir.distributed.rectangles import put_together, shape_of, slices
from tileir.distributed.sent import SentArrays
from tileir.distributed.stored import is_stored
from tileir.ir.attributes import AtomicMode

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
    """An array of the launch as its caller gets it."""
    value = sent.arrays[at]
    if not is_dask(value) or at in sent.plan.merged or not any(at in band.writes for band in sent.plan.bands):
        return value
    parts = [
        (piece.written, sent.sender.as_part(part_of, future, at, shape_of(piece.written), value.dtype))
        for piece, future in zip(sent.pieces[at], futures)
        if piece.written is not None
    ]
    return sent.sender.block(put_together(value.shape, parts, value))
