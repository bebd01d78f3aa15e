"""Running the command line inside the test process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_programs import SCALE

from tileir.cli import main


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


Tileir = Callable[..., Ran]


class _Standard(io.StringIO):
    """Standard input that also gives bytes."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.buffer = io.BytesIO(data)


@pytest.fixture
def tileir(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tileir:
    """``tileir("check", "a.mlir", stdin=b"...")`` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", _Standard(stdin))
        try:
            status = main(arguments)
        except SystemExit as left:
            status = left.code if isinstance(left.code, int) else 1
        captured = capsysbinary.readouterr()
        out, err = (data.decode("utf-8", "surrogateescape") for data in captured)
        assert "Traceback" not in err
        return Ran(status, out, err)

    return run


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    """A program with one kernel: ``x[256 * block + i] *= factor``."""
    path = tmp_path / "scale.mlir"
    path.write_text(SCALE)
    return path
