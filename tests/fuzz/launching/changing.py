"""Millions of short launches from several threads, whose arguments change each time; a few are wrong.

    python -m tests.fuzz.launching.changing --launches 10000000

Every launch looks at what it wrote, and at its neighbours. At the end the process must not have grown, and nothing may
hold an argument any more.
"""

from __future__ import annotations

import argparse
import array
import gc
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

import tileir

TEXT = """
entry @put(%out: tile<ptr<i32>>, %n: tile<i32>, %f: tile<f32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %at = offset %out, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %whole = ftoi %f signed : tile<f32> -> tile<i32>
  %s = addi %n, %whole : tile<i32>
  %v = addi %s, %x : tile<i32>
  %t = store_ptr_tko weak %at, %v : tile<ptr<i32>>, tile<i32> -> token
}
entry @scale(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>, %by: tile<f32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %from = make_tensor_view %a, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %to = make_tensor_view %b, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %p = make_partition_view %from : partition_view<tile=(8), tensor_view<?xf32, strides=[1]>>
  %q = make_partition_view %to : partition_view<tile=(8), tensor_view<?xf32, strides=[1]>>
  %v, %t = load_view_tko weak %p[%x] : partition_view<tile=(8), tensor_view<?xf32, strides=[1]>>, tile<i32>
    -> tile<8xf32>, token
  %one = reshape %by : tile<f32> -> tile<1xf32>
  %all = broadcast %one : tile<1xf32> -> tile<8xf32>
  %w = mulf %v, %all : tile<8xf32>
  %u = store_view_tko weak %w, %q[%x] : tile<8xf32>, partition_view<tile=(8), tensor_view<?xf32, strides=[1]>>,
    tile<i32> -> token
}
"""
LONGEST = 40
WARM_UP = 20_000
"""Launches before the memory of the process is read."""
GROWTH_MIB = 24
Try = Callable[[Random, "Arrays"], None]


class Arrays:
    """The arrays of one thread, which its launches take parts of."""

    def __init__(self) -> None:
        self.numbers, self.given, self.made = (
            np.zeros(LONGEST + 8, dtype) for dtype in (np.int32, np.float32, np.float32)
        )
        self.given[:] = np.arange(LONGEST + 8)
        self.lent = array.array("i", bytes(4 * LONGEST))
        self.locked = np.zeros(8, np.int32)
        self.locked.flags.writeable = False
        self.odd = (np.zeros(8, np.int64), np.zeros(8, ">i4"), self.numbers[::-1], self.locked, None, "x", [1, 2])
        self.shared = _tensors(self.numbers)


def _tensors(numbers: np.ndarray) -> object:
    """Return a tensor of the same memory, where torch is installed."""
    try:
        import torch
    except ImportError:
        return None
    return torch.from_numpy(numbers)


def _puts(random: Random, arrays: Arrays) -> None:
    """Numbers into some elements, from any of them on; the ones around stay."""
    begin, blocks, number = int(random.random() * 8), 1 + int(random.random() * 8), int(random.random() * 1000)
    kind = random.random()
    numbers = arrays.numbers
    numbers[begin + blocks] = -1
    if kind < 0.6 or arrays.shared is None:
        target: object = numbers[begin:] if kind < 0.3 else numbers[begin : begin + blocks].reshape(1, -1)
    else:
        target = arrays.shared[begin : begin + blocks]  # type: ignore[index]
    KERNELS["put"].launch((blocks, 1) if number & 1 else blocks, target, number, 2.5)
    assert numbers[begin] == number + 2 and numbers[begin + blocks - 1] == number + 1 + blocks, "a wrong number"
    assert numbers[begin + blocks] == -1, "a neighbour was written"


