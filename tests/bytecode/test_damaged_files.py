"""Every kind of damage is found, and the message says what and where: code, path into the file, byte offset."""

import pytest
from damaged_files import ATTRIBUTE_AT, CONSTANT, I32, RETURN, TYPES, Draft, found, table, varint, wrapped
from test_known_files import MODULE_13_3

from tileir import bytecode
from tileir.bytecode.sections import Section
from tileir.ir.diagnostics import DiagnosticError

HEADER = MODULE_13_3[:12]
END = b"\x00"
BEGIN_OF_SECTIONS = 12
STRINGS = bytes.fromhex("81 01 04 cb 00")


def changed(offset: int, *values: int) -> bytes:
    """The known module with other bytes at `offset`."""
    data = bytearray(MODULE_13_3)
    data[offset : offset + len(values)] = bytes(values)
    return bytes(data)


def test_the_undamaged_draft_is_read():
    for minor in range(1, 6):
        types = TYPES if minor < 4 else (*TYPES[:5], bytes.fromhex("0c 00 00"), *TYPES[6:])
        bytecode.decode(Draft(version=(13, minor), types=types, body=wrapped(b"\x0a\x00")).build())


# ---------------------------------------------------------------- the file

FILE = {
    "empty": (b"", "E0901", "header", 0),
    "wrong magic": (changed(3, 0x20), "E0901", "header", 3),
    "magic cut": (MODULE_13_3[:5], "E0901", "header", 5),
    "version cut": (MODULE_13_3[:9], "E0902", "header", 9),
    "tag cut": (MODULE_13_3[:11], "E0902", "header", 10),
    "version 13.0": (changed(9, 0), "E0904", "header", 8),
    "version 13.6": (changed(9, 6), "E0904", "header", 8),
    "version 14.1": (changed(8, 14, 1), "E0904", "header", 8),
    "version tag": (changed(10, 2), "E0904", "header", 10),
    "no section": (HEADER, "E0902", "file", 12),
    "no end marker": (MODULE_13_3[:-1], "E0902", "file", 118),
    "section id 8": (changed(12, 8), "E0905", "file", 12),
    "section id 127 with alignment": (changed(12, 0xFF), "E0905", "file", 12),
    "end marker with alignment": (HEADER + b"\x80", "E0906", "file", 12),
    "bytes behind the end": (MODULE_13_3 + b"\x00", "E0906", "file", 119),
    "length cut": (HEADER + b"\x82\x80", "E0902", "function section", 13),
    "length of eleven bytes": (HEADER + b"\x82" + b"\x80" * 10 + b"\x01", "E0903", "function section", 13),
    "length beyond the file": (changed(13, 0x7F), "E0907", "function section", 13),
    "length beyond the padding": (HEADER + b"\x82\x02\x08\xcb\x00", "E0907", "function section", 13),
    "alignment cut": (HEADER + b"\x82\x00", "E0902", "function section", 14),
    "alignment 0": (changed(14, 0), "E0908", "function section", 14),
    "alignment 24": (changed(14, 24), "E0908", "function section", 14),
    "alignment 4 of functions": (changed(14, 4), "E0908", "function section", 14),
    "no alignment of functions": (changed(12, 2), "E0908", "function section", 12),
    "alignment 2 of strings": (changed(0x65, 2), "E0908", "string section", 0x65),
    "huge alignment": (HEADER + b"\x82\x00" + varint(1 << 40) + b"\x00", "E0902", "function section", 20),
    "no strings": (Draft(payloads={Section.STRING: None}).build(), "E0909", "file", None),
    "no functions": (Draft(payloads={Section.FUNCTION: None}).build(), "E0909", "file", None),
}


@pytest.mark.parametrize(("data", "code", "path", "offset"), FILE.values(), ids=FILE)
def test_damage_of_the_file_around_the_sections(data, code, path, offset):
    assert found(data) == (code, path, len(data) if offset is None else offset)


def test_a_section_twice_is_an_error_only_in_strict_reading():
    twice = MODULE_13_3[:-1] + b"\x07\x01\x00" + END
    assert bytecode.decode(twice).op.attributes["producer"] == "k"
    assert found(twice, strict=True) == ("E0910", "file", 118)


