"""Tiles come and go through descriptors where that is legal and pays, with the same contents as by address."""

import re

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.differential import outcome
from tests.gpu.ttir_gemm import PARAMETERS, Gemm
from tests.targets import ttir
from tests.thorough import sampled
from tests.ttir_machine import MachineFault
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import compile_ttir
from tileir.gpu.ttir.analysis.hints import options_for
from tileir.gpu.ttir.lowering import ParameterFacts
from tileir.runtime.module import bind, target_named

SMALL = (64, 64, 32)
"""Two tiles of 4096 bytes: just enough."""


def lowered(text: str, arch: str = "sm_90", facts: tuple[ParameterFacts, ...] = ()) -> str:
    return ttir.lowered(tileir.parse(text)["k"], arch, facts).text


def loads(text: str) -> int:
    """The views that are loaded through a descriptor."""
    found = text.count('"tt.descriptor_load"')
    assert made_by_blocks(text) + made_by_launches(text) == found + stores(text)
    return found


def made_by_blocks(text: str) -> int:
    return text.count('"tt.make_tensor_descriptor"')


def made_by_launches(text: str) -> int:
    return text.partition(" -> ()")[0].count("!tt.tensordesc")


def stores(text: str) -> int:
    return text.count('"tt.descriptor_store"')


# ---------------------------------------------------------------- where


