"""A faulty program on two targets: both do the same.

Knows: what of a launch is compared: its trap in all parts, its warnings, its arrays, the bytes around them. Does not
know: how programs are made (`programs`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from tileir.fuzz.faulty.draft import ELEMENTS, FaultyArray, FaultyProgram
from tileir.fuzz.faulty.guarded import GuardedArray
from tileir.fuzz.faulty.programs import program
from tileir.host.kernel_warnings import KernelWarning
from tileir.ir.diagnostics import Trap, UnsupportedError, place_text
from tileir.runtime.module import Module
from tileir.runtime.options import Check, LaunchOptions
from tileir.text.parser import parse

MAX_ITERATIONS = 10_000
STRICT_EVERY = 3
"""One program of so many is run in strict mode."""


@dataclass(frozen=True)
class FaultyOutcome:
    """The end of a launch: the trap in its parts, or None and the bytes of all arrays; what it warned of, if that was
    asked for; and whether canaries stand."""

    trap: tuple[object, ...] | None
    warnings: frozenset[tuple[object, ...]]
    arrays: tuple[bytes, ...]
    intact: bool


def difference(seed: int) -> str | None:
    """In what the targets differ, or None. Both run on the same memory, so that addresses in messages are the same."""
    faulty = program(seed)
    memories = [_memory(array) if isinstance(array, FaultyArray) else None for array in faulty.arguments]
    expected, found = (outcome(faulty, memories, seed, target) for target in ("interp", "cpu"))
    if not (expected.intact and found.intact):
        return f"bytes beside an array changed (interp {not expected.intact}, cpu {not found.intact})"
    if expected.trap != found.trap:
        return f"interp: {expected.trap}; cpu: {found.trap}"
    if expected.warnings != found.warnings:
        return f"interp warns: {sorted(expected.warnings)}; cpu: {sorted(found.warnings)}"
    if expected.trap is None and expected.arrays != found.arrays:
        return "the arrays differ"
    return None


def outcome(faulty: FaultyProgram, memories: list[GuardedArray | None], seed: int, target: str) -> FaultyOutcome:
    """What launching the program gives, on the arrays filled anew; native code is of every other one as it is."""
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
            kernel = Module.of(parse(faulty.text))["k"]
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
    return GuardedArray((array.count,), ELEMENTS[array.element], array.at_end)


def _fill(memory: np.ndarray, array: FaultyArray, seed: int) -> None:
    """Give an array the numbers that the seed has for it."""
    values = np.random.default_rng([seed, array.count]).integers(0, array.below or 100, array.count)
    memory.flags.writeable = True
    memory[:] = (
        values.astype(np.int64) if memory.dtype.kind in "iub" else values.astype(np.float32).astype(memory.dtype)
    )
    memory.flags.writeable = array.writable