def test_mlir_bytecode_is_recognised():
    with pytest.raises(DiagnosticError) as raised:
        bytecode.decode(b"ML\xefR\x06xxxxxxx")
    assert "MLIR bytecode" in raised.value.diagnostics[0].hint


def test_every_cut_of_a_file_is_an_error():
    for length in range(len(MODULE_13_3)):
        assert found(MODULE_13_3[:length])[0] in {"E0901", "E0902", "E0907"}


def test_a_file_that_was_cut_short_is_told():
    with pytest.raises(DiagnosticError, match="the file may have been cut short"):
        bytecode.decode(MODULE_13_3[:34])


# ---------------------------------------------------------------- tables

# Payload, code, path, offset from the beginning of the payload.
TABLES = {
    "string count": (Section.STRING, varint(3) + b"\xcb" * 3 + bytes(8), "E0911", "string section", 0),
    "string count, huge": (Section.STRING, varint(1 << 63), "E0911", "string section", 0),
    "string offsets cut": (Section.STRING, varint(1) + b"\xcb\xcb\xcb\x00", "E0911", "string section", 0),
    "strings empty": (Section.STRING, b"", "E0902", "string section", 0),
    "string offsets fall": (Section.STRING, table((b"k", b"abc", b"x"), 4, (0, 3, 2)), "E0913", "string section", 8),
    "string offset far": (Section.STRING, table((b"k", b"", b"x"), 4, (0, 1, 99)), "E0913", "string section", 8),
    "type count": (Section.TYPE, varint(99), "E0911", "type section", 0),
    "constant count": (Section.CONSTANT, varint(9) + b"\xcb" * 7 + bytes(9), "E0911", "constant section", 0),
    "constant limit": (Section.CONSTANT, varint((1 << 32) - 1), "E0912", "constant section", 0),
    "constants end behind the count": (Section.CONSTANT, varint(1), "E0902", "constant section", 1),
    "constant offsets fall": (Section.CONSTANT, table((CONSTANT,) * 2, 8, (5, 0)), "E0913", "constant section", 8),
    "constant offset far": (Section.CONSTANT, table((CONSTANT,), 8, (1 << 60,)), "E0913", "constant section", 8),
    "function count": (Section.FUNCTION, varint(3), "E0911", "function section", 0),
    "functions empty": (Section.FUNCTION, b"", "E0902", "function section", 0),
    "global count": (Section.GLOBAL, varint(2) + bytes(11), "E0911", "global section", 0),
    "producer": (Section.PRODUCER, varint(3), "E0914", "producer section", 0),
    "debug empty": (Section.DEBUG, b"", "E0902", "debug section", 0),
    "debug list count": (Section.DEBUG, varint(2) + b"\xcb" * 3 + bytes(4), "E0911", "debug section", 0),
    "debug ends behind the count": (Section.DEBUG, varint(0), "E0902", "debug section", 1),
    "debug entry count": (Section.DEBUG, bytes.fromhex("00 cb cb cb 01 cb cb cb"), "E0911", "debug section", 4),
    "debug record count": (
        Section.DEBUG,
        bytes.fromhex("00 cb cb cb 00 cb cb cb 02 cb cb cb 00"),
        "E0911",
        "debug section",
        8,
    ),
    "debug records missing": (Section.DEBUG, bytes.fromhex("00 cb cb cb 00 cb cb cb 00"), "E0902", "debug section", 9),
}


@pytest.mark.parametrize(("section", "payload", "code", "path", "offset"), TABLES.values(), ids=TABLES)
def test_damage_of_a_table(section, payload, code, path, offset):
    draft = Draft(payloads={section: payload, Section.STRING: table((b"k", b"", b"xyzzy"), 4)} | {section: payload})
    data = draft.build()
    begin = found(data)[2] - offset
    assert found(data) == (code, path, begin + offset)
    assert data[begin : begin + len(payload)] == payload


def test_an_entry_that_is_not_used_may_be_damaged():
    types = (*TYPES, b"\xff\x7f", b"", bytes.fromhex("0d 63 00"))
    bytecode.decode(Draft(types=types, constants=(CONSTANT, b"\x7f")).build())


