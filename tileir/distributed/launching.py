"""Launches over workers: NumPy arrays, arrays in files, and Dask arrays.

Knows: what each kind of array needs before and after a band, and how results are put together. Does not know: how bands
are found (`plan`), what happens on a worker (`band`).
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from tileir.distributed.band import BandArray, BandResult, BandWork, FetchedPart, MappedFile, part_of, run_band
from tileir.distributed.boxes import lazy_array
from tileir.distributed.footprints import BandFootprint
from tileir.distributed.pieces import pieces_of, require_pieces_apart
from tileir.distributed.plan import BandPlan, PlaceRules, planned
from tileir.distributed.rectangles import bytes_of, put_together, shape_of, slices
from tileir.distributed.room import reserve
from tileir.distributed.sending import Sender, sender_of
from tileir.distributed.sharing import shared_files
from tileir.ir.attributes import AtomicMode
from tileir.ir.diagnostics import UnsupportedError
from tileir.passes.banding import banded
from tileir.runtime.arguments import ArrayArgument
from tileir.runtime.grid import GridLike, checked_grid
from tileir.runtime.launch import bind
from tileir.runtime.module import Kernel, Module
from tileir.runtime.naming import separated
from tileir.runtime.optimising import optimize
from tileir.runtime.options import Check, LaunchOptions
from tileir.runtime.targets import DEFAULT, target_named

BANDS_PER_WORKER = 4
"""Bands for each worker, so that one that is slow or lost does not hold up the rest."""
_UFUNCS = {
    AtomicMode.ADD: np.add, AtomicMode.XOR: np.bitwise_xor, AtomicMode.AND: np.bitwise_and,
    AtomicMode.OR: np.bitwise_or, AtomicMode.MAX: np.maximum, AtomicMode.MIN: np.minimum,
    AtomicMode.UMAX: np.maximum, AtomicMode.UMIN: np.minimum,
}  # fmt: skip
_FROM_ZERO = (AtomicMode.ADD, AtomicMode.XOR)
"""Modes whose bands begin at 0, and are combined with what was there; others begin with what was there."""


def launch(
    kernel: Kernel,
    grid: GridLike,
    *args: object,
    client: Any = None,
    target: str = DEFAULT,
    check: Check = True,
    bands: int | None = None,
    memory: int | None = None,
    **named: object,
) -> tuple[object, ...]:
    """Run a kernel whose tile blocks are independent, bands of them on workers, each with the bytes that it touches.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    grid : int or sequence of int
        Number of tile blocks along each axis.
    *args : object
        Arguments in the order of the parameters: numbers, and dense row-major arrays: NumPy arrays, which are written
        in place when all bands are done; `numpy.memmap`, of which workers open the file; `dask.array`, which stays as
        it is.
    client : Client of Dask, concurrent.futures.Executor or None
        The workers; None for processes of this machine. `dask.array` arguments need a client.
    target, check
        As for `Kernel.launch`.
    bands : int or None
        How many bands, or the next smaller number that the grid can be cut into, along one axis or two, so that the
        least travels; a few for each worker if None.
    memory : int or None
        Bytes that a band may take of its worker's memory, files aside: there are more bands where it is not enough. If
        None, half of what each thread of the workers of a Dask client has, and no bound for others.
    **named : object
        Arguments by the names of their parameters, and options of the target.

    Returns
    -------
    tuple
        The arrays in the order of the parameters: those given, or for a `dask.array` that the kernel writes a new one.

    Raises
    ------
    UnsupportedError
        If tile blocks communicate, or may write what others touch: with the reason and the place. If no band is small
        enough for the memory.
    TypeError, ValueError
        For arguments or a grid that do not fit.
    OSError
        If a disk has no room for what the kernel may write into a file; nothing has been written then.
    Trap
        Of the first band that has one; no array has been written then, but those in files.
    """
    kernel.module.require_valid()
    extents = checked_grid(grid, kernel.name)
    names = [parameter.name for parameter in kernel.parameters]
    values, options = separated(kernel.name, names, args, named)
    output = _output_of(options)
    arrays: dict[int, Any] = {at: value for at, value in enumerate(values) if _is_array(value)}
    numbers = _numbers(kernel, values, arrays, target)
    with sender_of(client) as sender:
        if any(_is_dask(value) for value in arrays.values()) and not sender.is_dask:
            raise TypeError("a dask.array needs client=Client(...) of Dask")
        inlined = optimize(kernel.module, passes="inline")
        sizes = [arrays[at].nbytes if at in arrays else 0 for at in range(len(values))]
        entry = Module.of(inlined)[kernel.name].entry
        rules = _rules(arrays, names, sender.memory if memory is None else memory)
        plan = planned(entry, numbers, sizes, extents, bands or BANDS_PER_WORKER * sender.count, rules)
        _require_separate(arrays, plan, names)
        _reserve_files(arrays, plan)
        program = pickle.dumps(Module.of(banded(inlined, extents, plan.axes)))
        work = BandWork(program, kernel.name, extents, (0, 0, 0), tuple(values), target, check, options)
        near = _near(arrays, plan) if client is None else {}
        with shared_files(near, [at for at in near if any(at in band.reads for band in plan.bands)]) as shared:
            return _Launch(work, plan, arrays, names, sender, shared).run(output)


def _output_of(options: LaunchOptions) -> Callable[[str], object]:
    """Where prints go, taken out of the options of the target. Raises TypeError for what workers cannot have."""
    if "progress" in options:
        raise TypeError("option 'progress': a launch over workers has none")
    return cast(Callable[[str], object], options.pop("output", None) or sys.stdout.write)


def _rules(arrays: dict[int, Any], names: Sequence[str], memory: int | None) -> PlaceRules:
    """What a plan must keep for these arrays. Raises UnsupportedError for a `dask.array` that nothing can be cut of."""
    in_pieces = {at: array for at, array in arrays.items() if _is_dask(array)}
    for at, array in in_pieces.items():
        if not array.ndim or any(np.isnan(extent) for extent in array.shape):
            raise UnsupportedError(f"parameter '{names[at]}': a dask.array without a known shape", "distributed")

    def accept(bands: Sequence[BandFootprint]) -> None:
        for at, array in in_pieces.items():
            require_pieces_apart(names[at], pieces_of(array, at, bands))

    return PlaceRules(accept, None, memory, tuple(at for at, array in arrays.items() if not _is_file(array)))


def _near(arrays: dict[int, Any], plan: BandPlan) -> dict[int, np.ndarray]:
    """The arrays in the memory of this process that processes of this machine may share."""
    touched = {at for band in plan.bands for at in (*band.reads, *band.writes)}
    return {at: value for at, value in arrays.items() if at in touched and not _is_file(value)}


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) or _is_dask(value)


def _is_dask(value: object) -> bool:
    return type(value).__module__.startswith("dask.array")


def _numbers(kernel: Kernel, values: Sequence[object], arrays: dict[int, Any], target: str) -> list[int | None]:
    """The integer arguments. Raises for what the kernel does not take; for arrays, others of their shape are tried."""
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


def _require_separate(arrays: dict[int, Any], plan: BandPlan, names: Sequence[str]) -> None:
    """Raise ValueError where an array that is written shares memory with another."""
    written = {at for band in plan.bands for at in band.writes} | plan.merged.keys()
    for at in written:
        for other, array in arrays.items():
            if other != at and not _is_dask(array) and not _is_dask(arrays[at]) and np.shares_memory(array, arrays[at]):
                raise ValueError(f"parameters '{names[at]}' and '{names[other]}' share memory that the kernel writes")
        if isinstance(arrays[at], np.ndarray) and not arrays[at].flags.writeable:
            raise ValueError(f"parameter '{names[at]}': the kernel writes it, and it cannot be written")


def _reserve_files(arrays: dict[int, Any], plan: BandPlan) -> None:
    """Room on the disk for all that is written into files. Raises OSError."""
    for at, array in arrays.items():
        if not _is_file(array):
            continue
        if at in plan.merged:
            reserve(array.filename, _offset(array), array.nbytes)
        for box in (box for band in plan.bands for box in band.writes.get(at, ())):
            reserve(array.filename, _offset(array) + box.start, box.end - box.start)


class _Launch:
    """One launch that has been planned."""

    def __init__(
        self,
        work: BandWork,
        plan: BandPlan,
        arrays: dict[int, Any],
        names: Sequence[str],
        sender: Sender,
        shared: dict[int, np.memmap],
    ) -> None:
        self.work = work
        self.plan = plan
        self.arrays = arrays
        self.names = names
        self.sender = sender
        self.shared = shared
        self.pieces = {at: pieces_of(value, at, plan.bands) for at, value in arrays.items() if _is_dask(value)}

    def run(self, output: Callable[[str], object]) -> tuple[object, ...]:
        tasks = [self._task(number, band) for number, band in enumerate(self.plan.bands)]
        futures, results = self.sender.run(run_band, tasks, frozenset(self.pieces) - self.plan.merged.keys())
        for result in results:
            output(result.printed)
        trap = next((result.trap for result in results if result.trap is not None), None)
        if trap is not None:
            raise trap
        self._write(results)
        return tuple(self._given_back(at, value, futures) for at, value in self.arrays.items())

    # ------------------------------------------------------------ before

    def _task(self, number: int, band: BandFootprint) -> tuple[BandWork, list[Any]]:
        """The work of a band, and what its worker fetches."""
        fetched: list[Any] = []
        values = list(self.work.values)
        for at in self.arrays:
            values[at] = self._array(at, number, band, fetched)
        (x, y, z), begins = shape_of(band.blocks), [first for first, _ in band.blocks]
        values += [begins[axis] for axis in self.plan.axes]
        return replace(self.work, grid=(x, y, z), begin=(begins[0], begins[1], begins[2]), values=(*values,)), fetched

    def _array(self, at: int, number: int, band: BandFootprint, fetched: list[Any]) -> BandArray:
        array, reads, writes = self.arrays[at], band.reads.get(at, []), band.writes.get(at, [])
        plain = BandArray(array.shape, array.dtype)
        if at in self.plan.merged:
            whole = np.asarray(self.sender.local(array))
            return replace(plain, whole=np.zeros_like(whole) if self.plan.merged[at] in _FROM_ZERO else whole)
        if _is_dask(array):
            piece, part = self.pieces[at][number], None
            if piece.given is not None:
                fetched.append(array[slices(piece.given)])
                part = FetchedPart(piece.given, len(fetched) - 1)
            returned = () if piece.written is None else (bytes_of(piece.written, array.shape, array.dtype.itemsize),)
            return replace(plain, part=part, returned=returned)
        mapped = array if _is_file(array) else self.shared.get(at)
        if mapped is not None:
            direct = bool(writes) and not self._is_reread(at)
            file = MappedFile(str(mapped.filename), _offset(mapped), direct)
            return replace(plain, file=file, returned=() if direct else tuple(writes))
        given = tuple((box, np.array(box.of(array))) for box in reads)
        return replace(plain, given=given, returned=tuple(writes))

    def _is_reread(self, at: int) -> bool:
        """Whether a band reads an array that it writes: to run it again it needs what was there before."""
        return any(at in band.reads and at in band.writes for band in self.plan.bands)

    # ------------------------------------------------------------ after

    def _write(self, results: Sequence[BandResult]) -> None:
        """Put into NumPy arrays what bands gave back."""
        for at, mode in self.plan.merged.items():
            self._merge(at, mode, [result.boxes[at][0] for result in results])
        for band, result in zip(self.plan.bands, results):
            for at, contents in result.boxes.items():
                if at not in self.plan.merged and not _is_dask(self.arrays[at]):
                    for box, content in zip(band.writes[at], contents):
                        box.of(self.arrays[at])[...] = content
            for at, mapped in self.shared.items():
                if not self._is_reread(at):
                    for box in band.writes.get(at, ()):
                        box.of(self.arrays[at])[...] = box.of(mapped)

    def _merge(self, at: int, mode: AtomicMode, parts: Sequence[np.ndarray]) -> None:
        array = np.array(self.sender.local(self.arrays[at]))
        unsigned = mode in (AtomicMode.UMAX, AtomicMode.UMIN) and array.dtype.kind == "i"
        dtype = np.dtype(f"u{array.dtype.itemsize}") if unsigned else array.dtype
        total = array.view(dtype)
        for part in parts:
            total = cast(Callable[..., np.ndarray], _UFUNCS[mode])(total, part.view(dtype))
        if _is_dask(self.arrays[at]):
            self.arrays[at] = self.sender.as_dask(total.view(array.dtype), self.arrays[at])
        else:
            self.arrays[at][...] = total.view(array.dtype)

    def _given_back(self, at: int, value: Any, futures: Sequence[Any]) -> object:
        """An array of the launch as its caller gets it."""
        value = self.arrays[at]
        if not _is_dask(value) or at in self.plan.merged or not any(at in band.writes for band in self.plan.bands):
            return value
        parts = [
            (piece.written, self.sender.as_part(part_of, future, at, shape_of(piece.written), value.dtype))
            for piece, future in zip(self.pieces[at], futures)
            if piece.written is not None
        ]
        return self.sender.block(put_together(value.shape, parts, value))


def _is_file(array: object) -> bool:
    """Whether an array is a file, from its beginning on: a part of one has the file of the whole."""
    if not isinstance(array, np.memmap) or array.filename is None or isinstance(array.base, np.memmap):
        return False
    # What was changed in a copy on write is in no file.
    return array.mode in ("r", "r+", "w+")


def _offset(array: Any) -> int:
    return int(array.offset)
