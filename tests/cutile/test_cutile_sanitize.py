"""The sanitizer on cuTile scripts and test suites: memory that nobody wrote, child processes, exit statuses."""

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
from tests.processes import run_python
from tests.thorough import sampled
from tileir import cutile


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
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = run_python(
        "-m", "pytest", "-p", "tileir.cutile", "--tileir-sanitize", tmp_path, cwd=tmp_path, environment=environment
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "SUMMARY: tileir sanitize: 1 race" in ran.stdout


@ct.kernel
def copies(x, out):
    ct.store(out, (ct.bid(0),), ct.load(x, (ct.bid(0),), (16,)))


def test_notes_of_all_launches_are_in_the_report() -> None:
    with cutile.on("interp", sanitize=True) as session:
        for blocks in (3, 4, 3):
            ct.launch(None, (blocks,), copies, (np.ones(64, np.float32), np.zeros(64, np.float32)))
    (note,) = session.report.notes
    assert note.startswith("@copies")
    assert note.endswith(": 16 of 64 elements of 'out' were never written, elements 48 to 63 (in 2 of 3 launches)")
    assert f"NOTE: {note}\n" in str(session.report)


def copied(x, out) -> list[str]:
    with cutile.on("interp", sanitize=True) as session:
        ct.launch(None, (4,), copies, (x(), out()))
    return [one.kind for one in session.report]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.float64])
def test_arrays_that_numpy_has_not_filled_hold_nothing(dtype) -> None:
    def written() -> np.ndarray:
        array = np.empty(64, dtype)
        array[:] = 3
        return array

    def half_written() -> np.ndarray:
        array = np.empty(64, dtype)
        array[:32] = 3
        return array

    def empty() -> np.ndarray:
        return np.empty(64, dtype)

    def empty_like() -> np.ndarray:
        return np.empty_like(np.zeros(64, dtype))

    assert copied(empty, empty) == ["uninitialized"]
    assert copied(empty_like, empty) == ["uninitialized"]
    assert copied(half_written, empty) == ["uninitialized"]
    assert copied(written, empty) == []


def test_tensors_that_torch_has_not_filled_hold_nothing() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    for make in (
        lambda: torch.empty(64),
        lambda: torch.empty_like(torch.zeros(64)),
        lambda: torch.zeros(1).new_empty(64),
    ):
        assert copied(make, lambda: torch.empty(64)) == ["uninitialized"]
        assert copied(lambda make=make: make().fill_(1), lambda: torch.empty(64)) == []
    assert torch.empty.__module__ != "tileir.frontend.poisoned_memory"


def test_what_is_put_in_the_place_of_numpy_is_taken_away_again() -> None:
    before = np.empty, np.empty_like
    with cutile.on("interp", sanitize=True):
        assert np.empty is not before[0]
        assert np.empty(3, object).tolist() == [None] * 3 and np.empty(5, bool).dtype == bool
    assert (np.empty, np.empty_like) == before


CHILD = """
import cuda.tile as ct, numpy as np
@ct.kernel
def same_place(out):
    ct.store(out, (0,), ct.full((16,), 1.0, ct.float32))
def work(blocks):
    ct.launch(None, (blocks,), same_place, (np.zeros(16, np.float32),))
"""
PARENT = """
import multiprocessing, subprocess, sys
from child import work
if __name__ == "__main__":
    if sys.argv[1] == "python":
        subprocess.run([sys.executable, "-c", "from child import work; work(4)"], check=True)
    else:
        process = multiprocessing.get_context(sys.argv[1]).Process(target=work, args=(4,))
        process.start()
        process.join()
        assert process.exitcode == 0
"""


@pytest.mark.parametrize("how", sampled(["python", "spawn", "fork"], 3))
def test_what_children_do_wrong_is_reported_by_their_parent(how, tmp_path) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    (tmp_path / "parent.py").write_text(PARENT)
    root = str(Path(tileir.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, str(tmp_path)]), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "tileir", "cutile", "--sanitize", str(tmp_path / "parent.py"), how]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "SUMMARY: tileir sanitize: 1 race in kernel @same_place" in ran.stderr
    assert "child.py:5:5" in ran.stderr
    assert not list(tmp_path.glob("tileir-sanitize-*"))