# ---------------------------------------------------------------- types

# The type entry, code, path behind "type N", offset in the entry, version.
ELEMENT = "field 'element' of 'tile'"
VIEW = bytes.fromhex("0e 06 01 00 00 00 00 00 00 00 80 01 01 00 00 00 00 00 00 00")
"""tensor_view<?xf32, strides=[1]> before 13.4; type 8 in the tests below."""
BAD_TYPES = {
    "empty": (b"", "E0902", "", 0, 3),
    "unknown tag": (b"\x17", "E0915", "", 0, 3),
    "unknown tag 256": (varint(256), "E0915", "", 0, 3),
    "preview tag": (varint(209), "E0915", "", 0, 3),
    "element index": (b"\x0d\x63\x00", "E0914", ELEMENT, 1, 3),
    "shape cut": (b"\x0d\x00\x01\x00", "E0902", "field 'shape' of 'tile'", 3, 3),
    "shape count": (b"\x0d\x00" + varint((1 << 32) - 1), "E0912", "field 'shape' of 'tile'", 2, 3),
    "tile of a token": (b"\x0d\x03\x00", "E0925", ELEMENT, 1, 3),
    "tile of itself": (b"\x0d\x09\x00", "E0924", ELEMENT, 1, 3),
    "tile of 3": (b"\x0d\x00\x01" + (3).to_bytes(8, "little"), "E0925", "", 0, 3),
    "tile of ?": (b"\x0d\x00\x01" + (1 << 63).to_bytes(8, "little"), "E0925", "", 0, 3),
    "bytes behind a tile": (b"\x0d\x00\x00\x00", "E0925", "", 3, 3),
    "pointer to a tile": (b"\x0c\x01", "E0925", "field 'pointee' of 'ptr'", 1, 3),
    "pointer flags": (b"\x0c\x02\x00", "E0918", "", 1, 4),
    "pointer attribute": (b"\x0c\x01\x00\x03", "E0917", "", 3, 5),
    "pointer attribute of 13.5": (b"\x0c\x01\x00\x02", "E0916", "", 3, 4),
    "view of a tile": (
        b"\x0f\x00\x01\x04\x00\x00\x00\x01\x00",
        "E0920",
        "field 'tensor_view' of 'partition_view'",
        7,
        3,
    ),
    "padding": (b"\x0f\x01\x01\x04\x00\x00\x00\x08\x01\x00\x00\x00\x00\x09", "E0917", "", 13, 3),
    "padding, 13.1": (b"\x0f\x01\x04\x00\x00\x00\x08\x01\x00\x00\x00\x00\x01\x09", "E0917", "", 13, 1),
    "view flags": (b"\x0f\x04", "E0918", "", 1, 3),
    "view rank": (b"\x0f\x00\x02" + bytes(8) + b"\x08\x00", "E0925", "", 0, 3),
    "sparse dimension of 33 bits": (
        b"\x14\x00\x01\x04\x00\x00\x00\x08" + varint(1 << 32),
        "E0919",
        "field 'sparse_dim' of 'gather_scatter_view'",
        8,
        3,
    ),
    "sparse dimension": (b"\x14\x00\x01\x04\x00\x00\x00\x08\x07", "E0925", "", 0, 3),
    "gather_scatter_view in 13.2": (b"\x14\x00", "E0916", "", 0, 2),
    "strided_view in 13.2": (b"\x15\x00", "E0916", "", 0, 2),
    "f8E8M0FNU in 13.1": (b"\x12", "E0916", "", 0, 1),
    "i4 in 13.2": (b"\x16", "E0916", "", 0, 2),
    "fnv8E5M3FNU in 13.3": (varint(130), "E0916", "", 0, 3),
    "function of functions": (b"\x10\x01\x02\x00", "E0920", "field 'inputs' of 'function'", 2, 3),
    "function cut": (b"\x10\x02\x01", "E0902", "field 'inputs' of 'function'", 3, 3),
    "function count": (b"\x10" + varint((1 << 32) - 1), "E0912", "field 'inputs' of 'function'", 1, 3),
}


