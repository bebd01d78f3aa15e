"""The elements of constants: every form, their bytes, and their faults."""

import struct
import time

import pytest
from parse_programs import check_faults, entry, op

from tileir.ir.attributes import DenseElements
from tileir.ir.types import ElementType, TileType
from tileir.text.parser import parse


def elements(text: str) -> DenseElements:
    value = op(f"%c = constant {text}").value
    assert isinstance(value, DenseElements)
    return value


def patterns(text: str) -> list[int]:
    """The bit patterns held: one for a splat."""
    found = elements(text)
    element = found.type.element
    assert isinstance(found.type, TileType)
    assert isinstance(element, ElementType)
    size = element.byte_size
    return [int.from_bytes(found.data[at : at + size], "little") for at in range(0, len(found.data), size)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<i32: 5> : tile<i32>", [5]),
        ("<i32: -5> : tile<4xi32>", [0xFFFFFFFB]),
        ("<i32: - 5> : tile<4xi32>", [0xFFFFFFFB]),
        ("<i32: 4294967295> : tile<i32>", [0xFFFFFFFF]),
        ("<i32: 0x10> : tile<i32>", [16]),
        ("<i8: 255> : tile<i8>", [255]),
        ("<i8: -128> : tile<i8>", [128]),
        ("<i64: 9223372036854775807> : tile<i64>", [(1 << 63) - 1]),
        ("<i64: -9223372036854775808> : tile<i64>", [1 << 63]),
        ("<i1: true> : tile<2xi1>", [1]),
        ("<i1: false> : tile<2xi1>", [0]),
        ("<i1: -1> : tile<2xi1>", [1]),
        ("<i1: [true, 0, 1, false]> : tile<4xi1>", [1, 0, 1, 0]),
        ("<i16: [[1, -2], [0x10, 65535]]> : tile<2x2xi16>", [1, 0xFFFE, 16, 0xFFFF]),
        ("<i32: [1, // one\n 2]> : tile<2xi32>", [1, 2]),
        ("<i32: [ [ 1 ] ,\n [ 2 ] ]> : tile<2x1xi32>", [1, 2]),
        ("<i32: [7, 7, 7, 7]> : tile<4xi32>", [7]),
        ("<f32: 1.5> : tile<f32>", [0x3FC00000]),
        ("<f32: -1.> : tile<f32>", [0xBF800000]),
        ("<f32: 1.0e-3> : tile<f32>", [0x3A83126F]),
        ("<f32: 0x7FC00000> : tile<f32>", [0x7FC00000]),
        ("<f32: 1.0e39> : tile<f32>", [0x7F800000]),
        ("<f64: 0.1> : tile<f64>", [0x3FB999999999999A]),
        ("<f16: 1.0> : tile<f16>", [0x3C00]),
        ("<bf16: -0.0> : tile<bf16>", [0x8000]),
        ("<tf32: 1.0> : tile<tf32>", [0x3F800000]),
        ("<tf32: 0x1FC00> : tile<tf32>", [0x1FC00 << 13]),
        ("<f8E4M3FN: 448.0> : tile<f8E4M3FN>", [0x7E]),
        ("<f8E5M2: 0x7C> : tile<f8E5M2>", [0x7C]),
        ("<f8E8M0FNU: 2.0> : tile<f8E8M0FNU>", [128]),
        ("<f4E2M1FN: 6.0> : tile<2xf4E2M1FN>", [7]),
        ("<fnv8E5M3FNU: 1.0> : tile<fnv8E5M3FNU>", [0x78]),
        ("dense<0> : tile<i32>", [0]),
        ("dense<[0.5, 0.25]> : tile<2xf32>", [0x3F000000, 0x3E800000]),
        ('<i8: "0x0001FF02"> : tile<4xi8>', [0, 1, 255, 2]),
        ('<i16: "0xFFFF"> : tile<4xi16>', [0xFFFF]),
        ('<i1: "0x0001FF00"> : tile<4xi1>', [0, 1, 1, 0]),
        ('<tf32: "0x00FC01007E00"> : tile<2xtf32>', [0x1FC00 << 13, 0x7E00 << 13]),
        ('<f4E2M1FN: "0x0107"> : tile<2xf4E2M1FN>', [1, 7]),
    ],
)
def test_a_literal_has_the_bytes_it_stands_for(text: str, expected: list[int]) -> None:
    assert patterns(text) == expected


def test_a_splat_takes_no_space_for_its_elements() -> None:
    assert elements("<f64: 1.0> : tile<16777216xf64>").data == struct.pack("<d", 1.0)


