"""Loops prefetch the known reads and writes of the next tile block, and results stay the same."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tests.cpu.anew import kernel_of, plan_of_text
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm.engine import host
from tileir.cpu.run.program import lowered

ROW = "tile<1x64xf32>"
VIEW = "partition_view<tile=(1x64), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>"


def program(index: str = "%x, %j", rows: int = 1, piece: int = 64) -> str:
    """``out = 2 * in`` for one tile of rows, in pieces, where the tile of a piece has `index`."""
    view = f"partition_view<tile=({rows}x{piece}), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>"
    tile, tensor = f"tile<{rows}x{piece}xf32>", "tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>"
    return f"""
entry @k(%in: tile<ptr<f32>>, %out: tile<ptr<f32>>, %rows: tile<i32>, %width: tile<i32>, %pieces: tile<i32>) {{
  %in_tensor = make_tensor_view %in, shape = [%rows, %width], strides = [%width, 1] : {tensor}
  %out_tensor = make_tensor_view %out, shape = [%rows, %width], strides = [%width, 1] : {tensor}
  %in_tiles = make_partition_view %in_tensor : {view}
  %out_tiles = make_partition_view %out_tensor : {view}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  for %j in (%zero to %pieces, step %one) : tile<i32> {{
    %read, %t0 = load_view_tko weak %in_tiles[{index}] : {view}, tile<i32> -> {tile}, token
    %sum = addf %read, %read : {tile}
    %t1 = store_view_tko weak %sum, %out_tiles[{index}] : {tile}, {view}, tile<i32> -> token
    continue
  }}
}}"""


def prefetches(text: str) -> int:
    """Return the number of prefetches in the code of a kernel."""
    code = str(lowered(tileir.parse(text)["k"].entry, (), CheckLevel.ON).module)
    return code.count('call void @"llvm.prefetch')


def agrees(text: str, grid: tuple[int, ...], rows: int, width: int, pieces: int, **options: object) -> None:
    kernel = kernel_of(text)
    given = np.random.default_rng(0).standard_normal((rows, width), np.float32)
    results = []
    for target, words in (("cpu", options), ("interp", {})):
        out = np.full_like(given, 7)
        kernel.launch(grid, given, out, rows, width, pieces, target=target, **words)
        results.append(out)
    assert np.array_equal(*results)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_in_pieces_ask_for_the_next_row(threads):
    for count, width in ((1, 64), (37, 200), (200, 1000)):
        agrees(program(), (count,), count, width, -(-width // 64), threads=threads)
    assert prefetches(program()) >= 2


def test_tiles_of_several_rows_at_the_border():
    agrees(program(rows=4), (6,), 22, 100, 2, threads=1)
    assert prefetches(program(rows=4)) >= 2


def test_a_grid_of_two_dimensions():
    agrees(program(), (20, 3), 20, 130, 3, threads=1)


@pytest.mark.parametrize("text", [program("%y, %j"), program(rows=32)])
def test_what_is_not_known_or_too_large_is_not_asked_for(text):
    agrees(text, (1, 4), 8, 64, 1, threads=1)
    assert not plan_of_text(text).body.prefetches
    assert not prefetches(text)


@pytest.mark.parametrize(
    ("rows", "piece", "some"), [(128, 64, True), (64, 64, False), (128, 256, False), (256, 8, False)]
)
def test_a_store_of_many_short_rows_asks_for_those_that_follow(rows, piece, some):
    text = program(rows=rows, piece=piece)
    agrees(text, (2,), rows + 40, 300, -(-300 // piece), threads=1)
    assert bool(prefetches(text)) is some


ADDED = """
entry @k(%in: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
  %in_tensor = make_tensor_view %in, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %out_tensor = make_tensor_view %out, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %in_tiles = make_partition_view %in_tensor : partition_view<tile=(512), tensor_view<?xf32, strides=[1]>>
  %out_tiles = make_partition_view %out_tensor : partition_view<tile=(512), tensor_view<?xf32, strides=[1]>>
  %x, %y, %z = get_tile_block_id : tile<i32>
  %read, %t0 = load_view_tko weak %in_tiles[%x]
    : partition_view<tile=(512), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<512xf32>, token
  %sum = addf %read, %read : tile<512xf32>
  %t1 = store_view_tko weak %sum, %out_tiles[%x]
    : tile<512xf32>, partition_view<tile=(512), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
}"""


def doubled_rows(range_: str, mask: str = "", mask_type: str = "") -> str:
    """Return the lines of ``out = 2 * in`` for the rows of a range, through pointers."""
    return f"""
    %lane = iota : tile<256xi32>
    %w_1 = reshape %width : tile<i32> -> tile<1xi32>
    %w = broadcast %w_1 : tile<1xi32> -> tile<256xi32>
    %inside = cmpi less_than %lane, %w, signed : tile<256xi32> -> tile<256xi1>
    %in_1 = reshape %in : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ins = broadcast %in_1 : tile<1xptr<f32>> -> tile<256xptr<f32>>
    %out_1 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %outs = broadcast %out_1 : tile<1xptr<f32>> -> tile<256xptr<f32>>
    for %row in ({range_}) : tile<i32> {{
      %begin = muli %row, %width : tile<i32>
      %begin_1 = reshape %begin : tile<i32> -> tile<1xi32>
      %begins = broadcast %begin_1 : tile<1xi32> -> tile<256xi32>
      %at = addi %begins, %lane : tile<256xi32>
      %from = offset %ins, %at : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
      %to = offset %outs, %at : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
      %read, %t0 = load_ptr_tko weak %from{mask} : tile<256xptr<f32>>{mask_type} -> tile<256xf32>, token
      %sum = addf %read, %read : tile<256xf32>
      %t1 = store_ptr_tko weak %to, %sum{mask} : tile<256xptr<f32>>, tile<256xf32>{mask_type} -> token
      continue
    }}"""


EVERY_SO_MANY_ROWS = f"""
entry @k(%in: tile<ptr<f32>>, %out: tile<ptr<f32>>, %rows: tile<i32>, %width: tile<i32>, %pieces: tile<i32>) {{
  %x, %y, %z = get_tile_block_id : tile<i32>
  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
  {doubled_rows("%x to %rows, step %gx", ", %inside", ", tile<256xi1>")}
}}"""


@pytest.mark.parametrize("blocks", [1, 3, 40])
def test_a_loop_over_rows_asks_for_the_row_of_the_next_iteration(blocks):
    agrees(EVERY_SO_MANY_ROWS, (blocks,), 37, 200, 1, threads=2)


@pytest.mark.skipif(not host().has_masks, reason="counts the lines of four vectors of 64 bytes")
def test_each_line_of_the_row_of_the_next_iteration_is_asked_for():
    assert prefetches(EVERY_SO_MANY_ROWS) >= 8, "a line for each of four vectors read, and of four written"
    load, store = plan_of_text(EVERY_SO_MANY_ROWS).body.prefetches.items()
    assert {repr(found.place.distance) for _, found in (load, store)} == {"4*arg3*grid_x"}
    assert load[1].store is store[0] and store[1].store is None


THRICE = program(index="%x, %j").replace(
    "  for %j",
    f"""  %first, %t2 = load_view_tko weak %in_tiles[%x, %zero] : {VIEW}, tile<i32> -> {ROW}, token
  %again, %t3 = load_view_tko weak %in_tiles[%x, %zero] : {VIEW}, tile<i32> -> {ROW}, token
  %other, %t4 = load_view_tko weak %in_tiles[%x, %one] : {VIEW}, tile<i32> -> {ROW}, token
  for %j""",
)


def test_only_the_last_of_equal_loads_asks_for_the_next_row():
    body = plan_of_text(THRICE).body
    assert list(body.prefetches) == list(body.loads.regions)[1:]


def test_rows_are_asked_for_and_bypass_the_cache():
    pieces = program(piece=512)
    agrees(pieces, (20,), 20, 1000, 2, threads=1)
    assert prefetches(pieces)
    assert bool(plan_of_text(pieces).streams) is host().is_x86


def test_joined_tile_blocks_ask_for_nothing():
    given, out = np.ones(4096, np.float32), np.zeros(4096, np.float32)
    tileir.parse(ADDED)["k"].launch((8,), given, out, 4096, target="cpu")
    assert (out == 2).all()
    assert bool(plan_of_text(ADDED).streams) is host().is_x86
    assert not prefetches(ADDED)


IN_FUNCTION = f"""cuda_tile.module @m {{
  experimental$func @double(%in: tile<ptr<f32>>, %out: tile<ptr<f32>>, %rows: tile<i32>, %width: tile<i32>) {{
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    {doubled_rows("%zero to %rows, step %one")}
    return
  }}
  entry @k(%in: tile<ptr<f32>>, %out: tile<ptr<f32>>, %rows: tile<i32>, %width: tile<i32>, %pieces: tile<i32>) {{
    experimental$call @double(%in, %out, %rows, %width)
      : (tile<ptr<f32>>, tile<ptr<f32>>, tile<i32>, tile<i32>) -> ()
    return
  }}
}}"""


def test_a_loop_over_rows_in_a_device_function_asks_for_the_next_row():
    agrees(IN_FUNCTION, (1,), 20, 256, 1)
    assert prefetches(IN_FUNCTION)