@pytest.mark.parametrize(("entry", "code", "path", "offset", "minor"), BAD_TYPES.values(), ids=BAD_TYPES)
def test_damage_of_a_type(entry, code, path, offset, minor):
    body = bytes.fromhex("10 09 00") + RETURN  # constant: result type 9
    draft = Draft(version=(13, minor), types=(*TYPES, VIEW, entry), body=body)
    path = f"function @k, op 0 'constant', result 'result', type 9{', ' if path else ''}{path}"
    assert found(draft.build()) == (code, path, draft.type_at(9) + offset)


def test_bytes_behind_other_types_are_ignored():
    bytecode.decode(Draft(types=(b"\x03\xff", *TYPES[1:])).build())


def test_type_offsets_that_fall_make_only_that_type_unreadable():
    right = [sum(map(len, TYPES[:index])) for index in range(len(TYPES))]
    wrong = [*right[:6], 3, right[7]]
    draft = Draft(payloads={Section.TYPE: table(TYPES, 4, wrong)}, body=bytes.fromhex("10 05 00") + RETURN)
    assert found(draft.build())[:2] == ("E0913", "function @k, op 0 'constant', result 'result', type 5")


# ---------------------------------------------------------------- functions

HEADS = {
    "name index": ("03 02 02 00", "E0914", "function 0", 0, 3),
    "empty name": ("01 02 02 00", "E0922", "function 0", 0, 3),
    "signature index": ("00 63 02 00", "E0914", "function @k, signature", 1, 3),
    "signature is no function": ("00 01 02 00", "E0920", "function @k, signature", 1, 3),
    "no kernel": ("00 02 00 00", "E0923", "function @k", 2, 3),
    "private kernel": ("00 02 03 00", "E0918", "function @k", 2, 3),
    "unknown flags of 13.4": ("00 02 12 00", "E0918", "function @k", 2, 4),
    "external of 13.5": ("00 02 06 00", "E0918", "function @k", 2, 5),
    "test form of 13.5": ("00 02 0a 00", "E0918", "function @k", 2, 5),
    "location without debug section": ("00 02 02 01", "E0929", "function @k, location", 3, 3),
    "hints are no hints": ("00 02 06 00 0a 00", "E0920", "function @k, optimization hints", 4, 3),
    "hints of 13.5 are no hints": ("00 02 02 00 06 00", "E0920", "function @k, optimization hints", 4, 5),
    "argument attributes": ("00 02 02 00 0b 00 63", "E0915", "function @k, argument attributes", 6, 5),
    "body beyond the section": ("00 02 02 00 7f", "E0902", "function @k", 5, 3),
}


@pytest.mark.parametrize(("head", "code", "path", "offset", "minor"), HEADS.values(), ids=HEADS)
def test_damage_of_the_head_of_a_function(head, code, path, offset, minor):
    draft = Draft(version=(13, minor), head=bytes.fromhex(head), extra=b"")
    assert found(draft.build()) == (code, path, draft.place(Section.FUNCTION) + 1 + offset)


def test_unknown_function_flags_are_ignored_before_13_4():
    bytecode.decode(Draft(head=bytes.fromhex("00 02 12 00")).build())


def test_a_symbol_twice():
    functions = b"\x02" + 2 * (bytes.fromhex("00 02 02 00 03") + RETURN)
    draft = Draft(payloads={Section.FUNCTION: functions})
    assert found(draft.build()) == ("E0910", "function 1", draft.place(Section.FUNCTION) + 9)


