"""``tileir cutile``, ``python -m tileir.cutile``, ``--cuda-as-cpu`` and the pytest plugin, each in a process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tileir
from tests.processes import run_python

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

ROOT = Path(__file__).parents[2]

SCRIPT = """\
import sys
import numpy as np
from cuda.tile import launch
import cuda.tile as ct

@ct.kernel
def square(x, limit):
    t = ct.load(x, (0,), (4,))
    ct.assert_(t < limit, "over the limit")
    ct.store(x, (0,), t * t)

x = np.arange(4, dtype=np.int32)
launch(None, (1,), square, (x, int(sys.argv[-1])))
print(sys.argv[1:], x, __name__)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def run(module: str, *arguments: object) -> subprocess.CompletedProcess:
    return run_python("-m", module, *arguments, environment={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})


def test_a_script_runs_with_its_arguments(script):
    """In a new interpreter, where nothing is imported before tileir."""
    command = [sys.executable, "-m", "tileir.cutile", "--target", "interp", script, "--target", "mine", "10"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "['--target', 'mine', '10'] [0 1 4 9] __main__\n", done.stderr
    assert done.returncode == 0


def test_an_error_shows_the_script_and_nothing_of_tileir(script):
    done = run("tileir", "cutile", script, "2")
    assert done.returncode == 1
    assert done.stderr.startswith(f'Traceback (most recent call last):\n  File "{script}", line 13, in <module>\n')
    assert f"{script}:9:5: trap: assertion failed: over the limit" in done.stderr
    assert 'File "' + str(ROOT / "tileir") not in done.stderr


def test_a_script_that_is_not_there_is_wrong_usage():
    done = run("tileir.cutile", "nowhere.py")
    assert (done.returncode, done.stderr) == (2, "tileir cutile: error: nowhere.py: no such file\n")


def test_a_program_that_is_no_script_is_sent_to_the_verb_that_takes_it():
    done = run("tileir", "cutile", "examples/saxpy.mlir")
    message = "'examples/saxpy.mlir' is a Tile IR program; 'tileir run examples/saxpy.mlir' runs it"
    assert (done.returncode, done.stderr) == (2, f"tileir cutile: error: {message}\n")


def test_the_status_of_a_script_is_kept(tmp_path):
    path = tmp_path / "leaves.py"
    path.write_text("import sys\nsys.exit(7)\n")
    assert run("tileir.cutile", path).returncode == 7


LOOPING = """\
import subprocess, sys
import numpy as np
import cuda.tile as ct

@ct.kernel
def count(x, n):
    for i in range(n):
        ct.store(x, (0,), ct.load(x, (0,), (4,)) + 1)

def main():
    x = np.zeros(4, np.int32)
    try:
        ct.launch(None, (1,), count, (x, 1000))
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0].rpartition(": ")[2], flush=True)

main()
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"])
"""


def test_limits_hold_in_the_script_and_in_the_processes_that_it_starts(tmp_path):
    path = tmp_path / "looping.py"
    path.write_text(LOOPING)
    done = run("tileir.cutile", "--max-iterations", "20", "--timeout", "60", "--check", "on", path)
    assert done.stdout.count("Trap a tile block ran more than 20 iterations of its loops") == 2, (
        done.stdout + done.stderr
    )


def test_a_limit_that_makes_no_sense_is_wrong_usage(script):
    done = run("tileir.cutile", "--timeout", "-1", script, "10")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--timeout: expected a positive number of seconds" in done.stderr


def test_the_sanitizer_has_checks_of_its_own(script):
    done = run("tileir.cutile", "--sanitize", "--no-check", script, "10")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--sanitize has checks of its own" in done.stderr


WILD = """\
import sys
import numpy as np
import cuda.tile as ct

@ct.kernel
def wild(x, n):
    for i in range(n):
        ct.scatter(x, i, 2.0, check_bounds=False)

x = np.zeros(4, np.float32)
ct.launch(None, (1,), wild, (x, int(sys.argv[1])))
print(x)
sys.exit(5)
"""


def test_a_script_without_checks_that_dies_is_told_with_its_kernel(tmp_path):
    path = tmp_path / "wild.py"
    path.write_text(WILD)
    done = run("tileir.cutile", "--no-check", path, 4)
    assert (done.returncode, done.stdout) == (5, "[2. 2. 2. 2.]\n"), done.stderr
    done = run("tileir.cutile", "--no-check", path, 2_000_000_000)
    assert (done.returncode, done.stdout) == (1, "")
    died = f"{path}: trap: the process that ran kernels without checks died: it was ended by SIG"
    assert died in done.stderr.splitlines()[-1]  # the allocator may have had a word before
    assert done.stderr.endswith("; without --no-check the fault is named [kernel @wild]\n")


TORCH_SCRIPT = """\
import torch
import cupy as cp
import cuda.tile as ct

@ct.kernel
def add(a, b, out):
    ct.store(out, (ct.bid(0),), ct.load(a, (ct.bid(0),), (16,)) + ct.load(b, (ct.bid(0),), (16,)))

assert torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 8
device = torch.device("cuda")
a, b = torch.rand(64, device="cuda"), torch.ones(64).cuda()
out = torch.empty_like(a, device=device)
begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
begin.record()
ct.launch(torch.cuda.current_stream(), (4,), add, (a, b.to("cuda:0"), out))
end.record()
torch.cuda.synchronize()
assert begin.elapsed_time(end) > 0 and out.is_cuda
assert torch.equal(out, a + b)
with torch.cuda.stream(torch.cuda.Stream()):
    ct.launch(torch.cuda.Stream(), (4,), add, (a, b, out))

x, y = cp.arange(64, dtype=cp.float32), cp.random.rand(64).astype(cp.float32)
z = cp.zeros_like(x)
ct.launch(cp.cuda.get_current_stream(), (4,), add, (x, y, z))
cp.cuda.Device().synchronize()
assert (cp.asnumpy(z) == z.get()).all() and cp.allclose(z, x + y)
print("done")
"""


def test_a_script_that_asks_for_cuda_gets_the_cpu_and_is_told_once(tmp_path):
    torch = pytest.importorskip("torch", reason="needs torch")
    if torch.cuda.is_available():
        pytest.skip("a GPU is there: nothing is mapped")
    path = tmp_path / "sample.py"
    path.write_text(TORCH_SCRIPT)
    done = run("tileir.cutile", "--cuda-as-cpu", path)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert done.stderr.count("--cuda-as-cpu") == 1


CHILD = """\
import os
import numpy as np
import cuda.tile as ct
from tileir import cutile

@ct.kernel
def one(x):
    ct.store(x, (0,), ct.ones((4,), ct.float32))

x = np.zeros(4, np.float32)
try:
    ct.launch(None, (1,), one, (x,))
except Exception as error:
    x[:] = -1
print(cutile.enabled(), x[0], os.environ.get("TILEIR_CUTILE"))
"""
PARENT = """\
import os
import subprocess
import sys
from pathlib import Path

def child():
    program = Path(__file__).with_name("child.py")
    return subprocess.run([sys.executable, program], capture_output=True, text=True, check=True).stdout.strip()
"""


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    (tmp_path / "child.py").write_text(CHILD)
    return tmp_path / "parent.py"


def test_children_of_a_script_use_its_target(parent):
    parent.write_text(f"{PARENT}\nprint(child())\n")
    done = run("tileir.cutile", "--target", "interp", parent)
    assert (done.returncode, done.stdout) == (0, "interp 1.0 interp\n"), done.stderr


SWITCHES = """
import cuda.tile
from tileir import cutile

before = dict(os.environ)
cutile.enable("cpu")
print(child())
cutile.enable("cpu", children=True)
with cutile.on("interp"):
    print(child())
with cutile.on("interp", children=False):
    print(child())
print(child())
cutile.disable()
assert dict(os.environ) == before
"""


@pytest.mark.thorough
def test_children_are_told_what_their_parent_has_enabled(parent):
    """In a new interpreter, whose environment is that of no other process."""
    parent.write_text(PARENT + SWITCHES)
    environment = {name: value for name, value in os.environ.items() if name != "TILEIR_CUTILE"}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run([sys.executable, parent], capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines() == ["None -1.0 None", "interp 1.0 interp", "None -1.0 None", "cpu 1.0 cpu"], (
        done.stderr
    )


def test_a_script_that_asks_for_cuda_is_told_of_the_option(tmp_path):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    path = tmp_path / "wants.py"
    path.write_text("import torch\ntorch.ones(4, device='cuda')\n")
    done = run("tileir.cutile", path)
    assert done.returncode == 1
    assert done.stderr.endswith("there is no GPU: with --cuda-as-cpu it gets the CPU\n"), done.stderr
    path.write_text("raise ValueError('wrong')\n")
    assert "--cuda-as-cpu" not in run("tileir.cutile", path).stderr


TEST_FILE = """\
import numpy as np
import cuda.tile as ct
from cuda.tile import launch

@ct.kernel
def one(x):
    ct.store(x, (0,), ct.ones((4,), ct.float32))

def test_it():
    x = np.zeros(4, np.float32)
    launch(0, (1,), one, (x,))
    assert x.all()
"""


def test_the_pytest_plugin_runs_a_suite_without_a_gpu(tmp_path):
    path = tmp_path / "test_kernels.py"
    path.write_text(TEST_FILE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = run("pytest", "-p", "tileir.cutile", "--tileir-target", "interp", "-c", tmp_path / "pytest.ini", path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cuTile kernels run on tileir target 'interp'" in done.stdout and "1 passed" in done.stdout


def test_without_cuda_tile_the_error_says_what_to_install(tmp_path):
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "__init__.py").write_text("")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom tileir import cutile\ncutile.enable()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert "UnsupportedError: needs the package cuda-tile (pip install 'cuda-tile" in done.stderr


WRONG = """\
import numpy as np
import cuda.tile as ct

@ct.kernel
def wrong(x):
    t = ct.load(x, (0,), (4,))
    STATEMENT
    ct.store(x, (0,), t)

ct.launch(None, (1,), wrong, (np.ones(4, np.float32),))
"""


def test_a_kernel_that_cutile_refuses_is_shown_without_its_frames(tmp_path: Path):
    path = tmp_path / "wrong.py"
    path.write_text(WRONG.replace("STATEMENT", 't = t + "s"'))
    done = run("tileir", "cutile", path)
    assert done.returncode == 1
    assert done.stderr.startswith(f'Traceback (most recent call last):\n  File "{path}", line 10, in <module>\n')
    assert done.stderr.count('  File "') == 1
    assert "Unsupported operand types for +" in done.stderr and "wrong.py" in done.stderr


def test_a_breakpoint_in_a_kernel_says_what_to_use(tmp_path: Path):
    path = tmp_path / "wrong.py"
    path.write_text(WRONG.replace("STATEMENT", "breakpoint()"))
    done = run("tileir", "cutile", path)
    assert done.returncode == 1
    assert "breakpoint() is not supported" in done.stderr
    assert "'tileir cutile --debug' steps through a kernel" in done.stderr


def test_kernels_can_be_kept(script: Path, tmp_path: Path):
    folder = tmp_path / "kernels"
    done = run("tileir", "cutile", "--dump", folder, script, "10")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.iterdir()} == {"square-1.mlir", "square-1.tileirbc"}
    for path in folder.iterdir():
        (kernel,) = tileir.load(path).kernels.values()
        assert tileir.verify(kernel.module).ok


def test_verbose_shows_the_stages_of_a_first_call_once(script: Path, tmp_path: Path):
    environment = {"TILEIR_CACHE_DIR": str(tmp_path / "cache")}
    shown = [run_python("-m", "tileir", "cutile", "--verbose", script, "10", environment=environment) for _ in range(2)]
    (first,), (second,) = (done.stderr.splitlines() for done in shown)
    expected = ["front end", "reading", "verifier", "cache", "optimiser", "lowering", "LLVM", "loading"]
    assert first.startswith("tileir: first call of square: ") and stages(first) == expected
    assert stages(second) == expected[:4]  # the code is there


def stages(line: str) -> list[str]:
    return [part.strip().rpartition(" ")[0] for part in line.rpartition(":")[2].split(",")]


def test_a_folder_that_cannot_be_made_is_wrong_usage(script: Path, tmp_path: Path):
    (tmp_path / "file").write_text("")
    done = run("tileir", "cutile", "--dump", tmp_path / "file", script, "10")
    assert done.returncode == 2
    assert "--dump: cannot make the folder" in done.stderr
