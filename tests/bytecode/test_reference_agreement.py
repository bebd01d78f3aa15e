"""Damaged files are accepted exactly when the reference disassembler accepts them, and then print the same."""

import subprocess
from functools import cache
from pathlib import Path
from random import Random

import pytest
from reference_tools import required

import tileir
from tileir import bytecode
from tileir.bytecode.sections import Section, read_file, write_file
from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.versions import VERSIONS

GOLDEN = sorted((Path(__file__).parent.parent / "golden").glob("*.mlir"))
FILES = 150
SMALL = (0, 1, 2, 3, 4, 5, 8, 16)


@cache
def files() -> tuple[bytes, ...]:
    """The golden programs in every version that can hold them."""
    found = []
    for path in GOLDEN:
        module = tileir.parse(path.read_text(encoding="utf-8"), path.name)
        for version in VERSIONS:
            try:
                found.append(bytecode.encode(module, version))
            except DiagnosticError:
                continue
    return tuple(found)


def damaged(random: Random) -> bytes:
    """A golden program with one or two bytes of a section changed; the file around it stays whole.

    Strings stay as they are: the disassembler makes something of offsets that fall, which are refused here.
    """
    file = read_file(random.choice(files()))
    payloads = {section: bytearray(at.data[at.at : at.end]) for section, at in file.payloads.items()}
    for _ in range(random.choice((1, 2))):
        payload = payloads[random.choice([section for section in payloads if section is not Section.STRING])]
        payload[random.randrange(len(payload))] = random.choice((*SMALL, random.randrange(256)))
    return write_file(file.version, payloads)


def ours(data: bytes) -> str | None:
    """The text of a file; None if it is refused."""
    try:
        module = bytecode.decode(data)
    except DiagnosticError:
        return None
    return tileir.to_text(module, form="disassembly") if tileir.verify(module).ok else None


@pytest.mark.oracle
def test_damaged_files_are_judged_as_the_disassembler_judges_them(tmp_path):
    random, path = Random(20), tmp_path / "program.tileirbc"
    command = [required("tileirdisasm"), str(path)]
    for number in range(FILES):
        data = damaged(random)
        path.write_bytes(data)
        run = subprocess.run(command, capture_output=True, timeout=60)
        if run.returncode < 0:
            continue  # the tool crashed
        theirs = run.stdout.decode("utf-8", "surrogateescape") if run.returncode == 0 else None
        assert ours(data) == theirs, f"file {number}"
