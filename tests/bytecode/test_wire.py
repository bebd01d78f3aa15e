"""The primitive encodings: known bytes, round trips, bounds, and the place of every fault."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileir.bytecode import faults
from tileir.bytecode.faults import BytecodeFault
from tileir.bytecode.wire import MAX_COUNT, ByteCursor, Sink, signed


def cursor(*parts, before=0):
    """A cursor over `parts` that stand `before` bytes into the data, with a byte behind that is out of bounds."""
    data = b"".join(bytes(part) if isinstance(part, bytes | bytearray) else bytes([part]) for part in parts)
    return ByteCursor(b"\xee" * before + data + b"\x00", before, before + len(data))


def written(method, *arguments):
    sink = Sink()
    getattr(sink, method)(*arguments)
    return bytes(sink.data)


@pytest.mark.parametrize(
    ("value", "data"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), ((1 << 64) - 1, "ffffffffffffffffff01")],
)
def test_varint_is_leb128(value, data):
    assert written("varint", value).hex() == data
    assert cursor(bytes.fromhex(data)).varint() == value


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (-5, "09"),
        (-(1 << 63), "ffffffffffffffffff01"),
        ((1 << 63) - 1, "feffffffffffffffff01"),
    ],
)
def test_svarint_is_zigzag_of_64_bits(value, data):
    assert written("svarint", value).hex() == data
    assert cursor(bytes.fromhex(data)).svarint() == value


@given(st.integers(0, (1 << 64) - 1))
def test_varint_round_trip(value):
    assert cursor(written("varint", value)).varint() == value


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_svarint_round_trip(value):
    assert cursor(written("svarint", value)).svarint() == value


@pytest.mark.parametrize("width", [4, 8, 16, 19, 32, 64])
def test_apint_keeps_every_pattern_of_its_width(width):
    for value in (0, 1, (1 << width) - 1, 1 << (width - 1)):
        assert cursor(written("apint", value, width)).apint(width) == value


def test_apint_zero_extends_a_set_sign_bit():
    assert written("apint", 0x80000000, 32) == written("svarint", 0x80000000)
    assert written("apint", 1 << 63, 64) == written("svarint", -(1 << 63))


@pytest.mark.parametrize("value", [-(1 << 31), -1, 0, (1 << 31) - 1])
def test_pattern_is_twos_complement(value):
    assert signed(cursor(written("pattern", value, 32)).pattern(32), 32) == value


def test_longer_forms_of_a_varint_are_read():
    assert cursor(b"\x80\x00").varint() == 0
    assert cursor(b"\x85\x80\x80\x00").varint() == 5


def test_bits_of_the_tenth_byte_beyond_64_are_dropped():
    assert cursor(b"\xff" * 9 + b"\x7f").varint() == (1 << 64) - 1


def test_arrays_are_counted_and_little_endian():
    assert written("i32_array", (1, -2)) == b"\x02" + struct.pack("<ii", 1, -2)
    assert cursor(written("i64_array", (-(1 << 63), 5))).i64_array() == (-(1 << 63), 5)
    assert cursor(b"\x03\x00\x01\x07").bool_array() == (False, True, True)


def test_padding_counts_from_the_start_of_the_payload():
    at = cursor(b"\x01\xcb\xcb\xcb\x09", before=3)
    at.byte()
    at.padding(4)
    assert at.byte() == 9
    sink = Sink()
    sink.byte(1)
    sink.padding(4)
    assert sink.data == b"\x01\xcb\xcb\xcb"


FAULTS = [
    ("byte", (), b"", faults.TRUNCATED, 0),
    ("varint", (), b"", faults.TRUNCATED, 0),
    ("varint", (), b"\x80\x80", faults.TRUNCATED, 0),
    ("varint", (), b"\x80" * 10 + b"\x00", faults.VARINT, 0),
    ("svarint", (), b"\xff", faults.TRUNCATED, 0),
    ("uint", (4,), b"\x01\x02\x03", faults.TRUNCATED, 0),
    ("i32_array", (), b"\x02" + bytes(7), faults.TRUNCATED, 1),
    ("i64_array", (), b"\x80", faults.TRUNCATED, 0),
    ("i64_array", (), b"\xff\xff\xff\xff\x0f", faults.LIMIT, 0),
    ("bool_array", (), b"\xfe\xff\xff\xff\x0f", faults.TRUNCATED, 5),
    ("count", (), b"\xff\xff\xff\xff\x0f", faults.LIMIT, 0),
    ("apint", (4,), b"\x10", faults.RANGE, 0),
    ("apint", (16,), written("svarint", 1 << 16), faults.RANGE, 0),
    ("apint", (32,), written("svarint", -1), faults.RANGE, 0),
    ("pattern", (32,), written("varint", 1 << 32), faults.RANGE, 0),
    ("padding", (4,), b"", faults.TRUNCATED, 0),
    ("take", (1 << 62,), b"abc", faults.TRUNCATED, 0),
    ("sub", (4,), b"abc", faults.TRUNCATED, 0),
    ("fitting_count", ("things", 4), b"\x02" + bytes(7), faults.COUNT, 0),
    ("bounded_varint", (9, "a digit"), b"\x0a", faults.RANGE, 0),
]


@pytest.mark.parametrize(("method", "arguments", "data", "code", "offset"), FAULTS)
def test_a_fault_says_where_in_the_file_it_is(method, arguments, data, code, offset):
    for before in (0, 5):
        with pytest.raises(BytecodeFault) as raised:
            getattr(cursor(data, before=before), method)(*arguments)
        assert (raised.value.code, raised.value.offset) == (code, before + offset)


def test_the_greatest_count_is_2_to_the_32_less_2():
    assert cursor(written("varint", MAX_COUNT)).count() == MAX_COUNT


def test_numbers_that_do_not_fit_are_not_written():
    for method, arguments in (
        ("i32_array", ((1 << 31,),)),
        ("pattern", (1 << 32, 32)),
        ("pattern", (-(1 << 31) - 1, 32)),
    ):
        with pytest.raises(BytecodeFault) as raised:
            written(method, *arguments)
        assert raised.value.code == faults.RANGE
