"""Launches over workers: NumPy arrays, arrays in files, arrays of Dask and of Zarr."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

import numpy as np

from tileir.distributed.array_kinds import (
    StoredPiece,
    folder_of,
    is_array,
    is_dask,
    is_file,
    is_reread,
    is_stored,
    require_separate,
    reserve_files,
    rules_for,
)
from tileir.distributed.band import BandArray, BandResult, BandWork, FetchedPart, MappedFile, part_of, run_band
from tileir.distributed.boxes import bytes_of, lazy_array, put_together, shape_of, slices
from tileir.distributed.footprints import BandFootprint, BandPiece
from tileir.distributed.plan import BandPlan, planned
from tileir.distributed.program import banded
from tileir.distributed.sending import DaskSender, Room, Sender, SentArrays, sender_of, shared_files
from tileir.ir.attributes import AtomicMode
from tileir.runtime.arguments import ArrayArgument
from tileir.runtime.grid import GridLike, checked_grid
from tileir.runtime.module import DEFAULT_TARGET, Kernel, Module, bind, target_named
from tileir.runtime.options import Check, LaunchOptions, separated
from tileir.tools.optimise import optimize

BANDS_PER_WORKER = 4
"""Bands for each worker, so that one that is slow or lost does not hold up the rest."""


def launch(
    kernel: Kernel,
    grid: GridLike,
    *args: object,
    client: Any = None,
    target: str = DEFAULT_TARGET,
    check: Check = True,
    bands: int | None = None,
    memory: int | None = None,
    **named: object,
) -> tuple[object, ...]:
    """Run a kernel whose tile blocks are independent, bands of them on workers, each with the bytes that it touches.

    Parameters
    ----------
    kernel : Kernel
    grid : int or sequence of int
        Number of tile blocks along each axis.
    *args : object
        Arguments in the order of the parameters: numbers, and dense row-major arrays: NumPy arrays, which are written
        in place when all bands are done; `numpy.memmap` and arrays of Zarr in a folder, which workers open;
        `dask.array`, which stays as it is.
    client : Client of Dask, concurrent.futures.Executor or None
        The workers; None for processes of this machine. `dask.array` needs a client.
    target, check
        As for `Kernel.launch`.
    bands : int or None
        How many bands, or the next smaller number that the grid can be cut into, so that the least travels; a few for
        each worker if None.
    memory : int or None
        Bytes that a band may take of its worker's memory, the pages of files with them: there are more bands where it
        is not enough. If None, what the limits of workers of Dask and Ray leave; no bound for others.
    **named : object
        Arguments by the names of their parameters, and options of the target.

    Returns
    -------
    tuple
        The arrays in the order of the parameters: those given, or for a `dask.array` that the kernel writes a new one.

    Raises
    ------
    UnsupportedError
        If tile blocks communicate, or may write what others touch; if no band is small enough for the memory.
    TypeError, ValueError
        For arguments or a grid that do not fit.
    RuntimeError
        If Dask gives a band up, because workers that run it end: with the memory that they had.
    OSError
        If a disk has no room for what the kernel may write into a file; nothing has been written then.
    Trap
        Of the first band that has one; no array has been written then, but those in files and in Zarr.
    """
    kernel.module.require_valid()
    values, options = separated(kernel.name, [parameter.name for parameter in kernel.parameters], args, named)
    output = _output_of(options)
    work = BandWork(b"", kernel.name, checked_grid(grid, kernel.name), (0, 0, 0), tuple(values), target, check, options)
    with sender_of(client) as sender:
        return _launched(kernel, work, sender, bands, memory, output)


def _launched(
    kernel: Kernel,
    work: BandWork,
    sender: Sender,
    bands: int | None,
    memory: int | None,
    output: Callable[[str], object],
) -> tuple[object, ...]:
    """Plan and run a launch; `work` is all of it, without its program."""
    names = [parameter.name for parameter in kernel.parameters]
    arrays: dict[int, Any] = {at: value for at, value in enumerate(work.values) if is_array(value)}
    numbers = _numbers(kernel, work.values, arrays, work.target)
    if any(map(is_dask, arrays.values())) and not isinstance(sender, DaskSender):
        raise TypeError("a dask.array needs client=Client(...) of Dask")
    inlined = optimize(kernel.module, passes="inline")
    sizes = [arrays[at].nbytes if at in arrays else 0 for at in range(len(work.values))]
    room = sender.room() if memory is None else Room(memory)
    rules = rules_for(arrays, names, room.bytes, room.why)
    entry = Module.of(inlined)[kernel.name].entry
    plan = planned(entry, numbers, sizes, work.grid, bands or BANDS_PER_WORKER * sender.count, rules)
    require_separate(arrays, plan, names)
    reserve_files(arrays, plan)
    program = pickle.dumps(Module.of(banded(inlined, work.grid, plan.axes)))
    with shared_files(_near(arrays, plan) if sender.near else {}) as shared:
        return _run(SentArrays(plan, arrays, names, sender, shared), replace(work, module=program), output)


def _output_of(options: LaunchOptions) -> Callable[[str], object]:
    """Return the sink of printed text, taken out of the options of the target. Raises TypeError for options that
    workers cannot have."""
    if "progress" in options:
        raise TypeError("option 'progress': a launch over workers has none")
    return cast(Callable[[str], object], options.pop("output", None) or sys.stdout.write)


def _near(arrays: dict[int, Any], plan: BandPlan) -> dict[int, np.ndarray]:
    """Return the arrays in the memory of this process that processes of this machine may share."""
    touched = {at for band in plan.bands for at in (*band.reads, *band.writes)}
    in_memory = {at: value for at, value in arrays.items() if isinstance(value, np.ndarray) and not is_file(value)}
    return {at: value for at, value in in_memory.items() if at in touched}


def _numbers(kernel: Kernel, values: Sequence[object], arrays: dict[int, Any], target: str) -> list[int | None]:
    """Return the integer arguments. Raises for what the kernel does not take; for arrays, others of their shape are
    tried."""
    given = [lazy_array(value.shape, value.dtype) if at in arrays else value for at, value in enumerate(values)]  # type: ignore[attr-defined]
    numbers: list[int | None] = []
    for at, argument in enumerate(bind(kernel, given, target_named(target))):
        found = getattr(argument, "value", None)
        numbers.append(int(found) if isinstance(found, np.integer | np.bool_) else None)
        if not isinstance(argument, ArrayArgument) and found is None:
            raise TypeError(f"parameter '{kernel.parameters[at].name}': a raw pointer means nothing on another machine")
        if at in arrays and isinstance(values[at], np.ndarray) and not values[at].flags.c_contiguous:  # type: ignore[attr-defined]
            raise ValueError(f"parameter '{kernel.parameters[at].name}': expected a dense row-major array")
    return numbers


def _run(sent: SentArrays, work: BandWork, output: Callable[[str], object]) -> tuple[object, ...]:
    """Run a launch that has been planned; gives its arrays as its caller gets them. Raises Trap."""
    staying = frozenset(at for at in sent.pieces if is_dask(sent.arrays[at]))
    tasks = [_task(sent, work, number, band) for number, band in enumerate(sent.plan.bands)]
    futures, results = sent.sender.run(run_band, tasks, staying - sent.plan.merged.keys())
    for result in results:
        output(result.printed)
    trap = next((result.trap for result in results if result.trap is not None), None)
    if trap is not None:
        raise trap
    take_back(sent, results)
    return tuple(given_back(sent, at, futures) for at in sent.arrays)


# ---------------------------------------------------------------- tasks of workers


_FROM_ZERO = (AtomicMode.ADD, AtomicMode.XOR)
"""Modes whose bands begin at 0, and are combined with what was there; others begin with what was there."""


def _task(sent: SentArrays, work: BandWork, number: int, band: BandFootprint) -> tuple[BandWork, list[Any]]:
    """Return the work of a band, and the data that its worker fetches; `work` is that of any band."""
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
        whole = np.asarray(array)
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
    given = sent.arrays[at]
    array = np.array(given)
    unsigned = mode in (AtomicMode.UMAX, AtomicMode.UMIN) and array.dtype.kind == "i"
    dtype = np.dtype(f"u{array.dtype.itemsize}") if unsigned else array.dtype
    total = array.view(dtype)
    for part in parts:
        total = cast(Callable[..., np.ndarray], _UFUNCS[mode])(total, part.view(dtype))
    if is_dask(given):
        sent.arrays[at] = import_module("dask.array").from_array(total.view(array.dtype), chunks=given.chunks)
    else:
        given[...] = total.view(array.dtype)


def given_back(sent: SentArrays, at: int, futures: Sequence[Any]) -> object:
    """Return an array of the launch as its caller gets it."""
    value = sent.arrays[at]
    if not is_dask(value) or at in sent.plan.merged or not any(at in band.writes for band in sent.plan.bands):
        return value
    assert isinstance(sent.sender, DaskSender)
    dask, parts = import_module("dask.array"), []
    for piece, future in zip(sent.pieces[at], futures):
        if piece.written is not None:
            shape = shape_of(piece.written)
            part = import_module("dask").delayed(sent.sender.submitted(part_of, future, at, shape, value.dtype))
            parts.append((piece.written, dask.from_delayed(part, shape, value.dtype)))
    return cast(object, dask.block(put_together(value.shape, parts, value)))
