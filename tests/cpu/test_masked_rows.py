"""Short rows of tiles at the border are padded with zeros, and nothing beyond the tensor is read."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tileir
from tests.cpu.guarded import Guarded

NUMPY = {"i8": np.int8, "f16": np.float16, "f32": np.float32, "f64": np.float64}


def moved(element: str, rows: int, columns: int, turned: bool) -> str:
    """Copies an array, padded with zeros to whole tiles."""
    tile, order = f"tile<{rows}x{columns}x{element}>", ", dim_map=[1, 0]" if turned else ""
    source = f"tensor_view<?x?x{element}, strides=[?,1]>"
    part = f"partition_view<tile=({rows}x{columns}), padding_value = zero, {source}{order}>"
    whole = f"partition_view<tile=({rows}x{columns}), {source}>"
    return f"""entry @k(%a: tile<ptr<{element}>>, %b: tile<ptr<{element}>>, %m: tile<i32>, %n: tile<i32>,
                         %rows: tile<i32>, %columns: tile<i32>) {{
  %a_view = make_tensor_view %a, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {source}
  %b_view = make_tensor_view %b, shape = [%rows, %columns], strides = [%columns, 1] : tile<i32> -> {source}
  %a_tiles = make_partition_view %a_view : {part}
  %b_tiles = make_partition_view %b_view : {whole}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %p, %read = load_view_tko weak %a_tiles[%x, %y] : {part}, tile<i32> -> {tile}, token
  %done = store_view_tko weak %p, %b_tiles[%x, %y] token = %read : {tile}, {whole}, tile<i32> -> token
}}"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a page that nobody may read")
@pytest.mark.parametrize("turned", [False, True], ids=["rows", "turned"])
@pytest.mark.parametrize("element", NUMPY)
def test_padded_with_zeros(element: str, turned: bool) -> None:
    guarded = Guarded()
    for tile in ((4, 32), (16, 4), (32, 64)):
        kernel = tileir.parse(moved(element, *tile, turned))["k"]
        for m, n in ((1, 1), (7, 33), (32, 31), (33, 65), (tile[0] + 1, tile[1] - 1)):
            array = np.random.default_rng(m).integers(-9, 9, (n, m) if turned else (m, n)).astype(NUMPY[element])
            grid = -(-m // tile[0]), -(-n // tile[1])
            padded = np.full((grid[0] * tile[0], grid[1] * tile[1]), 7, array.dtype)
            kernel.launch(grid, guarded.copy(array), padded, *array.shape, *padded.shape, target="cpu")
            expected = np.zeros_like(padded)
            expected[:m, :n] = array.T if turned else array
            assert padded.tobytes() == expected.tobytes(), (tile, m, n)
