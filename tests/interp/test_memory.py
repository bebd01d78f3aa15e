"""The checked address space: permitted accesses, reads and writes, and the messages of faults."""

import numpy as np
import pytest

from tileir.host.allocation import Allocation, Coverage, Runs, runs_of
from tileir.host.limits import MAX_STORAGE
from tileir.interp.cells import CELLS, CheckedAccess
from tileir.interp.faults import Fault
from tileir.interp.memory import QUARANTINE, UNINITIALISED, Memory
from tileir.ir import types as t

BLOCK = (0, 0, 0)


def given(array, name="a", **options):
    origin, runs = runs_of(array.shape, array.strides, array.itemsize)
    address = array.__array_interface__["data"][0]
    return Allocation(name, address - origin, (runs,), origin=address, keep=array, **options)


def at(array, elements, itemsize=None):
    """Addresses of elements counted from the first of `array`; negative ones lie before it."""
    base = array.__array_interface__["data"][0]
    offsets = np.asarray(elements, np.int64) * (itemsize or array.itemsize)
    return np.asarray(offsets.view(np.uint64) + np.uint64(base))


def numbers(*shape, dtype=np.float32):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def message(call):
    with pytest.raises(Fault) as caught:
        call()
    return caught.value


class TestInside:
    def test_loads_any_elements_of_an_array_in_any_shape(self):
        array = numbers(100)
        loaded = Memory([given(array)]).load(at(array, [[3, 99], [0, 3]]), t.F32)
        assert loaded.dtype == np.float32
        assert loaded.tolist() == [[3, 99], [0, 3]]

    def test_a_loaded_tile_does_not_change_when_memory_does(self):
        array = numbers(4)
        memory = Memory([given(array)])
        tile, one = memory.load(at(array, [0, 1, 2, 3]), t.F32), memory.load(at(array, 1), t.F32)
        array[:] = 9
        assert tile.tolist() == [0, 1, 2, 3]
        assert one == 1

    def test_stores_in_place(self):
        array = numbers(6)
        Memory([given(array)]).store(at(array, [5, 1]), np.array([50, 10], np.float32), t.F32)
        assert array.tolist() == [0, 10, 2, 3, 4, 50]

    def test_of_equal_addresses_the_last_in_row_major_order_stays(self):
        array = numbers(4)
        values = np.array([[1, 2], [3, 4]], np.float32).T
        Memory([given(array)]).store(at(array, [[2, 2], [2, 2]]), values, t.F32)
        assert array[2] == 4

    def test_rank_0_loads_and_stores_one_element(self):
        array = numbers(4)
        memory = Memory([given(array)])
        memory.store(at(array, 2), np.array(7, np.float32), t.F32)
        assert memory.load(at(array, 2), t.F32) == 7

    def test_one_tile_may_touch_several_arrays(self):
        first, second = numbers(4), numbers(4) + 10
        memory = Memory([given(first), given(second, "b")])
        addresses = np.stack([at(first, [1, 2]), at(second, [3, 0])])
        assert memory.load(addresses, t.F32).tolist() == [[1, 2], [13, 10]]
        memory.store(addresses, np.array([[5, 6], [7, 8]], np.float32), t.F32)
        assert first.tolist() == [0, 5, 6, 3]
        assert second.tolist() == [8, 11, 12, 7]

    def test_memory_may_be_read_as_another_element_type(self):
        array = np.array([1.0], np.float32)
        assert Memory([given(array)]).load(at(array, 0), t.I32) == 0x3F800000

    def test_an_unaligned_array_can_be_used_by_single_bytes(self):
        array = np.zeros(9, np.uint8)[1:].view(np.int8)
        memory = Memory([given(array)])
        memory.store(at(array, [0, 7]), np.array([1, 2], np.int8), t.I8)
        assert array.tolist() == [1, 0, 0, 0, 0, 0, 0, 2]


