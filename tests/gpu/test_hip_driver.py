"""AMD's driver through ctypes: the calls that the HIP runtime gets, on one without a GPU; errors in words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tileir
from tests.gpu import hip_standin
from tests.gpu.driver_calls import SharedDriverCalls
from tests.processes import run_python
from tileir.gpu import hip_driver
from tileir.gpu.arch import Vendor
from tileir.gpu.driver import failure

ROOT = Path(__file__).parent.parent.parent
missing = hip_standin.reason_not_to_build()
needs_runtime = pytest.mark.skipif(missing is not None, reason=str(missing))


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    return hip_standin.build(tmp_path_factory.mktemp("hip"))


def ran(command: list[str], library: Path, **environment: object) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"LD_LIBRARY_PATH": str(library.parent), "PYTHONPATH": str(ROOT)}
    variables |= {name: str(value) for name, value in environment.items()}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, env=variables, timeout=120)


@pytest.fixture
def calls(library):
    """Output and calls of a script with a `driver` that the library serves, which is loaded under its name."""

    def run(script: str, **environment: object) -> tuple[list[str], list[str]]:
        start = f"import ctypes\nctypes.CDLL({str(library)!r})\n"
        start += "from tileir.gpu.hip_driver import hip_driver\ndriver = hip_driver()\n"
        found = run_python("-c", start + script, environment={name: str(value) for name, value in environment.items()})
        assert found.returncode == 0, found.stderr
        return found.stdout.splitlines(), found.stderr.splitlines()

    return run


LAUNCH = """
import ctypes, struct
from tileir.gpu.hip_driver import hip_driver
ELF = struct.pack("<4s60x", b"\\x7fELF")
value = ctypes.c_uint64(7)
addresses = (ctypes.c_void_p * 1)(ctypes.addressof(value))
def launch(kernel="k", shared=1000):
    function = driver.function(driver.load(ELF, "kernel @k"), kernel, 128, 1, shared)
    driver.launch(function, (4, 3, 2), ctypes.addressof(addresses), 77)
