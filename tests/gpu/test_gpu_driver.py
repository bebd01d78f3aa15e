"""The CUDA driver through `cuda-bindings`: the calls that it gets (on a driver without a GPU), errors in words."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import tileir
from tests.gpu.driver_calls import SharedDriverCalls
from tests.processes import run_python
from tileir.gpu import cuda_driver, driver
from tileir.gpu.arch import Vendor, arch_named
from tileir.gpu.compiler import CompileOptions, compile_ttir
from tileir.gpu.driver import failure
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirBlock, TtirFunction, TtirType
from tileir.gpu.ttir.ir.text import function_text

HERE = Path(__file__).parent
HAS_BINDINGS = (
    sys.platform == "linux" and importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.bindings")
)
needs_driver = pytest.mark.skipif(
    not HAS_BINDINGS or shutil.which("cc") is None,
    reason="needs cuda-bindings (pip install '.[gpu]') and a C compiler",
)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory) -> Path:
    """A folder with the driver that has no GPU."""
    folder = tmp_path_factory.mktemp("driver")
    library = folder / "libcuda.so.1"
    source = HERE / "fake_libcuda.c"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{library.name}", "-o", str(library), str(source), "-ldl"],
        check=True,
    )
    return folder


@pytest.fixture
def calls(libraries):
    """Output and calls of a script with a `driver` that the fake library serves, which is loaded under its name."""

    def run(script: str, **environment: int) -> tuple[list[str], list[str]]:
        start = f"import ctypes\nctypes.CDLL({str(libraries / 'libcuda.so.1')!r}, ctypes.RTLD_GLOBAL)\n"
        start += "from tileir.gpu.cuda_driver import cuda_driver\ndriver = cuda_driver()\n"
        ran = run_python("-c", start + script, environment={name: str(value) for name, value in environment.items()})
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines(), ran.stderr.splitlines()

    return run


LAUNCH = """
import ctypes
values = (ctypes.c_uint64 * 2)(7, 8)
addresses = (ctypes.c_void_p * 2)(*[ctypes.addressof(values) + 8 * i for i in range(2)])
def launch(*how):
    function = driver.function(driver.load(b"cubin", "kernel @k"), "k", *how)
    driver.launch(function, (4, 3, 2), ctypes.addressof(addresses), 77)
