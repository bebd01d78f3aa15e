"""Without a version asked for, bytecode is of the lowest one that can express the program and whose rules it keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

import tileir
from tileir.cli import main
from tileir.ir.versions import VERSIONS
from tileir.runtime.loading import MAGIC

ROOT = Path(__file__).parents[2]
PROGRAMS = [*sorted((ROOT / "tests" / "golden").glob("*.mlir")), *sorted((ROOT / "examples").glob("*.mlir"))]


def version_of(data: bytes) -> str:
    return f"{data[len(MAGIC)]}.{data[len(MAGIC) + 1]}"


def possible(module: tileir.Module, version: str) -> bool:
    """Return whether the program can be written in `version`, and is valid there."""
    try:
        tileir.to_bytecode(module, version)
    except tileir.DiagnosticError:
        return False
    return tileir.verify(module, version).ok


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_command_and_python_write_the_lowest_version(path: Path, tmp_path: Path) -> None:
    module, out = tileir.load(path), tmp_path / "out.tileirbc"
    lowest = next((version for version in VERSIONS if possible(module, version)), None)
    if lowest is None:
        pytest.skip("has no bytecode")
    assert main(["as", str(path), "-o", str(out)]) == 0
    data = out.read_bytes()
    assert version_of(data) == lowest
    assert data == tileir.to_bytecode(module) == tileir.to_bytecode(module, lowest)


@pytest.mark.parametrize(
    ("body", "version"),
    [
        ("", "13.1"),
        ("%y = atan2 %x, %x : tile<f32>", "13.2"),
        ("%y = exp %x rounding<approx> : tile<f32>", "13.3"),
        ("loop {\n return\n }", "13.4"),
    ],
)
def test_what_an_operation_needs_decides(body: str, version: str) -> None:
    assert version_of(tileir.to_bytecode(tileir.parse(f"entry @k(%x: tile<f32>) {{\n{body}\nreturn\n}}"))) == version
