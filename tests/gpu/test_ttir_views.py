"""Views as GPU code do what they do in the interpreter, and in the way that memory is fast at."""

import re

import numpy as np
import pytest

import tileir
from tests import ttir_machine
from tests.differential import assert_equal, outcome
from tests.gpu.ttir_view_programs import view_program
from tests.targets import ttir
from tests.thorough import sampled
from tests.ttir_machine import allocation
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import CompileOptions, compile_ttir
from tileir.gpu.ttir.entry import LoweredEntry
from tileir.gpu.ttir.lowering import ParameterFacts

ARCHS = ("sm_80", "sm_90", "sm_100")
ALIGNED = ParameterFacts(16)


def lowered(text: str, arch: str = "sm_90", facts: tuple[ParameterFacts, ...] = ()) -> LoweredEntry:
    return ttir.lowered(tileir.parse(text)["k"], arch, facts)


def ptx(program: LoweredEntry, arch: str = "sm_90", options: CompileOptions | None = None) -> str:
    pytest.importorskip("triton", reason="needs Triton: pip install '.[gpu]'")
    return compile_ttir(program.text, arch_named(arch), options or CompileOptions(), ["ptx"]).texts["ptx"]


@pytest.mark.parametrize("start", sampled(range(0, 200, 20), 4))
def test_random_views_on_random_tensors(start):
    for seed in range(start, start + 20):
        program = view_program(seed)
        kernel = tileir.parse(program.text)["k"]
        expected = outcome(kernel, (1,), program.args, "interp").arrays
        for arch in ("sm_80", "sm_90"):
            for first, second in zip(expected, ttir.outcome(kernel, (1,), program.args, arch).arrays):
                assert_equal(first, second, True, f"seed {seed} on {arch}")


@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_random_views_compile(arch):
    for seed in range(ARCHS.index(arch), 30, 3):
        ptx(lowered(view_program(seed).text, arch), arch)


# ---------------------------------------------------------------- what it is compiled to

VECTORS = """
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %tx = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %ty = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %vx = make_partition_view %tx : partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>>
  %vy = make_partition_view %ty : partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %a, %t = load_view_tko weak %vx[%i]
      : partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<1024xf32>, token
  %u = store_view_tko weak %a, %vy[%i]
      : tile<1024xf32>, partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
}
"""


def accesses(text: str) -> list[str]:
    """The instructions that access global memory."""
    return re.findall(r"\b(?:ld|st)\.global[\w.:]*", text)


@pytest.mark.parametrize("arch", ARCHS)
def test_threads_move_16_bytes_at_once_where_addresses_and_extents_are_multiples(arch):
    text = ptx(lowered(VECTORS, arch, (ALIGNED, ALIGNED, ALIGNED)), arch)
    assert set(accesses(text)) == {"ld.global.v4.b32", "st.global.v4.b32"}


def test_an_unknown_extent_is_tested_element_by_element():
    text = ptx(lowered(VECTORS, facts=(ALIGNED, ALIGNED)))
    assert set(accesses(text)) == {"ld.global.b32", "st.global.b32"}


def test_a_promise_that_all_is_inside_takes_the_tests_away():
    promised = VECTORS.replace("[%i]", "[%i] inbounds = [true]")
    program = lowered(promised, facts=(ALIGNED, ALIGNED))
    assert "arith.cmpi" not in program.text
    assert set(accesses(ptx(program))) == {"ld.global.v4.b32", "st.global.v4.b32"}


def test_an_extent_that_is_a_multiple_of_the_tile_is_tested_once():
    program = lowered(VECTORS, facts=(ALIGNED, ALIGNED, ParameterFacts(1024)))
    compares = re.findall(r'"arith.cmpi".*', program.text)
    assert compares
    assert all("tensor" not in compare for compare in compares)


ROWS = """
entry @k(%x: tile<ptr<f32>>, %n: tile<i32>, %s: tile<i64>) {
  %tx = make_tensor_view %x, shape = [128, 64], strides = [STRIDE, 1]
      : DYNAMICtensor_view<128x64xf32, strides=[TYPE,1]>
  %vx = make_partition_view %tx : partition_view<tile=(64x64), tensor_view<128x64xf32, strides=[TYPE,1]>>
  %i = constant <i32: 1> : tile<i32>
  %j = constant <i32: 0> : tile<i32>
  %a, %t = load_view_tko weak %vx[%i, %j]
      : partition_view<tile=(64x64), tensor_view<128x64xf32, strides=[TYPE,1]>>, tile<i32> -> tile<64x64xf32>, token
}
"""


def rows(stride: str, kind: str) -> str:
    dynamic = "" if stride.isdigit() else f"tile<{kind}> -> "
    return ROWS.replace("STRIDE", stride).replace("DYNAMIC", dynamic).replace("TYPE", stride if not dynamic else "?")


def test_offsets_in_a_tile_take_32_bits_only_if_they_fit():
    assert "tensor<64xi64>" not in lowered(rows("1024", "i64")).text
    assert "tensor<64xi64>" in lowered(rows(str(1 << 26), "i64")).text
    assert "tensor<64xi64>" in lowered(rows("%n", "i32")).text


def test_a_tile_that_is_known_to_lie_inside_is_not_tested():
    assert "arith.cmpi" not in lowered(rows("64", "i64")).text


FAR = """
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %i: tile<i32>, %s: tile<KIND>) {
  %tx = make_tensor_view %x, shape = [5, 4], strides = [%s, 1] : tile<KIND> -> tensor_view<5x4xf32, strides=[?,1]>
  %ty = make_tensor_view %y, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xf32, strides=[4,1]>
  %vx = make_partition_view %tx : partition_view<tile=(2x4), tensor_view<5x4xf32, strides=[?,1]>>
  %vy = make_partition_view %ty : partition_view<tile=(2x4), tensor_view<2x4xf32, strides=[4,1]>>
  %zero = constant <i32: 0> : tile<i32>
  %a, %t = load_view_tko weak %vx[%i, %zero]
      : partition_view<tile=(2x4), tensor_view<5x4xf32, strides=[?,1]>>, tile<i32> -> tile<2x4xf32>, token
  %u = store_view_tko weak %a, %vy[%zero, %zero]
      : tile<2x4xf32>, partition_view<tile=(2x4), tensor_view<2x4xf32, strides=[4,1]>>, tile<i32> -> token
}
"""


@pytest.mark.parametrize(("kind", "stride"), [("i32", 1 << 30), ("i32", -4), ("i64", 1 << 40)])
def test_elements_beyond_2_to_the_32_are_reached(kind, stride):
    """The last row of a tensor, which alone lies in memory that is there, far behind the address of the first."""
    row, out = np.arange(4, dtype=np.float32), np.full((2, 4), 9, np.float32)
    lent = [allocation("row", row), allocation("out", out)]
    base = lent[0].address - 4 * 4 * (stride % (1 << int(kind[1:])))
    function = lowered(FAR.replace("KIND", kind)).function
    ttir_machine.run(function, (1,), [base % (1 << 64), lent[1].address, 2, stride], lent)
    assert out.tolist() == [[0, 1, 2, 3], [0, 0, 0, 0]]


def test_a_padding_value_that_the_type_lacks_is_refused():
    text = VECTORS.replace("f32", "f8E4M3FN").replace("tile=(1024), ", "tile=(1024), padding_value = pos_inf, ")
    with pytest.raises(tileir.UnsupportedError, match="pads with pos_inf, which f8E4M3FN does not have"):
        lowered(text)