def _scales(random: Random, arrays: Arrays) -> None:
    """A view of a length that changes, of one array into another or the same."""
    begin, length, by = int(random.random() * 8), 1 + int(random.random() * (LONGEST - 1)), float(random.random())
    made = arrays.made
    made[begin + length] = -1
    KERNELS["scale"].launch((length + 7) // 8, arrays.given[begin:], made[begin:], length, by)
    last = begin + length - 1
    assert made[last] == np.float32(by) * np.float32(last), "a wrong product"
    assert made[last + 1] == -1, "a neighbour was written"


def _spaced(random: Random, arrays: Arrays) -> None:
    """An array with gaps, which the launch may not write into."""
    number = int(random.random() * 1000)
    arrays.numbers[:4] = -1
    KERNELS["put"].launch(1, arrays.numbers[:8:2], number, 0.0)
    assert arrays.numbers[:4].tolist() == [number, -1, -1, -1], "not what an array with gaps has"
    try:
        KERNELS["put"].launch(2, arrays.numbers[:8:2], number, 1.0)
    except tileir.Trap:
        assert arrays.numbers[1] == -1, "a gap was written"
        return
    raise AssertionError("a gap was not noticed")


def _lends(random: Random, arrays: Arrays) -> None:
    number = int(random.random() * 1000)
    KERNELS["put"].launch(3, arrays.lent, number, 0.0)
    assert arrays.lent[2] == number + 2, "a wrong number in a buffer"


def _is_wrong(random: Random, arrays: Arrays) -> None:
    """An argument that is refused."""
    odd = arrays.odd[int(random.random() * len(arrays.odd))]
    good = arrays.numbers
    wrong = ((1, odd, 1, 1.0), (1, good, odd, 1.0), (1, good, 1 << 32, 1.0), (1, good, 1), (0, good, 1, 1.0))
    chosen = wrong[int(random.random() * len(wrong))]
    try:
        KERNELS["put"].launch(*chosen)
    except (TypeError, ValueError):
        return
    raise AssertionError(f"{chosen!r:.80} was taken")


def _is_outside(random: Random, arrays: Arrays) -> None:
    """A tile block behind the end of its array: a trap, and nothing written there."""
    end = 1 + int(random.random() * 8)
    arrays.numbers[end] = -1
    try:
        KERNELS["put"].launch(end + 1, arrays.numbers[:end], 5, 0.0)
    except tileir.Trap:
        assert arrays.numbers[end] == -1, "an element behind the end was written"
        return
    raise AssertionError("an access outside was not noticed")


USUAL: tuple[Try, ...] = (_puts, _puts, _scales)
SELDOM: tuple[Try, ...] = (_spaced, _lends, _is_wrong, _is_outside)
ONE_IN = 200
"""One launch in so many is of an unusual kind."""
KERNELS = tileir.parse(TEXT).kernels


def launches(count: int, threads: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Launch `count` times on so many threads. Return the faults, and how many launches of each kind there were."""
    wrong: list[str] = []
    kinds: Counter[str] = Counter()
    arrays = [Arrays() for _ in range(threads)]
    before = _references(arrays)
    shares = [
        threading.Thread(target=_share, args=(count // threads, Random(f"{seed} {n}"), mine, wrong, kinds))
        for n, mine in enumerate(arrays)
    ]
    for thread in shares:
        thread.start()
    for thread in shares:
        thread.join()
    gc.collect()  # a trap holds its launch in a cycle
    after = _references(arrays)
    if after != before:
        wrong.append(f"references to arguments were {before}, now they are {after}")
    return wrong, kinds


def _references(arrays: list[Arrays]) -> list[int]:
    return [sys.getrefcount(one) for each in arrays for one in (each.numbers, each.given, each.made, each.lent)]


def _share(count: int, random: Random, arrays: Arrays, wrong: list[str], kinds: Counter[str]) -> None:
    mine = Counter[str]()
    try:
        for _ in range(count):
            among = USUAL if random.random() * ONE_IN > 1 else SELDOM
            chosen = among[int(random.random() * len(among))]
            chosen(random, arrays)
            mine[chosen.__name__] += 1
    except Exception as error:
        wrong.append(f"after {mine.total()} launches: {type(error).__name__}: {error}")
    kinds.update(mine)


def resident_mib() -> float | None:
    """Return the memory of this process, where the system tells it."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return None
    return int(pages) * 4096 / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.launching.changing", description=__doc__)
    parser.add_argument("--launches", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    launches(WARM_UP, options.threads, options.seed + 1)
    before, start = resident_mib(), time.perf_counter()
    found, kinds = launches(options.launches, options.threads, options.seed)
    after, spent = resident_mib(), time.perf_counter() - start
    if before is not None and after is not None and after - before > GROWTH_MIB:
        found.append(f"the process grew from {before:.0f} to {after:.0f} MiB")
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{sum(kinds.values())} launches in {spent:.0f} s, {len(found)} findings; memory {before} to {after} MiB")
    print(*(f"{name[1:]} {count}" for name, count in sorted(kinds.items())), sep=", ")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
