"""Scripts in the style of published ones, each run as a user would run it; they ask for CUDA and know nothing of us."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

SCRIPTS = Path(__file__).parent / "scripts"
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there: nothing is mapped")


def run(module: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess:
    """Run a module in a new interpreter, in which nothing has been imported."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=240)


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("cutile softmax_table.py", "columns  cuTile GB/s   torch GB/s"),
        ("cutile cupy_saxpy.py", "pool: 0 bytes"),
        ("cutile flash_attention.py", "True    256"),
        ("cutile tune_matmul.py", "2 succeeded, 0 failed"),
        ("triton small_gpt.py", "step 11: loss"),
        ("cutile gather_matmul.py", "1 processes: the products agree"),
        ("cutile gather_matmul.py --processes 2", "2 processes: the products agree"),
        ("cutile mixture_of_experts.py --check --trace trace.pickle", "check passed"),
        ("cutile layer_norm_training.py", "compiled: outputs and gradients agree"),
    ],
)
def test_a_script_runs_as_it_comes(command, shows, tmp_path):
    if importlib.util.find_spec("triton") is None:
        pytest.skip("needs the package triton")
    front_end, script, *arguments = command.split()
    done = run(f"tileir.{front_end}", "--cuda-as-cpu", str(SCRIPTS / script), *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert shows in done.stdout
    assert "Dynamo" not in done.stderr


def test_the_suite_of_a_library_passes(tmp_path):
    shutil.copytree(SCRIPTS / "fused", tmp_path / "fused")
    (tmp_path / "fused" / "check_fused.py").rename(tmp_path / "fused" / "test_fused.py")
    done = run("pytest", "-q", "-p", "tileir.cutile", "--cuda-as-cpu", "fused", cwd=tmp_path)
    assert done.returncode == 0 and "7 passed" in done.stdout, done.stdout
