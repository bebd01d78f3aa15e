"""``pytest --tileir`` runs the kernels of a suite on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processes import run_python

pytest.importorskip("cuda.tile", reason="needs cuda-tile: pip install '.[cutile]'")

ROOT = Path(__file__).parents[2]
SUITE = """\
import cuda.tile as ct
import numpy as np

@ct.kernel
def fill(x):
    ct.store(x, index=(ct.bid(0),), tile=ct.full((4,), 3, dtype=ct.int32))

def test_fill():
    x = np.zeros(8, np.int32)
    ct.launch(None, (2,), fill, (x,))
    assert x.tolist() == [3] * 8
"""


def run(folder: Path, *options: str) -> tuple[int, str]:
    (folder / "test_fill.py").write_text(SUITE)
    environment = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    words = ("-p", "tileir.frontend.pytest_option", "-p", "no:cacheprovider", *options)
    done = run_python("-m", "pytest", *words, cwd=folder, environment=environment)
    return done.returncode, done.stdout + done.stderr


def test_the_option_runs_kernels_on_the_processor(tmp_path: Path) -> None:
    status, said = run(tmp_path, "--tileir", "--tileir-target", "interp")
    assert status == 0 and "cuTile kernels run on tileir target 'interp'" in said, said


def test_the_option_takes_the_sanitizer(tmp_path: Path) -> None:
    status, said = run(tmp_path, "--tileir", "--tileir-sanitize")
    assert status == 0 and "tileir sanitize" in said, said


def test_nothing_changes_without_the_option(tmp_path: Path) -> None:
    status, said = run(tmp_path)
    assert status == 1 and "tileir target" not in said, said