BODIES = {
    "empty body": ("", "E0927", "", 0),
    "no terminator": ("10 01 00", "E0927", "", 3),
    "unknown opcode": ("19 00", "E0915", "op 0", 0),
    "entry in a body": ("16 00", "E0915", "op 0", 0),
    "module in a body": ("4b 00", "E0915", "op 0", 0),
    "opcode of 13.4": ("76 01 01", "E0916", "op 0", 0),
    "opcode cut": ("80", "E0902", "op 0", 0),
    "opcode of eleven bytes": ("80 80 80 80 80 80 80 80 80 80 01", "E0903", "op 0", 0),
    "result type": ("10 63 00", "E0914", "op 0 'constant', result 'result'", 1),
    "result type cut": ("10", "E0902", "op 0 'constant', result 'result'", 1),
    "result count": ("5c 01 01 00", "E0928", "op 0 'return'", 1),
    "results of print_tko": ("55 00 00 02 00", "E0928", "op 0 'print_tko'", 1),
    "huge result count": ("41 ff ff ff ff 0f", "E0912", "op 0 'loop'", 1),
    "results beyond the body": ("41 fe ff ff ff 0f 00", "E0902", "op 0 'loop'", 1),
    "operand": ("03 01 00 00 01", "E0914", "op 0 'addi', operand 'rhs'", 4),
    "second operation": ("10 01 00 03 01 00 00 02", "E0914", "op 1 'addi', operand 'rhs'", 7),
    "operand cut": ("03 01 00 00", "E0902", "op 0 'addi', operand 'rhs'", 4),
    "operand count": ("26 01 01 00", "E0928", "op 0 'extract'", 3),
    "huge operand count": ("5c 00 ff ff ff ff 0f", "E0912", "op 0 'return'", 2),
    "operands cut": ("5c 00 fe ff ff ff 0f", "E0902", "op 0 'return', operand 'operands'", 7),
    "segment": ("43 01 01 00 02 00 05 00", "E0914", "op 0 'make_tensor_view', operand 'dynamicShape'", 6),
    "enum": ("03 01 04 00 00", "E0917", "op 0 'addi', attribute 'overflow'", 2),
    "huge enum": ("03 01 80 80 80 80 10 00 00", "E0917", "op 0 'addi', attribute 'overflow'", 2),
    "enum case of 13.4": ("02 01 00 07 00 00", "E0916", "op 0 'addf', attribute 'rounding_mode'", 3),
    "string": ("05 09 00", "E0914", "op 0 'assert', attribute 'message'", 1),
    "symbol": ("2c 01 01", "E0922", "op 0 'get_global', attribute 'name'", 2),
    "constant index": ("10 01 01", "E0914", "op 0 'constant', attribute 'value'", 2),
    "constant of a token": ("10 03 00", "E0920", "op 0 'constant', attribute 'value'", 2),
    "i32 of 33 bits": ("58 01 01 80 80 80 80 10 00", "E0919", "op 0 'reduce', attribute 'dim'", 3),
    "extreme array element": ("53 01 01 ff ff ff 7f 00", "E0919", "op 0 'permute', attribute 'permutation'", 2),
    "array cut": ("53 01 02 00 00 00 00 00", "E0902", "op 0 'permute', attribute 'permutation'", 3),
    "predicate": ("06 01 03 01 00", "E0920", "op 0 'assume', attribute 'predicate'", 2),
    "predicate tag": ("06 01 00 01 00", "E0915", "op 0 'assume', attribute 'predicate'", 2),
    "div_by flags": ("06 01 08 10 04 00", "E0918", "op 0 'assume', attribute 'predicate'", 4),
    "bounded flags": ("06 01 0c 80 00", "E0918", "op 0 'assume', attribute 'predicate'", 3),
    "identity": ("58 01 01 00 01 0a 00 01 00", "E0920", "op 0 'reduce', attribute 'identities'", 5),
    "region count": ("32 00 00 01", "E0926", "op 0 'if'", 3),
    "no block": ("32 00 00 02 00", "E0927", "op 0 'if', region 'then'", 4),
    "two blocks": ("32 00 00 02 02", "E0927", "op 0 'if', region 'then'", 4),
    "empty block": ("32 00 00 02 01 00 00 00", "E0927", "op 0 'if', region 'then'", 7),
    "block without terminator": ("32 00 00 02 01 00 01 44 03 00", "E0927", "op 0 'if', region 'then'", 9),
    "block argument": ("41 00 00 01 01 01 63", "E0914", "op 0 'loop', region 'body'", 6),
    "inside a region": ("41 00 00 01 01 00 01 0a 00 01 09", "E0914", "op 1 'break', operand 'operands'", 10),
    "value of a finished region": (
        "32 00 00 02 01 00 02 44 03 6d 00 00 00 3c 01 03 01 01",
        "E0914",
        "op 3 'join_tokens', operand 'tokens'",
        17,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "code", "path", "offset"), BODIES.values(), ids=BODIES)
