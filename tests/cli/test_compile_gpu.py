"""``tileir compile`` for GPUs: the forms of the code, the routes, explanations, refusals."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.gpu.ttir_gemm import Gemm
from tileir.examples import FOLDER
from tileir.gpu import compiler, executable, vendor
from tileir.gpu.object_files import cubin_kernels

ADD, TOTAL, HELLO, GEMM = (
    str(FOLDER / f"{name}.mlir") for name in ("vector_add", "reduction", "hello_grid", "gemm_views")
)


@pytest.fixture
def triton() -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")


needs_tileiras = pytest.mark.skipif(vendor.program() is None, reason="needs tileiras: pip install nvidia-cuda-tileiras")


@pytest.mark.usefixtures("triton")
class TestForms:
    @pytest.mark.parametrize(
        ("form", "mark"),
        [
            (None, ".target sm_90a"),
            ("ptx", ".entry tileir_vector_add"),
            ("ttir", "tt.func public @tileir_vector_add"),
            ("ttgir", 'ttg.target = "cuda:90"'),
            ("llir", "define ptx_kernel void @tileir_vector_add"),
        ],
    )
    def test_texts(self, tileir, form, mark) -> None:
        ran = tileir("compile", ADD, "--target", "sm_90", *(["--emit", form] if form else []))
        assert (ran.status, ran.err) == (0, "")
        assert mark in ran.out

    @pytest.mark.parametrize(
        ("form", "mark"),
        [
            (None, "global_load_b128"),
            ("ttir", "tt.func public @tileir_vector_add"),
            ("ttgir", 'ttg.target = "hip:gfx1100"'),
            ("llir", "define amdgpu_kernel void @tileir_vector_add"),
        ],
    )
    def test_texts_for_amd(self, tileir, form, mark) -> None:
        options = ["--target", "gfx1100", "--aligned", *(["--emit", form] if form else [])]
        ran = tileir("compile", ADD, *options)
        assert (ran.status, ran.err) == (0, "")
        assert mark in ran.out

    @pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
    def test_a_hsaco(self, tileir, target) -> None:
        ran = tileir("compile", TOTAL, "--kernel", "total", "--target", target, "--emit", "hsaco", "-o", "total.hsaco")
        assert (ran.status, ran.out) == (0, "")
        assert executable.kernels_of(Path("total.hsaco").read_bytes()).keys() == {"tileir_total"}

    @pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
    def test_a_cubin(self, tileir, target) -> None:
        ran = tileir("compile", TOTAL, "--kernel", "total", "--target", target, "--emit", "cubin", "-o", "total.cubin")
        assert (ran.status, ran.out) == (0, "")
        assert cubin_kernels(Path("total.cubin").read_bytes()).keys() == {"tileir_total"}

    def test_what_is_aligned_is_loaded_in_larger_pieces(self, tileir) -> None:
        plain, aligned = (
            tileir("compile", ADD, "--target", "sm_90", "--emit", "ptx", *more).out for more in ((), ("--aligned",))
        )
        assert ".v4.b32" in aligned
        assert ".v4.b32" not in plain

    def test_what_was_made_is_explained(self, tileir) -> None:
        ran = tileir("compile", HELLO, "--target", "sm_90", "--explain")
        assert ran.status == 0
        for words in (
            "for sm_90, by Triton's compiler",
            "warp",
            "shared memory: ",
            "registers",
            "the mailbox of print",
        ):
            assert words in ran.out
        assert ".entry" not in ran.out

    def test_warps_and_stages_are_those_asked_for(self, tileir) -> None:
        ran = tileir("compile", ADD, "--target", "sm_90", "--explain", "--warps", "2", "--stages", "5")
        assert ran.status == 0
        assert "tile block: 2 warps, pipelines of 5 stages" in ran.out

    def test_descriptors_that_a_launch_makes_are_explained(self, tileir) -> None:
        ran = tileir("compile", GEMM, "--target", "sm_90", "--aligned", "--explain")
        rows = [line.split() for line in ran.out.splitlines()]
        assert ["p9", "p0", "p3", "x", "p5", "p6", "FLOAT16", "128", "x", "64", "128", "bytes", "zero"] in rows
        assert ["p11", "p2", "p3", "x", "p4", "p8", "FLOAT32", "128", "x", "32", "128", "bytes", "zero"] in rows

    def test_what_did_not_fit_is_explained(self, tileir) -> None:
        text = Gemm(tile=(256, 256, 64)).text.encode()
        ran = tileir("compile", "-", "--target", "sm_90", "--aligned", "--explain", stdin=text)
        assert ran.status == 0
        assert "tile block: 8 warps" in ran.out
        assert "with 16 warps, pipelines of" in ran.out
        assert "it does not fit: the block is too large: a thread needs 154 registers" in ran.out

    def test_where_memory_is_used_is_shown(self, tileir) -> None:
        ran = tileir("compile", ADD, "--target", "sm_90", "--explain", "--emit", "ttir", "-o", "code")
        assert ran.out.count("load through pointers") == 2
        assert "vector_add.mlir:" in ran.out
        assert "tt.func" in Path("code").read_text()

    def test_an_operation_without_code_is_named(self, tileir) -> None:
        text = b"""entry @k() {
          %x = constant <f32: 0.0> : tile<2097152xf32>
          return
        }"""
        assert tileir("compile", "-", "--target", "sm_90", stdin=text).status == 0  # Nobody uses the constant.
        ran = tileir("compile", "-", "--target", "sm_90", "--no-optimize", stdin=text)
        assert ran.status == 1
        assert "'constant' makes tile<2097152xf32>" in ran.err
        assert "<stdin>:2:" in ran.err


class TestTheVendorsRoute:
    @needs_tileiras
    def test_a_cubin_of_the_whole_module(self, tileir) -> None:
        options = ["--kernel", "total", "--target", "sm_90", "--route", "tileiras", "-o", "all.cubin"]
        ran = tileir("compile", TOTAL, *options)
        assert (ran.status, ran.out) == (0, "")
        assert "total" in cubin_kernels(Path("all.cubin").read_bytes())

    @needs_tileiras
    def test_it_is_explained(self, tileir) -> None:
        ran = tileir("compile", ADD, "--target", "sm_90", "--route", "tileiras", "--explain")
        assert ran.status == 0
        assert "by the vendor's assembler" in ran.out
        assert "registers" in ran.out


class TestWrongUses:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--emit", "ptx"], "--emit ptx: target cpu has asm, llvm, obj, plan"),
            (["--emit", "asm", "--target", "sm_90"], "--emit asm: target sm_90 has ptx, ttir, ttgir, llir, cubin"),
            (["--warps", "4"], "--warps is for GPUs: say which with --target"),
            (["--stages", "4"], "--stages is for GPUs: say which with --target"),
            (["--target", "sm_90", "--warps", "3"], "--warps: expected a power of two, got 3"),
            (["--target", "sm_90", "--warps", "64"], "--warps: expected at most 32, got 64"),
            (["--target", "sm_90", "--stages", "0"], "--stages: expected a positive integer, got 0"),
            (
                ["--target", "sm_90", "--route", "tileiras", "--warps", "4"],
                "--warps and --stages are for --route open",
            ),
            (["--aligned"], "--aligned is for GPUs: say which with --target"),
            (["--route", "open"], "--route is for GPUs: say which with --target"),
            (
                ["--target", "sm_90", "--route", "tileiras", "--emit", "ptx"],
                "--emit ptx: target sm_90 with --route tileiras has cubin",
            ),
            (["--emit", "ptx", "--target", "gfx942"], "--emit ptx: target gfx942 has amdgcn, ttir, ttgir, llir, hsaco"),
            (
                ["--target", "gfx942", "--route", "tileiras"],
                "--route tileiras is for GPUs of NVIDIA, got --target gfx942",
            ),
            (["--target", "sm_75"], "invalid choice: 'sm_75'"),
        ],
    )
    def test_options_that_do_not_go_together(self, tileir, options, words) -> None:
        ran = tileir("compile", ADD, *options)
        assert (ran.status, ran.out) == (2, "")
        assert words in ran.err

    @pytest.mark.parametrize("options", [["--emit", "cubin"], ["--route", "tileiras"]])
    def test_a_cubin_does_not_go_to_the_terminal(self, tileir, monkeypatch, options) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        ran = tileir("compile", ADD, "--target", "sm_90", *options)
        assert ran.status == 2
        assert "a cubin is not text: say where it goes with -o FILE" in ran.err

    def test_a_missing_compiler_is_named(self, tileir, monkeypatch) -> None:
        monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None)
        ran = tileir("compile", ADD, "--target", "sm_90")
        assert ran.status == 1
        assert "not available: needs Triton's compiler: pip install '" in ran.err

    def test_a_missing_assembler_is_named(self, tileir, monkeypatch) -> None:
        monkeypatch.setattr(vendor, "program", lambda: None)
        ran = tileir("compile", ADD, "--target", "sm_90", "--route", "tileiras", "-o", "x.cubin")
        assert ran.status == 1
        assert "not available: needs the vendor's assembler" in ran.err


def test_gpus_and_what_is_missing_are_listed(tileir) -> None:
    ran = tileir("info")
    assert ran.status == 0
    for words in ("cuda  ", "cuda:tileiras", "GPUs", "cuda-bindings"):
        assert words in ran.out
