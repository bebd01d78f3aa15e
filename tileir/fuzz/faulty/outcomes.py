"""Run a faulty program on arrays between canaries and forbidden pages, and compare what both targets say of it."""

from __future__ import annotations

import ctypes
import mmap
import warnings
from dataclasses import dataclass

import numpy as np

from tileir.fuzz.faulty.draft import ELEMENTS, FaultyArray, FaultyProgram
from tileir.host.kernel_warnings import KernelWarning
from tileir.ir.diagnostics import Trap, UnsupportedError, place_text
from tileir.runtime.module import Module
from tileir.runtime.options import Check, LaunchOptions
from tileir.text.parser import parse

CANARY = 0xA5
_PAGE = mmap.PAGESIZE
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class GuardedArray:
    """An array of zeros, `shape` elements of `dtype`, in pages of its own between two pages without access.

    ``at_end``: its last byte is the last before the page behind; otherwise its first byte is the first behind the page
    before. All other bytes of its pages are canaries, those between its elements too; `strides` count bytes.
    """

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype, at_end: bool) -> None:
        size = 0 if 0 in shape else dtype.itemsize + sum((n - 1) * step for n, step in zip(shape, strides))
        pages = max(1, -(-size // _PAGE))
        self._memory = mmap.mmap(-1, (pages + 2) * _PAGE)
        whole = np.frombuffer(self._memory, np.uint8)
        self._inner = whole[_PAGE : (pages + 1) * _PAGE]
        self._inner[:] = CANARY
        begin = self._inner.size - size if at_end else 0
        self.array = np.ndarray(shape, dtype, self._inner, begin, strides)
        self._beside = np.ones(self._inner.size, np.bool_)
        np.ndarray((*shape, dtype.itemsize), np.bool_, self._beside, begin, (*strides, 1))[...] = False
        self._inner[~self._beside] = 0
        for page in (0, pages + 1):
            _forbid(whole.ctypes.data + page * _PAGE)

    @property
    def intact(self) -> bool:
        """True if no byte outside its elements has changed."""
        return bool((self._inner[self._beside] == CANARY).all())


def _forbid(address: int) -> None:
    if _LIBC.mprotect(address, _PAGE, 0):
        raise OSError(ctypes.get_errno(), "mprotect")


MAX_ITERATIONS = 10_000
STRICT_EVERY = 3
"""One in this many programs runs in strict mode."""


@dataclass(frozen=True)
class FaultyOutcome:
    """The end of a launch: the trap in its parts, or None and the bytes of all arrays; what it warned of, if that was
    asked for; and whether canaries stand."""

    trap: tuple[object, ...] | None
    warnings: frozenset[tuple[object, ...]]
    arrays: tuple[bytes, ...]
    intact: bool


def difference(faulty: FaultyProgram) -> str | None:
    """Return the difference between the targets, or None: a line that similar differences share, then both in full.

    Both run on the same memory, so that addresses in messages are the same.
    """
    memories = [_memory(array) if isinstance(array, FaultyArray) else None for array in faulty.arguments]
    expected = outcome(faulty, memories, "interp")
    found = outcome(faulty, memories, "cpu")
    if not (expected.intact and found.intact):
        return f"bytes beside the elements of an array changed (interp {not expected.intact}, cpu {not found.intact})"
    if expected.trap != found.trap:
        return f"{_stops(expected.trap, found.trap)}\ninterp: {expected.trap}\ncpu: {found.trap}"
    if expected.warnings != found.warnings:
        return f"they warn differently\ninterp: {sorted(expected.warnings)}\ncpu: {sorted(found.warnings)}"
    if expected.trap is None and expected.arrays != found.arrays:
        return "the arrays differ"
    return None


def _stops(expected: tuple[object, ...] | None, found: tuple[object, ...] | None) -> str:
    """Return which targets stop, and where: an operation, or the class of an error that is no trap."""
    if expected is None or found is None:
        end, stops, other = (found, "cpu", "interp") if expected is None else (expected, "interp", "cpu")
        assert end is not None, "one of the two stops"
        return f"{stops} stops in {_where(end)}, {other} does not"
    ends = [_where(expected), _where(found)]
    if ends[0] != ends[1]:
        return f"interp stops in {ends[0]}, cpu in {ends[1]}"
    return f"both stop in {ends[0]}, " + ("saying different things" if expected[2:] == found[2:] else "at other places")


def _where(end: tuple[object, ...]) -> object:
    return end[1] if len(end) > 2 else end[0]


def outcome(faulty: FaultyProgram, memories: list[GuardedArray | None], target: str) -> FaultyOutcome:
    """Return the result of launching the program on refilled arrays; native code is unoptimised for every other
    seed."""
    seed = faulty.seed
    arguments: list[object] = []
    for given, memory in zip(faulty.arguments, memories):
        if isinstance(given, FaultyArray) and memory is not None:
            _fill(memory.array, given, seed)
        arguments.append(given if memory is None else memory.array)
    trap: tuple[object, ...] | None = None
    check: Check = True if seed % STRICT_EVERY else "strict"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            (kernel,) = Module.of(parse(faulty.text)).kernels.values()
            options: LaunchOptions = {"max_iterations": MAX_ITERATIONS}
            if target == "cpu":
                options["optimize"] = seed % 2 == 0
            kernel.launch((faulty.grid,), *arguments, target=target, check=check, **options)
        except Trap as error:
            trap = (error.message, error.op, place_text(error.loc), error.array, error.index, error.block)
        except (TypeError, ValueError, UnsupportedError) as error:
            trap = (type(error).__name__, str(error))
    used = [memory for memory in memories if memory is not None]
    intact, arrays = all(memory.intact for memory in used), tuple(memory.array.tobytes() for memory in used)
    return FaultyOutcome(trap, _reported(caught) if check == "strict" else frozenset(), arrays, intact)


def _reported(caught: list[warnings.WarningMessage]) -> frozenset[tuple[object, ...]]:
    found = [one.message for one in caught if isinstance(one.message, KernelWarning)]
    return frozenset((one.message, one.op, place_text(one.loc), one.block) for one in found)


def _memory(array: FaultyArray) -> GuardedArray:
    dtype = ELEMENTS[array.element]
    strides = tuple(stride * dtype.itemsize for stride in array.strides)
    return GuardedArray(array.shape, strides, dtype, array.at_end)


def _fill(memory: np.ndarray, array: FaultyArray, seed: int) -> None:
    """Give an array the numbers that the seed has for it."""
    values = np.random.default_rng([seed, array.count]).integers(0, array.below or 100, memory.shape)
    memory.flags.writeable = True
    memory[...] = (
        values.astype(np.int64) if memory.dtype.kind in "iub" else values.astype(np.float32).astype(memory.dtype)
    )
    memory.flags.writeable = array.writable