def test_damage_of_a_body(body, code, path, offset):
    draft = Draft(body=bytes.fromhex(body))
    path = f"function @k{', ' if path else ''}{path}"
    assert found(draft.build()) == (code, path, draft.body_at() + offset)


def test_inbounds_must_have_one_boolean_per_index():
    body = bytes.fromhex("3e 02 01 03 00 00 01 01 00 00 00") + RETURN
    draft = Draft(version=(13, 4), body=body)
    path = "function @k, op 0 'load_view_tko', attribute 'inbounds'"
    assert found(draft.build())[:2] == ("E0928", path)


def test_unknown_operation_flags_are_an_error_only_in_strict_reading():
    draft = Draft(body=bytes.fromhex("45 01 04 00 00") + RETURN)
    bytecode.decode(draft.build())
    assert found(draft.build(), strict=True) == ("E0918", "function @k, op 0 'maxf'", draft.body_at() + 2)


# ---------------------------------------------------------------- attributes

ATTRIBUTES = {
    "unknown tag": ("0e", "E0915", 0, 5),
    "tag 256": ("80 02", "E0915", 0, 5),
    "dense elements": ("07 01 00", "E0915", 1, 5),
    "tag of 13.5": ("0d 00", "E0916", 0, 4),
    "integer of a float type": ("01 06 00", "E0920", 1, 3),
    "integer type index": ("01 63 00", "E0914", 1, 3),
    "integer of 33 bits": ("01 00 80 80 80 80 10", "E0919", 2, 3),
    "float of an integer type": ("02 00 00", "E0920", 1, 3),
    "float of 33 bits": ("02 06 80 80 80 80 20", "E0919", 2, 3),
    "string index": ("05 07", "E0914", 1, 3),
    "array cut": ("06 09 03 01", "E0902", None, 3),
    "array count": ("06 ff ff ff ff 0f", "E0912", 1, 3),
    "dictionary count": ("0a ff ff ff ff 0f", "E0912", 1, 3),
    "empty key": ("0a 01 01 03 00", "E0922", 2, 3),
    "key twice": ("0a 02 02 03 00 02 03 00", "E0910", 5, 3),
    "hints of hints": ("0b 01 02 03 00", "E0920", 1, 3),
    "elements cut": ("09 09 00", "E0902", 2, 3),
}


