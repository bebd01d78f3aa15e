"""A GPU as the hardware tests see it: launches on copies of NumPy arrays, and their results.

Arrays travel to the memory of a device and back, nothing beside them may be written, and addresses are translated.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import tileir
from tests.differential import Outcome, assert_same, outcome
from tileir.runtime.arrays import Array
from tileir.runtime.module import DeviceTarget

GAP = 1 << 12
"""Bytes between two arrays."""
PERIOD = 1 << 8
"""An array begins as far behind a multiple of this as it does here: code relies on how addresses are aligned."""
UNTOUCHED = 0xC3
"""The byte between arrays."""


@dataclass(frozen=True)
class Device:
    """A target with memory of its own. The stand-in for hardware has `rehearsal` set."""

    target: DeviceTarget
    arch: str
    rehearsal: bool = False

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def is_open(self) -> bool:
        """True if it is the open route, whose prints and assertions come back to the host."""
        return self.name == "cuda"

    def launch(self, kernel: tileir.Kernel, grid: tuple[int, ...], *args: object, **options: object) -> None:
        """Run a kernel to its end. What the target cannot run by right ends the test."""
        try:
            kernel.launch(grid, *args, target=self.name, **options)
        except tileir.UnsupportedError as error:
            if self.is_open:
                raise
            pytest.skip(f"refused: {str(error)[:200]}")
        self.target.finish()

    def outcome(self, kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[object]) -> Outcome:
        """Outcome of a launch on copies of the arrays. Raises Trap only for a fault that ends the use of the GPU."""
        lent = Lent(self.target, [value for value in args if isinstance(value, np.ndarray)])
        printed: list[str] = []
        trap = None
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # outputs that there was no room for
            try:
                options = {"output": printed.append} if self.target.gives_output else {}
                self.launch(kernel, grid, *lent.instead_of(args), **options)
            except tileir.Trap as error:
                if error.op is None:
                    raise
                trap = error
        return Outcome(lent.fetched(), "".join(printed), trap)

    def assert_like_interpreter(
        self, kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[object], exact: bool = True
    ) -> Outcome:
        """The launch leaves the arrays, the text or the trap that it leaves in the interpreter."""
        first, second = outcome(kernel, grid, args, "interp"), self.outcome(kernel, grid, args)
        names = [f"array {number}" for number in range(len(first.arrays))]
        assert_same(first, self.without_text(second, first), [exact] * len(names), names)
        return second

    def without_text(self, found: Outcome, expected: Outcome) -> Outcome:
        """With the expected text where what is printed does not come back."""
        return found if self.is_open else Outcome(found.arrays, expected.printed, found.trap)


class Lent:
    """Copies of arrays in one piece of memory of the device."""

    def __init__(self, target: DeviceTarget, arrays: Sequence[np.ndarray]) -> None:
        self._target = target
        self._arrays = arrays
        self._starts = []
        end = GAP
        for array in arrays:
            assert array.flags.c_contiguous
            start = end + (_address(array) - end) % PERIOD
            self._starts.append(start)
            end = start + array.nbytes + GAP
        self._content = np.full(end, UNTOUCHED, np.uint8)
        for array, start in zip(arrays, self._starts):
            self._content[start : start + array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)
        self.memory = target.placed(self._content)
        assert self.memory.address % PERIOD == 0

    def instead_of(self, args: Sequence[object]) -> list[object]:
        """The arguments of a launch, with the copies in place of the arrays."""
        copies = (self._lent(array, start) for array, start in zip(self._arrays, self._starts))
        return [next(copies) if isinstance(value, np.ndarray) else value for value in args]

    def _lent(self, array: np.ndarray, start: int) -> Array:
        return self.memory._replace(
            address=self.memory.address + start,
            shape=array.shape,
            strides=array.strides,
            itemsize=array.itemsize,
            dtype=array.dtype,
        )

    def fetched(self) -> list[np.ndarray]:
        """The arrays as they are now, addresses in them as they would be here."""
        self._target.fetch(self.memory, self._content)
        self._assert_untouched()
        return [self._array(array, start) for array, start in zip(self._arrays, self._starts)]

    def _array(self, array: np.ndarray, start: int) -> np.ndarray:
        raw = self._content[start : start + array.nbytes]
        found = np.frombuffer(raw.tobytes(), array.dtype).reshape(array.shape).copy()
        return self._translated(found) if array.dtype in (np.int64, np.uint64) else found

    def _translated(self, numbers: np.ndarray) -> np.ndarray:
        """Addresses in or near a copy as those of the array."""
        flat = numbers.reshape(-1).view(np.uint64)
        places = flat - np.uint64(self.memory.address)
        for array, start in zip(self._arrays, self._starts):
            low, high = start - GAP // 2, start + array.nbytes + GAP // 2
            near = (places >= np.uint64(low)) & (places < np.uint64(high))
            flat[near] = places[near] - np.uint64(start) + np.uint64(_address(array))
        return numbers

    def _assert_untouched(self) -> None:
        beside = np.ones(len(self._content), np.bool_)
        for array, start in zip(self._arrays, self._starts):
            beside[start : start + array.nbytes] = False
        changed = np.flatnonzero(beside & (self._content != UNTOUCHED))
        if changed.size:
            number = int(np.searchsorted(self._starts, changed[0], side="right")) - 1
            offset = int(changed[0]) - (self._starts[number] if number >= 0 else 0)
            raise AssertionError(
                f"{changed.size} bytes outside the arrays were written, byte {offset} of array {number}"
            )


def _address(array: np.ndarray) -> int:
    found: int = array.__array_interface__["data"][0]
    return found
