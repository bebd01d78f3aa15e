"""Running the command line inside the test process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

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


SCALE = """\
cuda_tile.module @kernels {
  entry @scale(%x: tile<ptr<f32>>, %factor: tile<f32>) {
    %block, %y, %z = get_tile_block_id : tile<i32>
    %extent = constant <i32: 4> : tile<i32>
    %start = muli %block, %extent : tile<i32>
    %base = offset %x, %start : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %base_1 = reshape %base : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bases = broadcast %base_1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %lanes = iota : tile<4xi32>
    %at = offset %bases, %lanes : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %values, %read = load_ptr_tko weak %at : tile<4xptr<f32>> -> tile<4xf32>, token
    %factor_1 = reshape %factor : tile<f32> -> tile<1xf32>
    %factors = broadcast %factor_1 : tile<1xf32> -> tile<4xf32>
    %scaled = mulf %values, %factors : tile<4xf32>
    %written = store_ptr_tko weak %at, %scaled token=%read : tile<4xptr<f32>>, tile<4xf32> -> token
  }
}
"""