@pytest.mark.parametrize(("attribute", "code", "offset", "minor"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_damage_of_a_tagged_attribute(attribute, code, offset, minor):
    body = wrapped(bytes.fromhex(attribute))
    if offset is None:
        body = body[: -len(RETURN) - 1]
        offset = len(body) - ATTRIBUTE_AT
    draft = Draft(version=(13, minor), body=body)
    path = "function @k, op 0 'load_ptr_tko', attribute 'optimization_hints'"
    assert found(draft.build()) == (code, path, draft.body_at() + ATTRIBUTE_AT + offset)


def test_attributes_nested_too_deep():
    deep = wrapped(b"\x06\x01" * 127 + b"\x03\x01")
    assert found(Draft(body=deep).build())[0] == "E0920"  # as deep as allowed: hints must be dictionaries
    draft = Draft(body=wrapped(b"\x06\x01" * 100_000 + b"\x03\x01"))
    path = "function @k, op 0 'load_ptr_tko', attribute 'optimization_hints'"
    assert found(draft.build()) == ("E0931", path, draft.body_at() + ATTRIBUTE_AT + 2 * 128)


def nested_loops(depth: int) -> bytes:
    opened = bytes.fromhex("41 00 00 01 01 00 01") * depth
    return opened + bytes.fromhex("0a 00 00") + (b"" if depth == 0 else RETURN)


def test_regions_nested_too_deep():
    # Each loop but the innermost holds only the next one, so it is the missing terminator that is found first.
    assert found(Draft(body=nested_loops(128)).build())[0] == "E0927"
    draft = Draft(body=nested_loops(100_000))
    code, path, offset = found(draft.build())
    assert (code, offset) == ("E0931", draft.body_at() + 7 * 128 + 5)
    assert path == "function @k, op 128 'loop', region 'body'"


# ---------------------------------------------------------------- constants

# The entry, the result type of the constant, code, offset in the entry.
BAD_CONSTANTS = {
    "size beyond the entry": ("05 07 00 00 00", I32, "E0921", 0),
    "size cut": ("", I32, "E0902", 0),
    "too few bytes": ("03 07 00 00", I32, "E0921", 1),
    "too many bytes": ("08 07 00 00 00 08 00 00 00", I32, "E0921", 1),
    "bits": ("02 00 00", 7, "E0921", 1),
}


@pytest.mark.parametrize(("entry", "type", "code", "offset"), BAD_CONSTANTS.values(), ids=BAD_CONSTANTS)
def test_damage_of_a_constant(entry, type, code, offset):
    entry = bytes.fromhex(entry)
    body = bytes([0x10, 7 if type == 7 else 1, 0]) + RETURN
    draft = Draft(constants=(entry,), body=body)
    begin = draft.place(Section.CONSTANT) + len(table((entry,), 8)) - len(entry)
    path = "function @k, op 0 'constant', attribute 'value', constant 0"
    assert found(draft.build()) == (code, path, begin + offset)


# ---------------------------------------------------------------- globals

GLOBALS = {
    "name": ("09 08 00 00 00 00", "E0914", "global 0", 0),
    "empty name": ("01 08 00 00 00 00", "E0922", "global 0", 0),
    "type": ("02 63 00 00 00 00", "E0914", "global @x", 1),
    "no tile": ("02 00 00 00 00 00", "E0920", "global @x", 2),
    "tile of pointers": ("02 09 00 00 00 00", "E0920", "global @x", 2),
    "value": ("02 08 07 00 00 00", "E0914", "global @x", 2),
    "visibility": ("02 08 00 00 02 00", "E0917", "global @x", 4),
}


@pytest.mark.parametrize(("entry", "code", "path", "offset"), GLOBALS.values(), ids=GLOBALS)
def test_damage_of_a_global(entry, code, path, offset):
    types = (*TYPES, bytes.fromhex("0d 00 01 01 00 00 00 00 00 00 00"), bytes.fromhex("0d 05 00"))
    draft = Draft(types=types, payloads={Section.GLOBAL: b"\x01" + bytes.fromhex(entry)})
    assert found(draft.build()) == (code, path, draft.place(Section.GLOBAL) + 1 + offset)


# ---------------------------------------------------------------- debug information


def debug(records, entries=(1, 0), starts=(0,)) -> bytes:
    sink_start = varint(len(starts)) + b"\xcb" * 3 + b"".join(start.to_bytes(4, "little") for start in starts)
    counted = sink_start + varint(len(entries))
    counted += b"\xcb" * (-len(counted) % 8) + b"".join(entry.to_bytes(8, "little") for entry in entries)
    return counted + table(records, 4)


SUBPROGRAM = (bytes.fromhex("02 02 02"), bytes.fromhex("01 01"), bytes.fromhex("05 01 07 02 02 02 08"))
"""Records 1 file, 2 compile unit, 3 subprogram; record 4 is the location of the function."""
LOCATIONS = {
    "record index": (debug((b"\x00",), (5,)), "E0929", "location"),
    "no location": (debug((bytes.fromhex("02 02 02"),)), "E0929", "location"),
    "list start": (debug((b"\x00",), (1,), (7,)), "E0929", "location"),
    "list too short": (debug((b"\x00",), (1,)), "E0929", "op 0 'return', location"),
    "scope missing": (
        debug((bytes.fromhex("04 00 02 01 01"),)),
        "E0930",
        "location, debug record 1, field 'scope' of 'di_loc'",
    ),
    "scope is a file": (
        debug((bytes.fromhex("04 02 02 01 01"), bytes.fromhex("02 02 02"))),
        "E0930",
        "location, debug record 1, field 'scope' of 'di_loc'",
    ),
    "scope index": (
        debug((bytes.fromhex("04 63 02 01 01"),)),
        "E0930",
        "location, debug record 1, field 'scope' of 'di_loc'",
    ),
    "string index": (
        debug((bytes.fromhex("04 04 09 01 01"), *[b"\x00"] * 2, bytes.fromhex("03 05 05 01 01"), b"\x00")),
        "E0930",
        "location, debug record 1, field 'scope' of 'di_loc', debug record 4, field 'scope' of 'di_lexical_block'",
    ),
    "record cut": (debug((bytes.fromhex("06"),)), "E0902", "location, debug record 1, field 'callee' of 'call_site'"),
    "call site of itself": (
        debug((bytes.fromhex("06 01 00"),)),
        "E0924",
        "location, debug record 1, field 'callee' of 'call_site'",
    ),
    "cycle": (
        debug((bytes.fromhex("06 00 02"), bytes.fromhex("06 01 00"))),
        "E0924",
        "location, debug record 1, field 'caller' of 'call_site', debug record 2, field 'callee' of 'call_site'",
    ),
}


@pytest.mark.parametrize(("payload", "code", "path"), LOCATIONS.values(), ids=LOCATIONS)
def test_damage_of_debug_information(payload, code, path):
    draft = Draft(head=bytes.fromhex("00 02 02 01"), payloads={Section.DEBUG: payload})
    assert found(draft.build())[:2] == (code, f"function @k, {path}")


def test_flags_of_a_subprogram_of_13_5():
    records = [
        bytes.fromhex("02 02 02"),
        bytes.fromhex("01 01"),
        bytes.fromhex("05 01 07 02 02 02 08 02"),
        bytes.fromhex("04 03 02 01 01"),
    ]
    draft = Draft(version=(13, 5), head=bytes.fromhex("00 02 02 01"), payloads={Section.DEBUG: debug(records, (4, 0))})
    assert found(draft.build())[0] == "E0918"
    records[2] = records[2][:-1] + b"\x01"
    draft.payloads[Section.DEBUG] = debug(records, (4, 0))
    bytecode.decode(draft.build())


def chain(length: int) -> bytes:
    """Return call sites, each of which is the caller of the one before."""
    return debug([bytes([6, 0]) + varint(index + 2) for index in range(length)] + [b"\x00"])


def test_call_sites_nested_too_deep():
    bytecode.decode(Draft(head=bytes.fromhex("00 02 02 01"), payloads={Section.DEBUG: chain(127)}).build())
    draft = Draft(head=bytes.fromhex("00 02 02 01"), payloads={Section.DEBUG: chain(100_000)})
    assert found(draft.build())[0] == "E0931"


def test_shared_call_sites_do_not_blow_up():
    doubled = [bytes([6]) + 2 * varint(index + 2) for index in range(100)] + [b"\x00"]
    draft = Draft(head=bytes.fromhex("00 02 02 01"), payloads={Section.DEBUG: debug(doubled)})
    assert found(draft.build())[0] == "E0931"


def test_unknown_records_are_unknown_locations():
    bytecode.decode(Draft(head=bytes.fromhex("00 02 02 01"), payloads={Section.DEBUG: debug([b"\x07\xff"])}).build())


# ---------------------------------------------------------------- files that would blow up


def test_a_signature_shared_by_many_functions_does_not_blow_up():
    inputs = 20_000
    signature = b"\x10" + varint(inputs) + b"\x01" * inputs + b"\x00"
    names = tuple(f"{index:04}".encode() for index in range(5_000))
    heads = [varint(index) + bytes.fromhex("02 02 00 03") + RETURN for index in range(len(names))]
    functions = varint(len(heads)) + b"".join(heads)
    draft = Draft(strings=names, types=(*TYPES[:2], signature), payloads={Section.FUNCTION: functions})
    assert found(draft.build())[:2] == ("E0912", "function @0045, signature")


def test_values_are_not_of_function_type():
    draft = Draft(body=bytes.fromhex("10 02 00") + RETURN)
    assert found(draft.build())[0] == "E0920"


def test_messages_stay_short_whatever_the_types():
    ranks = 5_000
    view = b"\x0e\x06" + 2 * (varint(ranks) + (1).to_bytes(8, "little") * ranks)
    draft = Draft(types=(*TYPES, view), body=bytes.fromhex("10 08 00") + RETURN)
    with pytest.raises(DiagnosticError) as raised:
        bytecode.decode(draft.build())
    assert len(str(raised.value)) < 500
