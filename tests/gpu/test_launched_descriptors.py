"""Descriptors of tensors that launches make: the tensors they compute, what they keep, what reaches the kernel."""

from __future__ import annotations

import numpy as np
import pytest
from fake_driver import FakeDriver

import tileir
from tests.differential import outcome
from tests.gpu.test_ttir_descriptors import STACK, STACKED, TENSOR, loads, made_by_blocks, made_by_launches
from tests.gpu.ttir_gemm import Gemm
from tests.targets import ttir
from tileir.cache import Cache
from tileir.gpu import expressions, launch
from tileir.gpu.arch import arch_named
from tileir.gpu.descriptors import CopyLayout, DescriptorParameter, TensorMap
from tileir.gpu.driver import Library
from tileir.gpu.executable import BlockMemory, Executable, Scratch
from tileir.gpu.expressions import ExpressionStep as Step
from tileir.gpu.launch import KernelLauncher
from tileir.gpu.object_files import cubin_kernels
from tileir.gpu.program import aligned_facts, executable
from tileir.gpu.ttir.entry import LoweredEntry
from tileir.runtime.gpu_routes import source_of

ROWS = DescriptorParameter(
    "!tt.tensordesc<64x32xf16>",
    2,
    (Step("parameter", 0),),
    ((Step("parameter", 1),), (Step("constant", 96),)),
    ((Step("parameter", 2), Step("arith.extui", 64, (0,))),),
)
"""Rows of 96 f16: parameters are the address, the number of rows and their distance."""
LAYOUT = CopyLayout(6, (64, 32), 2)


# ---------------------------------------------------------------- tensors


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param((4096, 5, 96), (4096, (5, 96), (192,)), id="as it is"),
        pytest.param((4096, (1 << 31) - 1, 96), (4096, ((1 << 31) - 1, 96), (192,)), id="the last extent that fits"),
        pytest.param((4096, 1 << 31, 96), None, id="an extent that coordinates do not reach"),
        pytest.param((0, 0, 0), (16, (1, 1), (16,)), id="no elements, at no address"),
        pytest.param((4100, 0, 3), (16, (1, 1), (16,)), id="no elements, wherever they are"),
        pytest.param((4104, 5, 96), None, id="an address that is no multiple of 16"),
        pytest.param((4096, 5, 100), None, id="a stride that is no multiple of 16 bytes"),
        pytest.param((4096, 5, 0), None, id="rows that all are the same"),
        pytest.param((4096, 5, (1 << 39) - 8), (4096, (5, 96), ((1 << 40) - 16,)), id="the last stride that fits"),
        pytest.param((4096, 5, 1 << 39), None, id="a stride of 2^40 bytes"),
    ],
)
def test_the_tensor_of_a_launch(arguments, expected):
    assert ROWS.tensor(arguments) == expected


FROM_HALF = """  %half = constant <i32: 4096> : tile<i32>
  %b = offset %a, %half : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
"""
BY = "%m = offset %b, {0} : tile<ptr<f16>>, tile<{1}> -> tile<ptr<f16>>"
OFFSETS = {
    "an i32": BY.format("%far", "i32"),
    "an i64": "%wide = exti %far signed : tile<i32> -> tile<i64>\n  " + BY.format("%wide", "i64"),
    "a difference": "%less = subi %far, %half : tile<i32>\n  " + BY.format("%less", "i32"),
}
"""How a tensor is moved by 64 times the parameter %j."""


@pytest.mark.parametrize(
    ("how", "index"), [(how, index) for how in OFFSETS for index in (3, 0, -2) if how != "a difference" or index >= 0]
)
def test_a_tensor_may_begin_where_the_parameters_say(how, index):
    text = STACK.replace("VIEW", "partition_view").replace("TYPE", STACKED[0]).replace("TENSOR", TENSOR)
    text = text.replace("%va[%i, %step, %j]", "%va[%i, %step, %zero]").replace(
        "%A = make_tensor_view %a,",
        f"""
  %size = constant <i32: 64> : tile<i32>
  %far = muli %j, %size : tile<i32>
{FROM_HALF}  {OFFSETS[how]}
  %A = make_tensor_view %m,""",
    )
    kernel = tileir.parse(text.replace("KIND", "i32"))["k"]
    lowered = ttir.lowered(kernel, "sm_90").text
    assert (loads(lowered), made_by_launches(lowered), made_by_blocks(lowered)) == (1, 1, 0)
    numbers = np.random.default_rng(1).integers(-9, 9, 4 * 8192 + 64).astype(np.float16)
    args = [numbers, np.zeros((64, 64), np.float32), 1, index, 70]
    expected = outcome(kernel, (1,), args, "interp").arrays
    for first, second in zip(expected, ttir.outcome(kernel, (1,), args, "sm_90").arrays):
        np.testing.assert_array_equal(first, second)


def test_views_of_one_tensor_with_equal_tiles_share_a_descriptor():
    text = Gemm(tile=(64, 64, 64)).text.replace("%vb = make_partition_view %B", "%vb = make_partition_view %A")
    lowered = ttir.lowered(tileir.parse(text)["k"], "sm_90").text
    assert lowered.count('"tt.descriptor_load"') == 2
    assert made_by_launches(lowered) == 2  # one for both factors, one for the sums


