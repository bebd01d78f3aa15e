"""Numbers are formatted as the C library formats them."""

import ctypes
import ctypes.util
import math
import re
from itertools import product

import pytest

from tileir.host.printing import Conversion, format_number
from tileir.ir import types as t

LIBC = ctypes.util.find_library("c")
FLAGS = ["", "-", "+", " ", "#", "0", "-0", "# 0", "#-+"]
WIDTHS = ["", "3", "12", "30"]
PRECISIONS = ["", ".", ".1", ".3", ".15"]
FLOATS = [0.0, -0.0, 1.0, -1.5, 3.14159, 1e10, 5e-324, 1.7e308, 2.2e-308, math.inf, -math.inf, math.nan, 1.9999999999]
INTEGERS = [0, 1, -1, -42, 2**62, -(2**63)]


def c_text(format, number):
    buffer = ctypes.create_string_buffer(9000)
    argument = ctypes.c_double(number) if isinstance(number, float) else ctypes.c_longlong(number)
    ctypes.CDLL(LIBC).snprintf(buffer, 9000, format.encode(), argument)
    return buffer.value.decode()


def conversion(flags, width, precision, letter):
    return Conversion(flags, int(width or 0), int(precision[1:] or 0) if precision else None, letter)


@pytest.mark.skipif(LIBC is None, reason="needs the C library")
@pytest.mark.parametrize("flags", FLAGS)
def test_every_conversion_matches_the_c_library(flags):
    for width, precision in product(WIDTHS, PRECISIONS):
        cases = [*product("eEfFgGaA", [""], FLOATS, [t.F64]), *product("diouxX", ["ll"], INTEGERS, [t.I64])]
        for letter, length, number, element in cases:
            format = f"%{flags}{width}{precision}{length}{letter}"
            got = format_number(conversion(flags, width, precision, letter), number, element)
            assert got == c_text(format, number), (format, number)


def test_unsigned_conversions_read_the_width_of_the_element():
    for element, text in [(t.I8, "ff"), (t.I16, "ffff"), (t.I32, "ffffffff"), (t.I4, "f")]:
        assert format_number(Conversion("", 0, None, "x"), -1, element) == text


def test_a_huge_width_is_cut():
    assert len(format_number(Conversion("", 1 << 60, None, "d"), 1, t.I32)) < 10_000


def test_negative_nan_keeps_its_sign():
    assert re.fullmatch("-nan", format_number(Conversion("", 0, None, "f"), math.copysign(math.nan, -1), t.F64))
