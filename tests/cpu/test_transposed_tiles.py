"""Tiles that are turned in registers, in squares, have the elements that they have one by one."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.cpu.anew import always_streamed, planned
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.run.program import lowered

ELEMENTS = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
}


def permuted(element: str, tile: tuple[int, int], again: str = "") -> str:
    """``b = a.T``, in tiles of `b` of that size."""
    rows, columns = tile
    tensor = f"tensor_view<?x?x{element}, strides=[?,1]>"
    read, written = (f"partition_view<tile=({m}x{n}), {tensor}>" for m, n in ((columns, rows), (rows, columns)))
    source, result = f"tile<{columns}x{rows}x{element}>", f"tile<{rows}x{columns}x{element}>"
    return f"""entry @k(%a: tile<ptr<{element}>>, %b: tile<ptr<{element}>>, %m: tile<i32>, %n: tile<i32>,
                        %gap: tile<i32>) {{
  %a_stride = addi %m, %gap : tile<i32>
  %b_stride = addi %n, %gap : tile<i32>
  %a_view = make_tensor_view %a, shape = [%n, %m], strides = [%a_stride, 1] : tile<i32> -> {tensor}
  %b_view = make_tensor_view %b, shape = [%m, %n], strides = [%b_stride, 1] : tile<i32> -> {tensor}
  %a_tiles = make_partition_view %a_view : {read}
  %b_tiles = make_partition_view %b_view : {written}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %p, %read = load_view_tko weak %a_tiles[%y, %x] : {read}, tile<i32> -> {source}, token
  %turned = permute %p [1, 0] : {source} -> {result}
  {again}
  %done = store_view_tko weak %turned, %b_tiles[%x, %y] : {result}, {written}, tile<i32> -> token
}}"""


def turned_view(element: str) -> str:
    """The same by a view whose first dimension is that along which elements lie side by side."""
    text = permuted(element, (16, 32))
    source, result = f"tile<32x16x{element}>", f"tile<16x32x{element}>"
    tensor = f"tensor_view<?x?x{element}, strides=[1,?]>"
    view = f"partition_view<tile=(16x32), {tensor}>"
    return (
        text.replace(
            f"shape = [%n, %m], strides = [%a_stride, 1] : tile<i32> -> tensor_view<?x?x{element}, strides=[?,1]>",
            f"shape = [%m, %n], strides = [1, %a_stride] : tile<i32> -> {tensor}",
        )
        .replace(f"partition_view<tile=(32x16), tensor_view<?x?x{element}, strides=[?,1]>>", view)
        .replace("%a_tiles[%y, %x]", "%a_tiles[%x, %y]")
        .replace(f"%turned = permute %p [1, 0] : {source} -> {result}", "")
        .replace("%turned", "%p")
        .replace(source, result)
    )


def compare(text: str, dtype: type, tile: tuple[int, int]) -> None:
    kernel = tileir.parse(text)["k"]
    for m, n, gap in ((tile[0], tile[1], 0), (2 * tile[0], 3 * tile[1], 3), (tile[0] + 5, 2 * tile[1] - 3, 1)):
        a = (np.arange(n * (m + gap)) % 101).astype(dtype)
        b = np.zeros(m * (n + gap), dtype)
        expected = b.copy().reshape(m, n + gap)
        expected[:, :n] = a.reshape(n, m + gap)[:, :m].T
        kernel.launch((-(-m // tile[0]), -(-n // tile[1])), a, b, m, n, gap, target="cpu")
        same = b.tobytes() == expected.tobytes()
        assert same, (m, n, gap)


@pytest.mark.parametrize("tile", [(4, 4), (16, 64), (64, 8), (2, 32)], ids=str)
@pytest.mark.parametrize("element", ELEMENTS)
def test_permuted_tiles(element: str, tile: tuple[int, int]) -> None:
    compare(permuted(element, tile), ELEMENTS[element], tile)


@pytest.mark.parametrize("element", ["i8", "f16", "f32", "f64"])
def test_tiles_of_turned_views(element: str) -> None:
    compare(turned_view(element), ELEMENTS[element], (16, 32))


def test_rows_of_turned_tiles_that_bypass_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    planned(monkeypatch, change=always_streamed)
    for element, tile in (("f32", (8, 64)), ("i8", (16, 256)), ("f64", (4, 256))):
        compare(permuted(element, tile), ELEMENTS[element], tile)


def test_a_turned_tile_that_is_computed_where_it_stands() -> None:
    """Two readers: it has a place of its own."""
    text = permuted("f32", (16, 32), again="""%sum = reduce %turned dim=1 identities=[0.0 : f32]
    : tile<16x32xf32> -> tile<16xf32> (%l: tile<f32>, %r: tile<f32>) {
      %s = addf %l, %r : tile<f32>
      yield %s : tile<f32>
    }
  %least = constant <f32: -1.0> : tile<16xf32>
  %fine = cmpf greater_than ordered %sum, %least : tile<16xf32> -> tile<16xi1>
  assert %fine, "negative" : tile<16xi1>""")  # fmt: skip
    compare(text, np.float32, (16, 32))


def test_a_turned_tile_in_place() -> None:
    """The array that is read is the one that is written: all is read before."""
    results = []
    for target in ("interp", "cpu"):
        memory = np.arange(64 * 64, dtype=np.float32)
        tileir.parse(permuted("f32", (64, 64)))["k"].launch(1, memory, memory, 64, 64, 0, target=target)
        results.append(memory)
    same = np.array_equal(*results)
    assert same
    whole = np.arange(64 * 64, dtype=np.float32).reshape(64, 64).T.ravel()
    same = np.array_equal(results[0], whole)
    assert same


def test_code_reads_and_writes_vectors() -> None:
    made = lowered(tileir.parse(permuted("f32", (16, 64)))["k"].entry, (), CheckLevel.ON)
    assert re.search(r"shufflevector .*> <i32", str(made.module))


@pytest.mark.parametrize("element", ["i1", "tf32"])
def test_elements_of_which_not_all_bits_count_are_taken_one_by_one(element: str) -> None:
    made = lowered(tileir.parse(permuted(element, (16, 64)))["k"].entry, (), CheckLevel.ON)
    assert not re.search(r"shufflevector .*> <i32", str(made.module))


def test_tiles_of_three_dimensions() -> None:
    text = """entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %a_view = make_tensor_view %a, shape = [4, 16, 8], strides = [128, 8, 1] : tensor_view<4x16x8xf32, strides=[128,8,1]>
  %b_view = make_tensor_view %b, shape = [8, 4, 16], strides = [64, 16, 1] : tensor_view<8x4x16xf32, strides=[64,16,1]>
  %a_tiles = make_partition_view %a_view
    : partition_view<tile=(4x16x8), tensor_view<4x16x8xf32, strides=[128,8,1]>>
  %b_tiles = make_partition_view %b_view
    : partition_view<tile=(8x4x16), tensor_view<8x4x16xf32, strides=[64,16,1]>>
  %o = constant <i32: 0> : tile<i32>
  %p, %read = load_view_tko weak %a_tiles[%o, %o, %o]
    : partition_view<tile=(4x16x8), tensor_view<4x16x8xf32, strides=[128,8,1]>>, tile<i32> -> tile<4x16x8xf32>, token
  %turned = permute %p [2, 0, 1] : tile<4x16x8xf32> -> tile<8x4x16xf32>
  %done = store_view_tko weak %turned, %b_tiles[%o, %o, %o]
    : tile<8x4x16xf32>, partition_view<tile=(8x4x16), tensor_view<8x4x16xf32, strides=[64,16,1]>>, tile<i32> -> token
}"""
    a, b = np.arange(512, dtype=np.float32).reshape(4, 16, 8), np.zeros((8, 4, 16), np.float32)
    tileir.parse(text)["k"].launch(1, a, b, target="cpu")
    same = np.array_equal(b, a.transpose(2, 0, 1))
    assert same