def test_a_long_list_reads_fast() -> None:
    numbers = ", ".join(f"{number}.25" for number in range(1 << 17))
    begin = time.perf_counter()
    found = elements(f"<f32: [{numbers}]> : tile<131072xf32>")
    assert time.perf_counter() - begin < 5
    assert found.data == struct.pack(f"<{1 << 17}f", *(number + 0.25 for number in range(1 << 17)))


def test_a_list_of_lists_keeps_row_major_order() -> None:
    rows = ", ".join("[" + ", ".join(str(row * 64 + column) for column in range(64)) + "]" for row in range(64))
    assert patterns(f"<i32: [{rows}]> : tile<64x64xi32>") == list(range(4096))


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ("<«i4»: 0> : tile<i4>", "E0117"),
        ("<«ptr<f32>»: [%p]> : tile<1xptr<f32>>", "E0117"),
        ("<i32: «5»> : tile<i64>", "E0117"),
        ("<i32: «5»> : token", "E0117"),
        ("<f32: «1»> : tile<f32>", "E0118"),
        ("<f32: «-0x7FC00000»> : tile<f32>", "E0118"),
        ("<f32: [1.0, «2»]> : tile<2xf32>", "E0118"),
        ("<i32: «1.0»> : tile<i32>", "E0118"),
        ("<i32: «true»> : tile<i32>", "E0118"),
        ("<i32: [1, «abc»]> : tile<2xi32>", "E0118"),
        ('<i32: «"hello"»> : tile<i32>', "E0118"),
        ("<f32: [0x0, «0x7-0»]> : tile<2xf32>", "E0118"),
        ("<f32: [0x0, «1 2»]> : tile<2xf32>", "E0118"),
        ("<i8: «256»> : tile<i8>", "E0119"),
        ("<i8: «-129»> : tile<i8>", "E0119"),
        ("<i1: «2»> : tile<i1>", "E0119"),
        ("<i64: «9223372036854775808»> : tile<i64>", "E0119"),
        (f"<i32: «{'9' * 5000}»> : tile<i32>", "E0119"),
        ("<f16: «0x10000»> : tile<f16>", "E0119"),
        ("<tf32: «0x80000»> : tile<tf32>", "E0119"),
        ("<f32: «1.0e999»> : tile<f32>", "E0119"),
        ("<i32: «[1, 2, 3]»> : tile<4xi32>", "E0120"),
        ("<i32: «[1]»> : tile<i32>", "E0120"),
        ("<i32: «[1, 2, 3, 4]»> : tile<2x2xi32>", "E0120"),
        ("<i32: [[1, 2], [3]«]»> : tile<2x2xi32>", "E0120"),
        ("<i32: [[1, 2], 3«]»> : tile<2x2xi32>", "E0120"),
        ("<i32: [«]»> : tile<4xi32>", "E0103"),
        ("<i32: [1, 2,«]»> : tile<2xi32>", "E0103"),
        ("<i32: [1, 2 «3», 4]> : tile<4xi32>", "E0103"),
        ("<i32: [1, «%»]> : tile<2xi32>", "E0101"),
        ("<i32: [1, «%x»]> : tile<2xi32>", "E0103"),
        ("<i32: [1, 2«>» : tile<2xi32>", "E0103"),
        ("<f32: «infinity»> : tile<f32>", "E0103"),
        ("<f8E4M3FN: «inf»> : tile<f8E4M3FN>", "E0119"),
        ("<i32: «inf»> : tile<i32>", "E0118"),
        ('<i8: «"0x0102"»> : tile<4xi8>', "E0120"),
        ('<f4E2M1FN: «"0x0110"»> : tile<2xf4E2M1FN>', "E0119"),
    ],
)
def test_a_faulty_literal_is_reported_where_it_is_wrong(marked: str, code: str) -> None:
    check_faults(entry(f"%c = constant {marked}"), code)


def test_an_integer_for_a_float_has_a_hint() -> None:
    (fault,) = check_faults(entry("%c = constant <f32: «3»> : tile<f32>"), "E0118")
    assert fault.hint == "write '3.0'"


def test_a_global_holds_elements_too() -> None:
    program = "global private constant @g alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>"
    found = parse(program).items[0]
    assert (found.value.data, found.alignment, found.constant) == (struct.pack("<2f", 1.0, 2.0), 16, True)


def test_a_constant_of_four_bits_is_said_to_be_made_of_eight() -> None:
    (fault,) = check_faults("entry @k() { %c = constant <«i4»: 0> : tile<i4> }", "E0117")
    assert fault.hint == "write a constant of i8; 'trunci' makes i4 of it"
