"""Programs that the tests of the command line use."""

SCALE = """\
cuda_tile.module @kernels {
  entry @scale(%x: tile<ptr<f32>>, %factor: tile<f32>) {
    %block, %y, %z = get_tile_block_id : tile<i32>
    %extent = constant <i32: 4> : tile<i32>
    %start = muli %block, %extent : tile<i32>
    %base = offset %x, %start : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %base_1 = reshape %base : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bases = broadcast %base_1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %lanes = iota : tile<4xi32>
    %at = offset %bases, %lanes : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %values, %read = load_ptr_tko weak %at : tile<4xptr<f32>> -> tile<4xf32>, token
    %factor_1 = reshape %factor : tile<f32> -> tile<1xf32>
    %factors = broadcast %factor_1 : tile<1xf32> -> tile<4xf32>
    %scaled = mulf %values, %factors : tile<4xf32>
    %written = store_ptr_tko weak %at, %scaled token=%read : tile<4xptr<f32>>, tile<4xf32> -> token
  }
}
"""

COUNTS = b"""entry @count(%step: tile<i32>) {
  %end = loop iter_values(%i = %step) : tile<i32> -> tile<i32> {
    %next = addi %i, %step : tile<i32>
    continue %next : tile<i32>
  }
}
"""
"""Counts for ever."""
