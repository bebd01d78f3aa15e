"""Calls of linked code in bytecode (spec: bytecode-samples#preview): the version tag, the opcode, the constants."""

from __future__ import annotations

import pytest
from damaged_files import RETURN, Draft, found, varint

import tileir
from tileir import bytecode
from tileir.bytecode.sections import read_file
from tileir.ir.diagnostics import DiagnosticError

CALL = "entry @k(%x: tile<i32>) {\n  %y = preview$call @f<[CONSTANTS]>(%x) : (tile<i32>) -> tile<i32>\n  return\n}"
TAG = 10
"""Offset of the version tag."""


def program(constants: str) -> tileir.Module:
    return tileir.parse(CALL.replace("CONSTANTS", constants))


def announced(data: bytes) -> bytes:
    return data[:TAG] + b"\x01" + data[TAG + 1 :]


def test_a_file_announces_preview_content_where_it_has_some() -> None:
    plain = tileir.parse("entry @k() {\n  return\n}")
    assert not read_file(bytecode.encode(plain, "13.5")).preview
    data = bytecode.encode(program("1"))
    assert read_file(data).preview
    assert data[8:12] == bytes((13, 5, 1, 0))
    bytecode.decode(announced(bytecode.encode(plain, "13.5")))


@pytest.mark.parametrize("version", ["13.1", "13.4"])
def test_no_older_file_holds_a_call_of_linked_code(version: str) -> None:
    with pytest.raises(DiagnosticError, match="needs bytecode version"):
        bytecode.encode(program("1"), version)


@pytest.mark.parametrize("minor", [1, 4])
def test_older_files_announce_no_preview_content(minor: int) -> None:
    code, path, offset = found(announced(Draft(version=(13, minor)).build()))
    assert (code, path, offset) == ("E0904", "header", TAG)


@pytest.mark.parametrize("tag", [2, 3, 255])
def test_unknown_bits_of_the_tag_are_refused(tag: int) -> None:
    data = Draft(version=(13, 5)).build()
    assert found(data[:TAG] + bytes((tag,)) + data[TAG + 1 :])[0] == "E0904"


CALL_BYTES = varint(0x4002) + bytes.fromhex("00 00 00")
"""Opcode, no results, no flags, callee `k`."""


def drafted(constants: bytes, opcode: bytes = b"") -> bytes:
    body = (opcode or CALL_BYTES) + constants + bytes.fromhex("00") + RETURN
    return Draft(version=(13, 5), body=body).build()


def test_the_call_needs_the_announcement() -> None:
    assert found(drafted(b"\x00"))[:2] == ("E0916", "function @k, op 0")
    assert len([*bytecode.decode(announced(drafted(b"\x00"))).walk()][2:]) == 2


@pytest.mark.parametrize(
    ("constants", "code"),
    [
        (b"\x01" + varint(210) + b"\x00", "E0915"),
        (b"\x01\x05\x00", "E0915"),
        (b"\x01" + varint(228) + b"\x63", "E0914"),
        (b"\x01" + varint(219) + b"\x63", "E0914"),
        (b"\x01" + varint(216) + b"\x02", "E0915"),
        (b"\x01" + (varint(216) + b"\x01") * 300, "E0931"),
    ],
    ids=["variable", "plain string", "string index", "type index", "tuple cut", "deep"],
)
def test_damaged_constants_are_refused(constants: bytes, code: str) -> None:
    assert found(announced(drafted(constants)))[0] == code


def test_other_preview_instructions_are_refused() -> None:
    code, path, _ = found(announced(drafted(b"", varint(0x4003))))
    assert (code, path) == ("E0915", "function @k, op 0")


@pytest.mark.parametrize(
    ("flags", "name"), [("00", "preview$func"), ("04", "preview$extern_impl")], ids=["declaration", "implementation"]
)
def test_functions_of_libraries_are_refused_by_name(flags: str, name: str) -> None:
    data = announced(Draft(version=(13, 5), head=bytes.fromhex(f"00 02 {flags} 00"), extra=b"").build())
    with pytest.raises(DiagnosticError) as caught:
        bytecode.decode(data)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code in ("E0918", "E0923")
    assert diagnostic.hint is not None and f"'{name}'" in diagnostic.hint


@pytest.mark.parametrize("constants", ["9223372036854775808", "-9223372036854775809", "1.5", "@f", "(1", "[1]", "true"])
def test_text_that_is_no_constant_is_a_fault(constants: str) -> None:
    with pytest.raises(DiagnosticError):
        program(constants)
