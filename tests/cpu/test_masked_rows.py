"""Short rows of tiles at the border are padded with zeros; nothing beyond the tensor is read or written."""

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


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs a page that nobody may read")


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


@pytest.mark.parametrize("element", NUMPY)
def test_written_as_far_as_the_tensor_goes(element: str) -> None:
    guarded = Guarded()
    for tile in ((4, 32), (16, 4), (8, 128)):
        kernel = tileir.parse(moved(element, *tile, turned=False))["k"]
        for m, n in ((1, 1), (7, 33), (9, 127), (16, 132)):
            array = np.random.default_rng(m).integers(-9, 9, (m, n)).astype(NUMPY[element])
            result = guarded.copy(np.full((m, n), 7, array.dtype))
            kernel.launch((-(-m // tile[0]), -(-n // tile[1])), array, result, m, n, m, n, target="cpu")
            assert result.tobytes() == array.tobytes(), (tile, m, n)


def test_rows_apart_leave_what_is_between() -> None:
    kernel = tileir.parse(moved("f32", 8, 32, turned=False).replace("strides = [%columns, 1]", "strides = [%n, 1]"))[
        "k"
    ]
    array, result = np.arange(8 * 40, dtype=np.float32).reshape(8, 40), np.full((8, 40), -1, np.float32)
    kernel.launch((1, 1), array, result, 8, 40, 7, 19, target="cpu")
    expected = np.full_like(result, -1)
    expected[:7, :19] = array[:7, :19]
    assert result.tobytes() == expected.tobytes()


def test_constants_of_different_sizes_are_written_as_far_as_the_tensor_goes() -> None:
    stores = ""
    for size in (64, 32):
        view = f"partition_view<tile=({size}), tensor_view<5xi32, strides=[1]>>"
        stores += f"""
  %c{size} = constant <i32: [{", ".join(map(str, range(size)))}]> : tile<{size}xi32>
  %v{size} = make_partition_view %t : {view}
  %k{size} = store_view_tko weak %c{size}, %v{size}[%zero] : tile<{size}xi32>, {view}, tile<i32> -> token"""
    text = f"""entry @k(%p: tile<ptr<i32>>) {{
  %zero = constant <i32: 0> : tile<i32>
  %t = make_tensor_view %p, shape = [5], strides = [1] : tensor_view<5xi32, strides=[1]>{stores}
}}"""
    result = np.full(9, -1, np.int32)
    tileir.parse(text)["k"].launch(1, result, target="cpu")
    assert result.tolist() == [0, 1, 2, 3, 4, -1, -1, -1, -1]
