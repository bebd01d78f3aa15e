"""The strictness of the hsaco machine: waiting, memory, and products by themselves."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Sequence

import numpy as np
import pytest

pytest.importorskip("tinygrad", reason="needs tinygrad, whose tables decode AMD's instructions")

from tests.hsaco_machine import access, decode, lanes, matrix, scalar, vector
from tests.hsaco_machine.wave import EXEC, VECTOR, Wave
from tests.ttir_machine import MachineFault, allocation
from tests.ttir_machine.memory import Memory

FAMILY = "rdna3"


def wave(lanes: int = 32, family: str = FAMILY) -> Wave:
    vectors, scratch = np.zeros((512, lanes), np.uint32), np.zeros((lanes, 16), np.uint8)
    found = Wave(family, lanes, 0, 0, np.zeros(128, np.uint32), vectors, scratch)
    found.write_scalar(EXEC, (1 << lanes) - 1, 64)
    return found


def instruction(*words: int, family: str = FAMILY) -> object:
    return decode.decoded(struct.pack(f"<{len(words)}I", *words).ljust(24, b"\0"), family)


LOAD = (0xDC520000, 0x017C0000)
"""``global_load_b32 v1, v[0:1], off``, as an assembler has it."""
ADD = (0x06040301,)
"""``v_add_f32 v2, v1, v1``."""
WAIT = (0xBF8903F7,)
"""``s_waitcnt vmcnt(0)``."""


def loaded(given: Sequence[float]) -> tuple[Wave, np.ndarray]:
    """A wave that has started to load one number for each lane."""
    array = np.asarray(given, np.float32)
    found = wave()
    addresses = array.ctypes.data + 4 * np.arange(32, dtype=np.uint64)
    found.write(VECTOR, addresses, 64, found.active)
    access.run_global(found, instruction(*LOAD), access.GlobalMemory(Memory([allocation("x", array)])))
    return found, array


def test_a_loaded_register_is_used_after_waiting() -> None:
    found, array = loaded(np.arange(32))
    scalar.run(found, instruction(*WAIT), Memory([]))
    vector.run(found, instruction(*ADD))
    np.testing.assert_array_equal(found.vectors[2].view(np.float32), 2 * array)


def test_a_register_that_has_not_been_waited_for_is_a_fault() -> None:
    found, _ = loaded(np.arange(32))
    with pytest.raises(MachineFault, match="v1 is used before vmcnt tells that it has been loaded"):
        vector.run(found, instruction(*ADD))


def test_an_access_outside_the_launch_is_a_fault() -> None:
    with pytest.raises(MachineFault, match="outside the memory of the launch"):
        loaded(np.arange(31))


def test_shared_memory_ends_where_it_was_asked_for() -> None:
    shared = access.SharedMemory(64)
    shared.store(np.array([60], np.uint64), np.array([7], np.uint64), 4)
    assert shared.load(np.array([60], np.uint64), 4) == [7]
    with pytest.raises(MachineFault, match="access to byte 61 of 64"):
        shared.load(np.array([61], np.uint64), 4)


@pytest.mark.parametrize("kind", ["F16", "BF16", "IU8"])
def test_a_product_of_matrices_is_that_of_numpy(kind: str) -> None:
    """Lane l has row l of A and column l of B; sums lie row by row in pairs of halves."""
    rng = np.random.default_rng(1)
    a, b, c = rng.integers(-4, 5, (3, 16, 16))
    found = wave()
    for place, factors in ((0, a), (16, b.T)):
        words = _packed(factors, kind)
        for register in range(words.shape[1]):
            found.vectors[place + register] = np.tile(words[:, register], 2)
    sums = c.astype(np.int32 if kind == "IU8" else np.float32)
    for register in range(8):
        found.vectors[32 + register] = np.concatenate([sums[2 * register], sums[2 * register + 1]]).view(np.uint32)
    matrix.run(found, _product(kind))
    for register in range(8):
        result = found.vectors[32 + register].view(sums.dtype)
        np.testing.assert_array_equal(result, (a @ b + c)[2 * register : 2 * register + 2].ravel())


def _packed(factors: np.ndarray, kind: str) -> np.ndarray:
    if kind == "IU8":
        return np.ascontiguousarray(factors.astype(np.int8)).view(np.uint32)
    if kind == "F16":
        return np.ascontiguousarray(factors.astype(np.float16)).view(np.uint32)
    single = np.ascontiguousarray(factors.astype(np.float32)).view(np.uint32)
    return np.ascontiguousarray((single >> 16).astype(np.uint16)).view(np.uint32)


def _product(kind: str) -> object:
    """``v_wmma_…_16x16x16_… v[32:39], v[0:7], v[16:23], v[32:39]``, signed."""
    number = {"F16": 0x40, "BF16": 0x41, "IU8": 0x44}[kind]
    signs = 3 if kind == "IU8" else 0
    factors = VECTOR | (VECTOR + 16) << 9 | (VECTOR + 32) << 18
    return instruction(0xCC000020 | number << 16 | 1 << 14, 0x18000000 | factors | signs << 29)


@pytest.mark.parametrize(
    ("size", "depth", "number", "dtype"),
    [(32, 8, 0x4C, np.float16), (16, 16, 0x4D, np.float16), (32, 2, 0x44, np.float32), (16, 4, 0x45, np.float32)],
)
def test_a_product_of_a_wave_of_64_is_that_of_numpy(size: int, depth: int, number: int, dtype: type) -> None:
    """``v_mfma_f32_… v[32:], v[0:1], v[16:17], v[32:]``: of f16 four elements along the depth for each group, of f32
    one. The places are those of the instruction set document of CDNA 3 (7.1: matrix layouts)."""
    rng = np.random.default_rng(2)
    a, b, c = rng.integers(-4, 5, (size, depth)), rng.integers(-4, 5, (depth, size)), rng.integers(-4, 5, (size, size))
    found, groups = wave(64, "cdna"), 64 // size
    for place, factors in ((0, a), (16, b.T)):
        each = depth // groups
        parts = np.concatenate([factors[:, each * group : each * (group + 1)] for group in range(groups)])
        words = np.ascontiguousarray(parts.astype(dtype)).view(np.uint32)
        found.vectors[place : place + words.shape[1]] = words.T
    places = _places_of_sums(size)
    for register, (rows, columns) in enumerate(places):
        found.vectors[32 + register] = c[rows, columns].astype(np.float32).view(np.uint32)
    factors = VECTOR | (VECTOR + 16) << 9 | (VECTOR + 32) << 18
    matrix.run(found, instruction(0xD3800020 | number << 16, factors, family="cdna"))
    for register, (rows, columns) in enumerate(places):
        np.testing.assert_array_equal(found.vectors[32 + register].view(np.float32), (a @ b + c)[rows, columns])


def test_lanes_come_from_the_row_beside_by_a_table() -> None:
    """``v_permlanex16_b32 v1, v0, s2, s3``: lane i of 16 takes the lane of the other row that digit i names."""
    found = wave()
    found.vectors[0] = 100 + np.arange(32)
    found.write_scalar(2, 0x76543210, 32)
    found.write_scalar(3, 0x0123ABCD, 32)
    vector.run(found, instruction(0xD65C0001, VECTOR | 2 << 9 | 3 << 18))
    table = [0, 1, 2, 3, 4, 5, 6, 7, 13, 12, 11, 10, 3, 2, 1, 0]
    assert found.vectors[1].tolist() == [100 + 16 + place for place in table] + [100 + place for place in table]


def _places_of_sums(size: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows and columns of the lanes, for each register of the sums: blocks of four rows for groups of lanes."""
    lanes, groups = np.arange(64), 64 // size
    blocks = range(size * size // 64 // 4)
    return [(4 * (groups * block + lanes // size) + row, lanes % size) for block in blocks for row in range(4)]


def _packed_operation(number: int, first: int, second: int, halves: int) -> object:
    """``v_pk_… v[12:13], v[first:], v[second:] op_sel:[…]``, whose upper results are of upper halves."""
    factors = VECTOR + first | (VECTOR + second) << 9 | 3 << 27
    return instruction(0xD3800000 | number << 16 | 1 << 14 | halves << 11 | 12, factors, family="cdna")


@pytest.mark.parametrize(
    ("number", "halves", "wanted"), [(0x32, 0, (13, 25)), (0x31, 0, (30, 100)), (0x33, 0, (3, 20)), (0x33, 1, (5, 10))]
)
def test_packed_operations_take_the_halves_that_are_chosen(
    number: int, halves: int, wanted: tuple[float, float]
) -> None:
    """``v_pk_add_f32``, ``v_pk_mul_f32`` and ``v_pk_mov_b32``, of (3, 5) and (10, 20)."""
    found = wave(64, "cdna")
    for register, value in ((6, 3), (7, 5), (8, 10), (9, 20)):
        found.vectors[register].view(np.float32)[:] = value
    given = _packed_operation(number, 6, 8, halves | 2 * (number == 0x33 and not halves))
    vector.run(found, given)
    assert (found.vectors[12].view(np.float32)[0], found.vectors[13].view(np.float32)[0]) == wanted


def test_a_division_scales_signalling_numbers_without_a_warning() -> None:
    """``v_div_scale_f32 v2, vcc_lo, v1, v1, v3``, where the divisor is a NaN that signals."""
    found = wave()
    found.vectors[1], found.vectors[3] = 0x7F800001, 0x3F800000
    sources = VECTOR + 1 | (VECTOR + 1) << 9 | (VECTOR + 3) << 18
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vector.run(found, instruction(0xD6FC6A02, sources))
    assert np.isnan(found.vectors[2].view(np.float32)).all()


@pytest.mark.parametrize(("names_one", "register"), [(0, 106), (1, 4)])
def test_a_comparison_of_parts_goes_to_vcc_unless_it_names_another_register(names_one: int, register: int) -> None:
    """``v_cmp_eq_u16_sdwa vcc, v5, v12`` or ``s[4:5]``, of lower and upper halves."""
    found = wave(64, "cdna")
    found.vectors[5], found.vectors[12] = np.arange(64), 7 << 16
    words = 0x7C0000F9 | 0xAA << 17 | 12 << 9, 5 | 4 << 8 | names_one << 15 | 4 << 16 | 5 << 24
    vector.run(found, instruction(*words, family="cdna"))
    assert found.read_scalar(register, 64) == 1 << 7
    assert not found.read_scalar(106 + 4 - register, 64)


@pytest.mark.parametrize(
    ("number", "wanted"), [(0x20, np.float32(-1.5 * 3 + 0.25)), (0x21, np.float16(-4.25)), (0x22, np.float16(-4.25))]
)
def test_a_mixed_sum_takes_halves_and_whole_numbers(number: int, wanted: np.floating) -> None:
    """``v_fma_mix…_f… v2, -v1, |v1|, v3 op_sel:[0,1,0] op_sel_hi:[1,1,0]``, of (1.5, -3) in f16 and 0.25."""
    found = wave()
    found.vectors[1].view(np.float16)[:] = [1.5, -3] * 32
    found.vectors[3].view(np.float32)[:] = 0.25
    factors = VECTOR + 1 | (VECTOR + 1) << 9 | (VECTOR + 3) << 18 | 3 << 27 | 1 << 29
    vector.run(found, instruction(0xCC000002 | number << 16 | 2 << 8 | 2 << 11, factors))
    kind = np.float32 if number == 0x20 else np.float16
    assert found.vectors[2].view(kind)[int(number == 0x22)] == wanted


def test_words_sent_to_a_lane_arrive_there_and_that_of_the_highest_lane_counts() -> None:
    """``ds_permute_b32 v6, v4, v13 offset:4``: lane n of 10 to 63 sends 100 + n to lane 2n + 1."""
    found = wave(64, "cdna")
    numbers = np.arange(64)
    found.vectors[4], found.vectors[13], found.vectors[6] = 8 * numbers, 100 + numbers, 7
    found.write_scalar(EXEC, (1 << 64) - (1 << 10), 64)
    access.run_shared(found, instruction(0xD87C0004, 0x06000D04, family="cdna"), access.SharedMemory(0))
    wanted = [7] * 10 + [132 + lane // 2 if lane % 2 else 0 for lane in range(10, 64)]
    assert found.vectors[6].tolist() == wanted


@pytest.mark.parametrize(
    ("control", "wanted"),
    [
        (0x130, [*range(1, 64), -1]),
        (0x134, [*range(1, 64), 0]),
        (0x138, [-1, *range(63)]),
        (0x13C, [63, *range(63)]),
    ],
)
def test_operands_move_through_the_whole_wave(control: int, wanted: list[int]) -> None:
    """``wave_shl:1``, ``wave_rol:1``, ``wave_shr:1`` and ``wave_ror:1`` of gfx9."""
    assert lanes.source_lanes(control, np.arange(64), 64).tolist() == wanted
