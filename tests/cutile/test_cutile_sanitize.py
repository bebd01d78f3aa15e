"""Findings in cuTile kernels, at the lines of this file: each faulty kernel beside its mended twin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

import cuda.tile as ct

import tileir
from tileir import cutile

HERE = __file__


@ct.kernel
def never_reads_its_block_id(x, out):
    ct.store(out, (0,), ct.load(x, (ct.bid(0),), (16,)))  # race


@ct.kernel
def reads_its_block_id(x, out):
    ct.store(out, (ct.bid(0),), ct.load(x, (ct.bid(0),), (16,)))


@ct.kernel
def padded_variance(x, out):
    row = ct.load(x, (0,), (64,), padding_mode=ct.PaddingMode.ZERO)  # padding
    centred = row - ct.sum(row) / x.shape[0]
    ct.scatter(out, (0,), ct.sum(centred * centred))


@ct.kernel
def masked_variance(x, out):
    row = ct.load(x, (0,), (64,), padding_mode=ct.PaddingMode.ZERO)
    centred = ct.where(ct.arange(64, dtype=ct.int32) < x.shape[0], row - ct.sum(row) / x.shape[0], 0.0)
    ct.scatter(out, (0,), ct.sum(centred * centred))


@ct.kernel
def scatters_through_duplicates(x, out):
    places = ct.arange(16, dtype=ct.int32) // 2
    ct.scatter(out, places, ct.load(x, (0,), (16,)))  # duplicate-lanes


@ct.kernel
def scatters_apart(x, out):
    ct.scatter(out, ct.arange(16, dtype=ct.int32), ct.load(x, (0,), (16,)))


PAIRS = [
    (never_reads_its_block_id, reads_its_block_id, "race", 4, 64),
    (padded_variance, masked_variance, "padding", 1, 50),
    (scatters_through_duplicates, scatters_apart, "duplicate-lanes", 1, 64),
]


def line_marked(kind: str) -> int:
    with open(HERE, encoding="utf-8") as stream:
        return next(number for number, line in enumerate(stream, 1) if line.rstrip().endswith(f"  # {kind}"))


@pytest.mark.parametrize(("wrong", "right", "kind", "blocks", "size"), PAIRS, ids=[pair[2] for pair in PAIRS])
def test_the_fault_is_found_at_its_line_and_the_mended_twin_is_clean(wrong, right, kind, blocks, size) -> None:
    for kernel, expected in ((wrong, [(kind, HERE, line_marked(kind))]), (right, [])):
        x, out = np.arange(size, dtype=np.float32), np.zeros(64, np.float32)
        with cutile.on("interp", sanitize=True) as session:
            ct.launch(None, (blocks,), kernel, (x, out))
        found = [(one.kind, one.loc.file, one.loc.line) for one in session.report]
        assert found == expected, str(session.report)


def test_only_the_interpreter_has_a_sanitizer() -> None:
    with pytest.raises(ValueError, match="expected the target 'interp'"), cutile.on("cpu", sanitize=True):
        pass


def test_a_script_with_findings_fails(tmp_path, capsys) -> None:
    from tileir.cli import main

    script = tmp_path / "script.py"
    script.write_text(
        "import cuda.tile as ct, numpy as np\n"
        "@ct.kernel\n"
        "def same_place(out):\n"
        "    ct.store(out, (0,), ct.full((16,), 1.0, ct.float32))\n"
        "ct.launch(None, (2,), same_place, (np.zeros(16, np.float32),))\n"
    )
    assert main(["cutile", "--sanitize", str(script)]) == 1
    assert f"{script}:4:5: 'store_view_tko' by tile block (1, 0, 0)" in capsys.readouterr().err


def test_a_test_run_with_findings_fails(tmp_path) -> None:
    (tmp_path / "test_kernel.py").write_text(
        "import cuda.tile as ct, numpy as np\n"
        "@ct.kernel\n"
        "def same_place(out):\n"
        "    ct.store(out, (0,), ct.full((16,), 1.0, ct.float32))\n"
        "def test_it():\n"
        "    ct.launch(None, (2,), same_place, (np.zeros(16, np.float32),))\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "tileir.cutile", "--tileir-sanitize", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(tileir.__file__).parents[1])}
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "SUMMARY: tileir sanitize: 1 race" in ran.stdout