def doubled(times: int) -> LoweredEntry:
    """A program whose extent is %n and the last of some numbers, each twice the one before."""
    sums = "".join(f"  %n{at + 1} = addi %n{at}, %n{at} : tile<i32>\n" for at in range(times))
    made = f"  %n0 = addi %n, %n : tile<i32>\n{sums}  %m = addi %n, %n{times} : tile<i32>\n  %A = make"
    text = STACK.replace("VIEW", "partition_view").replace("TYPE", STACKED[0]).replace("TENSOR", TENSOR)
    text = text.replace("KIND", "i32").replace("shape = [48, %n, 3]", "shape = [48, %m, 3]")
    return ttir.lowered(tileir.parse(text.replace("  %A = make", made))["k"], "sm_90")


def test_an_extent_may_be_computed_in_many_steps_that_share_their_operands():
    (tensor,) = doubled(60).hidden  # the last number is 0 in 32 bits
    assert [tensor.tensor([0, 0, 0, 0, n]).extents[0] for n in (7, 8)] == [7, 8]
    assert doubled(300).hidden == ()  # more steps than a launch takes


def test_an_expression_in_words():
    wide = Step("parameter", 2), Step("constant", 3), Step("arith.muli", 32, (0, 1)), Step("arith.extui", 64, (2,))
    least = *wide, Step("constant", 7), Step("arith.minui", 64, (3, 4))
    assert expressions.text((*least, Step("parameter", 0), Step("arith.addi", 64, (6, 5)))) == "(p0 + min((p2 * 3), 7))"
    doubled = Step("parameter", 0), *(Step("arith.addi", 64, (place, place)) for place in range(60))
    assert len(expressions.text(doubled)) < 300


# ---------------------------------------------------------------- launches


def launcher(driver: FakeDriver, *hidden: object, given: int = 4) -> KernelLauncher:
    made = Executable(b"", "k", hidden=hidden, layouts=(LAYOUT,) * len(hidden))
    driver.count = given + len(hidden)
    return KernelLauncher(driver, made, Library(driver, b"", "kernel @k"), (), given, {}.__getitem__, "k")


def start(one: KernelLauncher, values: list[int], stream: int = 0) -> None:
    descriptors = one.descriptors(values)
    assert descriptors is not None
    one.launch((1, 1, 1), values, stream, descriptors)


def test_a_descriptor_is_a_parameter_of_its_own():
    driver = FakeDriver()
    start(launcher(driver, BlockMemory(16), ROWS), [4096, 5, 96, 7])
    (launched,) = driver.launches
    assert launched.parameters[:4] == (4096, 5, 96, 7)
    assert launched.parameters[5] == 1  # the first that was encoded
    assert driver.encoded == [TensorMap(6, 4096, (96, 5), (192,), (32, 64), 2, False, 2)]


def test_a_tensor_is_described_once_for_all_launches_with_it():
    driver = FakeDriver()
    one = launcher(driver, ROWS)
    for address, other in [(4096, 1), (8192, 1), (4096, 2), (8192, 3)]:
        start(one, [address, 5, 96, other])
    assert [described.address for described in driver.encoded] == [4096, 8192]
    assert [launched.parameters[4] for launched in driver.launches] == [1, 2, 1, 2]


def test_a_graph_records_descriptors_that_were_never_needed_before():
    """The driver copies parameters when a launch is recorded, and encoding is no work for a stream."""
    driver = FakeDriver(capturing={3})
    start(launcher(driver, ROWS), [4096, 5, 96, 7], 3)
    assert driver.events == ["launch"]
    assert driver.launches[0].parameters[4] == 1


def test_no_more_descriptors_are_kept_than_a_few():
    driver = FakeDriver()
    one = launcher(driver, ROWS)
    for number in range(launch.KEPT_TENSORS + 1):
        start(one, [4096 + 16 * number, 5, 96, 0])
    for address in (4096 + 16 * launch.KEPT_TENSORS, 4096):  # the latest is kept, the first is not
        start(one, [address, 5, 96, 0])
    assert len(driver.encoded) == launch.KEPT_TENSORS + 2


def test_a_launch_with_a_tensor_that_no_descriptor_describes_takes_other_code():
    one = launcher(FakeDriver(), ROWS)
    assert one.descriptors([4096, 5, 96, 0]) is not None
    assert one.descriptors([4096, 5, 100, 0]) is None
    assert one.descriptors([4096, 1 << 31, 96, 0]) is None


def test_a_launcher_with_descriptors_is_freed_with_its_last_use():
    driver = FakeDriver()
    one = launcher(driver, ROWS)
    start(one, [4096, 5, 96, 7])
    del one
    assert driver.unloads == 1


# ---------------------------------------------------------------- code


@pytest.mark.parametrize("arch", ["sm_90", "sm_100"])
def test_machine_code_takes_the_descriptors_that_a_launch_passes(arch, tmp_path):
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    kernel = tileir.parse(Gemm().text)["k"]
    made = executable(source_of(kernel), arch_named(arch), aligned_facts(kernel.entry), Cache(tmp_path))
    (info,) = cubin_kernels(made.binary).values()
    assert info.parameters == (8, 8, 8, *(4,) * 6, 128, 128, 128, 8, 8)
    assert made.layouts == (CopyLayout(6, (128, 64), 3), CopyLayout(6, (64, 64), 3), CopyLayout(7, (128, 32), 3))
    assert made.scratch == Scratch(0, 1)
    with pytest.raises(tileir.UnsupportedError, match=r"takes parameters of .*128.* bytes, a launch passes \["):
        Executable(made.binary, made.kernel, scratch=Scratch(0, 1)).require_parameters(12)