class TestMasks:
    def test_masked_off_elements_are_not_accessed_and_read_as_zero(self):
        array = numbers(2) + 5
        mask = np.array([True, False, False])
        assert Memory([given(array)]).load(at(array, [1, 900, -7]), t.F32, mask).tolist() == [6, 0, 0]

    def test_masked_off_elements_read_as_the_padding(self):
        array, padding = numbers(2), np.array([7, 8], np.float32)
        loaded = Memory([given(array)]).load(at(array, [1, 900]), t.F32, np.array([True, False]), padding)
        assert loaded.tolist() == [1, 8]
        assert padding.tolist() == [7, 8]

    def test_nothing_is_accessed_under_an_empty_mask(self):
        nowhere, mask = np.zeros((2, 2), np.uint64), np.zeros((2, 2), np.bool_)
        assert Memory().load(nowhere, t.F64, mask).tolist() == [[0, 0], [0, 0]]
        Memory().store(nowhere, np.zeros((2, 2)), t.F64, mask)

    def test_rank_0_masks(self):
        array = numbers(2) + 1
        memory = Memory([given(array)])
        assert memory.load(at(array, 0), t.F32, np.array(True)) == 1
        assert memory.load(np.array(0, np.uint64), t.F32, np.array(False)) == 0
        assert memory.load(np.array(0, np.uint64), t.F32, np.array(False), np.array(3, np.float32)) == 3

    def test_a_masked_store_leaves_the_rest(self):
        array = numbers(3)
        Memory([given(array)]).store(at(array, [0, 1, 2]), -numbers(3), t.F32, np.array([False, True, False]))
        assert array.tolist() == [0, -1, 2]

    def test_a_fault_counts_masked_off_elements_too(self):
        array = numbers(3)
        mask = np.array([[False, True], [False, True]])
        fault = message(lambda: Memory([given(array)]).load(at(array, [[9, 1], [9, 9]]), t.F32, mask))
        assert "tile element [1, 1]" in fault.message


class TestElements:
    def test_any_nonzero_byte_is_a_true_i1(self):
        array = np.array([0, 1, 2, 255], np.uint8)
        loaded = Memory([given(array)]).load(at(array, range(4)), t.I1)
        assert loaded.dtype == np.bool_
        assert loaded.tolist() == [False, True, True, True]

    def test_i1_is_stored_as_0_and_1(self):
        array = np.full(2, 77, np.uint8)
        Memory([given(array)]).store(at(array, [0, 1]), np.array([True, False]), t.I1)
        assert array.tolist() == [1, 0]

    def test_tf32_ignores_the_low_13_bits(self):
        array = np.array([0x3F801FFF, 0x3F802000], np.uint32)
        loaded = Memory([given(array)]).load(at(array, [0, 1]), t.TF32)
        assert loaded.view(np.uint32).tolist() == [0x3F800000, 0x3F802000]

    @pytest.mark.parametrize("element", [e for e in t.NUMBERS if e is not t.F4E2M1FN], ids=lambda e: e.name)
    def test_every_element_type_comes_back_as_it_was_stored(self, element):
        cell = CELLS[element]
        array = np.zeros(16 * cell.size, np.uint8).view(f"u{cell.size}")
        tile = np.zeros(4, cell.dtype)
        tile[1] = 1
        memory = Memory([given(array)])
        memory.store(at(array, [2, 3, 4, 5]), tile, element)
        loaded = memory.load(at(array, [2, 3, 4, 5]), element)
        assert loaded.dtype == cell.dtype
        assert loaded.tobytes() == tile.tobytes()


