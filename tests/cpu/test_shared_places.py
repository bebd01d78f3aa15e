"""Stores through boxes of memory in which elements share a place: the last one in row-major order stays."""

from __future__ import annotations

import numpy as np
import pytest

import tileir

STORE = """
entry @k(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {{
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %source = make_tensor_view %x, shape = [{rows}, {columns}], strides = [{columns}, 1]
    : tensor_view<{rows}x{columns}xf32, strides=[{columns},1]>
  %target = make_tensor_view %out, shape = [{rows}, {columns}], strides = [1, {second}]
    : {index}tensor_view<{rows}x{columns}xf32, strides=[{types}]>
  %from = make_partition_view %source
    : partition_view<tile=({tile}x{tile}), tensor_view<{rows}x{columns}xf32, strides=[{columns},1]>>
  %to = make_partition_view %target
    : partition_view<tile=({tile}x{tile}), tensor_view<{rows}x{columns}xf32, strides=[{types}]>>
  %values, %read = load_view_tko weak %from[%zero, %zero]
    : partition_view<tile=({tile}x{tile}), tensor_view<{rows}x{columns}xf32, strides=[{columns},1]>>, tile<i32>
    -> tile<{tile}x{tile}xf32>, token
  {computed}
  %written = store_view_tko weak {stored}, %to[%zero, %zero]
    : tile<{tile}x{tile}xf32>,
      partition_view<tile=({tile}x{tile}), tensor_view<{rows}x{columns}xf32, strides=[{types}]>>, tile<i32> -> token
}}
"""
DOUBLED = "%twice = addf %values, %values : tile<{tile}x{tile}xf32>"


def kernel(rows: int, columns: int, tile: int, step: int, computed: bool, known: bool) -> tileir.Kernel:
    text = STORE.format(
        rows=rows, columns=columns, tile=tile, second=step if known else "%n",
        index="" if known else "tile<i32> -> ", types=f"1,{step}" if known else "1,?",
        computed=DOUBLED.format(tile=tile) if computed else "", stored="%twice" if computed else "%values",
    )  # fmt: skip
    return tileir.parse(text)["k"]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("computed", [True, False])
@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (13, 11)])
@pytest.mark.parametrize("step", [1, 2, 5, 15, 16, 20])
def test_the_last_element_stays_in_every_way_of_writing(
    rows: int, columns: int, step: int, computed: bool, known: bool
) -> None:
    x = np.arange(rows * columns, dtype=np.float32)
    results = []
    for target in ("cpu", "interp"):
        out = np.full(rows + step * columns, -1, np.float32)
        kernel(rows, columns, 16, step, computed, known).launch(1, x, out, step, target=target)
        results.append(out)
    assert results[0].tobytes() == results[1].tobytes()
