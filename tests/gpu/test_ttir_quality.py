"""Machine code of common kernels has what it must have, and nothing it must not: as code from Triton's own programs.

No register is spilled; the loops of products hold what is needed and nothing else.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import pytest

pytest.importorskip("triton", "3.9", reason="needs triton, version 3.9 for the counts: pip install '.[gpu]'")

import tileir
from bench import gpu_kernels
from bench.gpu_attention import CausalAttention
from tests.gpu.machine_code import MachineCode, machine_code
from tests.targets import ttir
from tests.thorough import sampled
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import Artifacts, CompileOptions
from tileir.gpu.object_files import cubin_kernels
from tileir.gpu.program import aligned_facts, compiled
from tileir.gpu.ttir.analysis.hints import options_for
from tileir.runtime.exact import exact_kernel
from tileir.runtime.gpu_routes import source_of

THROUGH_SHARED_MEMORY = ("LDS", "STS", "LDSM", "STSM")


@cache
def made(text: str, arch: str) -> Artifacts:
    (kernel,) = tileir.parse(text).kernels.values()
    source = source_of(exact_kernel(kernel))
    return compiled(source, arch_named(arch), aligned_facts(kernel.entry), ["ptx", "cubin"]).artifacts


@cache
def code(text: str, arch: str = "sm_90") -> MachineCode:
    cubin = made(text, arch).binary
    assert cubin is not None
    return machine_code(cubin)


def ptx(text: str, arch: str = "sm_90") -> str:
    return made(text, arch).texts["ptx"]


def options(text: str, arch: str = "sm_90") -> CompileOptions:
    (kernel,) = tileir.parse(text).kernels.values()
    return options_for(kernel.entry, arch_named(arch))


# ---------------------------------------------------------------- products


@pytest.mark.parametrize("tile", sampled([((128, 256, 64),), ((128, 128, 64),)], 2))
def test_the_loop_of_products_copies_by_descriptor_and_multiplies(tile):
    """The code has 85 to 97 instructions, some of which take the address of a descriptor from a parameter."""
    found = code(gpu_kernels.gemm("bf16", *tile))
    (loop,) = found.loops_with("HGMMA")
    assert loop.count("UTMALDG") == 2
    assert not any(map(loop.count, (*THROUGH_SHARED_MEMORY, "LDG", "STG")))
    assert loop.count("WARPGROUP.ARRIVE") == 1
    assert len(loop.names) < 100
    assert found.stack == 0
    assert f"m64n{tile[1]}k16.f32.bf16.bf16" in ptx(gpu_kernels.gemm("bf16", *tile))


@pytest.mark.parametrize(
    ("arch", "copy", "product"), sampled([("sm_80", "LDGSTS", "HMMA"), ("sm_100", "UTMALDG", "UTCHMMA")], 2)
)
def test_the_loop_of_products_of_other_generations(arch, copy, product):
    found = code(gpu_kernels.gemm("f16", 128, 128, 64), arch)
    (loop,) = found.loops_with(copy, product)
    assert not loop.count("STS")
    assert found.stack == 0


ATTENTION = CausalAttention("f16", 64, 64).text()


def test_both_loops_of_attention_multiply_asynchronously_and_keep_weights_in_registers():
    """One wait for each product, not for each instruction of it."""
    loops = code(ATTENTION).loops_with("HGMMA")
    assert len(loops) == 2
    for loop in loops:
        assert loop.count("UTMALDG") == 2
        assert loop.count("WARPGROUP.ARRIVE") == 2
        assert loop.count("WARPGROUP.DEPBAR") == 1
        assert not any(map(loop.count, THROUGH_SHARED_MEMORY))
    assert min(len(loop.names) for loop in loops) < 380


def test_attention_takes_powers_by_one_instruction():
    powers = re.findall(r"ex2\.\S+", ptx(ATTENTION))
    assert powers
    assert set(powers) == {"ex2.approx.ftz.f32"}


@pytest.mark.parametrize("arch", sampled(["sm_90", "sm_100"], 2))
def test_attention_spills_nothing(arch):
    assert code(ATTENTION, arch).stack == 0


# ---------------------------------------------------------------- products of f32


def products_of_f32(m: int, n: int, k: int) -> str:
    return gpu_kernels.gemm("f32", m, n, k)


@pytest.mark.parametrize("arch", sampled(["sm_90", "sm_80", "sm_100"], 3))
def test_products_of_f32_in_full_spill_nothing(arch):
    found = code(products_of_f32(128, 64, 32), arch)
    assert found.stack == 0
    assert found.vectors("FFMA")


def test_sums_of_f32_in_full_get_more_warps():
    assert options(products_of_f32(128, 128, 64)).num_warps == 8
    assert options(gpu_kernels.gemm("bf16", 128, 128, 64)).num_warps == 4


def with_tf32() -> str:
    """A product whose factors are rounded to tf32."""
    text = products_of_f32(128, 128, 32)
    product = re.search(r"%next = mmaf .*", text)
    assert product is not None
    rounded = """%p = ftof %x : tile<128x32xf32> -> tile<128x32xtf32>
      %q = ftof %y : tile<32x128xf32> -> tile<32x128xtf32>
      %next = mmaf %p, %q, %partial : tile<128x32xtf32>, tile<32x128xtf32>, tile<128x128xf32>"""
    return text.replace(product[0], rounded)


def test_factors_become_tf32_by_one_instruction():
    (loop,) = code(with_tf32()).loops_with("HGMMA")
    assert loop.count("F2FP.TF32") == 64
    assert len(loop.names) < 230


def test_a_kernel_that_spills_is_compiled_with_more_warps():
    """With four warps, a thread has 254 registers and 136 bytes of stack."""
    text = with_tf32()
    assert options(text, "sm_100").num_warps == 4
    assert code(text, "sm_100").stack == 0


# ---------------------------------------------------------------- streams and rows


def test_a_sum_of_vectors_moves_16_bytes_at_a_time():
    found = code(gpu_kernels.text("vector_add_views"))
    assert found.vectors("LDG") == {"LDG.E.128": 16}
    assert found.vectors("STG") == {"STG.E.128": 8}
    assert sum(found.vectors("ISETP").values()) <= 16


@pytest.mark.parametrize(("columns", "arch"), sampled(product((4096, 8192), ("sm_80", "sm_90", "sm_100")), 4))
def test_a_layer_norm_leaves_room_for_three_blocks(columns, arch):
    """Factors that are loaded at the beginning, as they stand in the program, make it 126 registers and more; a
    division that calls a function, 89."""
    cubin = made(gpu_kernels.rows("layer_norm", columns), arch).binary
    assert cubin is not None
    (info,) = cubin_kernels(cubin).values()
    assert (info.registers <= 80, info.stack) == (True, 0)


LATE = """entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {{
  %t = make_tensor_view %p, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>
  %u = make_tensor_view %q, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
  %w = make_partition_view %u : partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>
  %i = constant <i32: 0> : tile<i32>
  %x, %r = load_view_tko weak %v[%i] : partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
  %y, %s = load_view_tko weak %w[%i] : partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
  %sum = reduce %x dim=0 identities=[0.0 : f32] : tile<4096xf32> -> tile<f32> (%a: tile<f32>, %b: tile<f32>) {{
    %c = addf %a, %b : tile<f32>
    yield %c : tile<f32>
  }}
  %one = reshape %sum : tile<f32> -> tile<1xf32>
  %all = broadcast %one : tile<1xf32> -> tile<4096xf32>
  %z = addf %all, %y : tile<4096xf32>
  %done = store_view_tko weak %z, %w[%i] {token} : tile<4096xf32>, partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> token
}}"""  # noqa: E501


@pytest.mark.parametrize(("token", "order"), [("", "load reduce load"), ("token=%s", "load load reduce")])
def test_a_load_that_a_token_comes_from_stays_where_it_is(token, order):
    (kernel,) = tileir.parse(LATE.format(token=token)).kernels.values()
    text = ttir.lowered(kernel, "sm_90").text
    assert " ".join(re.findall(r'"tt\.(load|reduce)"', text)) == order


@pytest.mark.parametrize(("name", "loads"), [("softmax", 8), ("layer_norm", 24)])
def test_rows_are_moved_16_bytes_at_a_time_and_folded_in_registers(name, loads):
    found = code(gpu_kernels.rows(name, 8192))
    assert found.vectors("LDG") == {"LDG.E.128": loads}
    assert found.vectors("STG") == {"STG.E.128": 8}
    assert found.vectors("SHFL")
    assert found.stack == 0


@pytest.mark.parametrize("arch", sampled(["sm_90", "sm_80", "sm_100"], 3))
def test_a_softmax_takes_one_reciprocal_for_a_row(arch):
    """With a division of each element it has more than 1050 instructions."""
    found = code(gpu_kernels.rows("softmax", 8192), arch)
    assert len(found.names) < 850
    assert len(found.vectors("CALL")) <= 1
    assert found.stack == 0
