"""A suite written for a GPU runs as it is, with no more than ``-p tileir.cutile --cuda-as-cpu``."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.processes import run_python

pytest.importorskip("cuda.tile", "1.7", reason="needs the package cuda-tile, version 1.7 for what the suite asks of it")
torch = pytest.importorskip("torch", reason="needs torch")
if torch.cuda.is_available():
    pytest.skip("a GPU is there: nothing is mapped", allow_module_level=True)

SUITE = Path(__file__).parent / "gpu_suite"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for file in SUITE.glob("*.py"):
        shutil.copy(file, tmp_path / file.name.replace("conftest_of_suite", "conftest").replace("check_", "test_"))
    return tmp_path


def run(suite: Path, *arguments: str) -> subprocess.CompletedProcess:
    options = ("-p", "tileir.cutile", "--cuda-as-cpu", "-p", "no:cacheprovider")
    environment = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return run_python("-m", "pytest", *options, *arguments, cwd=suite, environment=environment)


def test_the_suite_passes(suite: Path) -> None:
    """Run all parts in one process, as each would spend most of its time importing torch."""
    done = run(suite, "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    passed = set(re.findall(r"(?m)^test_(\w+)\.py::.* PASSED", done.stdout))
    assert passed == {file.stem.removeprefix("check_") for file in SUITE.glob("check_*.py")}
    assert (done.stdout + done.stderr).count("tileir: --cuda-as-cpu") == 1


FAILING = """\
import torch
from cuda import tile as ct
from kernels import scaled, scale

@ct.kernel
def asserts(x):
    ct.assert_(ct.load(x, (0,), (4,)) > 0, "not positive")

@ct.kernel
def ill_typed(x):
    ct.store(x, (0,), ct.zeros((3,), x.dtype))

def launch(kernel, *arguments):
    ct.launch(torch.cuda.current_stream(), (1,), kernel, arguments)

def test_trap():
    launch(asserts, torch.zeros(4, device="cuda"))

def test_argument():
    launch(scale, None)

def test_compile():
    launch(ill_typed, torch.zeros(4, device="cuda"))

def test_torch():
    torch.zeros(-1, device="cuda")

def test_graph():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        torch.ones(1, device="cuda").item()
"""


def test_tracebacks_show_no_frames_of_ours(suite: Path) -> None:
    (suite / "test_failing.py").write_text(FAILING)
    done = run(suite, "test_failing.py")
    assert "5 failed" in done.stdout
    places = set(re.findall(r"^(\S+\.py):\d+: ", done.stdout, re.MULTILINE))
    assert "test_failing.py" in places
    ours = [str(ROOT / folder) for folder in ("tileir", "tests")]
    assert not [place for place in places if place.startswith(("tileir/", *ours))], places
    assert f"{suite}/test_failing.py:7:5: trap: assertion failed: not positive" in done.stdout
    assert "E       TypeError: Kernel expects 4 arguments but 1 was given" in done.stdout
