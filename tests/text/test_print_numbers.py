"""Numbers print as the specification's algorithm says, and read back to the same bits."""

from __future__ import annotations

import struct
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.text.elements import elements_text, patterns
from tileir.text.numbers import exact_integer, float_bits, float_pattern, float_text, is_nan


def f32(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


def f64(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


SPELLINGS = [
    (t.F32, f32(1.5), "1.500000e+00"),
    (t.F32, f32(0.1), "1.000000e-01"),
    (t.F32, f32(1e30), "1.000000e+30"),
    (t.F32, f32(0.0), "0.000000e+00"),
    (t.F32, f32(-0.0), "-0.000000e+00"),
    (t.F32, f32(-2.5), "-2.500000e+00"),
    (t.F32, f32(3.141592653589793), "3.14159274"),
    (t.F32, f32(1 / 3), "0.333333343"),
    (t.F32, f32(-1 / 3), "-0.333333343"),
    (t.F32, f32(1e22), "9.99999977E+21"),
    (t.F32, f32(1234.5678), "1234.56775"),
    (t.F32, f32(1234567890.0), "1.23456794E+9"),
    (t.F32, 0x4F800000, "4.2949673E+9"),
    (t.F32, f32(1234567), "0x4996B438"),
    (t.F32, f32(16777216), "0x4B800000"),
    (t.F32, 0x7F800000, "0x7F800000"),
    (t.F32, 0xFF800000, "0xFF800000"),
    (t.F32, 0x7FC00000, "0x7FC00000"),
    (t.F32, 1, "1.401300e-45"),
    (t.F64, f64(0.1 + 0.2), "0.30000000000000004"),
    (t.F64, f64(1 / 3), "0.33333333333333331"),
    (t.F64, f64(123456789.125), "123456789.125"),
    (t.F64, f64(16777217.0), "0x4170000010000000"),
    (t.F64, 1, "4.940660e-324"),
    (t.F16, 0x3C66, "1.099610e+00"),
    (t.BF16, 0x7F80, "0x7F80"),
    (t.F8E5M2, 0x7C, "0x7C"),
    (t.F8E8M0FNU, 0xFF, "0xFF"),
    (t.F8E8M0FNU, 0, "5.877470e-39"),
    (t.F8E4M3FN, 0x7E, "4.480000e+02"),
    (t.F4E2M1FN, 0x7, "6.000000e+00"),
    (t.TF32, 0x1FC00, "1.000000e+00"),
]


@pytest.mark.parametrize(("element", "bits", "text"), SPELLINGS)
def test_a_float_is_spelled_as_specified(element: t.ElementType, bits: int, text: str) -> None:
    assert float_text(bits, element) == text


def read(text: str, element: t.ElementType) -> int:
    return int(text, 16) if text.startswith("0x") else float_bits(text, element)


@pytest.mark.parametrize("element", [element for element in t.FLOATS if element.bits <= 16], ids=lambda e: e.name)
def test_every_pattern_of_a_small_format_reads_back(element: t.ElementType) -> None:
    wrong = [bits for bits in range(1 << element.bits) if read(float_text(bits, element), element) != bits]
    assert wrong == []


@pytest.mark.parametrize("element", [t.TF32, t.F32, t.F64], ids=lambda e: e.name)
@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_any_pattern_of_a_large_format_reads_back(element: t.ElementType, data: st.DataObject) -> None:
    bits = data.draw(st.integers(0, (1 << element.bits) - 1))
    assert read(float_text(bits, element), element) == bits


@given(st.floats(width=32))
def test_reading_f32_agrees_with_the_host(value: float) -> None:
    if value == value and abs(value) != float("inf"):
        assert float_bits(repr(value), t.F32) == f32(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_reading_f64_agrees_with_the_host(value: float) -> None:
    assert float_bits(repr(value), t.F64) == f64(value)


def test_reading_rounds_to_f64_first() -> None:
    # Just above the midpoint of two f32 numbers, but rounded onto it, and then to even.
    text = "1.00000005960464477539062500000000001"
    assert float_bits(text, t.F32) == f32(1.0)
    assert Fraction(text) > Fraction(1) + Fraction(1, 2**24)


@pytest.mark.parametrize(
    ("element", "text", "bits"),
    [
        (t.F32, "1.0e39", 0x7F800000),
        (t.F16, "65520.0", 0x7C00),
        (t.F16, "65519.9", 0x7BFF),
        (t.F8E5M2, "1.0e9", 0x7C),
        (t.F8E4M3FN, "464.0", 0x7E),
        (t.F8E4M3FN, "465.0", 0x7F),
        (t.F8E8M0FNU, "0.0", 0x00),
        (t.F8E8M0FNU, "1.0e300", 0xFF),
        (t.F8E8M0FNU, "3.0", 0x81),
        (t.F4E2M1FN, "100.0", 0x7),
        (t.F4E2M1FN, "-100.0", 0xF),
        (t.FNV8E5M3FNU, "1.0e9", 0xFF),
    ],
)
def test_a_literal_that_does_not_fit_becomes_what_a_conversion_gives(
    element: t.ElementType, text: str, bits: int
) -> None:
    assert float_bits(text, element) == bits


def test_a_literal_too_large_for_f64_is_refused() -> None:
    with pytest.raises(OverflowError, match="too large"):
        float_bits("1.0e400", t.F32)


def test_python_floats_have_patterns() -> None:
    assert float_pattern(float("inf"), t.F32) == 0x7F800000
    assert float_pattern(float("-inf"), t.F16) == 0xFC00
    assert float_pattern(float("nan"), t.F32) == 0x7FC00000
    assert float_pattern(-0.0, t.F64) == 1 << 63


def test_integers_are_found_in_patterns() -> None:
    assert exact_integer(f32(3.0), t.F32) == 3
    assert exact_integer(f32(0.0), t.F32) == 0
    assert exact_integer(f32(1e30), t.F32) == 1000000015047466219876688855040
    for value in (-3.0, -0.0, 0.5, float("inf"), float("nan")):
        assert exact_integer(f32(value), t.F32) is None


def test_infinities_are_no_nan() -> None:
    assert is_nan(0x7FC00000, t.F32)
    assert is_nan(0x7F, t.F8E4M3FN)
    assert not is_nan(0x7F800000, t.F32)


# ---------------------------------------------------------------- element lists


def dense(element: t.ElementType, shape: tuple[int, ...], data: bytes) -> DenseElements:
    return DenseElements.of(t.TileType(shape, element), data)


def test_equal_elements_print_as_one() -> None:
    assert elements_text(dense(t.I32, (4,), bytes([6, 0, 0, 0]) * 4)) == "6"
    assert elements_text(dense(t.I32, (1, 1), bytes([6, 0, 0, 0]))) == "6"


def test_lists_nest_by_shape() -> None:
    assert elements_text(dense(t.I8, (2, 2), bytes([1, 2, 3, 255]))) == "[[1, 2], [3, -1]]"


def test_booleans_print_as_words() -> None:
    assert elements_text(dense(t.I1, (2,), bytes([1, 0]))) == "[true, false]"


def test_more_than_a_hundred_elements_print_as_hexadecimal() -> None:
    text = elements_text(dense(t.I8, (128,), bytes(range(128))))
    assert text == f'"0x{bytes(range(128)).hex().upper()}"'


def test_tf32_takes_three_bytes_in_hexadecimal() -> None:
    words = [f32(float(number)) for number in range(128)]
    value = dense(t.TF32, (128,), struct.pack("<128I", *words))
    expected = b"".join((word >> 13).to_bytes(3, "little") for word in words)
    assert elements_text(value) == f'"0x{expected.hex().upper()}"'
    assert patterns(value)[1] == f32(1.0) >> 13
