"""The annotated dump shows every byte once, in order, and never fails."""

import re
from itertools import pairwise

from bytecode_programs import INSTRUCTIONS, variants
from hypothesis import given
from hypothesis import strategies as st
from test_known_files import MODULE_13_3, debug_module

from tileir import bytecode

ROW = re.compile(r"^([0-9a-f]{4,})  ((?:[0-9a-f]{2} ?)+)(?:  |$)", re.MULTILINE)


def bytes_shown(text: str) -> bytes:
    rows = [(int(offset, 16), bytes.fromhex(row)) for offset, row in ROW.findall(text)]
    for (offset, row), (following, _) in pairwise(rows):
        assert offset + len(row) == following
    return b"".join(row for _, row in rows)


def test_a_known_file_is_explained_field_by_field():
    text = bytecode.dump(MODULE_13_3)
    assert bytes_shown(text) == MODULE_13_3
    assert "not read" not in text
    for line in (
        "0008  0d 03 00 00              version 13.3, tag 0",
        "      -- op 1 'addi'",
        "001b  01                       attribute 'overflow': no_signed_wrap",
        "001d  01                       operand 'rhs': value 1",
        "      -- value 2: result 0 of 'addi'",
        "0040  04 07 00 00 00           constant 0: 4 bytes",
        "005c  10 01 01 00              type 2: (tile<i32>) -> ()",
        '0075  70                       string 1: "p"',
        "0076  00                       end marker",
    ):
        assert f"\n{line}\n" in text


def test_debug_records_are_explained():
    text = bytecode.dump(bytecode.encode(debug_module()))
    assert "debug record 7: call_site" in text
    assert "not read" not in text


def test_nothing_in_a_good_file_is_left_unexplained():
    for op in INSTRUCTIONS:
        for module in variants(op, (13, 5)):
            data = bytecode.encode(module)
            text = bytecode.dump(data)
            assert bytes_shown(text) == data
            assert "not read" not in text
            assert "error[" not in text


def test_a_fault_is_shown_at_its_place():
    damaged = MODULE_13_3[:0x1D] + b"\x07" + MODULE_13_3[0x1E:]
    lines = bytecode.dump(damaged).splitlines()
    fault = next(index for index, line in enumerate(lines) if "error[E0914]" in line)
    assert "function @k, op 1 'addi', operand 'rhs'" in lines[fault]
    assert lines[fault + 1].startswith("001d  07 5c 00 00")
    assert "not read" in lines[fault + 1]


@given(st.integers(0, len(MODULE_13_3)), st.binary(max_size=4))
def test_every_byte_of_a_damaged_file_is_shown(place, inserted):
    damaged = MODULE_13_3[:place] + inserted + MODULE_13_3[place + len(inserted) :]
    assert bytes_shown(bytecode.dump(damaged)) == damaged


def test_of_a_long_stretch_the_middle_is_left_out():
    text = bytecode.dump(MODULE_13_3[:12] + bytes(1_000_000))
    assert len(text) < 5_000
    assert "... 1000000 bytes in all" in text or "... 999999 bytes in all" in text
