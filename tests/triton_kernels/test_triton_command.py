"""``tileir triton`` and ``pytest -p tileir.triton``: scripts and suites as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import run_python

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("triton", reason="needs triton")

from tests.triton_kernels.launched_kernels import LOAD_SHIFT

PLACE = f":10:{35 + LOAD_SHIFT}"
"""Of the load of the kernel."""

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)
"""
SCRIPT = """
import sys
import torch
import triton
from kernels import double

x = torch.ones(100, device=sys.argv[1])
double[(4,)](x, int(sys.argv[2]), BLOCK=32)
print(x.sum().item(), triton.runtime.driver.active.get_active_torch_device())
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "kernels.py").write_text(KERNEL)
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def tileir(*words: object) -> subprocess.CompletedProcess[str]:
    return run_python("-m", "tileir", *words)


def test_a_script_needs_no_command(script: Path) -> None:
    done = subprocess.run([sys.executable, script, "cpu", "100"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("200.0 cpu\n", "")


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_a_script_runs_on_a_target(script: Path, target: str) -> None:
    done = tileir("triton", "--target", target, script, "cpu", 100)
    assert (done.stdout, done.returncode) == ("200.0 cpu\n", 0)


def test_a_script_that_asks_for_cuda_uses_the_cpu(script: Path) -> None:
    done = tileir("triton", "--cuda-as-cpu", script, "cuda", 100)
    assert (done.stdout, done.returncode) == ("200.0 cpu\n", 0)
    assert done.stderr.startswith("tileir: --cuda-as-cpu: ")


def test_a_fault_shows_the_frames_of_the_script_alone(script: Path) -> None:
    done = tileir("triton", script, "cpu", 120)
    assert done.returncode == 1
    kernels = script.with_name("kernels.py")
    assert done.stderr.split("\n")[:4] == [
        "Traceback (most recent call last):",
        f'  File "{script}", line 8, in <module>',
        "    double[(4,)](x, int(sys.argv[2]), BLOCK=32)",
        f"tileir.Trap: {kernels}{PLACE}: trap: load of f32 at byte offset 400 of 'x_ptr': it has bytes 0 to 399 "
        "(tile element [4]) ['load_ptr_tko', kernel @double, tile block (3, 0, 0)]",
    ]


def test_the_sanitizer_speaks_of_lines_of_python(script: Path) -> None:
    done = tileir("triton", "--sanitize", script, "cpu", 120)
    assert done.returncode == 1
    assert "out-of-bounds: load of f32 at byte offset 400 of 'x_ptr'" in done.stderr
    assert f"{script.with_name('kernels.py')}{PLACE}" in done.stderr


def test_what_kernels_become_is_kept(script: Path, tmp_path: Path) -> None:
    assert tileir("triton", "--dump", tmp_path / "kept", script, "cpu", 100).returncode == 0
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["double-1.mlir", "double-1.tileirbc"]
    assert tileir("check", *(tmp_path / "kept").iterdir()).returncode == 0


def test_verbose_shows_the_stages_of_a_first_call(
    script: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))
    texts = [tileir("triton", "--verbose", script, "cpu", 100).stderr for _ in range(2)]
    front, native = texts[0].splitlines()
    assert front.startswith("tileir: first call of double: ") and all(
        stage in front for stage in ("front end", "ttir", "tileir")
    )
    assert all(stage in native for stage in ("optimiser", "lowering", "LLVM"))
    (kept,) = texts[1].splitlines()  # Triton's cache has one, ours the other
    assert "cache" in kept and "LLVM" not in kept


def test_gpus_are_no_target_of_scripts(script: Path) -> None:
    done = tileir("triton", "--target", "cuda:tileiras", script, "cpu", 100)
    assert done.returncode != 0 and "cuda:tileiras" in done.stderr


def test_child_processes_use_the_target_too(script: Path, tmp_path: Path) -> None:
    parent = tmp_path / "parent.py"
    parent.write_text(f"import subprocess, sys\nsubprocess.run([sys.executable, {str(script)!r}, 'cuda', '100'])\n")
    child = "import tileir.triton; print(tileir.triton.enabled())"
    script.write_text(f"{SCRIPT}{child}")
    done = tileir("triton", "--cuda-as-cpu", "--target", "interp", parent)
    assert done.stdout == "200.0 cpu\ninterp\n"


SUITE = """
import pytest
import torch
from kernels import double


@pytest.mark.parametrize("n", [100, 120])
def test_double(n):
    x = torch.ones(100, device="cuda")
    double[(4,)](x, n, BLOCK=32)
    assert (x == 2).all()
"""


def suite(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    script.with_name("test_double.py").write_text(SUITE)
    plugins = "-p", "no:cacheprovider", "-p", "tileir.triton"
    return run_python("-m", "pytest", *plugins, *options, "--tb=short", cwd=script.parent)


def test_a_suite_runs_through_the_plugin(script: Path) -> None:
    done = suite(script, "--cuda-as-cpu")
    assert "Triton kernels run on tileir target 'cpu'" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "trap: load of f32 at byte offset 400 of 'x_ptr'" in done.stdout and "launcher.py" not in done.stdout


def test_the_sanitizer_notes_once_a_kernel_what_lies_outside_a_tensor_in_its_storage(tmp_path: Path) -> None:
    path = tmp_path / "stored.py"
    path.write_text("""import torch
from tests.triton_kernels.launched_kernels import copy_from, doubled

packed, out = torch.arange(64.0), torch.zeros(16)
for _ in range(2):
    copy_from[(1,)](packed[16:32], out, -16, BLOCK=16)
doubled[(1,)](packed.view(16, 4)[3], 4, BLOCK=16)
doubled[(1,)](packed[48:], 16, BLOCK=16)
""")
    done = tileir("triton", "--sanitize", path)
    notes = [line for line in done.stderr.splitlines() if line.startswith("NOTE")]
    assert notes == [
        "NOTE: @copy_from: accesses through 'x_ptr' leave the elements of its tensor for others of the same storage"
        " (in 2 of 2 launches)"
    ], done.stderr


def test_a_suite_runs_under_the_sanitizer(script: Path) -> None:
    done = suite(script, "--cuda-as-cpu", "--tileir-sanitize")
    assert done.returncode == 1
    assert "SUMMARY: tileir sanitize: 2 out-of-bounds in kernel @double" in done.stdout
