// y = alpha * x + y for vectors of any length, with views, 4096 elements per tile block.

cuda_tile.module @vectors {
  entry @saxpy(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %alpha: tile<f32>, %n: tile<i32>) {
    %x_view = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %y_view = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %x_tiles = make_partition_view %x_view : partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>
    %y_tiles = make_partition_view %y_view : partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %x_tile, %x_read = load_view_tko weak %x_tiles[%block]
      : partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %y_tile, %y_read = load_view_tko weak %y_tiles[%block]
      : partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %alpha_1 = reshape %alpha : tile<f32> -> tile<1xf32>
    %alphas = broadcast %alpha_1 : tile<1xf32> -> tile<4096xf32>
    %scaled = mulf %alphas, %x_tile : tile<4096xf32>
    %sum = addf %scaled, %y_tile : tile<4096xf32>
    %written = store_view_tko weak %sum, %y_tiles[%block] token = %y_read
      : tile<4096xf32>, partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
  }
}