class TestFaults:
    @pytest.mark.parametrize("element", [4, -1, 1000])
    def test_outside_an_array(self, element):
        array = numbers(4)
        fault = message(lambda: Memory([given(array)]).load(at(array, [0, element]), t.F32))
        assert (fault.array, fault.index) == ("a", 4 * element)
        assert fault.message == (
            f"load of f32 at byte offset {4 * element} of 'a': it has bytes 0 to 15 (tile element [1])"
        )

    def test_the_nearest_array_is_named(self):
        both = np.zeros(64, np.float32)
        memory = Memory([given(both[:8], "low"), given(both[56:], "high")])
        assert message(lambda: memory.load(at(both, 9), t.F32)).array == "low"
        assert message(lambda: memory.load(at(both, 54), t.F32)).array == "high"

    def test_far_from_every_array(self):
        fault = message(lambda: Memory([given(numbers(4))]).store(np.array(16, np.uint64), np.array(1.0), t.F64))
        assert fault.message == "store of f64 at address 0x10, which is in no memory given to the kernel"
        assert fault.array is None

    def test_the_last_address_of_all(self):
        assert (
            "address 0xffffffffffffffff"
            in message(lambda: Memory([given(numbers(4))]).load(np.full(2, 2**64 - 1, np.uint64), t.I8)).message
        )

    def test_partly_outside(self):
        array = np.zeros(6, np.uint8)
        fault = message(lambda: Memory([given(array)]).load(at(array, 4), t.I32))
        assert fault.index == 4

    def test_misaligned(self):
        array = np.zeros(8, np.float64)
        addresses = at(array, [0, 1]) + np.array([0, 4], np.uint64)
        fault = message(lambda: Memory([given(array)]).load(addresses, t.F64))
        assert f"the address {int(addresses[1]):#x} is not a multiple of 8 (tile element [1])" in fault.message
        assert message(lambda: Memory([given(array)]).load(addresses[1], t.F64)).index == 12

    def test_nothing_is_written_by_a_store_that_faults(self):
        array, other = numbers(4), numbers(4)
        memory = Memory([given(array), given(other, "b")])
        addresses = np.concatenate([at(array, [0, 1]), at(other, [0, 4])])
        message(lambda: memory.store(addresses, np.full(4, 9, np.float32), t.F32))
        assert array.tolist() == other.tolist() == [0, 1, 2, 3]

    def test_constant_memory_can_be_loaded_but_not_stored(self):
        array = numbers(4)
        memory = Memory([given(array, "@table", writable=False)])
        assert memory.load(at(array, [3]), t.F32) == 3
        fault = message(lambda: memory.store(at(array, [3]), numbers(1), t.F32))
        assert fault.message == "store of f32 at byte offset 12 of '@table': the memory is constant (tile element [0])"

    def test_an_array_without_elements(self):
        array = np.zeros((0, 4), np.float32)
        fault = message(lambda: Memory([given(array)]).load(at(array, 0), t.F32))
        assert fault.message == "load of f32 at byte offset 0 of 'a': it has no elements"


STRIDED = {
    "every other": lambda: numbers(32)[::2],
    "reversed": lambda: numbers(32)[::-1],
    "reversed every third": lambda: numbers(32)[::-3],
    "some columns": lambda: numbers(8, 16)[:, 3:9],
    "some columns of every other row": lambda: numbers(8, 16)[::2, 2:6],
    "transposed": lambda: numbers(8, 16).T,
    "transposed columns": lambda: numbers(8, 16)[:, 4:8].T,
    "mixed signs": lambda: numbers(4, 6, 8)[::-2, 1::2, ::-3],
    "overlapping windows": lambda: np.lib.stride_tricks.as_strided(numbers(40), (9, 6), (16, 4)),
    "windows with gaps": lambda: np.lib.stride_tricks.as_strided(numbers(64), (5, 3, 2), (40, 8, 4)),
    "one element": lambda: numbers(8)[3:4],
    "unit extents": lambda: numbers(8, 8)[2:3, ::4],
}


