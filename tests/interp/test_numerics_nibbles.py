"""Patterns of four bits lie two to a byte, the even one in the low half."""

import numpy as np

from tileir.numerics.bits import packed, unpacked


def test_the_even_pattern_is_in_the_low_half() -> None:
    assert packed(np.array([0x1, 0x2, 0xA, 0xF], np.uint8)).tolist() == [0x21, 0xFA]


def test_only_the_low_bits_of_a_pattern_count() -> None:
    assert packed(np.array([-1, 2], np.int8)).tolist() == [0x2F]


def test_every_pair_of_patterns_survives() -> None:
    pairs = np.arange(256, dtype=np.uint8).reshape(4, 64)
    assert unpacked(pairs).shape == (4, 128)
    assert np.array_equal(packed(unpacked(pairs)), pairs)
