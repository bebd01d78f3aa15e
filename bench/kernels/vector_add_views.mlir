// c = a + b for vectors of any length, with views, 4096 elements per tile block.

cuda_tile.module @vectors {
  entry @vector_add(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
    %a_view = make_tensor_view %a, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %b_view = make_tensor_view %b, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %c_view = make_tensor_view %c, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %a_tiles = make_partition_view %a_view : partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>
    %b_tiles = make_partition_view %b_view : partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>
    %c_tiles = make_partition_view %c_view : partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %x, %x_read = load_view_tko weak %a_tiles[%block]
      : partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %y, %y_read = load_view_tko weak %b_tiles[%block]
      : partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
    %sum = addf %x, %y : tile<4096xf32>
    %written = store_view_tko weak %sum, %c_tiles[%block]
      : tile<4096xf32>, partition_view<tile=(4096), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
  }
}