class TestStridedArrays:
    @pytest.mark.parametrize("make", STRIDED.values(), ids=STRIDED)
    def test_exactly_the_elements_may_be_accessed(self, make):
        array = make()
        allocation = given(array)
        base = array.__array_interface__["data"][0]
        offsets = sum(
            (np.arange(n) * step).reshape([-1] + [1] * (array.ndim - dim - 1))
            for dim, (n, step) in enumerate(zip(array.shape, array.strides))
        )
        addresses = np.asarray(offsets, np.int64).view(np.uint64) + np.uint64(base)
        memory = Memory([allocation])
        assert np.array_equal(memory.load(addresses, t.F32), array)
        every = np.arange(allocation.base, allocation.end, 4)
        inside = set(addresses.ravel().tolist())
        for address in every.tolist():
            if address in inside:
                memory.load(np.array(address, np.uint64), t.F32)
            else:
                fault = message(lambda: memory.load(np.array(address, np.uint64), t.F32))  # noqa: B023
                assert "no element of the array lies there" in fault.message

    def test_stores_leave_the_gaps_alone(self):
        whole = numbers(8)
        array = whole[::2]
        Memory([given(array)]).store(at(array, [0, 2, 4, 6]), np.full(4, -1, np.float32), t.F32)
        assert whole.tolist() == [-1, 1, -1, 3, -1, 5, -1, 7]

    def test_offsets_count_from_the_first_element_of_a_reversed_array(self):
        array = numbers(4)[::-1]
        memory = Memory([given(array)])
        assert memory.load(at(array, [0, -3]), t.F32).tolist() == [3, 0]
        fault = message(lambda: memory.load(at(array, [1]), t.F32))
        assert fault.index == 4
        assert "it has bytes -12 to 3" in fault.message

    def test_an_access_wider_than_an_element_needs_all_its_bytes(self):
        array = np.zeros(8, np.int16)[::2]
        message(lambda: Memory([given(array)]).load(at(array, 0), t.I32))
        pairs = np.zeros((4, 4), np.int16)[:, :2]
        assert Memory([given(pairs)]).load(at(pairs, [0, 8], 1), t.I32).tolist() == [0, 0]

    def test_coverage_counts_ranges_longer_than_a_granule(self):
        coverage = Coverage([Runs(0, 6, (3,), (10,))])
        assert coverage.granule == 2
        assert coverage.covers(np.array([0, 2, 4, 10, 24, 5]), 2).tolist() == [True, True, True, True, True, False]
        assert coverage.covers(np.array([0, 1, 4]), 6).tolist() == [True, False, False]


class TestOverlappingArrays:
    def test_both_may_be_used_and_see_each_other(self):
        whole = numbers(12)
        first, second = whole[:8], whole[4:]
        memory = Memory([given(first), given(second, "b")])
        memory.store(at(second, [0]), np.array([99], np.float32), t.F32)
        assert memory.load(at(first, [4]), t.F32) == 99
        assert memory.load(at(first, range(12)), t.F32).size == 12
        assert message(lambda: memory.load(at(second, 8), t.F32)).array == "b"

    def test_the_same_array_twice(self):
        array = numbers(4)
        memory = Memory([given(array), given(array, "b")])
        assert memory.load(at(array, [0, 3]), t.F32).tolist() == [0, 3]

    def test_interleaved_arrays_keep_their_gaps(self):
        whole = numbers(12)
        memory = Memory([given(whole[0::3]), given(whole[1::3], "b")])
        assert memory.load(at(whole, [0, 1, 3, 4, 10]), t.F32).tolist() == [0, 1, 3, 4, 10]
        message(lambda: memory.load(at(whole, 2), t.F32))

    def test_one_array_that_joins_two_others(self):
        whole = numbers(12)
        memory = Memory([given(whole[:4]), given(whole[8:], "b"), given(whole[2:10], "c")])
        assert memory.load(at(whole, range(12)), t.F32).tolist() == list(range(12))


