"""Rows of tiles that stick out of their array are read, padded and written as far as they lie in it."""

from __future__ import annotations

import numpy as np
import pytest
from ml_dtypes import bfloat16

import tileir
from tests.cpu.anew import always_streamed, kernel_of, planned

TENSOR = "tensor_view<?x?xf32, strides=[?,1]>"


def less_the_largest(padding: str) -> str:
    """Each row less its largest element, padding included, in tiles of 2 x 512."""
    part = f"partition_view<tile=(2x512), padding_value = {padding}, {TENSOR}>"
    return f"""entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %stride: tile<i32>) {{
  %a_view = make_tensor_view %a, shape = [%m, %n], strides = [%stride, 1] : tile<i32> -> {TENSOR}
  %b_view = make_tensor_view %b, shape = [%m, %n], strides = [%stride, 1] : tile<i32> -> {TENSOR}
  %a_tiles = make_partition_view %a_view : {part}
  %b_tiles = make_partition_view %b_view : {part}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %p, %read = load_view_tko weak %a_tiles[%x, %y] : {part}, tile<i32> -> tile<2x512xf32>, token
  %most = reduce %p dim=1 identities=[0xff800000 : f32] : tile<2x512xf32> -> tile<2xf32>
    (%l: tile<f32>, %r: tile<f32>) {{
      %s = maxf %l, %r : tile<f32>
      yield %s : tile<f32>
    }}
  %most_1 = reshape %most : tile<2xf32> -> tile<2x1xf32>
  %all = broadcast %most_1 : tile<2x1xf32> -> tile<2x512xf32>
  %rest = subf %p, %all : tile<2x512xf32>
  %done = store_view_tko weak %rest, %b_tiles[%x, %y] token = %read
    : tile<2x512xf32>, {part}, tile<i32> -> token
}}"""