"""


@needs_runtime
class TestCalls(SharedDriverCalls):
    def test_devices(self, calls):
        show = "print(found.ordinal, found.name, found.arch.name, found.shared_memory, found.grid, found.threads)"
        out, _ = calls(f"found = driver.device(); {show}; print(driver.devices()); print(driver.version())")
        assert out == [
            "0 Fake GPU 0 gfx1100 65536 (2147483647, 65536, 65536) 4294967295",
            "['Fake GPU 0, gfx1100', 'Fake GPU 1, gfx1100']",
            "HIP runtime 6.4",
        ]

    def test_a_launch(self, calls):
        _, said = calls(LAUNCH + "launch()")
        assert said == ["load on 0", "launch k over 4 3 2 of 128, shared 1000, on 77: 7"]

    def test_memory_is_borrowed_from_a_pool_of_ours(self, calls):
        _, said = calls("for _ in range(2): driver.give_back(driver.borrow(100, 3), 3)")
        kept = f"pool keeps {hip_driver.KEPT_BYTES}"
        assert said == ["pool of type 1 at 1 0, 0 bytes", kept, *["borrow 100 on 3", "give back on 3"] * 2]

    @pytest.mark.parametrize(
        ("script", "message"),
        [
            ("driver.load(b'damaged', 'kernel @k')", "loading the code of kernel @k for gfx1100: the driver refused"),
            ("launch('missing')", "finding kernel @missing"),
            ("launch(shared=70000)", "kernel @k needs 70000 bytes of shared memory in a block, Fake GPU 0 has 65536"),
            ("driver.allocate(1 << 31)", "not enough GPU memory: failed at allocating 2147483648 bytes"),
        ],
    )
    def test_what_is_refused(self, calls, script, message):
        start = LAUNCH + "from tileir import UnsupportedError\n"
        out, _ = calls(start + f"try: {script}\nexcept UnsupportedError as e: print(e)")
        assert message in out[0]
        assert "'hip'" in out[0]

    def test_tile_blocks_that_run_at_the_same_time(self, calls):
        script = LAUNCH.replace("driver.launch(", "print(driver.resident(function))\n    driver.launch_together(")
        out, said = calls(script + "launch()")
        assert out == ["264"]
        assert any(line.startswith("together: launch k over") for line in said)

    def test_a_gpu_that_there_is_no_code_for(self, calls):
        script = "try: driver.device()\nexcept Exception as e: print(type(e).__name__, e)"
        out, _ = calls(script, FAKE_ARCH="gfx1030")
        assert out[0].startswith("UnsupportedError needs a GPU of gfx90a, gfx942, ")
        assert "Fake GPU 0 is gfx1030" in out[0]

    @pytest.mark.parametrize(("error", "kind"), [(700, "Trap"), (701, "UnsupportedError"), (702, "Trap")])
    def test_a_launch_that_fails(self, calls, error, kind):
        script = LAUNCH + "try: launch()\nexcept Exception as e: print(type(e).__name__)"
        assert calls(script, FAKE_LAUNCH=error)[0] == [kind]

    @pytest.mark.parametrize(
        ("environment", "words"),
        [
            ({"FAKE_COUNT": 0}, "the HIP runtime finds no AMD GPU"),
            ({"FAKE_INIT": 3}, "the HIP runtime does not start (hipErrorNotInitialized)"),
        ],
    )
    def test_a_runtime_without_a_gpu(self, library, environment, words):
        script = "import tileir\nfrom tileir.runtime.module import available_targets\nprint(available_targets()['hip'])"
        assert ran(["-c", script], library, **environment).stdout.strip() == f"not available: {words}"

    def test_the_command_lists_devices(self, library):
        found = ran(["-m", "tileir", "info", "--json"], library).stdout
        assert '"GPUs of AMD": "Fake GPU 0, gfx1100\\nFake GPU 1, gfx1100\\nHIP runtime 6.4"' in found

    def test_a_program_is_run_from_the_command_line(self, library, tmp_path):
        program = tmp_path / "k.mlir"
        program.write_text("entry @k(%p: tile<ptr<f32>>) { return }")
        command = ["-m", "tileir", "run", str(program), "--target", "hip", "--grid", "2", "f32[8]:arange"]
        found = ran(command, library)
        assert found.returncode == 0, found.stderr
        for said in ("up 32 on 0", "launch tileir_k over 2 1 1 of ", "down 32 on 0"):
            assert said in found.stderr
        assert "@k: 2 tile blocks" in found.stdout


def test_no_runtime_is_a_clear_refusal(monkeypatch):
    monkeypatch.setattr(hip_driver, "LIBRARIES", ("libamdhip64.missing",))
    monkeypatch.setattr(hip_driver, "_of_torch", list)
    with pytest.raises(ImportError, match=r"no HIP runtime on this machine \(libamdhip64 cannot be loaded\)"):
        hip_driver._runtime()


def test_a_library_that_is_another_one_is_refused():
    import ctypes

    with pytest.raises(ImportError, match="the HIP runtime of this machine has no hipMemcpyHtoDAsync"):
        hip_driver.HipDriver(ctypes.CDLL(None))


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("IllegalAddress", tileir.Trap, "accessed memory that is not there"),
        ("LaunchFailure", tileir.Trap, "a kernel failed"),
        ("OutOfMemory", tileir.UnsupportedError, "not enough GPU memory"),
        ("NoBinaryForGpu", tileir.UnsupportedError, "the driver may be too old"),
        ("Unknown", tileir.UnsupportedError, "failed at loading (hipErrorUnknown: text)"),
    ],
)
def test_errors_are_those_of_cuda_in_other_names(name, kind, words):
    found = failure(Vendor.AMD, f"hipError{name}", "text", "loading")
    assert isinstance(found, kind)
    assert words in str(found)
