"""Single programs that are easily compiled wrongly, against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tests.differential import Outcome, assert_same, outcome
from tests.golden.arguments import aligned

VIEW = "tensor_view<?x8xf32, strides=[?,1]>"
TILES = f"partition_view<tile=(4x4), {VIEW}>"
SQUARE = "partition_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>>"


def both(text: str, *args: object, grid: tuple[int, ...] = (1,)) -> Outcome:
    """The outcome of the entry @k, the same on both targets."""
    kernel = tileir.parse(text)["k"]
    given = [aligned(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    first, second = (outcome(kernel, grid, given, target) for target in ("interp", "cpu"))
    assert_same(first, second, [True] * len(first.arrays), [f"array {number}" for number in range(len(first.arrays))])
    return second


def in_place(change: str, between: str = "") -> str:
    return f"""entry @k(%p: tile<ptr<f32>>) {{
      %zero = constant <i32: 0> : tile<i32>
      %c = constant <f32: 3.0> : tile<8x8xf32>
      %t = make_tensor_view %p, shape = [8, 8], strides = [8, 1] : tensor_view<8x8xf32, strides=[8,1]>
      %v = make_partition_view %t : {SQUARE}
      %x, %t0 = load_view_tko weak %v[%zero, %zero] : {SQUARE}, tile<i32> -> tile<8x8xf32>, token
      {change}
      {between}
      %t9 = store_view_tko weak %y, %v[%zero, %zero] token = %t0 : tile<8x8xf32>, {SQUARE}, tile<i32> -> token
    }}"""


NUMBERS = np.arange(64, dtype=np.float32)


def test_a_tile_is_transposed_where_it_is() -> None:
    after = both(in_place("%y = permute %x [1, 0] : tile<8x8xf32> -> tile<8x8xf32>"), NUMBERS)
    np.testing.assert_array_equal(after.arrays[0].reshape(8, 8), NUMBERS.reshape(8, 8).T)


def test_a_tile_that_costs_nothing_to_read_again_is_not_read_after_a_store() -> None:
    change = """%f = reshape %x : tile<8x8xf32> -> tile<64xf32>
      %y = reshape %f : tile<64xf32> -> tile<8x8xf32>"""
    between = f"""%t1 = store_view_tko weak %c, %v[%zero, %zero] : tile<8x8xf32>, {SQUARE}, tile<i32> -> token
      %t2 = store_view_tko weak %y, %v[%zero, %zero] : tile<8x8xf32>, {SQUARE}, tile<i32> -> token"""
    assert both(in_place(change, between), NUMBERS).arrays[0].tolist() == NUMBERS.tolist()


def test_an_accumulator_that_is_used_again_under_another_name_keeps_its_value() -> None:
    text = """entry @k(%p: tile<ptr<i32>>) {
      %a = constant <i8: [[1, 2], [3, 4]]> : tile<2x2xi8>
      %c = constant <i32: [[1, 2], [3, 4]]> : tile<2x2xi32>
      %d = internal$optimization_barrier %c : tile<2x2xi32>
      %m = mmai %a, %a, %c signed signed : tile<2x2xi8>, tile<2x2xi8>, tile<2x2xi32>
      %n = mmai %a, %a, %d signed signed : tile<2x2xi8>, tile<2x2xi8>, tile<2x2xi32>
      %s = addi %m, %n : tile<2x2xi32>
      %u = addi %s, %c : tile<2x2xi32>
      %t = make_tensor_view %p, shape = [2, 2], strides = [2, 1] : tensor_view<2x2xi32, strides=[2,1]>
      %v = make_partition_view %t : partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>
      %z = constant <i32: 0> : tile<i32>
      store_view_tko weak %u, %v[%z, %z]
          : tile<2x2xi32>, partition_view<tile=(2x2), tensor_view<2x2xi32, strides=[2,1]>>, tile<i32> -> token
    }"""
    assert both(text, np.zeros(4, np.int32)).arrays[0].tolist() == [17, 26, 39, 56]


@pytest.mark.parametrize("op", ["addi", "xori"])
def test_a_long_chain_of_operations_is_computed_in_pieces(op: str) -> None:
    chain = "\n".join(f"%x{n + 1} = {op} %x{n}, %a : tile<4xi32>" for n in range(1500))
    text = f"""entry @k(%p: tile<ptr<i32>>) {{
      %t = make_tensor_view %p, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
      %v = make_partition_view %t : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
      %z = constant <i32: 0> : tile<i32>
      %x0, %t0 = load_view_tko weak %v[%z]
          : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
      %a = iota : tile<4xi32>
      {chain}
      %t1 = store_view_tko weak %x1500, %v[%z] token = %t0
          : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    }}"""
    both(text, np.arange(4, dtype=np.int32))


CALLS = f"""cuda_tile.module @m {{
  experimental$func @pick(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>, %first: tile<i1>) -> {TILES} {{
    %eight = constant <i32: 8> : tile<i32>
    if %first {{
      %a = make_tensor_view %p, shape = [%n, 8], strides = [%eight, 1] : tile<i32> -> {VIEW}
      %v = make_partition_view %a : {TILES}
      return %v : {TILES}
    }}
    %b = make_tensor_view %q, shape = [%eight, 8], strides = [%eight, 1] : tile<i32> -> {VIEW}
    %w = make_partition_view %b : {TILES}
    return %w : {TILES}
  }}
  experimental$func @doubled(%v: {TILES}, %i: tile<i32>, %t: token) -> (tile<4x4xf32>, token) {{
    %x, %u = load_view_tko weak %v[%i, %i] token = %t : {TILES}, tile<i32> -> tile<4x4xf32>, token
    %y = addf %x, %x : tile<4x4xf32>
    return %y, %u : tile<4x4xf32>, token
  }}
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>, %flag: tile<i1>) {{
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %true = constant <i1: true> : tile<i1>
    %t = make_token : token
    %v = experimental$call @pick(%p, %q, %n, %flag)
        : (tile<ptr<f32>>, tile<ptr<f32>>, tile<i32>, tile<i1>) -> {TILES}
    %w = experimental$call @pick(%q, %p, %n, %true)
        : (tile<ptr<f32>>, tile<ptr<f32>>, tile<i32>, tile<i1>) -> {TILES}
    %x:2 = experimental$call @doubled(%v, %one, %t) : ({TILES}, tile<i32>, token) -> (tile<4x4xf32>, token)
    %t1 = store_view_tko weak %x#0, %w[%one, %zero] token = %x#1 : tile<4x4xf32>, {TILES}, tile<i32> -> token
    %y:2 = experimental$call @doubled(%w, %one, %t1) : ({TILES}, tile<i32>, token) -> (tile<4x4xf32>, token)
    %t2 = store_view_tko weak %y#0, %v[%zero, %zero] token = %y#1 : tile<4x4xf32>, {TILES}, tile<i32> -> token
    %t3 = store_view_tko weak %x#0, %v[%zero, %one] token = %t2 : tile<4x4xf32>, {TILES}, tile<i32> -> token
  }}
}}"""


@pytest.mark.parametrize("rows", [8, 6])
@pytest.mark.parametrize("flag", [True, False])
def test_functions_return_views_from_under_branches(flag: bool, rows: int) -> None:
    both(CALLS, NUMBERS, -NUMBERS, rows, flag)


def test_memory_allocated_under_a_branch_lives_until_the_loop_around_goes_on() -> None:
    text = """entry @k(%out: tile<ptr<i32>>, %flag: tile<i1>) {
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %four = constant <i32: 4> : tile<i32>
      for %i in (%zero to %four, step %one) : tile<i32> {
        %p = if %flag -> (tile<ptr<i32>>) {
          %a = alloca num_elem = 64, alignment = 256 : tile<ptr<i32>>
          %t0 = store_ptr_tko weak %a, %i : tile<ptr<i32>>, tile<i32> -> token
          yield %a : tile<ptr<i32>>
        } else {
          yield %out : tile<ptr<i32>>
        }
        %b = alloca num_elem = 64, alignment = 4 : tile<ptr<i32>>
        %big = broadcast %b1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
        %row = iota : tile<64xi32>
        %q = offset %big, %row : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
        %t1 = store_ptr_tko weak %q, %row : tile<64xptr<i32>>, tile<64xi32> -> token
        %x, %t2 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
        %o = offset %out, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %t3 = store_ptr_tko weak %o, %x token=%t2 : tile<ptr<i32>>, tile<i32> -> token
      }
    }""".replace("%big =", "%b1 = reshape %b : tile<ptr<i32>> -> tile<1xptr<i32>>\n        %big =")
    assert both(text, np.full(4, 9, np.int32), True).arrays[0].tolist() == [0, 1, 2, 3]
    assert both(text, np.full(4, 9, np.int32), False).arrays[0].tolist() == [9, 9, 9, 9]


EXTERN = """entry @k(%p: tile<ptr<f16>>, %n: tile<i8>) {
  %a = constant <i8: [1, 2, -3, 4]> : tile<4xi8>
  %n1 = reshape %n : tile<i8> -> tile<1xi8>
  %b = broadcast %n1 : tile<1xi8> -> tile<4xi8>
  %r = experimental$extern_elementwise %a, %b {libname = "", libpath = "", pure = true, symbol = "mix"}
      : (tile<4xi8>, tile<4xi8>) -> tile<4xf16>
  %t = make_tensor_view %p, shape = [4], strides = [1] : tensor_view<4xf16, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(4), tensor_view<4xf16, strides=[1]>>
  %z = constant <i32: 0> : tile<i32>
  store_view_tko weak %r, %v[%z] : tile<4xf16>, partition_view<tile=(4), tensor_view<4xf16, strides=[1]>>, tile<i32>
      -> token
}"""


def test_functions_of_the_host_are_called() -> None:
    tileir.register_extern("mix", lambda a, b: a * b + 0.25)
    assert both(EXTERN, np.zeros(4, np.float16), 3).arrays[0].tolist() == [3.25, 6.25, -8.75, 12.25]


def test_what_a_function_of_the_host_raises_ends_the_launch() -> None:
    tileir.register_extern("mix", lambda a, b: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tileir.parse(EXTERN)["k"].launch(1, np.zeros(4, np.float16), 3, target="cpu")


def test_a_function_that_nobody_registered_is_unsupported() -> None:
    unknown = EXTERN.replace('"mix"', '"mixed by nobody"')
    with pytest.raises(tileir.UnsupportedError, match="no host function is registered as 'mixed by nobody'"):
        tileir.parse(unknown)["k"].launch(1, np.zeros(4, np.float16), 3, target="cpu")


PRINTED = {
    "i1": "[true, false]", "i8": "[-5, 7]", "i16": "[-500, 7]", "i64": "[-5000000000, 7]", "f16": "[1.5, -0.0]",
    "bf16": "[1.5, -0.0]", "f32": "[0.1, -0.0]", "f64": "[0.1, -0.0]", "tf32": "[1.5, 2.0]",
    "f8E4M3FN": "[1.5, -0.0]", "f8E5M2": "[1.5, -0.0]", "f8E8M0FNU": "[0.5, 2.0]", "f4E2M1FN": "[1.5, -0.5]",
}  # fmt: skip


@pytest.mark.parametrize("element", PRINTED)
def test_tiles_of_every_type_are_printed_alike(element: str) -> None:
    whole = element.startswith("i")
    text = f"""entry @k() {{
      %x = constant <{element}: {PRINTED[element]}> : tile<2x{element}>
      print_tko "{"%d" if whole else "%f"}|\\n", %x : tile<2x{element}> -> token
    }}"""
    assert both(text).printed


def test_four_bit_integers_are_printed_with_their_sign() -> None:
    text = """entry @k(%n: tile<i8>) {
      %n1 = reshape %n : tile<i8> -> tile<1xi8>
      %x = unpack %n1 : tile<1xi8> -> tile<2xi4>
      print_tko "%d|", %x : tile<2xi4> -> token
    }"""
    assert "-1" in both(text, 0x4F).printed


@pytest.mark.parametrize("index", [0, 1, 2, -1])
def test_a_subtile_out_of_range_traps(index: int) -> None:
    text = """entry @k(%p: tile<ptr<i32>>, %i: tile<i32>) {
      %row = iota : tile<8xi32>
      %part = extract %row[%i] : tile<8xi32> -> tile<4xi32>
      %whole = insert %part, %row[%i] : tile<4xi32>, tile<8xi32>
      %x = extract %part[%i] : tile<4xi32> -> tile<1xi32>
      %y = reshape %x : tile<1xi32> -> tile<i32>
      %t = store_ptr_tko weak %p, %y : tile<ptr<i32>>, tile<i32> -> token
    }"""
    assert (both(text, np.zeros(1, np.int32), index).trap is None) == (index in (0, 1))


@pytest.mark.parametrize("ordering", ["weak", "relaxed device", "acquire device"])
@pytest.mark.parametrize("element", ["f32", "i8", "f4E2M1FN", "i1", "bf16"])
def test_views_are_read_and_written_in_every_ordering(element: str, ordering: str) -> None:
    tensor = f"tensor_view<10x6x{element}, strides=[6,1]>"
    view = f"partition_view<tile=(4x4), padding_value = zero, {tensor}>"
    store = ordering.replace("acquire", "release")
    text = f"""entry @k(%p: tile<ptr<{element}>>, %i: tile<i32>, %j: tile<i32>) {{
      %t = make_tensor_view %p, shape = [10, 6], strides = [6, 1] : {tensor}
      %v = make_partition_view %t : {view}
      %x, %t0 = load_view_tko {ordering} %v[%i, %j] : {view}, tile<i32> -> tile<4x4x{element}>, token
      %zero = constant <i32: 0> : tile<i32>
      %t1 = store_view_tko {store} %x, %v[%zero, %j] token = %t0 : tile<4x4x{element}>, {view}, tile<i32> -> token
    }}"""
    bits = np.random.default_rng(1).integers(0, 2 if element == "i1" else 128, 240).astype(np.uint8)
    kinds = {"f32": np.float32, "i8": np.int8, "bf16": tileir.ir.storage.DTYPES[tileir.ir.types.BF16]}
    array = bits.view(kinds.get(element, np.uint8))
    for place in ((1, 0), (2, 1), (-1, 0)):
        both(text, array, *place)
