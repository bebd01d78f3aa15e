"""The vendor's route: bytecode through `tileiras` to a cubin that the launcher takes."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_driver import FakeDriver, OnGpu
from machine_code import machine_code

import tileir
from tests.gpu.hardware.hardware_standin import MachineDriver, MachineRoute, MachineTarget
from tests.thorough import sampled
from tileir.cache import Cache
from tileir.examples import FOLDER
from tileir.gpu import vendor
from tileir.gpu.arch import arch_named
from tileir.gpu.object_files import cubin_kernels
from tileir.runtime.gpu import CodeVariant, Gpu
from tileir.runtime.gpu_routes import OpenRoute, VendorRoute
from tileir.runtime.module import bind

needs_tileiras = pytest.mark.skipif(vendor.program() is None, reason="needs tileiras: pip install nvidia-cuda-tileiras")
SM_90 = arch_named("sm_90")
ELEMENTS = ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "tf32", "f64", "f8E4M3FN", "f8E5M2", "ptr<f32>"]


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """Puts a program of the test in the place of `tileiras`."""

    def replaced(body: str):
        path = tmp_path / "tileiras"
        path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
        path.chmod(0o755)
        monkeypatch.setattr(vendor, "program", lambda: path)
        return path

    return replaced


class TestCubins:
    @needs_tileiras
    @pytest.mark.parametrize("arch", sampled(["sm_90", "sm_80", "sm_100"], 3))
    def test_parameters_of_every_type_take_what_a_launch_passes(self, arch, cache):
        text = f"entry @k({', '.join(f'%p{i}: tile<{ty}>' for i, ty in enumerate(ELEMENTS))}) {{ return }}"
        bytecode = tileir.to_bytecode(tileir.parse(text))
        made = vendor.executable(vendor.cubin(bytecode, arch_named(arch), cache), "k", len(ELEMENTS))
        assert cubin_kernels(made.binary)["k"].parameters == (1, 1, 2, 4, 8, 2, 2, 4, 4, 8, 1, 1, 8)
        assert (made.kernel, made.threads, made.shared, made.hidden, made.scratch) == ("k", 1, 0, (), None)

    @needs_tileiras
    @pytest.mark.parametrize("arch", sampled(["sm_90", "sm_80", "sm_100", "sm_120"], 4))
    @pytest.mark.parametrize("name", sampled(["gemm_views", "attention", "layer_norm"], 3))
    def test_code_with_descriptors_takes_what_a_launch_passes(self, name, arch):
        kernel = next(iter(tileir.load(FOLDER / f"{name}.mlir").kernels.values()))
        route, driver = VendorRoute(kernel, rewrites=True), FakeDriver()
        device = replace(driver.device(), arch=arch_named(arch))
        for holds in (False, True):
            variant = CodeVariant((holds,) * len(route.watched))
            made, _, _ = route.code(driver, device, variant)
            expected = tuple(8 if "ptr" in repr(one.type) else 4 for one in kernel.parameters)
            assert cubin_kernels(made.binary)[kernel.name].parameters == expected

    @needs_tileiras
    def test_all_kernels_of_a_module_are_in_one_cubin(self, cache):
        module = tileir.load(FOLDER / "reduction.mlir")
        cubin = vendor.cubin(tileir.to_bytecode(module), SM_90, cache)
        assert cubin_kernels(cubin).keys() == module.kernels.keys()

    def test_an_assembled_module_is_found_again(self, stand_in, cache, tmp_path):
        log = tmp_path / "log"
        stand_in(
            f"open({str(log)!r}, 'a').write(sys.argv[2] + ' ')\n"
            "open(sys.argv[sys.argv.index('-o') + 1], 'w').write('made for ' + sys.argv[2])"
        )
        for arch in ("sm_90", "sm_80", "sm_90"):
            assert vendor.cubin(b"bytecode", arch_named(arch), cache) == f"made for {arch}".encode()
        vendor.cubin(b"other", SM_90, cache)
        assert log.read_text().split() == ["sm_90", "sm_80", "sm_90"]


class TestRefusals:
    def test_the_last_lines_are_shown(self, stand_in, cache):
        stand_in("sys.stderr.write('\\n'.join(f'line {i}' for i in range(9))); sys.exit(5)")
        with pytest.raises(
            tileir.UnsupportedError, match=r"'tileiras' refused the module: line 4; .*; line 8"
        ) as caught:
            vendor.cubin(b"bytecode", SM_90, cache)
        assert caught.value.target == "cuda:tileiras"

    def test_a_program_that_says_nothing(self, stand_in, cache):
        stand_in("sys.exit(5)")
        with pytest.raises(tileir.UnsupportedError, match="ended with status 5 and said nothing"):
            vendor.cubin(b"bytecode", SM_90, cache)

    def test_a_program_that_makes_nothing(self, stand_in, cache):
        stand_in("")
        with pytest.raises(tileir.UnsupportedError, match="said nothing"):
            vendor.cubin(b"bytecode", SM_90, cache)

    def test_a_program_that_does_not_end(self, stand_in, cache, monkeypatch):
        stand_in("import time; time.sleep(60)")
        monkeypatch.setattr(vendor, "PATIENCE", 0.3)
        with pytest.raises(tileir.UnsupportedError, match="took more than"):
            vendor.cubin(b"bytecode", SM_90, cache)

    def test_a_program_that_cannot_be_run(self, stand_in, cache):
        stand_in("").chmod(0o644)
        with pytest.raises(tileir.UnsupportedError, match="'tileiras' cannot be run"):
            vendor.cubin(b"bytecode", SM_90, cache)

    def test_a_missing_program_is_named(self, monkeypatch):
        monkeypatch.setattr(vendor, "program", lambda: None)
        with pytest.raises(ImportError, match="pip install nvidia-cuda-tileiras"):
            vendor.require_program()

    @needs_tileiras
    def test_what_is_no_bytecode(self, cache):
        with pytest.raises(tileir.UnsupportedError, match="'tileiras' refused the module"):
            vendor.cubin(b"nonsense", SM_90, cache)

    @needs_tileiras
    def test_a_kernel_that_is_not_in_the_cubin(self, cache):
        cubin = vendor.cubin(tileir.to_bytecode(tileir.parse("entry @k() { return }")), SM_90, cache)
        with pytest.raises(tileir.UnsupportedError, match="no code for kernel @other"):
            vendor.executable(cubin, "other", 0)
        with pytest.raises(tileir.UnsupportedError, match=r"takes parameters of \[\] bytes, a launch passes \[8\]"):
            vendor.executable(cubin, "k", 1)


RECORDED = ("sm_80", "sm_90", "sm_100", "sm_120")
ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples" / "cutile").glob("*.py"))
PROGRAMS = sorted((ROOT / "bench" / "kernels").rglob("*.mlir"))


def assert_taken(kernel: tileir.Kernel, arch: str) -> None:
    """The route assembles the kernel, and the code takes its parameters: `vendor.executable` reads them."""
    route, driver = VendorRoute(kernel, rewrites=True), FakeDriver()
    route.code(driver, replace(driver.device(), arch=arch_named(arch)), CodeVariant((True,) * len(route.watched)))


@needs_tileiras
@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(SCRIPTS)), ids=[path.stem for path in SCRIPTS])
def test_kernels_of_the_examples_of_cutile_are_taken(number):
    """For one of the architectures each."""
    pytest.importorskip("torch", reason="examples compare with torch")
    pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")
    from tests.gpu.ttir_cutile import recorded

    kernels = recorded(SCRIPTS[number])
    assert kernels
    for kernel in kernels:
        assert_taken(kernel, RECORDED[number % len(RECORDED)])


@needs_tileiras
@pytest.mark.parametrize("number", sampled(range(len(PROGRAMS)), 8), ids=[path.stem for path in PROGRAMS])
def test_kernels_of_the_benchmarks_are_taken(number):
    for kernel in tileir.load(PROGRAMS[number]).kernels.values():
        assert_taken(kernel, RECORDED[(number + 2) % len(RECORDED)])


@needs_tileiras
def test_kernels_of_a_module_with_globals_share_what_is_loaded():
    driver = FakeDriver(count=3)
    target = Gpu("cuda:tileiras", "", driver, VendorRoute)
    text = "entry @{}(%a: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f16>) {{ return }}"
    shared = "global @table <i32: [1, 2]> : tile<2xi32>"
    module = tileir.parse("\n".join([shared, *(text.format(name) for name in "ab")]))
    array = np.zeros(4, np.float32)
    for name in "aba":
        arguments = bind(module[name], (OnGpu(array), -1, 1.5), target)
        target.prepare(module[name], True, {})((2, 3, 4), arguments)
    assert len(driver.loads) == 1
    assert [launched.kernel for launched in driver.launches] == ["a", "b", "a"]
    assert driver.launches[0].parameters == (array.ctypes.data, 0xFFFFFFFF, 0x3E00)
    assert (driver.launches[0].threads, driver.launches[0].grid) == (1, (2, 3, 4))


@needs_tileiras
def test_launches_with_aligned_arguments_have_code_of_their_own():
    driver = FakeDriver(count=1)
    target = Gpu("cuda:tileiras", "", driver, VendorRoute)
    kernel = tileir.load(FOLDER / "vector_add.mlir")["vector_add"]
    aligned = np.zeros(1 << 12, np.float32)
    aligned = aligned[-aligned.ctypes.data // 4 % 4 :]
    for shift in (0, 0, 1):
        arguments = bind(kernel, (*[OnGpu(aligned[shift:2048])] * 3, 1024), target)
        target.prepare(kernel, True, {})((1, 1, 1), arguments)
    assert (len(driver.loads), len(driver.launches)) == (2, 3)


def with_unit_strides_at_run_time() -> tileir.Kernel:
    """gemm_views with a parameter for the distance between the elements of a row."""
    text = (FOLDER / "gemm_views.mlir").read_text().replace("strides=[?,1]", "strides=[?,?]")
    text = re.sub(r"strides = \[(%ld_.), 1\]", r"strides = [\1, %unit]", text)
    return tileir.parse(text.replace("%stride_c: tile<i32>)", "%stride_c: tile<i32>, %unit: tile<i32>)"))["gemm_views"]


@needs_tileiras
@pytest.mark.parametrize("route", sampled([OpenRoute, VendorRoute], 2))
def test_strides_that_are_one_at_run_time_cost_nothing(route):
    pytest.importorskip("triton", reason="needs nvdisasm: pip install triton")
    made, driver = route(with_unit_strides_at_run_time(), True), FakeDriver()
    device = replace(driver.device(), arch=arch_named("sm_100"))
    others = (True,) * (len(made.watched) - 1)
    unknown, one = (
        machine_code(
            made.code(driver, device, CodeVariant((*others, False), (*(False for _ in others), last)))[0].binary
        )
        for last in (False, True)
    )
    assert one.vectors("UTMALDG")
    assert not unknown.vectors("UTMALDG")
    assert len(one.names) < 0.6 * len(unknown.names)


def test_code_for_strides_that_are_one_gives_the_same():
    kernel, target = with_unit_strides_at_run_time(), MachineTarget("cuda", "", MachineDriver(), MachineRoute)
    random = np.random.default_rng(3)
    a, b = (random.integers(-2, 3, (rows, 72)).astype(np.float16) for rows in (130, 100))
    found = np.zeros((130, 100), np.float32)
    arguments = bind(kernel, (a, b, found, 130, 100, 72, 72, 72, 100, 1), target)
    target.prepare(kernel, True, {})((2, 1, 1), arguments)
    assert np.array_equal(found, a.astype(np.float32) @ b.T.astype(np.float32))


@needs_tileiras
@pytest.mark.parametrize(
    ("name", "arch", "wide"),
    [
        ("vector_add", "sm_90", "LDG.E.128"),
        pytest.param("gemm_views", "sm_100", "UTMASTG", marks=pytest.mark.thorough),
    ],
)
def test_code_for_aligned_arguments_moves_more_at_a_time(name, arch, wide):
    pytest.importorskip("triton", reason="needs nvdisasm: pip install triton")
    kernel = next(iter(tileir.load(FOLDER / f"{name}.mlir").kernels.values()))
    route, driver = VendorRoute(kernel, rewrites=True), FakeDriver()
    device = replace(driver.device(), arch=arch_named(arch))
    plain, aligned = (
        machine_code(route.code(driver, device, CodeVariant((holds,) * len(route.watched)))[0].binary)
        for holds in (False, True)
    )
    assert aligned.vectors(wide)
    assert not plain.vectors(wide)
    assert len(aligned.names) < 0.7 * len(plain.names)
