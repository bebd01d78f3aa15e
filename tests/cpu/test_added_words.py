"""Atomic additions of neighbours, which share a word of memory, lose nothing and add nothing beyond the mask."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.thorough import sampled

ROWS = """
entry @add(%x: tile<ptr<{e}>>, %at: tile<ptr<i32>>, %out: tile<ptr<{e}>>, %n: tile<i32>, %step: tile<i32>) {{
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %c = iota : tile<64xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n1 : tile<1xi32> -> tile<64xi32>
  %mask = cmpi less_than %c, %ns, signed : tile<64xi32> -> tile<64xi1>
  %first = muli %b, %n : tile<i32>
  %xb = offset %x, %first : tile<ptr<{e}>>, tile<i32> -> tile<ptr<{e}>>
  %x1 = reshape %xb : tile<ptr<{e}>> -> tile<1xptr<{e}>>
  %xs = broadcast %x1 : tile<1xptr<{e}>> -> tile<64xptr<{e}>>
  %xi = offset %xs, %c : tile<64xptr<{e}>>, tile<64xi32> -> tile<64xptr<{e}>>
  %zero = constant <{e}: 0{point}> : tile<64x{e}>
  %v, %t0 = load_ptr_tko weak %xi, %mask, %zero : tile<64xptr<{e}>>, tile<64xi1>, tile<64x{e}> -> tile<64x{e}>, token
  %ab = offset %at, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %row, %t1 = load_ptr_tko weak %ab : tile<ptr<i32>> -> tile<i32>, token
  %to = muli %row, %step : tile<i32>
  %ob = offset %out, %to : tile<ptr<{e}>>, tile<i32> -> tile<ptr<{e}>>
  %o1 = reshape %ob : tile<ptr<{e}>> -> tile<1xptr<{e}>>
  %os = broadcast %o1 : tile<1xptr<{e}>> -> tile<64xptr<{e}>>
  %oi = offset %os, %c : tile<64xptr<{e}>>, tile<64xi32> -> tile<64xptr<{e}>>
  {mask}
  %old, %t2 = atomic_rmw_tko relaxed device %oi, {mode}, %v, %some
    : tile<64xptr<{e}>>, tile<64x{e}>, tile<64xi1> -> tile<64x{e}>, token
}}
"""
PREFIX = "%some = andi %mask, %mask : tile<64xi1>"
HOLES = """%three = constant <i32: 3> : tile<64xi32>
  %none = constant <i32: 0> : tile<64xi32>
  %rest = remi %c, %three signed : tile<64xi32>
  %kept = cmpi not_equal %rest, %none, signed : tile<64xi32> -> tile<64xi1>
  %some = andi %mask, %kept : tile<64xi1>"""
KINDS = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "f64": np.float64}
VIEW = """
entry @add(%out: tile<ptr<{e}>>, %n: tile<i32>) {{
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %view = make_tensor_view %out, shape = [7, %n], strides = [%n, 1] : tile<i32> -> tensor_view<7x?x{e}, strides=[?,1]>
  %tiles = make_partition_view %view : partition_view<tile=(8x16), tensor_view<7x?x{e}, strides=[?,1]>>
  %one = constant <{e}: 1{point}> : tile<8x16x{e}>
  %t = atomic_red_view_tko relaxed device %tiles[%zero, %by], {mode}, %one
    : tile<8x16x{e}>, partition_view<tile=(8x16), tensor_view<7x?x{e}, strides=[?,1]>>, tile<i32> -> token
}}
"""


def spelled(element: str) -> dict[str, str]:
    is_int = element.startswith("i")
    return {"e": element, "mode": "add" if is_int else "addf", "point": "" if is_int else ".0"}


@pytest.mark.parametrize("element", sampled(KINDS, 3))
@pytest.mark.parametrize("mask", [PREFIX, HOLES])
@pytest.mark.parametrize(("n", "step", "shift"), [(64, 64, 0), (64, 67, 1), (37, 37, 2), (1, 1, 3), (63, 2, 1)])
def test_rows_added_by_many_threads_equal_the_reference(element: str, mask: str, n: int, step: int, shift: int) -> None:
    """All sums are small integers, so that the order of additions does not show."""
    kernel = tileir.parse(ROWS.format(mask=mask, **spelled(element)))["add"]
    blocks, rng = 150, np.random.default_rng(n)
    x = rng.integers(0, 2, (blocks, n)).astype(KINDS[element])
    at, results = rng.integers(0, 3, blocks).astype(np.int32), []
    for target, options in (("interp", {}), ("cpu", {"threads": 4})):
        memory = np.zeros(8 + 3 * step + 64, KINDS[element])
        kernel.launch(blocks, x, at, memory[shift : shift + 2 * step + n], n, step, target=target, **options)
        results.append(memory)
    assert results[0].tobytes() == results[1].tobytes()


@pytest.mark.parametrize("element", KINDS)
@pytest.mark.parametrize("n", [1, 16, 33, 46])
def test_tiles_of_a_view_added_by_many_threads_equal_the_reference(element: str, n: int) -> None:
    kernel = tileir.parse(VIEW.format(**spelled(element)))["add"]
    memory = np.zeros((8, n), KINDS[element])
    kernel.launch((100, -(-n // 16)), memory[:7], n, target="cpu", threads=4)
    assert (memory[:7] == 100).all()
    assert not memory[7:].any()
