// y = transpose(x) for matrices of any extents.
//
// Tile block (i, j) loads the 64 x 32 tile (i, j) of x, swaps its dimensions and stores it as tile (j, i) of y.
//
//   tileir run examples/transpose.mlir --grid 4,5 x=f32[200,150]:randn y=f32[150,200]:zeros rows=i32:200 columns=i32:150

cuda_tile.module @movement {
  entry @transpose(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %rows: tile<i32>, %columns: tile<i32>) {
    %input = make_tensor_view %x, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %output = make_tensor_view %y, shape = [%columns, %rows], strides = [%rows, 1]
      : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %input_tiles = make_partition_view %input
      : partition_view<tile=(64x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %output_tiles = make_partition_view %output
      : partition_view<tile=(32x64), tensor_view<?x?xf32, strides=[?,1]>>

    %i, %j, %block_z = get_tile_block_id : tile<i32>
    %tile, %read = load_view_tko weak %input_tiles[%i, %j]
      : partition_view<tile=(64x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32>
      -> tile<64x32xf32>, token
    // [1, 0]: dimension 0 of the result is dimension 1 of the operand.
    %swapped = permute %tile [1, 0] : tile<64x32xf32> -> tile<32x64xf32>
    %written = store_view_tko weak %swapped, %output_tiles[%j, %i]
      : tile<32x64xf32>, partition_view<tile=(32x64), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  }
}
