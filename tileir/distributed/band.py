"""A band on a worker: its boxes are put into arrays, the kernel runs, and its writes go back."""

from __future__ import annotations

import mmap
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from tileir.distributed.array_kinds import StoredPiece
from tileir.distributed.boxes import ByteBox, Rectangle, lazy_array, slices
from tileir.ir.diagnostics import Trap
from tileir.runtime.module import Kernel, Module, launch_kernel
from tileir.runtime.options import Check, LaunchOptions

_KERNELS = 8


@dataclass(frozen=True)
class MappedFile:
    """An array in a file that all workers see. `changed`: the kernel may write into the file itself."""

    path: str
    offset: int
    changed: bool


@dataclass(frozen=True)
class FetchedPart:
    """A rectangle of an array, and which of the fetched parts it is."""

    rectangle: Rectangle
    number: int


@dataclass(frozen=True)
class BandArray:
    """An array of a launch as one band sees it.

    `given` are boxes with their bytes, `part` is fetched, `stored` is opened; `returned` are the boxes that go back.
    `whole`: all of it, which goes back whole (merged updates).
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    given: tuple[tuple[ByteBox, np.ndarray], ...] = ()
    part: FetchedPart | None = None
    stored: StoredPiece | None = None
    file: MappedFile | None = None
    returned: tuple[ByteBox, ...] = ()
    whole: np.ndarray | None = None

    def made(self, fetched: Sequence[np.ndarray]) -> np.ndarray:
        """Return the array: whole in its address space, with memory behind the bytes that are touched."""
        if self.file is not None:
            where = {"offset": self.file.offset, "shape": self.shape}
            mapped = np.memmap(self.file.path, self.dtype, "r+" if self.file.changed else "c", **where)  # type: ignore[call-overload]
            return np.ndarray(self.shape, self.dtype, mapped)
        if self.whole is not None:
            return self.whole.copy()
        array = lazy_array(self.shape, self.dtype)
        for box, content in self.given:
            box.of(array)[...] = content
        if self.part is not None:
            array[slices(self.part.rectangle)] = fetched[self.part.number]
        if self.stored is not None:
            self.stored.read_into(array)
        return array


@dataclass(frozen=True)
class BandWork:
    """The launch of one band. `module` is a pickled program; values are numbers or arrays, in order."""

    module: bytes = field(repr=False)
    kernel: str
    grid: tuple[int, int, int]
    begin: tuple[int, int, int]
    values: tuple[object, ...]
    target: str
    check: Check
    options: LaunchOptions


@dataclass(frozen=True)
class BandResult:
    """The result of a band: by parameter the bytes of its boxes, its output, or the trap that ended it."""

    boxes: dict[int, list[np.ndarray]]
    printed: str = ""
    trap: Trap | None = None


def run_band(work: BandWork, *fetched: np.ndarray) -> BandResult:
    """Run a band; whatever else it touches, it gives the same each time it is run."""
    values = [value.made(fetched) if isinstance(value, BandArray) else value for value in work.values]
    try:
        return _launched(work, values)
    finally:
        for value in values:
            _release(value)


def _release(value: object) -> None:
    """Give back the pages of an array, of a file too, whoever still knows it: what was written to a file stays."""
    while isinstance(value, np.ndarray):
        value = value.base
    if isinstance(value, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        value.madvise(mmap.MADV_DONTNEED)


def _launched(work: BandWork, values: list[object]) -> BandResult:
    printed: list[str] = []
    options: LaunchOptions = {**work.options, "output": printed.append}
    try:
        launch_kernel(_kernel(work.module, work.kernel), work.grid, values, work.target, work.check, options)
    except Trap as trap:
        return BandResult({}, "".join(printed), _placed(trap, work))
    found = [(at, value, array) for at, (value, array) in enumerate(zip(work.values, values))]
    for _, value, array in found:
        if isinstance(value, BandArray) and value.stored is not None:
            value.stored.write_from(np.asarray(array))
    boxes = {at: _returned(value, np.asarray(array)) for at, value, array in found if isinstance(value, BandArray)}
    return BandResult({at: contents for at, contents in boxes.items() if contents}, "".join(printed))


def _returned(value: BandArray, array: np.ndarray) -> list[np.ndarray]:
    return [np.array(box.of(array)) for box in value.returned] if value.whole is None else [array]


def _placed(trap: Trap, work: BandWork) -> Trap:
    """Return a trap with its tile block in the whole grid."""
    if trap.block is not None:
        x, y, z = (place + begin for place, begin in zip(trap.block, work.begin))
        trap.block = (x, y, z)
    return trap


@lru_cache(_KERNELS)
def _kernel(module: bytes, name: str) -> Kernel:
    """Return the kernel of a program that came here, compiled once."""
    found: Module = pickle.loads(module)
    return found[name]


def without_parts(result: BandResult, staying: frozenset[int]) -> BandResult:
    """Return a result less the bytes of some parameters."""
    return replace(result, boxes={at: boxes for at, boxes in result.boxes.items() if at not in staying})


def part_of(result: BandResult, parameter: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return the rectangle of an array that a band gives back."""
    (content,) = result.boxes[parameter]
    return content.reshape(-1).view(dtype).reshape(shape)
