"""Kernels of the rounds, made once in a process, and what each must do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

import numpy as np
import pytest

import tileir
from tests.cpu.native_programs import ASSERT, BLOCKS, MUTEX, PRINTS
from tests.safety.long_programs import BUSY, LOOP, SPIN, WAIT_FOR_LAST

NEVER = 1 << 62
"""A number of iterations that is never reached."""
Launch = Callable[[], object]


@cache
def kernel(text: str) -> tileir.Kernel:
    return tileir.parse(text)["k"]


# ---------------------------------------------------------------- launches that end


def _counts(random: Random, target: str) -> None:
    """Every tile block runs once."""
    out = np.zeros(random.choice((1, 7, 64, 400)) if target == "cpu" else 5, np.int32)
    kernel(BLOCKS).launch(out.size, out, target=target, **_threads(random, target))
    assert (out == 1).all(), f"{np.count_nonzero(out != 1)} of {out.size} tile blocks did not run once"


def _locks(random: Random, target: str) -> None:
    lock, count, blocks = np.zeros(1, np.int32), np.zeros(1, np.int32), random.choice((1, 5, 40))
    kernel(MUTEX).launch(blocks, lock, count, target=target, **_threads(random, target))
    assert (lock[0], count[0]) == (0, blocks)


def _waits(random: Random, target: str) -> None:
    flag, count, blocks = np.zeros(1, np.int32), np.zeros(1, np.int32), random.choice((2, 9, 60))
    kernel(WAIT_FOR_LAST).launch(blocks, flag, count, blocks - 1, target=target, **_threads(random, target))
    assert count[0] == blocks


def _prints(random: Random, target: str) -> None:
    texts: list[str] = []
    kernel(PRINTS).launch(6, target=target, output=texts.append)
    assert "".join(texts) == "0 1 2 3 4 5 ", texts


def _traps(random: Random, target: str) -> None:
    with pytest.raises(tileir.Trap) as caught:
        kernel(ASSERT).launch(40, 20, target=target, **_threads(random, target))
    trap = caught.value
    assert (trap.block, trap.index, trap.op) == ((13, 0, 0), (7,), "assert"), str(trap)


def _times_out(random: Random, target: str) -> None:
    out = np.zeros(4, np.float32)
    limits = {"timeout": random.uniform(1e-4, 0.02), "max_iterations": NEVER}
    with pytest.raises(tileir.LaunchTimeout):
        kernel(LOOP).launch(4, out, NEVER, target=target, **limits, **_threads(random, target))
    stays(out)


ENDING = (_counts, _counts, _locks, _waits, _prints, _traps, _times_out)


def right(random: Random) -> None:
    """A launch that ends, on any target. Raises AssertionError if it does anything wrong."""
    random.choice(ENDING)(random, "cpu" if random.random() < 0.8 else "interp")


def stays(array: np.ndarray) -> None:
    """Nobody writes to the array of a launch that has ended."""
    before = array.copy()
    for _ in range(50):
        assert np.array_equal(array, before), "an array changed after its launch had ended"


# ---------------------------------------------------------------- launches that never end


def endless(random: Random) -> tuple[Launch, np.ndarray]:
    """A launch that only an interrupt ends, and its array."""
    target = "cpu" if random.random() < 0.7 else "interp"
    options = {"max_iterations": NEVER, **_threads(random, target)}
    text, blocks = random.choice(((LOOP, 1), (LOOP, 30), (BUSY, 3), (SPIN.replace("ORDER", "acquire device"), 50)))
    if text is LOOP:
        out, more = np.zeros(blocks, np.float32), (NEVER,)
    else:
        out, more = np.zeros(1, np.int32), ()
    return lambda: kernel(text).launch(blocks, out, *more, target=target, **options), out


def often(random: Random) -> tuple[Launch, np.ndarray]:
    """Short launches, one after the other, until an interrupt comes."""
    out = np.zeros(64, np.int32)

    def again() -> None:
        while True:
            kernel(BLOCKS).launch(64, out, threads=random.choice((1, 2, 3)))

    return again, out


def compiles(random: Random) -> tuple[Launch, np.ndarray]:
    """Programs that no cache holds, read, compiled and launched until an interrupt comes."""
    out = np.zeros(4, np.int32)

    def again() -> None:
        while True:
            number = random.randrange(1 << 30)
            tileir.parse(BLOCKS.replace("<i32: 1>", f"<i32: {number}>"))["k"].launch(4, out)

    return again, out


def _threads(random: Random, target: str) -> dict[str, int]:
    count = random.choice((None, 1, 2, 5))
    return {} if target != "cpu" or count is None else {"threads": count}
