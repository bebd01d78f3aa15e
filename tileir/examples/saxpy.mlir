// Y = alpha * X + Y for matrices of any extents, with views.
//
// Tile block (x, y) works on a tile of 128 rows and 256 columns. X and Y have M rows and N columns, row-major.
//
//   tileir run examples/saxpy.mlir --grid 3,2 X=f32[300,500]:randn Y=f32[300,500]:randn alpha=f32:2.5 M=i32:300 N=i32:500

cuda_tile.module @blas {
  entry @saxpy(%X: tile<ptr<f32>>, %Y: tile<ptr<f32>>, %alpha: tile<f32>, %M: tile<i32>, %N: tile<i32>) {
    %x = make_tensor_view %X, shape = [%M, %N], strides = [%N, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %y = make_tensor_view %Y, shape = [%M, %N], strides = [%N, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %x_tiles = make_partition_view %x
      : partition_view<tile=(128x256), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %y_tiles = make_partition_view %y
      : partition_view<tile=(128x256), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>

    %block_x, %block_y, %block_z = get_tile_block_id : tile<i32>
    %x_tile, %x_read = load_view_tko weak %x_tiles[%block_x, %block_y]
      : partition_view<tile=(128x256), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32>
      -> tile<128x256xf32>, token
    %y_tile, %y_read = load_view_tko weak %y_tiles[%block_x, %block_y]
      : partition_view<tile=(128x256), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32>
      -> tile<128x256xf32>, token

    // A scalar meets a tile only after it has been made one: first 1x1, then repeated.
    %alpha_1x1 = reshape %alpha : tile<f32> -> tile<1x1xf32>
    %alphas = broadcast %alpha_1x1 : tile<1x1xf32> -> tile<128x256xf32>
    %scaled = mulf %alphas, %x_tile : tile<128x256xf32>
    %sum = addf %scaled, %y_tile : tile<128x256xf32>

    // Memory operations have no order of their own. The store overwrites what the load of Y read, so it takes the
    // load's token: only that makes it happen later.
    %written = store_view_tko weak %sum, %y_tiles[%block_x, %block_y] token = %y_read
      : tile<128x256xf32>, partition_view<tile=(128x256), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>,
        tile<i32> -> token
  }
}