class TestWindows:
    def test_a_box_inside_an_array_is_seen_in_place(self):
        array = numbers(16, 16)
        window = Memory([given(array)]).window(
            int(at(array, 18)), (4, 8), (64, 4), CheckedAccess(CELLS[t.F32], BLOCK, "load")
        )
        assert np.array_equal(window, array[1:5, 2:10])
        assert np.shares_memory(window, array)

    def test_a_box_that_sticks_out_or_is_misaligned_is_refused(self):
        array = numbers(4, 4)
        memory, access = Memory([given(array)]), CheckedAccess(CELLS[t.F32], BLOCK, "load")
        assert memory.window(int(at(array, 0)), (4, 5), (16, 4), access) is None
        assert memory.window(int(at(array, 0)) - 4, (1, 1), (16, 4), access) is None
        assert memory.window(int(at(array, 0)) + 2, (1, 1), (16, 4), access) is None
        assert memory.window(int(at(array, 0)), (2, 1 << 40), (1 << 62, 4), access) is None

    @pytest.mark.parametrize(("columns", "allowed"), [(6, True), (7, False)])
    def test_a_box_of_a_strided_array_must_miss_the_gaps(self, columns, allowed):
        array = numbers(8, 16)[:, 3:9]
        access = CheckedAccess(CELLS[t.F32], BLOCK, "load")
        window = Memory([given(array)]).window(int(at(array, 0)), (4, columns), (64, 4), access)
        assert (window is not None) == allowed

    def test_constant_memory_gives_no_window_to_write(self):
        array = numbers(4)
        memory = Memory([given(array, writable=False)])
        assert memory.window(int(at(array, 0)), (4,), (4,), CheckedAccess(CELLS[t.F32], BLOCK, "load")) is not None
        assert memory.window(int(at(array, 0)), (4,), (4,), CheckedAccess(CELLS[t.F32], BLOCK, "store")) is None


class TestAllocate:
    @pytest.mark.parametrize("alignment", [1, 4, 64, 4096])
    def test_storage_is_aligned_and_uninitialised(self, alignment):
        memory = Memory()
        base = memory.allocate(16, alignment, BLOCK)
        assert base % alignment == 0
        addresses = np.uint64(base) + np.arange(16, dtype=np.uint64)
        assert (memory.load(addresses, t.I8, block=BLOCK).view(np.uint8) == UNINITIALISED).all()

    def test_only_the_owner_may_use_it(self):
        memory = Memory()
        base = np.array(memory.allocate(4, 4, (1, 0, 0)), np.uint64)
        memory.store(base, np.array(5, np.int32), t.I32, block=(1, 0, 0))
        fault = message(lambda: memory.load(base, t.I32, block=(2, 0, 0)))
        assert "the storage belongs to tile block (1, 0, 0)" in fault.message

    def test_storage_without_owner_is_for_all(self):
        memory = Memory()
        base = np.array(memory.allocate(4, 4, None), np.uint64)
        memory.store(base, np.array(5, np.int32), t.I32, block=(1, 0, 0))
        assert memory.load(base, t.I32, block=(2, 0, 0)) == 5

    def test_freed_storage_is_recognised(self):
        memory = Memory()
        base = memory.allocate(4, 4, BLOCK)
        memory.free(base)
        fault = message(lambda: memory.load(np.array(base, np.uint64), t.I32, block=BLOCK))
        assert "the storage was freed when its region was left" in fault.message
        assert fault.array == "alloca"

    def test_storage_of_no_bytes(self):
        memory = Memory()
        base = memory.allocate(0, 16, BLOCK)
        assert base % 16 == 0
        message(lambda: memory.load(np.array(base, np.uint64), t.I8, block=BLOCK))
        memory.free(base)

    @pytest.mark.parametrize(("size", "alignment"), [(MAX_STORAGE + 1, 1), (8, MAX_STORAGE << 1)])
    def test_storage_that_cannot_be_had_is_a_fault(self, size, alignment):
        assert "cannot allocate" in message(lambda: Memory().allocate(size, alignment, BLOCK)).message

    def test_freed_storage_is_let_go_in_the_end(self):
        memory = Memory()
        for _ in range(6):
            memory.free(memory.allocate(QUARANTINE // 4, 1, BLOCK))
        assert len(memory._sorted) == 4
        assert len(memory._given) == 4


class TestUnboundedMemory:
    def test_it_is_asked_only_where_nothing_else_lies(self):
        whole = numbers(16)
        array = whole[4:8]
        memory = Memory([given(array)])
        memory.add_unbounded(given(whole, "p"))
        assert memory.load(at(whole, [0, 5, 15]), t.F32).tolist() == [0, 5, 15]
        assert memory.load(at(whole, 0), t.F32) == 0
        assert message(lambda: memory.load(at(whole, [5, 16]), t.F32)).index is not None
