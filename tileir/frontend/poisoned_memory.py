"""Unwritten memory: the result of `numpy.empty` and `torch.empty` while kernels run under the sanitizer.

Such memory is filled with a pattern that lies at fixed addresses modulo 16. Bytes that still hold the pattern when a
kernel is launched are unwritten; nobody writes these sixteen bytes there by accident.

Elements of bool are left alone, as some bytes are no bool.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tileir.host.allocation import Allocation, Runs
from tileir.host.patching import when_imported

if TYPE_CHECKING:
    import torch

PATTERN = np.frombuffer(bytes.fromhex("a7d3916cf25e8b4d93e1b75ac86d2f95"), np.uint8)
PERIOD = PATTERN.size
LEAST = 4
"""Bytes of the pattern at the end of an array that are no accident."""

Function = Callable[..., Any]
NUMPY = ("empty", "empty_like")
TORCH = ("empty", "empty_like", "empty_strided")


class PoisonedMemory:
    """Between `install` and `remove` memory that is not initialised holds the pattern."""

    def __init__(self) -> None:
        self._replaced: list[tuple[object, str, Function, Function]] = []
        self._active = False

    def install(self) -> None:
        self._active = True
        for name in NUMPY:
            self._replace(np, name, _mark_array)
        when_imported("torch", self._install_torch)

    def _install_torch(self, torch: ModuleType) -> None:
        if self._active:
            for name in TORCH:
                self._replace(torch, name, _mark_tensor)
            self._replace(torch.Tensor, "new_empty", _mark_tensor)

    def _replace(self, owner: object, name: str, mark: Callable[[Any], None]) -> None:
        original: Function = getattr(owner, name)

        @functools.wraps(original)
        def marking(*given: object, **named: object) -> object:
            result = original(*given, **named)
            mark(result)
            return result

        setattr(owner, name, marking)
        self._replaced.append((owner, name, original, marking))

    def remove(self) -> None:
        self._active = False
        for owner, name, original, marking in self._replaced:
            if getattr(owner, name) is marking:
                setattr(owner, name, original)
        self._replaced.clear()


def _mark_array(array: np.ndarray) -> None:
    if array.size and not array.dtype.hasobject and array.dtype != np.bool_:
        _fill(array.__array_interface__["data"][0], array.nbytes)


def _mark_tensor(tensor: torch.Tensor) -> None:
    torch = sys.modules["torch"]
    if tensor.device.type != "cpu" or tensor.layout is not torch.strided or tensor.dtype is torch.bool:
        return
    storage = tensor.untyped_storage()
    if storage.nbytes() and not tensor.is_quantized:
        _fill(storage.data_ptr(), storage.nbytes())


def _fill(address: int, size: int) -> None:
    head, middle, tail = _parts(Allocation("fresh", address, (Runs(0, size),)))
    head[...] = _from(address)[: head.size]
    middle[...] = PATTERN
    tail[...] = PATTERN[: tail.size]


def unwritten(memory: Allocation) -> np.ndarray | None:
    """Return a mask of the bytes of memory that still hold the pattern; None if there are none."""
    head, middle, tail = _parts(memory)
    begins, ends = _holds(head, _from(memory.base)), _holds(tail, PATTERN)
    same = (middle.view(np.uint64) == PATTERN.view(np.uint64)).all(1)
    if not (begins or ends or same.any()):
        return None
    first, last = np.full(head.size, begins), np.full(tail.size, ends)
    return np.concatenate([first, same.repeat(PERIOD), last])


def _parts(memory: Allocation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bytes up to a multiple of the period, whole periods as rows, and the rest."""
    data, head = memory.bytes, min(-memory.base % PERIOD, memory.size)
    end = head + (memory.size - head) // PERIOD * PERIOD
    return data[:head], data[head:end].reshape(-1, PERIOD), data[end:]


def _from(address: int) -> np.ndarray:
    """Return the pattern from an address to the end of its period."""
    return PATTERN[address % PERIOD :]


def _holds(part: np.ndarray, pattern: np.ndarray) -> bool:
    return part.size >= LEAST and bool((part == pattern[: part.size]).all())