def both(padding: str, m: int, n: int, gap: int, offset: int) -> bool:
    """Return whether the interpreter and native code leave the same where the arrays begin `offset` elements apart."""
    results, stride = [], n + gap
    for target in ("interp", "cpu"):
        memory = np.random.default_rng(m).standard_normal(8 * stride + 2 * m * stride + 64, np.float32)
        source, result = memory[4 * stride + offset :], memory[4 * stride :]
        grid = -(-m // 2), -(-n // 512)
        kernel_of(less_the_largest(padding)).launch(grid, source, result, m, n, stride, target=target)
        results.append(memory.tobytes())
    return results[0] == results[1]


@pytest.mark.parametrize("padding", ["zero", "neg_inf"])
def test_arrays_apart(padding: str) -> None:
    for m, n, gap in ((2, 512, 0), (3, 500, 3), (1, 1, 1), (4, 512 + 17, 0), (5, 511, 2), (2, 1024 + 256, 4)):
        same = both(padding, m, n, gap, m * (n + gap) + 5)
        assert same, (m, n, gap)


@pytest.mark.parametrize("offset", [0, 1, -1, 16])
def test_one_tile_block_whose_arrays_overlap(offset: int) -> None:
    for m, n, gap in ((2, 512, 20), (2, 500, 20), (1, 300, 20)):
        same = both("neg_inf", m, n, gap, offset)
        assert same, (m, n, gap)


def test_rows_that_bypass_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    planned(monkeypatch, change=always_streamed)
    for m, n, gap in ((2, 512, 0), (3, 500, 0), (4, 512 + 16, 0), (1, 252, 0)):
        same = both("neg_inf", m, n, gap, m * n)
        assert same, (m, n)


def test_sums_with_constants_of_several_sizes_are_written_as_far_as_they_lie_inside() -> None:
    tensor = "tensor_view<?xi32, strides=[1]>"
    stores = "".join(
        f"""%c{size} = constant <i32: {list(range(size))}> : tile<{size}xi32>
        %x{size} = broadcast %x1 : tile<1xi32> -> tile<{size}xi32>
        %sum{size} = addi %c{size}, %x{size} : tile<{size}xi32>
        %w{size} = make_partition_view %v : partition_view<tile=({size}), {tensor}>
        %t{size} = store_view_tko weak %sum{size}, %w{size}[%i]
          : tile<{size}xi32>, partition_view<tile=({size}), {tensor}>, tile<i32> -> token\n"""
        for size in (256, 16)
    )
    text = f"""entry @k(%p: tile<ptr<i32>>, %n: tile<i32>, %x: tile<i32>) {{
        %i = constant <i32: 0> : tile<i32>
        %v = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> {tensor}
        %x1 = reshape %x : tile<i32> -> tile<1xi32>
        {stores}
    }}"""
    for count in (5, 16, 200):
        given = np.zeros(count, np.int32)
        tileir.parse(text)["k"].launch(1, given, count, 3)
        np.testing.assert_array_equal(given, np.arange(count) + 3)


def both_sums(element: str, padding: str) -> str:
    """The sums of rows and of columns of a tile of 4 x 256 that a mask cuts, padding included."""
    return f"""entry @k(%a: tile<ptr<{element}>>, %rows: tile<ptr<f32>>, %columns: tile<ptr<f32>>,
  %m: tile<i32>, %n: tile<i32>, %stride: tile<i32>, %from: tile<i32>) {{
  %ones = iota : tile<4xi32>
  %column = reshape %ones : tile<4xi32> -> tile<4x1xi32>
  %i = broadcast %column : tile<4x1xi32> -> tile<4x256xi32>
  %more = iota : tile<256xi32>
  %line = reshape %more : tile<256xi32> -> tile<1x256xi32>
  %j0 = broadcast %line : tile<1x256xi32> -> tile<4x256xi32>
  %from_1 = reshape %from : tile<i32> -> tile<1x1xi32>
  %from_all = broadcast %from_1 : tile<1x1xi32> -> tile<4x256xi32>
  %j = addi %j0, %from_all : tile<4x256xi32>
  %m_1 = reshape %m : tile<i32> -> tile<1x1xi32>
  %m_all = broadcast %m_1 : tile<1x1xi32> -> tile<4x256xi32>
  %n_1 = reshape %n : tile<i32> -> tile<1x1xi32>
  %n_all = broadcast %n_1 : tile<1x1xi32> -> tile<4x256xi32>
  %s_1 = reshape %stride : tile<i32> -> tile<1x1xi32>
  %s_all = broadcast %s_1 : tile<1x1xi32> -> tile<4x256xi32>
  %in_m = cmpi less_than %i, %m_all, signed : tile<4x256xi32> -> tile<4x256xi1>
  %in_n = cmpi less_than %j, %n_all, signed : tile<4x256xi32> -> tile<4x256xi1>
  %mask = andi %in_m, %in_n : tile<4x256xi1>
  %along = muli %i, %s_all : tile<4x256xi32>
  %place = addi %along, %j : tile<4x256xi32>
  %a_1 = reshape %a : tile<ptr<{element}>> -> tile<1x1xptr<{element}>>
  %a_all = broadcast %a_1 : tile<1x1xptr<{element}>> -> tile<4x256xptr<{element}>>
  %at = offset %a_all, %place : tile<4x256xptr<{element}>>, tile<4x256xi32> -> tile<4x256xptr<{element}>>
  %other = constant <{element}: {padding}> : tile<4x256x{element}>
  %t, %read = load_ptr_tko weak %at, %mask, %other
    : tile<4x256xptr<{element}>>, tile<4x256xi1>, tile<4x256x{element}> -> tile<4x256x{element}>, token
  %x = {"ftof" if element != "f32" else "mulf"} %t{"" if element != "f32" else ", %t"} :
    {f"tile<4x256x{element}> -> tile<4x256xf32>" if element != "f32" else "tile<4x256xf32>"}
  %by_row = reduce %x dim=1 identities=[0.0 : f32] : tile<4x256xf32> -> tile<4xf32>
    (%l: tile<f32>, %r: tile<f32>) {{ %s = addf %l, %r : tile<f32> yield %s : tile<f32> }}
  %by_column = reduce %x dim=0 identities=[0.0 : f32] : tile<4x256xf32> -> tile<256xf32>
    (%l: tile<f32>, %r: tile<f32>) {{ %s = addf %l, %r : tile<f32> yield %s : tile<f32> }}
  %r_1 = reshape %rows : tile<ptr<f32>> -> tile<1xptr<f32>>
  %r_all = broadcast %r_1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %r_at = offset %r_all, %ones : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %c_1 = reshape %columns : tile<ptr<f32>> -> tile<1xptr<f32>>
  %c_all = broadcast %c_1 : tile<1xptr<f32>> -> tile<256xptr<f32>>
  %c_at = offset %c_all, %more : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
  %r_done = store_ptr_tko weak %r_at, %by_row token = %read : tile<4xptr<f32>>, tile<4xf32> -> token
  %c_done = store_ptr_tko weak %c_at, %by_column token = %r_done : tile<256xptr<f32>>, tile<256xf32> -> token
}}"""


@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("bf16", bfloat16), ("f16", np.float16)])
@pytest.mark.parametrize("padding", ["0.0", "-3.0"])
def test_a_mask_that_cuts_a_tile_in_both_dimensions(element: str, dtype: type, padding: str) -> None:
    module = tileir.parse(both_sums(element, padding))
    for m, n, start in (
        (4, 256, 0),
        (4, 255, 0),
        (3, 100, 0),
        (1, 1, 0),
        (0, 9, 0),
        (4, 0, 0),
        (2, 300, 77),
        (4, 90, 99),
    ):
        results = []
        for target in ("interp", "cpu"):
            # The array ends where the mask does.
            a = (
                np.random.default_rng(m)
                .standard_normal(max(1, (m - 1) * 300 + n if m else 1), np.float32)
                .astype(dtype)
            )
            rows, columns = np.zeros(4, np.float32), np.zeros(256, np.float32)
            module["k"].launch(1, a, rows, columns, m, n, 300, start, target=target)
            results.append((rows.tobytes(), columns.tobytes()))
        assert results[0] == results[1], (m, n, start)
