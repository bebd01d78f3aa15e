"""Kernels are spread over the hardware by their hints, else by what they work with."""

import re

import pytest

import tileir
from tests.gpu.ttir_gemm import Gemm
from tests.targets import ttir
from tileir.examples.checks import EXAMPLES
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import CompileOptions, compile_ttir
from tileir.gpu.program import aligned_facts
from tileir.gpu.ttir.analysis.hints import options_for

KILO = 1 << 10


def options(text: str, arch: str = "sm_90") -> CompileOptions:
    return options_for(tileir.parse(text)["k"].entry, arch_named(arch))


def elementwise(count: int, hints: str = "") -> str:
    return f"entry @k(){hints} {{\n  %0 = iota : tile<{count}xi32>\n  %1 = addi %0, %0 : tile<{count}xi32>\n}}"


def fold(count: int) -> str:
    return f"""
entry @k() {{
  %0 = iota : tile<{count}xi32>
  %1 = reduce %0 dim=0 identities=[0 : i32] : tile<{count}xi32> -> tile<i32> (%a: tile<i32>, %b: tile<i32>) {{
    %c = addi %a, %b : tile<i32>
    yield %c : tile<i32>
  }}
}}
"""


@pytest.mark.parametrize(
    ("count", "warps"),
    [(1, 1), (256, 1), (512, 2), (KILO, 4), (4 * KILO, 4), (8 * KILO, 8), (16 * KILO, 8), (64 * KILO, 16)],
)
def test_warps_for_the_largest_tile(count, warps):
    assert options(elementwise(count)).num_warps == warps


@pytest.mark.parametrize(("count", "warps"), [(KILO, 4), (8 * KILO, 8), (16 * KILO, 16)])
def test_warps_for_rows_that_are_reduced(count, warps):
    assert options(fold(count)).num_warps == warps


@pytest.mark.parametrize(
    ("tile", "arch", "expected"),
    [
        ((128, 128, 64), "sm_90", CompileOptions(4, 3)),
        ((128, 256, 64), "sm_90", CompileOptions(8, 4)),
        ((128, 256, 64), "sm_100", CompileOptions(8, 4)),
        ((128, 128, 32), "sm_80", CompileOptions(4, 4)),
        ((128, 128, 64), "sm_80", CompileOptions(4, 3)),
        ((128, 256, 64), "sm_80", CompileOptions(8, 4)),
        ((128, 128, 64), "sm_86", CompileOptions(4, 4)),
        ((128, 256, 64), "sm_120", CompileOptions(8, 3)),
        ((64, 64, 32), "sm_90", CompileOptions(4, 4)),
        ((256, 256, 64), "sm_90", CompileOptions(16, 3)),
    ],
)
def test_products_take_registers_for_the_sums_and_shared_memory_for_the_stages(tile, arch, expected):
    assert options(Gemm(tile=tile).text, arch) == expected


def test_two_products_in_a_loop_take_three_stages():
    attention = next(example for example in EXAMPLES if example.name == "attention")
    kernel = tileir.load(attention.path)[attention.kernel]
    assert options_for(kernel.entry, arch_named("sm_90")) == CompileOptions(4, 3)


# ---------------------------------------------------------------- hints


@pytest.mark.parametrize(("value", "warps"), [(1, 4), (4, 4), (8, 8), (32, 8), (3, 1), (64, 1), ("true", 1)])
def test_the_hint_for_warps_is_4_or_8(value, warps):
    hints = f" optimization_hints=<default = {{num_worker_warps_per_cta = {value}}}>"
    assert options(elementwise(16, hints)).num_warps == warps


def test_a_hint_for_the_architecture_goes_before_the_default_even_if_it_is_not_valid():
    hints = " optimization_hints=<default = {num_worker_warps_per_cta = 8}, sm_80 = {num_worker_warps_per_cta = 4}"
    hints += ", sm_86 = {num_worker_warps_per_cta = 5}>"
    found = [options(elementwise(16, hints), arch).num_warps for arch in ("sm_80", "sm_86", "sm_90")]
    assert found == [4, 1, 8]


def hinted(gemm: Gemm, hints: str) -> str:
    return gemm.text.replace(") {", f") optimization_hints=<default = {{{hints}}}> {{", 1)


@pytest.mark.parametrize(
    ("tile", "occupancy", "expected"),
    [
        ((128, 256, 64), 1, CompileOptions(8, 4)),
        ((64, 64, 64), 2, CompileOptions(4, 4)),
        ((64, 64, 64), 4, CompileOptions(4, 3, maxnreg=128)),
        ((128, 256, 64), 2, CompileOptions(8, 2)),
        ((64, 64, 64), 33, CompileOptions(4, 4)),
    ],
)
def test_occupancy_shares_registers_and_shared_memory_as_long_as_the_sums_fit(tile, occupancy, expected):
    assert options(hinted(Gemm(tile=tile), f"occupancy = {occupancy}")) == expected


def test_tile_blocks_are_not_spread_over_clusters():
    assert options(hinted(Gemm(), "num_cta_in_cga = 2")).num_ctas == 1


@pytest.mark.parametrize(("latency", "stages"), [(1, 1), (2, 2), (3, 3), (10, 5), (11, 4)])
def test_the_latency_of_loads_is_the_depth_of_the_pipeline(latency, stages):
    gemm = Gemm(tile=(64, 64, 32), hints=f" optimization_hints = <default = {{latency = {latency}}}>")
    assert options(gemm.text).num_stages == stages


STREAM = """
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %tx = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %ty = make_tensor_view %y, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %vx = make_partition_view %tx : partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>>
  %vy = make_partition_view %ty : partition_view<tile=(1024), tensor_view<1024xf32, strides=[1]>>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %nothing = constant <f32: 0.0> : tile<1024xf32>
  %steps = get_index_space_shape %vx : partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>> -> tile<i32>
  %all = for %i in (%zero to %steps, step %one) : tile<i32> iter_values(%sum = %nothing) -> (tile<1024xf32>) {
    %a, %t = load_view_tko weak %vx[%i] HINTS
        : partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<1024xf32>, token
    %more = addf %a, %sum rounding<nearest_even> : tile<1024xf32>
    continue %more : tile<1024xf32>
  }
  %u = store_view_tko weak %all, %vy[%zero]
      : tile<1024xf32>, partition_view<tile=(1024), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> token
}
"""


def ptx(kernel: tileir.Kernel, arch: str) -> str:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    program = ttir.lowered(kernel, arch, aligned_facts(kernel.entry))
    chosen = options_for(kernel.entry, arch_named(arch))
    return compile_ttir(program.text, arch_named(arch), chosen, ["ptx"]).texts["ptx"]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_a_loop_without_products_is_a_pipeline_if_a_load_says_that_it_takes_long(arch):
    plain = ptx(tileir.parse(STREAM.replace("HINTS", ""))["k"], arch)
    hint = "optimization_hints = <default = {latency = 4}>"
    early = ptx(tileir.parse(STREAM.replace("HINTS", hint))["k"], arch)
    assert "cp.async" not in plain
    assert early.count("cp.async.commit_group") == 4


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("name", ["vector_add", "saxpy", "softmax", "layer_norm", "rms_norm"])
def test_memory_is_accessed_in_vectors_of_16_bytes(name, arch):
    example = next(example for example in EXAMPLES if example.name == name)
    text = ptx(tileir.load(example.path)[example.kernel], arch)
    assert set(re.findall(r"\b(?:ld|st)\.global[\w.:]*", text)) == {"ld.global.v4.b32", "st.global.v4.b32"}