"""


ENCODE = """
import ctypes
from tileir.gpu.descriptors import TensorMap
found = driver.encode(TensorMap(6, 4096, {}))
print(len(found), ctypes.addressof(found) % 128)
"""


@needs_driver
class TestCalls(SharedDriverCalls):
    def test_devices(self, calls):
        show = "print(found.ordinal, found.name, found.arch.name, found.shared_memory, found.grid)"
        out, _ = calls(f"found = driver.device(); {show}; print(driver.devices()); print(driver.version())")
        assert out == [
            "0 Fake GPU 0 sm_90 232448 (2147483647, 65535, 65535)",
            "['Fake GPU 0, compute capability 9.0', 'Fake GPU 1, compute capability 9.0']",
            "driver for CUDA 13.1",
        ]

    def test_the_context_that_is_current_is_used(self, calls):
        script = "import cuda.bindings.driver as cuda\n"
        script += "cuda.cuCtxSetCurrent(cuda.cuDevicePrimaryCtxRetain(1)[1])\nprint(driver.device().ordinal)"
        assert calls(script)[0] == ["1"]

    def test_a_launch(self, calls):
        _, said = calls(LAUNCH + "launch(128, 1, 1000)")
        assert said == ["load cubin, options 0 0", "launch k over 4 3 2 of 128 1 1, shared 1000, on 77: 7 8"]

    def test_much_shared_memory_is_asked_for(self, calls):
        _, said = calls(LAUNCH + "launch(128, 1, 100000)")
        assert said[1] == "attribute 8 of k is 100000 on 0"

    def test_tile_blocks_that_are_clusters(self, calls):
        _, said = calls(LAUNCH + "launch(64, 2, 0); launch(64, 16, 0)")
        assert said[1] == "launch k over 8 3 2 of 64, shared 0, on 77, attribute 4 is 2, attribute 5 is 1: 7 8"
        assert said[3] == "attribute 14 of k is 1 on 0"
        assert said[4].startswith("launch k over 64 3 2 of 64, shared 0, on 77, attribute 4 is 16")

    def test_tile_blocks_that_run_at_the_same_time(self, calls):
        script = LAUNCH.replace("driver.launch(", "print(driver.resident(function))\n    driver.launch_together(")
        out, said = calls(script + "launch(128, 1, 1000)")
        assert out == ["264"]
        assert said[1:] == [
            "room for k of 128, shared 1000",
            "together: launch k over 4 3 2 of 128 1 1, shared 1000, on 77: 7 8",
        ]

    def test_a_tensor_is_described(self, calls):
        out, said = calls(ENCODE.format("(64, 5, 3), (4096, 1 << 20), (64, 1, 1), 3, True, 2"))
        assert out == ["128 0"]
        assert said == [
            "describe type 6 at 4096, extents 64 5 3, strides 4096 1048576, box 64 1 1, steps 1 1 1, how 0 3 2 1"
        ]

    @pytest.mark.parametrize(
        ("rows", "version", "kept"),
        [(1, 13010, False), (1023, 13010, False), (1025, 13010, True), (1, 13020, True), (1, 12080, False)],
    )
    def test_older_drivers_set_a_bit_too_many_for_small_tensors(self, calls, rows, version, kept):
        script = ENCODE.format(f"(64, {rows}), (128,), (64, 1), 3, False, 2")
        script += "print([at for at, byte in enumerate(bytes(found)) if byte != 255])"
        assert calls(script, FAKE_VERSION=version)[0][1] == str([] if kept else [10])

    def test_a_tensor_that_the_driver_refuses_to_describe(self, calls):
        script = ENCODE.format("(64,), (), (64,), 3, False, 2").replace("\nfound", "\ntry: found").partition("print")[0]
        script += "\nexcept Exception as e: print(type(e).__name__, e)"
        out, _ = calls(script, FAKE_ENCODE=1)
        assert out[0].startswith("UnsupportedError") and "failed at describing a tensor" in out[0]

    def test_memory_is_borrowed_from_a_pool_of_ours(self, calls):
        _, said = calls("for _ in range(2): driver.give_back(driver.borrow(100, 3), 3)")
        assert said == [
            "pool of type 1 at 1 0",
            f"pool attribute 4 is {driver.KEPT_BYTES}",
            *["borrow 100 on 3", "give back on 3"] * 2,
        ]

    def test_code_and_memory_are_given_up_when_kernels_no_longer_run(self, calls):
        script = (
            "from tileir.gpu.driver import *\nwith driver.on(1):\n  one = Library(driver, b'x', 'kernel @k')\ndel one\n"
        )
        _, said = calls(script + "two = DeviceMemory(driver, b'abcd', 512)\nassert two.address % 512 == 0\ndel two")
        assert said[1:3] == ["drain", "unload"]
        assert said[-2:] == ["drain", "free"]

    @pytest.mark.parametrize(
        ("script", "message"),
        [
            ("driver.load(b'damaged', 'kernel @k')", "loading the code of kernel @k for sm_90: the driver refused it"),
            ("driver.function(driver.load(b'x', ''), 'missing', 1, 1, 0)", "finding kernel @missing"),
            ("driver.function(driver.load(b'x', ''), 'k', 1, 1, 240000)", "needs 240000 bytes of shared memory"),
            ("driver.allocate(1 << 31)", "not enough GPU memory: failed at allocating 2147483648 bytes"),
        ],
    )
    def test_what_is_refused(self, calls, script, message):
        out, _ = calls(f"from tileir import UnsupportedError\ntry: {script}\nexcept UnsupportedError as e: print(e)")
        assert message in out[0]

    def test_an_old_gpu(self, calls):
        out, _ = calls("try: driver.device()\nexcept Exception as e: print(type(e).__name__, e)", FAKE_MAJOR=7)
        assert out[0].startswith("UnsupportedError needs a GPU of compute capability 8.0 or higher, Fake GPU 0 has 7.0")

    @pytest.mark.parametrize(("error", "kind"), [(700, "Trap"), (701, "UnsupportedError"), (1, "UnsupportedError")])
    def test_a_launch_that_fails(self, calls, error, kind):
        script = LAUNCH + "try: launch(1, 1, 0)\nexcept Exception as e: print(type(e).__name__)"
        assert calls(script, FAKE_LAUNCH=error)[0] == [kind]

    def test_a_program_is_run_from_the_command_line(self, libraries, tmp_path):
        program = tmp_path / "k.mlir"
        program.write_text("entry @k(%p: tile<ptr<f32>>) { return }")
        command = [
            sys.executable,
            "-m",
            "tileir",
            "run",
            str(program),
            "--target",
            "cuda",
            "--grid",
            "2",
            "f32[8]:arange",
        ]
        pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
        variables = os.environ | {"LD_LIBRARY_PATH": str(libraries), "PYTHONPATH": str(HERE.parent.parent)}
        ran = subprocess.run(command, capture_output=True, text=True, env=variables)
        assert ran.returncode == 0, ran.stderr
        assert "up 32 on 0" in ran.stderr
        assert "launch tileir_k over 2 1 1 of " in ran.stderr
        assert "down 32 on 0" in ran.stderr
        assert "@k: 2 tile blocks" in ran.stdout
        assert "written" not in ran.stdout


class TestWords:
    def test_a_fault_of_a_kernel_is_a_trap(self):
        found = failure(Vendor.NVIDIA, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access", "waiting for kernels")
        assert isinstance(found, tileir.Trap)
        assert "a kernel accessed memory that is not there; this process can no longer use the GPU" in str(found)
        assert "noticed while waiting for kernels: CUDA_ERROR_ILLEGAL_ADDRESS" in str(found)

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("OUT_OF_MEMORY", "not enough GPU memory: failed at loading (CUDA_ERROR_OUT_OF_MEMORY)"),
            ("NO_BINARY_FOR_GPU", "the driver may be too old for this code"),
            ("LAUNCH_OUT_OF_RESOURCES", "use smaller tiles"),
            ("STREAM_CAPTURE_UNSUPPORTED", "failed at loading (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: text)"),
        ],
    )
    def test_what_cannot_be_done(self, name, words):
        found = failure(Vendor.NVIDIA, f"CUDA_ERROR_{name}", "text", "loading")
        assert isinstance(found, tileir.UnsupportedError)
        assert words in str(found)


class TestMissingParts:
    def refusal(self) -> str:
        with pytest.raises(ImportError) as caught:
            cuda_driver.CudaDriver()
        return str(caught.value)

    def bindings(self, monkeypatch, start) -> None:
        results = SimpleNamespace(CUDA_SUCCESS="fine", CUDA_ERROR_NO_DEVICE="none")
        module = ModuleType("driver")
        module.cuInit, module.CUresult = start, results
        monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
        package = ModuleType("cuda.bindings")
        package.driver = module
        monkeypatch.setitem(sys.modules, "cuda.bindings", package)
        monkeypatch.setitem(sys.modules, "cuda.bindings.driver", module)
        sys.modules["cuda"].bindings = package

    def test_the_bindings(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
        assert self.refusal().startswith("needs the package cuda-bindings: pip install '")

    def test_the_driver(self, monkeypatch):
        def start(flags):
            raise RuntimeError("Failed to dlopen libcuda.so.1")

        self.bindings(monkeypatch, start)
        assert self.refusal() == "no NVIDIA driver on this machine (libcuda cannot be loaded)"

    def test_the_gpu(self, monkeypatch):
        self.bindings(monkeypatch, lambda flags: ("none",))
        assert self.refusal() == "the NVIDIA driver finds no GPU"

    def test_a_driver_that_does_not_start(self, monkeypatch):
        self.bindings(monkeypatch, lambda flags: (SimpleNamespace(name="CUDA_ERROR_SYSTEM_NOT_READY"),))
        assert self.refusal() == "the NVIDIA driver does not start (CUDA_ERROR_SYSTEM_NOT_READY)"


ORACLE = """
import json, os, sys, sysconfig
from types import SimpleNamespace
import triton
from triton.backends.nvidia.driver import make_tensordesc_arg
from tileir.gpu.descriptors import CopyLayout, DescriptorParameter, tensor_map
sys.setdlopenflags(os.RTLD_LAZY)
import cuda_utils
triton.runtime.driver.set_active(SimpleNamespace(utils=cuda_utils))
for size, facts, address, shape, strides, padding in json.loads(sys.stdin.read()):
    base = SimpleNamespace(data_ptr=lambda: address)
    how = dict(padding=padding, round_f32_to_tf32=False)
    make_tensordesc_arg(SimpleNamespace(base=base, shape=shape, strides=[*strides, 1], **how), facts, None)
    numbers = [(("constant", number, ()),) for number in (address, *shape, *strides)]
    address, extents, strides = numbers[0], numbers[1:len(shape) + 1], numbers[len(shape) + 1:]
    ours = DescriptorParameter("", size, address, tuple(extents), tuple(strides), padding == "nan")
    driver.encode(tensor_map(ours, CopyLayout.of(facts), ()))
