"""Tokens order the memory accesses of a tile block's threads; acquire and release order those of blocks; atomics are
whole.

Each program is run on many blocks and for many rounds, as failures here are occasional.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

import tileir
from tests.differential import assert_equal
from tests.gpu.hardware import hardware_litmus as litmus
from tests.gpu.hardware.hardware_device import Device
from tests.gpu.test_ttir_atomics import DTYPES, STEPS
from tests.gpu.test_ttir_atomics import arguments as atomic_arguments
from tests.gpu.test_ttir_atomics import kernel as atomic_kernel

COUNTS = (1024, 32, 4, 4096)
RANDOM = 7


def sizes(device: Device, blocks: int, rounds: int) -> tuple[int, int]:
    """Blocks and rounds; the machine does a few."""
    return (3, 2) if device.rehearsal else (blocks, rounds)


def kernel_of(text: str) -> tileir.Kernel:
    return tileir.parse(text)["k"]


# ---------------------------------------------------------------- the threads of a block


@pytest.mark.parametrize("place", ["%memory", "%scratch"], ids=["array", "alloca"])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("element", ["i32", "i16", "f32", "i64"])
def test_a_lane_reads_what_another_lane_wrote_before(device: Device, element: str, count: int, place: str) -> None:
    blocks, rounds = sizes(device, 200, 100)
    memory, result = (np.zeros(blocks * count, f"{element[0]}{int(element[1:]) // 8}") for _ in range(2))
    found = device.outcome(kernel_of(litmus.mirrored(element, count, place)), (blocks,), [memory, result, rounds])
    mirror = np.arange(count)[::-1]
    expected = rounds * (rounds - 1) // 2 + rounds * mirror
    np.testing.assert_array_equal(
        found.arrays[1].reshape(blocks, count), np.tile(expected, (blocks, 1)).astype(result.dtype)
    )


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("element", ["i32", "i8", "f16"])
def test_a_lane_writes_where_another_lane_has_read_before(device: Device, element: str, count: int) -> None:
    blocks, rounds = sizes(device, 200, 101)
    memory = (
        np.random.default_rng(RANDOM)
        .integers(-100, 100, (blocks, count))
        .astype(f"{element[0]}{int(element[1:]) // 8}")
    )
    found = device.outcome(kernel_of(litmus.reversed_in_place(element, count)), (blocks,), [memory, rounds])
    np.testing.assert_array_equal(found.arrays[0], memory[:, ::-1] if rounds % 2 else memory)


@pytest.mark.parametrize("extent", [64, 16, 128])
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_a_tile_is_transposed_in_place(device: Device, element: str, extent: int) -> None:
    blocks, rounds = sizes(device, 100, 51)
    memory = np.random.default_rng(RANDOM).standard_normal((blocks, extent, extent)).astype(f"f{int(element[1:]) // 8}")
    kernel = kernel_of(litmus.transposed_in_place(element, extent))
    found = device.outcome(kernel, (blocks,), [memory, blocks * extent, rounds])
    np.testing.assert_array_equal(found.arrays[0], memory.swapaxes(1, 2) if rounds % 2 else memory)


@pytest.mark.parametrize("count", [256, 32, 2048])
def test_scalars_and_tiles_see_each_other(device: Device, count: int) -> None:
    blocks, rounds = sizes(device, 100, 30)
    memory, result = (np.zeros(blocks * count, np.int32) for _ in range(2))
    device.assert_like_interpreter(
        kernel_of(litmus.scalars_and_tiles(count)), (3,), [memory[: 3 * count], result[: 3 * count], rounds]
    )
    found = device.outcome(kernel_of(litmus.scalars_and_tiles(count)), (blocks,), [memory, result, rounds])
    rows = found.arrays[1].reshape(blocks, count)
    assert (rows == rows[0]).all()


# ---------------------------------------------------------------- blocks


@pytest.mark.parametrize("fetch", ["load", "cas", "rmw"])
@pytest.mark.parametrize("scope", ["device", "sys"])
@pytest.mark.parametrize("count", [1024, 64])
def test_what_a_block_wrote_is_seen_by_the_one_that_waits_for_it(
    device: Device, scope: str, fetch: str, count: int
) -> None:
    """Blocks wait for those before them only, which start no later."""
    blocks, _ = sizes(device, 300, 0)
    flags, data = np.zeros(blocks + 1, np.int32), np.arange(count, dtype=np.int32)
    flags[0] = 1
    found = device.outcome(kernel_of(litmus.passed_on(count, scope, fetch)), (blocks,), [flags, data])
    assert (found.arrays[0] == 1).all()
    turned = data[::-1] if blocks % 2 else data
    np.testing.assert_array_equal(found.arrays[1], turned + blocks)


@pytest.mark.parametrize("count", [1024, 32])
def test_a_lock_guards_weak_accesses(device: Device, count: int) -> None:
    blocks, _ = sizes(device, 500, 0)
    lock, data = np.zeros(1, np.int32), np.zeros(count, np.int32)
    found = device.outcome(kernel_of(litmus.locked(count)), (blocks,), [lock, data])
    assert found.arrays[0][0] == 0
    assert (found.arrays[1] == blocks).all()


# ---------------------------------------------------------------- atomics


@pytest.mark.parametrize("count", [0, 1, 32, 512])
def test_every_kind_of_update_leaves_and_gives_what_it_does_in_the_interpreter(device: Device, count: int) -> None:
    """Every mode, order, scope, with and without a mask, each element at an address of its own."""
    kernel, args = atomic_kernel(STEPS, count), atomic_arguments(STEPS, count, distinct=True)
    device.assert_like_interpreter(kernel, (1,), args)


COMBINED = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "umax": lambda x, y: np.maximum(x.view(f"u{x.itemsize}"), y.view(f"u{y.itemsize}")).view(x.dtype),
    "umin": lambda x, y: np.minimum(x.view(f"u{x.itemsize}"), y.view(f"u{y.itemsize}")).view(x.dtype),
    "addf": np.add,
}
UPDATES = [(mode, element) for mode in COMBINED for element in ("i32", "i64") if mode != "addf"]
UPDATES += [("addf", element) for element in ("f16", "bf16", "f32", "f64")]


@pytest.mark.parametrize("targets", [1, 7, 64])
@pytest.mark.parametrize(("mode", "element"), UPDATES)
def test_updates_of_one_address_by_many_are_all_applied(device: Device, mode: str, element: str, targets: int) -> None:
    blocks, _ = sizes(device, 64, 0)
    memory, arguments = updates(mode, element, blocks, 128, targets)
    kernel = kernel_of(litmus.updated_by_all(mode, element, 128, targets))
    found = device.outcome(kernel, (blocks,), [memory, arguments, np.zeros_like(arguments)])
    by_lane = arguments.reshape(blocks, 128)
    for target in range(targets):
        mine = by_lane[:, target::targets].reshape(-1, 1)
        expected = reduce(COMBINED[mode], [memory[target : target + 1], *mine])
        assert_equal(expected, found.arrays[0][target : target + 1], True, f"element {target}")


def updates(mode: str, element: str, blocks: int, count: int, targets: int) -> tuple[np.ndarray, np.ndarray]:
    """Memory and arguments; sums of floats are so small that they are exact in any order."""
    random = np.random.default_rng(RANDOM)
    if mode != "addf":
        wide = random.integers(-(1 << 62), 1 << 62, targets + blocks * count).astype(DTYPES[element])
        return wide[:targets], wide[targets:]
    given = np.zeros(blocks * count)
    given[:: count // 4] = random.integers(-1, 2, given[:: count // 4].size)
    return random.integers(-8, 8, targets).astype(DTYPES[element]), given.astype(DTYPES[element])


@pytest.mark.parametrize("how", ["relaxed device", "acq_rel sys"])
@pytest.mark.parametrize("element", ["i32", "i64"])
def test_each_update_finds_a_count_of_its_own(device: Device, element: str, how: str) -> None:
    blocks, _ = sizes(device, 64, 0)
    memory, arguments = np.zeros(1, DTYPES[element]), np.ones(blocks * 256, DTYPES[element])
    kernel = kernel_of(litmus.updated_by_all("add", element, 256, 1, how))
    found = device.outcome(kernel, (blocks,), [memory, arguments, np.zeros_like(arguments)])
    assert sorted(found.arrays[2].tolist()) == list(range(blocks * 256))


@pytest.mark.parametrize("element", ["i32", "i64", "f32", "f64"])
def test_what_is_exchanged_is_neither_lost_nor_doubled(device: Device, element: str) -> None:
    blocks, _ = sizes(device, 64, 0)
    memory, arguments = np.array([-1], DTYPES[element]), np.arange(blocks * 256).astype(DTYPES[element])
    kernel = kernel_of(litmus.updated_by_all("xchg", element, 256, 1))
    found = device.outcome(kernel, (blocks,), [memory, arguments, np.zeros_like(arguments)])
    assert sorted([*found.arrays[2].tolist(), *found.arrays[0].tolist()]) == list(range(-1, blocks * 256))


@pytest.mark.parametrize("targets", [1, 5, 256])
def test_one_of_many_that_compare_and_swap_wins(device: Device, targets: int) -> None:
    blocks, _ = sizes(device, 64, 0)
    memory, seen = np.full(targets, -1, np.int32), np.zeros(blocks * 256, np.int32)
    found = device.outcome(kernel_of(litmus.claimed_once(256, targets)), (blocks,), [memory, seen])
    winners, old = found.arrays
    for number, before in enumerate(old.tolist()):
        target = number % 256 % targets
        assert before == (-1 if winners[target] == number else winners[target])


@pytest.mark.parametrize(("mode", "element"), UPDATES)
def test_tiles_are_combined_through_views_by_many_blocks(device: Device, mode: str, element: str) -> None:
    blocks, _ = sizes(device, 32, 0)
    random = np.random.default_rng(RANDOM)
    memory, argument = (random.integers(-2, 2, shape).astype(DTYPES[element]) for shape in ((24, 40), (16, 32)))
    found = device.outcome(kernel_of(litmus.reduced_through_view(mode, element)), (blocks,), [memory, argument])
    expected = memory.copy()
    for _ in range(blocks):
        expected[16:, :32] = COMBINED[mode](expected[16:, :32].copy(), argument[:8].copy())
    assert_equal(expected, found.arrays[0], True, "the tensor")
