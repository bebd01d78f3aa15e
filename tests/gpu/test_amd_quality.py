"""Machine code of common kernels for AMD has what it must have: products on matrix units, wide accesses, no spills."""

from __future__ import annotations

from functools import cache

import pytest

pytest.importorskip("triton", "3.9", reason="needs triton, version 3.9 for the counts: pip install '.[gpu]'")

import tileir
from bench import gpu_kernels
from bench.amd_code import AmdCode, amd_code, products
from bench.gpu_attention import CausalAttention
from tests.gpu.test_gpu_program import COPY, source
from tests.thorough import sampled
from tileir.gpu import program
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import Artifacts, CompileOptions, RequestedOptions
from tileir.gpu.program import Compiled, aligned_facts, compiled
from tileir.runtime.exact import exact_kernel
from tileir.runtime.gpu_routes import source_of


@cache
def made(text: str, arch: str) -> Compiled:
    (kernel,) = tileir.parse(text).kernels.values()
    return compiled(source_of(exact_kernel(kernel)), arch_named(arch), aligned_facts(kernel.entry), ["amdgcn"])


def code(text: str, arch: str) -> AmdCode:
    artifacts = made(text, arch).artifacts
    assert artifacts.binary is not None
    return amd_code(artifacts.texts["amdgcn"], artifacts.binary, artifacts.metadata["shared"])


GEMM = gpu_kernels.gemm("f16", 128, 128, 64)


@pytest.mark.parametrize(("arch", "product"), sampled([("gfx942", "v_mfma_f32_"), ("gfx1201", "v_wmma_f32_")], 2))
def test_the_loop_of_products_multiplies_on_matrix_units_and_spills_nothing(arch: str, product: str) -> None:
    found = code(GEMM, arch)
    assert products(found.loop) == sum(name.startswith(product) for name in found.loop) > 0
    assert (found.spilled, found.scratch, found.scratch_accesses) == (0, 0, 0)
    assert sum(name.endswith(("load_dwordx4", "load_b128")) for name in found.loop) >= 4
    assert found.shared == 32 << 10


@pytest.mark.thorough
def test_waves_are_more_where_registers_of_a_thread_were_spilled() -> None:
    chosen = made(GEMM, "gfx1201")
    assert chosen.options.num_warps == 8
    assert [one.options.num_warps for one in chosen.rejected] == [4]
    assert "registers of a thread are spilled" in chosen.rejected[0].why


@pytest.mark.thorough
def test_attention_of_a_wave_of_64_spills_nothing_and_takes_powers_by_one_instruction() -> None:
    """With each power flushed by integer arithmetic, the loop has more than 900 instructions."""
    found = code(CausalAttention("f16", 64, 64).text(), "gfx942")
    assert products(found.loop) >= 32
    assert (found.spilled, found.scratch) == (0, 0)
    assert found.loop.count("v_exp_f32_e32") == 33
    assert len(found.loop) < 520


@pytest.mark.parametrize("arch", sampled(["gfx942", "gfx1100"], 2))
@pytest.mark.parametrize(("name", "accesses"), [("softmax", 16), ("layer_norm", 32)])
def test_rows_are_moved_16_bytes_at_a_time(name: str, accesses: int, arch: str) -> None:
    found = code(gpu_kernels.rows(name, 8192), arch)
    assert (found.wide, len(found.accesses)) == (accesses, accesses)
    assert (found.spilled, found.scratch) == (0, 0)


class TestChoiceOfOptions:
    @pytest.fixture(autouse=True)
    def tried(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
        """The options that a compiler was asked for; what it makes spills as `SPILLS` says."""
        tried: list[tuple[int, int]] = []

        def compile_ttir(text: str, arch: object, options: CompileOptions, stages: list[str]) -> Artifacts:
            tried.append((options.num_warps, options.num_stages))
            spilled = self.SPILLS.get(tried[-1], 99)
            return Artifacts({}, bytes([spilled]), {"shared": 0})

        monkeypatch.setattr(program, "compile_ttir", compile_ttir)
        monkeypatch.setattr(program, "_spilled", lambda artifacts: artifacts.binary[0])
        monkeypatch.setattr(
            program, "options_for", lambda entry, arch, requested: CompileOptions(requested.warps or 4, 2)
        )
        return tried

    SPILLS = {(4, 2): 50, (8, 2): 30, (4, 1): 20, (8, 1): 5, (16, 1): 0}
    """By waves and stages. Eight waves with 30 each spill more than four with 50."""

    def test_what_spills_less_in_all_is_taken_until_nothing_is_spilled(self, tried: list[tuple[int, int]]) -> None:
        chosen = compiled(source(COPY), arch_named("gfx1100"), [], ["hsaco"])
        assert (chosen.options.num_warps, chosen.options.num_stages) == (16, 1)
        assert tried == [(4, 2), (8, 2), (4, 1), (8, 1), (16, 1)]
        assert [one.why.split()[0] for one in chosen.rejected] == ["50", "20", "5"]

    def test_what_is_requested_stays(self, tried: list[tuple[int, int]]) -> None:
        compiled(source(COPY), arch_named("gfx1100"), [], ["hsaco"], RequestedOptions(4, 2))
        assert tried == [(4, 2)]

    def test_code_for_other_vendors_is_chosen_alike(self, tried: list[tuple[int, int]]) -> None:
        compiled(source(COPY), arch_named("sm_90"), [], ["cubin"])
        assert tried == [(4, 2), (8, 2), (4, 1), (8, 1), (16, 1)]
