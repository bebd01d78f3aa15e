"""The corpus of the sanitizer in cuTile Python: faulty kernels beside their mended twins.

At a line, ``!kind`` is a finding there and ``&kind`` its other place; ``kind.1`` tells several of one kind apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cuda.tile as ct
import numpy as np

RELAXED, ACQUIRE, RELEASE = ct.MemoryOrder.RELAXED, ct.MemoryOrder.ACQUIRE, ct.MemoryOrder.RELEASE
ACQ_REL, BLOCK, DEVICE = ct.MemoryOrder.ACQ_REL, ct.MemoryScope.BLOCK, ct.MemoryScope.DEVICE


@dataclass(frozen=True)
class Pair:
    """The launch of two twins: tile blocks, and arrays made anew for each."""

    blocks: int
    arrays: Callable[[], tuple[object, ...]]


def zeros(*sizes: int, dtype: type = np.float32) -> Callable[[], tuple[object, ...]]:
    return lambda: tuple(np.zeros(size, dtype) for size in sizes)


def counters(*sizes: int) -> Callable[[], tuple[object, ...]]:
    return zeros(*sizes, dtype=np.int32)


# ---------------------------------------------------------------- conflicts of tile blocks


@ct.kernel
def wrong_never_reads_its_block_id(x, out):
    ct.store(out, (0,), ct.load(x, (ct.bid(0),), (16,)))  # !race &race


@ct.kernel
def right_never_reads_its_block_id(x, out):
    ct.store(out, (ct.bid(0),), ct.load(x, (ct.bid(0),), (16,)))


@ct.kernel
def wrong_store_without_guard(x, out):
    total = ct.sum(ct.load(x, (0,), (16,)))
    ct.scatter(out, (0,), total)  # !race &race


@ct.kernel
def right_store_without_guard(x, out):
    total = ct.sum(ct.load(x, (0,), (16,)))
    if ct.bid(0) == 0:
        ct.scatter(out, (0,), total)


@ct.kernel
def wrong_histogram_read_in_the_same_launch(bins, out):
    ct.atomic_add(bins, (0,), 1)  # &race
    ct.scatter(out, (ct.bid(0),), ct.gather(bins, (0,)))  # !race


@ct.kernel
def right_histogram_read_in_the_same_launch(bins, out):
    ct.atomic_add(bins, (0,), 1)
    ct.scatter(out, (ct.bid(0),), ct.bid(0))


@ct.kernel
def wrong_init_guarded_but_not_the_final_store(out, parts):
    if ct.bid(0) == 0:
        ct.scatter(parts, (0,), 0)
    ct.scatter(parts, (ct.bid(0) + 1,), ct.bid(0))
    ct.scatter(out, (0,), ct.bid(0))  # !race &race


@ct.kernel
def right_init_guarded_but_not_the_final_store(out, parts):
    if ct.bid(0) == 0:
        ct.scatter(parts, (0,), 0)
    ct.scatter(parts, (ct.bid(0) + 1,), ct.bid(0))
    if ct.bid(0) == 0:
        ct.scatter(out, (0,), ct.bid(0))


@ct.kernel
def wrong_second_loop_loads_what_the_first_of_a_neighbour_stores(x, out):
    for i in range(2):
        ct.store(x, (2 * ct.bid(0) + i,), ct.full((16,), 1.0, ct.float32))  # &race
    for i in range(2):
        tile = ct.load(x, (2 * ct.bid(0) + i + 1,), (16,))  # !race
        ct.store(out, (2 * ct.bid(0) + i,), tile)


@ct.kernel
def right_second_loop_loads_what_the_first_of_a_neighbour_stores(x, out):
    for i in range(2):
        ct.store(x, (2 * ct.bid(0) + i,), ct.full((16,), 1.0, ct.float32))
    for i in range(2):
        tile = ct.load(x, (2 * ct.bid(0) + i,), (16,))
        ct.store(out, (2 * ct.bid(0) + i,), tile)


@ct.kernel
def wrong_maximum_in_two_steps(best, values):
    mine = ct.gather(values, (ct.bid(0),))
    if ct.gather(best, (0,)) <= mine:  # !race.1
        ct.scatter(best, (0,), mine)  # &race.1 !race.2 &race.2


@ct.kernel
def right_maximum_in_two_steps(best, values):
    ct.atomic_max(best, (0,), ct.gather(values, (ct.bid(0),)))


# ---------------------------------------------------------------- lanes, bounds, padding, memory that nobody wrote


@ct.kernel
def wrong_scatter_through_duplicates(x, out):
    places = ct.arange(16, dtype=ct.int32) // 2
    ct.scatter(out, places, ct.load(x, (0,), (16,)))  # !duplicate-lanes


@ct.kernel
def right_scatter_through_duplicates(x, out):
    ct.scatter(out, ct.arange(16, dtype=ct.int32), ct.load(x, (0,), (16,)))


@ct.kernel
def wrong_mask_of_one_array_for_a_shorter_one(x, y, out):
    places = ct.arange(16, dtype=ct.int32)
    tile = ct.gather(y, places, mask=places < x.shape[0], check_bounds=False)  # !out-of-bounds
    ct.scatter(out, places, tile)


@ct.kernel
def right_mask_of_one_array_for_a_shorter_one(x, y, out):
    places = ct.arange(16, dtype=ct.int32)
    tile = ct.gather(y, places, mask=places < y.shape[0], check_bounds=False)
    ct.scatter(out, places, tile, mask=places < y.shape[0])


@ct.kernel
def wrong_padding_in_a_variance(x, out):
    row = ct.load(x, (0,), (64,), padding_mode=ct.PaddingMode.ZERO)  # !padding
    centred = row - ct.sum(row) / x.shape[0]
    ct.scatter(out, (0,), ct.sum(centred * centred))  # &padding


@ct.kernel
def right_padding_in_a_variance(x, out):
    row = ct.load(x, (0,), (64,), padding_mode=ct.PaddingMode.ZERO)
    centred = ct.where(ct.arange(64, dtype=ct.int32) < x.shape[0], row - ct.sum(row) / x.shape[0], 0.0)
    ct.scatter(out, (0,), ct.sum(centred * centred))


@ct.kernel
def wrong_accumulates_into_nothing(x, out):
    ct.store(out, (0,), ct.load(out, (0,), (16,)) + ct.load(x, (0,), (16,)))  # !uninitialized &uninitialized


@ct.kernel
def right_accumulates_into_nothing(x, out):
    ct.store(out, (0,), ct.load(x, (0,), (16,)))


# ---------------------------------------------------------------- order between tile blocks


@ct.kernel
def wrong_last_block_done_relaxed(parts, done, out):
    ct.scatter(parts, (ct.bid(0),), ct.bid(0))  # &race
    if ct.atomic_add(done, (0,), 1, memory_order=RELAXED) == ct.num_blocks(0) - 1:
        ct.store(out, (0,), ct.load(parts, (0,), (4,)))  # !race


@ct.kernel
def right_last_block_done_relaxed(parts, done, out):
    ct.scatter(parts, (ct.bid(0),), ct.bid(0))
    if ct.atomic_add(done, (0,), 1, memory_order=ACQ_REL) == ct.num_blocks(0) - 1:
        ct.store(out, (0,), ct.load(parts, (0,), (4,)))


@ct.kernel
def wrong_split_k_semaphore_relaxed(out, turn):
    while ct.atomic_add(turn, (0,), 0, memory_order=RELAXED) != ct.bid(0):
        pass
    ct.scatter(out, (0,), ct.gather(out, (0,)) + ct.bid(0))  # !race.1 &race.1 !race.2 &race.2
    ct.atomic_add(turn, (0,), 1, memory_order=RELAXED)


@ct.kernel
def right_split_k_semaphore_relaxed(out, turn):
    while ct.atomic_add(turn, (0,), 0, memory_order=ACQUIRE) != ct.bid(0):
        pass
    ct.scatter(out, (0,), ct.gather(out, (0,)) + ct.bid(0))
    ct.atomic_add(turn, (0,), 1, memory_order=RELEASE)


@ct.kernel
def wrong_mutex_with_plain_unlock(total, lock):
    while ct.atomic_cas(lock, (0,), 0, 1, memory_order=ACQUIRE) != 0:  # !race.1
        pass
    ct.scatter(total, (0,), ct.gather(total, (0,)) + 1)  # !race.2 &race.2 !race.3 &race.3
    ct.scatter(lock, (0,), 0)  # &race.1 !race.4 &race.4


@ct.kernel
def right_mutex_with_plain_unlock(total, lock):
    while ct.atomic_cas(lock, (0,), 0, 1, memory_order=ACQUIRE) != 0:
        pass
    ct.scatter(total, (0,), ct.gather(total, (0,)) + 1)
    ct.atomic_xchg(lock, (0,), 0, memory_order=RELEASE)


@ct.kernel
def wrong_acquire_only_on_the_failed_swap(total, lock):
    while ct.atomic_cas(lock, (0,), 0, 1, memory_order=RELAXED) != 0:
        ct.atomic_cas(lock, (0,), 2, 2, memory_order=ACQUIRE)
    ct.scatter(total, (0,), ct.gather(total, (0,)) + 1)  # !race.2 &race.2 !race.3 &race.3
    ct.atomic_xchg(lock, (0,), 0, memory_order=RELEASE)


@ct.kernel
def right_acquire_only_on_the_failed_swap(total, lock):
    while ct.atomic_cas(lock, (0,), 0, 1, memory_order=ACQUIRE) != 0:
        pass
    ct.scatter(total, (0,), ct.gather(total, (0,)) + 1)
    ct.atomic_xchg(lock, (0,), 0, memory_order=RELEASE)


@ct.kernel
def wrong_look_back_with_block_scope(parts, state, out):
    ct.scatter(parts, (ct.bid(0) + 1,), ct.bid(0))  # &race.1
    ct.atomic_xchg(state, (ct.bid(0) + 1,), 1, memory_order=RELEASE, memory_scope=BLOCK)  # &race.2
    while ct.atomic_add(state, (ct.bid(0),), 0, memory_order=ACQUIRE, memory_scope=BLOCK) != 1:  # !race.2
        pass
    ct.scatter(out, (ct.bid(0),), ct.gather(parts, (ct.bid(0),)))  # !race.1


@ct.kernel
def right_look_back_with_block_scope(parts, state, out):
    ct.scatter(parts, (ct.bid(0) + 1,), ct.bid(0))
    ct.atomic_xchg(state, (ct.bid(0) + 1,), 1, memory_order=RELEASE, memory_scope=DEVICE)
    while ct.atomic_add(state, (ct.bid(0),), 0, memory_order=ACQUIRE, memory_scope=DEVICE) != 1:
        pass
    ct.scatter(out, (ct.bid(0),), ct.gather(parts, (ct.bid(0),)))


@ct.kernel
def wrong_sum_in_any_order(values, total):
    ct.atomic_add(total, (0,), ct.gather(values, (ct.bid(0),)))  # !order-dependent


@ct.kernel
def right_sum_in_any_order(values, total):
    if ct.bid(0) == 0:
        ct.scatter(total, (0,), ct.sum(ct.load(values, (0,), (4,))))


PAIRS = {
    "never_reads_its_block_id": Pair(4, zeros(64, 64)),
    "store_without_guard": Pair(4, zeros(16, 1)),
    "histogram_read_in_the_same_launch": Pair(4, counters(1, 4)),
    "init_guarded_but_not_the_final_store": Pair(3, counters(1, 4)),
    "second_loop_loads_what_the_first_of_a_neighbour_stores": Pair(3, zeros(112, 96)),
    "maximum_in_two_steps": Pair(3, lambda: (np.zeros(1, np.int32), np.arange(3, dtype=np.int32))),
    "scatter_through_duplicates": Pair(1, zeros(16, 16)),
    "mask_of_one_array_for_a_shorter_one": Pair(1, zeros(12, 8, 16)),
    "padding_in_a_variance": Pair(1, lambda: (np.arange(50, dtype=np.float32), np.zeros(1, np.float32))),
    "accumulates_into_nothing": Pair(1, lambda: (np.zeros(16, np.float32), np.empty(16, np.float32))),
    "last_block_done_relaxed": Pair(4, counters(4, 1, 4)),
    "split_k_semaphore_relaxed": Pair(3, counters(1, 1)),
    "mutex_with_plain_unlock": Pair(3, counters(1, 1)),
    "acquire_only_on_the_failed_swap": Pair(3, counters(1, 1)),
    "look_back_with_block_scope": Pair(3, lambda: (*counters(4)(), np.array([1, 0, 0, 0], np.int32), *counters(3)())),
    "sum_in_any_order": Pair(4, lambda: (np.array([1e8, 1.0, -1e8, 1.0], np.float32), np.zeros(1, np.float32))),
}