@pytest.mark.parametrize(("arch", "number"), [("sm_80", 0), ("sm_89", 0), ("sm_90", 2), ("sm_100", 2), ("sm_120", 2)])
def test_architectures_with_descriptors(arch, number):
    text = lowered(Gemm(sums="f16").text, arch)
    assert (loads(text), stores(text)) == (number, number // 2)


@pytest.mark.parametrize(
    "gemm",
    [
        Gemm(b_by_rows=False),
        Gemm(element="bf16", padding=None),
        Gemm(element="f32", tile=(64, 64, 32)),
        Gemm(padding="nan"),
        Gemm(tile=(64, 16, 64)),
    ],
    ids=repr,
)
def test_legal_views_have_descriptors(gemm):
    assert loads(lowered(gemm.text)) == 2


@pytest.mark.parametrize(
    "gemm",
    [
        pytest.param(Gemm(known=8), id="addresses that are multiples of 8 bytes"),
        pytest.param(Gemm(padding="neg_inf"), id="padding that the hardware does not have"),
        pytest.param(Gemm(counted="i64"), id="extents that may not fit 32 bits"),
        pytest.param(Gemm(load="relaxed device"), id="a strong access"),
        pytest.param(Gemm(hints=" optimization_hints = <sm_90 = {allow_tma = false}>"), id="a hint not to"),
        pytest.param(Gemm(tile=(32, 32, 32)), id="small tiles"),
    ],
)
def test_other_views_have_none(gemm):
    assert loads(lowered(gemm.text)) == 0


@pytest.mark.parametrize(("divisor", "number"), [(8, 2), (4, 1)])
def test_strides_must_be_multiples_of_16_bytes(divisor, number):
    text = Gemm().text.replace("div_by<16>, %sa0", f"div_by<{divisor}>, %sa0")
    assert loads(lowered(text)) == number


def test_a_hint_for_another_architecture_is_none():
    assert loads(lowered(Gemm(hints=" optimization_hints = <sm_100 = {allow_tma = false}>").text)) == 2


def test_tile_blocks_describe_tensors_of_which_all_is_read_from_memory():
    """As the addresses and sizes of a list of matrices are."""
    text = Gemm().text
    for name, type in (*((name, "i32") for name in PARAMETERS), ("a", "i64"), ("b", "i64")):
        made = "assume bounded<1, 65536>, %{0}1 : tile<i32>" if type == "i32" else (
            "int_to_ptr %{0}1 : tile<i64> -> tile<ptr<f16>>"
        )  # fmt: skip
        read = f"  %{name}1, %t{name} = load_ptr_tko weak %{name}0 : tile<ptr<{type}>> -> tile<{type}>, token\n"
        text = re.sub(rf"%{name}0: tile<(ptr<f16>|i32)>", f"%{name}0: tile<ptr<{type}>>", text)
        text = text.replace(
            f"  %{name} = assume div_by<16>, %{name}0",
            f"{read}  %{name}2 = {made.format(name)}\n  %{name} = assume div_by<16>, %{name}2",
        )
    found = lowered(text)
    assert (loads(found), stores(found), made_by_blocks(found), made_by_launches(found)) == (2, 1, 3, 0)


def test_facts_of_a_launch_count_like_promises():
    gemm = Gemm(known=1)
    assert loads(lowered(gemm.text)) == 0
    assert loads(lowered(gemm.text, facts=(ParameterFacts(16),) * 9)) == 2


def test_64_bit_extents_with_known_bounds_fit():
    bounds = "\n".join(
        f"  %{name} = assume bounded<0, 1048576>, %{name}1 : tile<i64>" for name in ("M", "N", "K", "sa", "sb", "sc")
    )
    text = re.sub(r"%(M|N|K|sa|sb|sc) = assume div_by", r"%\g<1>1 = assume div_by", Gemm(counted="i64").text)
    text = text.replace("  %A = make", f"{bounds}\n  %A = make")
    found = lowered(text)
    assert loads(found) == 2
    assert '"trap;"' not in found


def test_what_the_block_has_written_before_is_not_read_by_the_copy_engine():
    before = """
  %half = constant <f16: 0.5> : tile<f16>
  %t0 = store_ptr_tko weak %a, %half : tile<ptr<f16>>, tile<f16> -> token"""
    assert loads(lowered(Gemm(before=before, token=" token = %t0").text)) == 0
    assert loads(lowered(Gemm(before=before).text)) == 2


def test_without_a_product_loads_go_by_address():
    text = Gemm().text
    without = re.sub(r"%next = mmaf .*", "%next = addf %sum, %sum rounding<nearest_even> : tile<128x128xf32>", text)
    assert loads(lowered(without)) == 0


def test_a_view_made_in_the_loop_of_its_loads_has_none():
    """It would be made anew in every iteration."""
    text = Gemm().text
    made = re.findall(r"  %v[ab] = .*\n", text)
    for line in made:
        text = text.replace(line, "")
    text = re.sub(r"  %rows, %steps = .*\n", "", text).replace("%steps, step", "%K, step")
    text = text.replace("    %p, %t1", "".join(made) + "    %p, %t1")
    assert "make_partition_view" in text.partition("iter_values")[2]
    assert loads(lowered(text, facts=(ParameterFacts(16),) * 9)) == 0


STORE = "store_view_tko weak"


@pytest.mark.parametrize(
    "gemm",
    [
        pytest.param(Gemm(tile=SMALL), id="16 KiB"),
        pytest.param(Gemm(tile=(128, 64, 64), sums="f16"), id="16 KiB of f16"),
        pytest.param(Gemm(hints=" optimization_hints = <sm_90 = {allow_tma = false}>"), id="loads by address"),
    ],
)
def test_large_tiles_of_sums_are_stored_through_descriptors(gemm):
    assert stores(lowered(gemm.text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(Gemm(tile=(64, 32, 64)).text, id="8 KiB"),
        pytest.param(Gemm(tile=(128, 256, 64)).text, id="more than half of shared memory"),
        pytest.param(Gemm(known=2).text, id="addresses that are multiples of 8 bytes"),
        pytest.param(Gemm(counted="i64").text, id="extents that may not fit 32 bits"),
        pytest.param(Gemm().text.replace(STORE, "store_view_tko relaxed device"), id="a strong access"),
        pytest.param(
            Gemm().text.replace("%vc[%x, %y] :", "%vc[%x, %y] optimization_hints = <sm_90 = {allow_tma = false}> :"),
            id="a hint not to",
        ),
        pytest.param(
            Gemm().text.replace("%sums, %vc[%x, %y] :", "%nothing, %vc[%x, %y] :"), id="tiles that are no products"
        ),
        pytest.param(
            re.sub(r"  %[MN] = (assume) div_by<16>", lambda found: found[0].replace("16", "128"), Gemm().text),
            id="tiles that no edge cuts",
        ),
    ],
)
def test_other_stores_go_by_address(text):
    assert "store_view_tko" in text
    assert stores(lowered(text)) == 0


@pytest.mark.parametrize(("token", "number"), [("token = %t3 ", 0), ("", 1)])
def test_a_store_that_another_access_waits_for_goes_by_address(token, number):
    """Nobody waits for the end of what the copy engine writes."""
    after = "-> token\n  %half = constant <f32: 0.5> : tile<f32>\n"
    after += f"  %t4 = store_ptr_tko weak %c, %half {token}: tile<ptr<f32>>, tile<f32> -> token\n}}"
    assert stores(lowered(Gemm().text.replace("-> token\n}", after))) == number


@pytest.mark.parametrize(("token", "number"), [(" token = %t0", 0), ("", 1)])
def test_a_store_that_waits_for_another_access_goes_by_address(token, number):
    before = "%old, %t0 = load_ptr_tko weak %c : tile<ptr<f32>> -> tile<f32>, token"
    text = Gemm(before=before).text.replace("%vc[%x, %y] :", f"%vc[%x, %y]{token} :")
    assert stores(lowered(text)) == number


def test_a_store_in_a_loop_goes_by_address():
    """Its tile would take shared memory of its own, beside the tiles that the next iteration loads ahead."""
    store = re.search(r"  %t3 = .*\n", Gemm().text)
    assert store is not None
    around = f"  for %again in (%zero to %one, step %one) : tile<i32> {{\n{store[0]}    continue\n  }}\n"
    assert stores(lowered(Gemm().text.replace(store[0], around))) == 0


# ---------------------------------------------------------------- what comes of it


def matrices(rng: np.random.Generator, gemm: Gemm, m: int, n: int, k: int, more: int) -> list[object]:
    """The arguments: rows are `more` elements longer than they need be."""
    dtypes = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}

    def matrix(rows: int, columns: int, element: str) -> np.ndarray:
        numbers = rng.integers(-8, 8, (rows, columns + more)).astype(np.float32)
        return np.ascontiguousarray(numbers.astype(dtypes[element]))

    a = matrix(m, k, gemm.element)
    b = matrix(k, n, gemm.element) if gemm.b_by_rows else matrix(n, k, gemm.element)
    c = matrix(m, n, gemm.sums)
    return [a, b, c, m, n, k, a.shape[1], b.shape[1], c.shape[1]]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize(
    ("gemm", "sizes"),
    [
        (Gemm(tile=SMALL), (128, 64, 64)),
        (Gemm(tile=SMALL), (80, 48, 16)),
        (Gemm(tile=SMALL, b_by_rows=False), (80, 112, 80)),
        (Gemm(tile=SMALL, element="bf16", padding=None), (16, 80, 48)),
        (Gemm(tile=(64, 32, 64), element="f32"), (80, 48, 80)),
        (Gemm(tile=SMALL, padding="nan"), (64, 64, 64)),
        (Gemm(tile=SMALL, padding="nan"), (80, 64, 64)),
        (Gemm(tile=SMALL), (16, 16, 0)),
        (Gemm(tile=SMALL), (80, 0, 16)),
        (Gemm(tile=(128, 64, 32), sums="f16", element="f16"), (144, 80, 48)),
    ],
    ids=repr,
)
def test_products_are_those_of_the_interpreter(gpu_code, gemm, sizes, arch):
    m, n, k = sizes
    args = matrices(np.random.default_rng(0), gemm, m, n, k, 16)
    kernel = tileir.parse(gemm.text)["k"]
    grid = (-(-m // gemm.tile[0]), max(1, -(-n // gemm.tile[1])))
    expected = outcome(kernel, grid, args, "interp").arrays
    assert stores(ttir.lowered(kernel, "sm_90").text) == (gemm.tile[:2] != (64, 32))
    found = gpu_code.outcome(kernel, grid, args, arch).arrays
    for first, second in zip(expected, found):
        np.testing.assert_array_equal(first.astype(np.float64), second.astype(np.float64))


TENSOR = "tensor_view<48x?x3xf16, strides=[1,64,8192]>"
STACK = """
entry @k(%a0: tile<ptr<f16>>, %c: tile<ptr<f32>>, %i: tile<KIND>, %j: tile<KIND>, %n: tile<i32>) {
  %a = assume div_by<16>, %a0 : tile<ptr<f16>>
  %A = make_tensor_view %a, shape = [48, %n, 3], strides = [1, 64, 8192] : tile<i32> -> TENSOR
  %C = make_tensor_view %c, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %va = make_VIEW %A : TYPE
  %vc = make_partition_view %C : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %zero = constant <KIND: 0> : tile<KIND>
  %one = constant <KIND: 1> : tile<KIND>
  %two = constant <KIND: 2> : tile<KIND>
  %nothing = constant <f32: 0.0> : tile<64x64xf32>
  %unit = iota : tile<64xi32>
  %down = reshape %unit : tile<64xi32> -> tile<64x1xi32>
  %across = reshape %unit : tile<64xi32> -> tile<1x64xi32>
  %downs = broadcast %down : tile<64x1xi32> -> tile<64x64xi32>
  %acrosses = broadcast %across : tile<1x64xi32> -> tile<64x64xi32>
  %diagonal = cmpi equal %downs, %acrosses, signed : tile<64x64xi32> -> tile<64x64xi1>
  %ones = constant <f16: 1.0> : tile<64x64xf16>
  %zeros = constant <f16: 0.0> : tile<64x64xf16>
  %identity = select %diagonal, %ones, %zeros : tile<64x64xi1>, tile<64x64xf16>
  %sums = for %step in (%zero to %two, step %one) : tile<KIND> iter_values(%sum = %nothing) -> (tile<64x64xf32>) {
    %p3, %t = load_view_tko weak %va[%i, %step, %j] : TYPE, tile<KIND> -> tile<1x64x64xf16>, token
    %p = reshape %p3 : tile<1x64x64xf16> -> tile<64x64xf16>
    %next = mmaf %p, %identity, %sum : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %next : tile<64x64xf32>
  }
  %u = store_view_tko weak %sums, %vc[%zero, %zero]
      : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<KIND> -> token
}
"""
STACKED = [
    f"partition_view<tile=(1x64x64), padding_value = zero, {TENSOR}, dim_map=[2, 0, 1]>",
    f"partition_view<tile=(1x64x64), {TENSOR}, dim_map=[2, 1, 0]>",
    f"strided_view<tile=(1x64x64), traversal_strides=[2,16,24], {TENSOR}, dim_map=[2, 0, 1]>",
]


def stack(view: str, kind: str) -> tileir.Kernel:
    text = STACK.replace("VIEW", view.partition("<")[0]).replace("TYPE", view).replace("TENSOR", TENSOR)
    return tileir.parse(text.replace("KIND", kind))["k"]


MOVED = """
  %x, %y, %z = get_tile_block_id : tile<i32>
  %size = constant <i32: 64> : tile<i32>
  %distance = muli %x, %size : tile<i32>
  %moved = offset %a, %distance : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %A = make_tensor_view %moved,"""


def moved_stack(view: str) -> tileir.Kernel:
    """The same, but the tensor of a tile block begins where only the block knows."""
    text = STACK.replace("  %A = make_tensor_view %a,", MOVED)
    text = text.replace("VIEW", view.partition("<")[0]).replace("TYPE", view).replace("TENSOR", TENSOR)
    return tileir.parse(text.replace("KIND", "i32"))["k"]


@pytest.mark.parametrize("view", STACKED)
@pytest.mark.parametrize("rows", [70, 0])
def test_blocks_describe_tensors_that_a_launch_cannot_compute(gpu_code, view, rows):
    kernel = moved_stack(view)
    numbers = np.random.default_rng(1).integers(-9, 9, 3 * 8192 + 64).astype(np.float16)
    args = [numbers, np.zeros((64, 64), np.float32), 1, 1, rows]
    text = ttir.lowered(kernel, "sm_90").text
    assert (loads(text), made_by_blocks(text), made_by_launches(text)) == (1, 1, 0)
    expected = outcome(kernel, (1,), args, "interp").arrays[1]
    np.testing.assert_array_equal(gpu_code.outcome(kernel, (1,), args, "sm_90").arrays[1], expected)


@pytest.mark.parametrize("view", STACKED)
@pytest.mark.parametrize(
    ("kind", "index"),
    [("i32", (0, 0)), ("i32", (2, 1)), ("i32", (1, -1)), ("i32", (1 << 30, 0)), ("i64", (1, 1)), ("i64", (1, 1 << 58))],
)
@pytest.mark.parametrize("rows", [70, 0])
def test_a_tile_of_a_stack_turned_around(gpu_code, view, kind, index, rows):
    kernel = stack(view, kind)
    numbers = np.random.default_rng(1).integers(-9, 9, 3 * 8192).astype(np.float16)
    args = [numbers, np.zeros((64, 64), np.float32), *index, rows]
    expected = outcome(kernel, (1,), args, "interp").arrays[1]
    assert '"tt.descriptor_load"' in ttir.lowered(kernel, "sm_90").text
    for arch in ("sm_80", "sm_90"):
        np.testing.assert_array_equal(gpu_code.outcome(kernel, (1,), args, arch).arrays[1], expected)


STACKED_SUMS = """
entry @k(%a: tile<ptr<f16>>, %c0: tile<ptr<f32>>, %i: tile<KIND>, %j: tile<KIND>, %n: tile<i32>) {
  %c = assume div_by<16>, %c0 : tile<ptr<f32>>
  %A = make_tensor_view %a, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %C = make_tensor_view %c, shape = [48, %n, 3], strides = [1, 64, 8192] : tile<i32> -> TENSOR
  %va = make_partition_view %A : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %vc = make_VIEW %C : TYPE
  %zero = constant <KIND: 0> : tile<KIND>
  %one = constant <KIND: 1> : tile<KIND>
  %nothing = constant <f32: 0.0> : tile<64x64xf32>
  %p, %t = load_view_tko weak %va[%zero, %zero]
      : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<KIND> -> tile<64x64xf16>, token
  %sums = for %step in (%zero to %one, step %one) : tile<KIND> iter_values(%sum = %nothing) -> (tile<64x64xf32>) {
    %next = mmaf %p, %p, %sum : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %next : tile<64x64xf32>
  }
  %tile = reshape %sums : tile<64x64xf32> -> tile<1x64x64xf32>
  %u = store_view_tko weak %tile, %vc[%i, %one, %j] : tile<1x64x64xf32>, TYPE, tile<KIND> -> token
}
"""


@pytest.mark.parametrize("view", [view.replace("padding_value = zero, ", "") for view in STACKED])
@pytest.mark.parametrize(
    ("kind", "index"),
    [("i32", (0, 0)), ("i32", (2, 1)), ("i32", (1, -1)), ("i32", (1 << 30, 0)), ("i64", (1, 1 << 58))],
)
@pytest.mark.parametrize("rows", [100, 0])
def test_a_tile_of_a_stack_is_stored_turned_around(gpu_code, view, kind, index, rows):
    text = STACKED_SUMS.replace("VIEW", view.partition("<")[0]).replace("TYPE", view)
    text = text.replace("TENSOR", TENSOR).replace("48x?x3xf16", "48x?x3xf32").replace("KIND", kind)
    kernel = tileir.parse(text)["k"]
    numbers = np.random.default_rng(1).integers(-9, 9, (64, 64)).astype(np.float16)
    args = [numbers, np.zeros(3 * 8192, np.float32), *index, rows]
    expected = outcome(kernel, (1,), args, "interp").arrays[1]
    assert stores(ttir.lowered(kernel, "sm_90").text) == 1
    for arch in ("sm_80", "sm_90"):
        np.testing.assert_array_equal(gpu_code.outcome(kernel, (1,), args, arch).arrays[1], expected)


WIDE_EXTENT = (1 << 31) + 5


@pytest.mark.parametrize("view", STACKED)
def test_an_extent_that_coordinates_cannot_reach_goes_by_address(view):
    """The launch says so, as it does for code that expects smaller ones."""
    kernel = stack(view, "i32")
    numbers = np.random.default_rng(1).integers(-9, 9, 3 * 8192).astype(np.float16)
    args = [numbers, np.zeros((64, 64), np.float32), 0, 0, np.uint32(WIDE_EXTENT)]
    expected = outcome(kernel, (1,), args, "interp").arrays[1]
    for one in (kernel, moved_stack(view)):
        wide = ttir.lowered(one, "sm_90", by_address=True)
        assert (loads(wide.text), wide.narrow) == (0, ())
        np.testing.assert_array_equal(ttir.outcome(one, (1,), args, "sm_90").arrays[1], expected)


def test_code_that_expects_smaller_extents_stops_at_a_larger_one():
    """Whoever launches it without asking for other code."""
    kernel = moved_stack(STACKED[0])
    args = [np.zeros(3 * 8192, np.float16), np.zeros((64, 64), np.float32), 0, 0, np.uint32(WIDE_EXTENT)]
    with pytest.raises(MachineFault, match="the PTX stops at a trap"):
        ttir.run(kernel, (1,), bind(kernel, args, target_named("interp")), "sm_90", told_wide=False)


def test_computed_extents_are_computed_by_the_launch_or_go_by_address():
    text = STACK.replace("VIEW", "partition_view").replace("TYPE", STACKED[0]).replace("TENSOR", TENSOR)
    text = text.replace("KIND", "i32").replace("shape = [48, %n, 3]", "shape = [48, %m, 3]")
    sums, rests = (
        tileir.parse(text.replace("  %A = make", f"  {made}\n  %A = make"))["k"]
        for made in ("%m = addi %n, %n : tile<i32>", "%m = remi %n, %i unsigned : tile<i32>")
    )
    numbers = np.random.default_rng(1).integers(-9, 9, 3 * 8192).astype(np.float16)
    (tensor,) = ttir.lowered(sums, "sm_90").hidden
    found = [tensor.tensor([0, 0, 0, 0, n]) for n in (7, (1 << 30) - 1, 1 << 30)]
    assert [None if one is None else one.extents[0] for one in found] == [14, (1 << 31) - 2, None]
    assert loads(ttir.lowered(sums, "sm_90").text) == 1
    assert loads(ttir.lowered(rests, "sm_90").text) == 0
    args = [numbers, np.zeros((64, 64), np.float32), 0, 0, 1 << 30]
    expected = outcome(sums, (1,), args, "interp").arrays[1]
    np.testing.assert_array_equal(ttir.outcome(sums, (1,), args, "sm_90").arrays[1], expected)


# ---------------------------------------------------------------- what it is compiled to


def ptx(text: str, arch: str) -> str:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    kernel = tileir.parse(text)["k"]
    options = options_for(kernel.entry, arch_named(arch))
    made = compile_ttir(ttir.lowered(kernel, arch).text, arch_named(arch), options, ["ptx"])
    assert made.metadata["shared"] <= arch_named(arch).shared_memory
    return made.texts["ptx"]


def count(text: str, instruction: str) -> int:
    return len(re.findall(re.escape(instruction), text))


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("tile", [(128, 128, 64), (128, 256, 64)])
@pytest.mark.parametrize("b_by_rows", sampled([True, False], 2))
def test_a_product_on_hopper_is_a_pipeline_of_tma_copies_and_wgmma(element, tile, b_by_rows):
    gemm = Gemm(element=element, tile=tile, b_by_rows=b_by_rows)
    text = ptx(gemm.text, "sm_90")
    stages = options_for(tileir.parse(gemm.text)["k"].entry, arch_named("sm_90")).num_stages
    assert stages >= 3
    copies = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
    assert count(text.partition("wgmma.fence")[0], copies) == 2 * (stages - 1)  # ahead of the loop
    assert count(text, copies) == 2 * stages
    assert count(text, f"wgmma.mma_async.sync.aligned.m64n{tile[1]}k16.f32.{element}.{element}") > 0
    assert "wgmma.wait_group.sync.aligned 1" in text  # one product runs on while the next is started
    assert "ld.global" not in text
    sums = set(re.findall(r"st\.global[\w.]*|cp\.async\.bulk\.tensor\.2d\.global[\w.:]*", text))
    by_engine = 4 * tile[0] * tile[1] <= arch_named("sm_90").shared_memory // 2
    assert sums == {"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group" if by_engine else "st.global.v4.b32"}


def test_a_product_on_blackwell_is_a_pipeline_of_tma_copies_and_tcgen05():
    text = ptx(Gemm().text, "sm_100")
    assert count(text, "cp.async.bulk.tensor.2d") >= 6
    assert count(text, "tcgen05.mma.cta_group::1.kind::f16") > 0


@pytest.mark.parametrize("b_by_rows", [True, False])
def test_a_product_on_ampere_is_a_pipeline_of_cp_async_and_mma_sync(b_by_rows):
    text = ptx(Gemm(b_by_rows=b_by_rows).text, "sm_80")
    assert set(re.findall(r"cp\.async\.c[ag]\.shared\.global", text)) == {"cp.async.cg.shared.global"}
    assert count(text.partition("mma.sync")[0], "cp.async.commit_group") >= 4
    assert count(text, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") > 0
    assert "ld.global" not in text