"""
TENSORS = [
    (1, "f8E4M3FN", (128, 64), (4096, (1 << 31) - 1, 48), (64,), "zero"),
    (1, "i8", (16, 128), (4096, 5, 7), (1 << 30,), "zero"),
    (2, "f16", (64, 64), (1 << 47, 4096, 4096), (4096,), "nan"),
    (2, "f16", (1, 1, 128, 256), (4096, 3, 9, 100, 1000), (1 << 38, 1 << 20, 1008), "zero"),
    (2, "bf16", (64, 32), (4096, 1, 1), (16,), "nan"),
    (4, "f32", (1, 1, 1, 32, 32), (4096, 1, 2, 3, 40, 50), (1 << 24, 1 << 20, 1 << 16, 64), "nan"),
    (4, "i32", (32, 16), (4096, 64, 64), (64,), "zero"),
    (8, "f64", (32, 32), (4096, 64, 64), (64,), "zero"),
    (8, "i64", (64,), (4096, 1000), (), "zero"),
]
"""Bytes of an element and its type, tile, address and extents, strides, padding."""


def layouts_of_tiles() -> list[dict[str, object]]:
    """What Triton's compiler says of the descriptors of `TENSORS`, in order."""
    body = TtirBlock(tuple(TtirType(f"!tt.tensordesc<{'x'.join(map(str, row[2]))}x{row[1]}>") for row in TENSORS))
    build = Builder(body)
    zero = build.integer(I32, 0)
    for descriptor, (_, element, tile, *_) in zip(body.arguments, TENSORS):
        type = TtirType(element, tile)
        loaded = build.op("tt.descriptor_load", descriptor, *(zero,) * len(tile), type=type, cache=1, evict=1)
        build.effect("tt.descriptor_store", descriptor, loaded, *(zero,) * len(tile))
    build.effect("tt.return")
    made = compile_ttir(function_text(TtirFunction("k", body)), arch_named("sm_90"), CompileOptions(), ["ttgir"])
    found: list[dict[str, object]] = made.metadata["tensordesc_meta"]
    return found


@needs_driver
def test_tensors_are_described_as_by_triton(libraries, calls):
    """Triton's own launcher is compiled with the driver that has no GPU, and gets the same tensors."""
    triton = pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    nvidia = Path(triton.__file__).parent / "backends" / "nvidia"
    headers = [f"-I{nvidia / 'include'}", f"-I{sysconfig.get_path('include')}"]
    target = libraries / f"cuda_utils{sysconfig.get_config_var('EXT_SUFFIX')}"
    subprocess.run(["cc", "-shared", "-fPIC", "-w", *headers, "-o", target, nvidia / "driver.c", "-ldl"], check=True)
    rows = [
        (size, facts, address, shape, strides, padding)
        for facts, (size, _, _, (address, *shape), strides, padding) in zip(layouts_of_tiles(), TENSORS)
    ]
    _, said = calls(
        f"import io, sys\nsys.path[:0] = [{str(libraries)!r}]\nsys.stdin = io.StringIO({json.dumps(rows)!r})\n{ORACLE}"
    )
    theirs, ours = said[::2], said[1::2]
    assert len(theirs) == len(TENSORS)
    assert ours == theirs
