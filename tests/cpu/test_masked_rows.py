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


PRODUCTS = """entry @k(%a: tile<ptr<f32>>, %x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %l: tile<i32>) {
  %a_view = make_tensor_view %a, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %x_view = make_tensor_view %x, shape = [%l], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %a_tiles = make_partition_view %a_view : partition_view<tile=(4xCOLUMNS), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
  %x_tiles = make_partition_view %x_view : partition_view<tile=(COLUMNS), padding_value = zero, tensor_view<?xf32, strides=[1]>>
  %zero = constant <i32: 0> : tile<i32>
  %at, %t0 = load_view_tko weak %a_tiles[%zero, %zero]
    : partition_view<tile=(4xCOLUMNS), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4xCOLUMNSxf32>, token
  %xt, %t1 = load_view_tko weak %x_tiles[%zero]
    : partition_view<tile=(COLUMNS), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<COLUMNSxf32>, token
  %row = reshape %xt : tile<COLUMNSxf32> -> tile<1xCOLUMNSxf32>
  %rows = broadcast %row : tile<1xCOLUMNSxf32> -> tile<4xCOLUMNSxf32>
  %products = mulf %at, %rows : tile<4xCOLUMNSxf32>
  %sums = reduce %products dim=1 identities=[0.0 : f32] : tile<4xCOLUMNSxf32> -> tile<4xf32>
    (%v: tile<f32>, %w: tile<f32>) {
      %both = addf %v, %w : tile<f32>
      yield %both : tile<f32>
    }
  %lanes = iota : tile<4xi32>
  %o0 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
  %o1 = broadcast %o0 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %o2 = offset %o1, %lanes : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %t2 = store_ptr_tko weak %o2, %sums : tile<4xptr<f32>>, tile<4xf32> -> token
}"""  # noqa: E501


@pytest.mark.parametrize("columns", [16, 128, 1024])
def test_sums_of_rows_cut_at_different_ends_are_those_of_the_definition(columns: int) -> None:
    guarded, rng = Guarded(), np.random.default_rng(columns)
    kernel = tileir.parse(PRODUCTS.replace("COLUMNS", str(columns)))["k"]
    ends = sorted({1, columns // 8, columns // 8 + 1, columns // 2 - 1, columns - 17, columns - 1, columns} - {-1, 0})
    for m, n, length in ((m, n, length) for m in (3, 4) for n in ends for length in ends):
        a, x = rng.standard_normal((m, n), np.float32), rng.standard_normal(length, np.float32)
        found, expected = np.zeros((2, 4), np.float32)
        kernel.launch(1, guarded.copy(a), guarded.copy(x), found, m, n, length, target="cpu")
        kernel.launch(1, a, x, expected, m, n, length, target="interp")
        assert found.tobytes() == expected.tobytes(), (m, n, length)
