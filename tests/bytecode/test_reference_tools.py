"""The reference tools take the bytecode written here: text -> bytecode -> disassembler gives the canonical
text again, in every version that can hold the program, and the assembler takes it."""

from functools import cache
from pathlib import Path

import pytest
from reference_tools import assemble, disassemble

from tests.thorough import sampled
from tileir import bytecode
from tileir.ir.compare import identical
from tileir.ir.core import Module
from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.versions import VERSIONS, version_key
from tileir.text.parser import parse
from tileir.text.printer import to_text

GOLDEN = sorted((Path(__file__).parent.parent / "golden").glob("*.mlir"))
TOO_OLD, TEXT_ONLY = "E0951", "E0955"
NOT_FOR_SM_100 = {
    "symbols": "a symbol with a blank in it has no name in PTX",
    "preview": "the code that it calls is in no library",
}
ALSO_FOR = {"sm_90": ("arithmetic_float", "control_flow", "memory", "views"), "sm_120": ("matmul", "version_13_4")}

each_golden = pytest.mark.parametrize("path", GOLDEN, ids=[path.stem for path in GOLDEN])
some_golden = pytest.mark.parametrize("path", sampled(GOLDEN, 4), ids=[path.stem for path in GOLDEN])


@cache
def program(path: Path) -> Module:
    return parse(path.read_text(encoding="utf-8"), path.name)


def refusal(path: Path, version: str) -> set[str]:
    """The codes of what keeps the program out of files of `version`."""
    try:
        bytecode.encode(program(path), version)
    except DiagnosticError as error:
        return set(error.codes)
    return set()


def written(path: Path) -> list[tuple[str, bytes]]:
    """The program in every version that can hold it."""
    versions = [version for version in VERSIONS if not refusal(path, version)]
    return [(version, bytecode.encode(program(path), version)) for version in versions]


@each_golden
def test_only_the_version_or_an_operation_of_text_only_keeps_a_golden_program_out(path):
    assert refusal(path, VERSIONS[-1]) <= {TEXT_ONLY}
    assert all(refusal(path, version) <= {TOO_OLD, TEXT_ONLY} for version in VERSIONS)


@each_golden
def test_text_to_bytecode_to_text_is_the_same_text_in_every_version(path):
    text = to_text(program(path), form="disassembly")
    for version, data in written(path):
        wanted = text if version_key(version) >= (13, 3) else without_producer(text)
        assert to_text(bytecode.decode(data), form="disassembly") == wanted, version


@each_golden
def test_a_program_read_back_is_the_program_written(path):
    for version, data in written(path):
        again = bytecode.decode(data)
        assert bytecode.encode(again, version) == data
        if version == VERSIONS[-1]:
            assert identical(bytecode.decode(bytecode.encode(again, version)), again)


@pytest.mark.oracle
@some_golden
def test_the_disassembler_gives_the_canonical_text(path, tmp_path):
    text = to_text(program(path), form="disassembly")
    for version, data in written(path):
        wanted = text if version_key(version) >= (13, 3) else without_producer(text)
        assert disassemble(data, tmp_path) == wanted, version


@pytest.mark.oracle
@each_golden
def test_the_disassembler_gives_the_canonical_debug_information(path, tmp_path):
    for version, data in written(path)[-1:]:
        text = to_text(bytecode.decode(data), form="disassembly", debug=True)
        assert disassemble(data, tmp_path, debug=True) == text, version


@pytest.mark.oracle
@some_golden
def test_the_assembler_takes_the_program(path, tmp_path):
    if path.stem in NOT_FOR_SM_100:
        pytest.skip(NOT_FOR_SM_100[path.stem])
    for _, data in written(path)[:1]:
        assert assemble(data, tmp_path, "sm_100") == ""


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("architecture", "name"), sampled(((arch, name) for arch, names in ALSO_FOR.items() for name in names), 3)
)
def test_the_assembler_takes_the_program_for_other_architectures(architecture, name, tmp_path):
    path = next(path for path in GOLDEN if path.stem == name)
    assert assemble(written(path)[-1][1], tmp_path, architecture) == ""


def without_producer(text: str) -> str:
    """Files before 13.3 hold no producer."""
    return text.split("\n", 1)[1] if text.startswith("// Producer:") else text
