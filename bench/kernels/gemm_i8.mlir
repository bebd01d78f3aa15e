// C = A * transpose(B) with i8 inputs and i32 sums, tiles of 128 x 128 x 64.

cuda_tile.module @gemm {
  entry @gemm_views(%A: tile<ptr<i8>>, %B: tile<ptr<i8>>, %C: tile<ptr<i32>>,
                    %M: tile<i32>, %N: tile<i32>, %K: tile<i32>,
                    %stride_a: tile<i32>, %stride_b: tile<i32>, %stride_c: tile<i32>) {
    %A_aligned = assume div_by<16>, %A : tile<ptr<i8>>
    %B_aligned = assume div_by<16>, %B : tile<ptr<i8>>
    %C_aligned = assume div_by<16>, %C : tile<ptr<i32>>
    %ld_a = assume div_by<8>, %stride_a : tile<i32>
    %ld_b = assume div_by<8>, %stride_b : tile<i32>
    %ld_c = assume div_by<8>, %stride_c : tile<i32>

    %a = make_tensor_view %A_aligned, shape = [%M, %K], strides = [%ld_a, 1]
      : tile<i32> -> tensor_view<?x?xi8, strides=[?,1]>
    %b = make_tensor_view %B_aligned, shape = [%N, %K], strides = [%ld_b, 1]
      : tile<i32> -> tensor_view<?x?xi8, strides=[?,1]>
    %c = make_tensor_view %C_aligned, shape = [%M, %N], strides = [%ld_c, 1]
      : tile<i32> -> tensor_view<?x?xi32, strides=[?,1]>
    %a_tiles = make_partition_view %a
      : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xi8, strides=[?,1]>>
    %b_tiles = make_partition_view %b
      : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xi8, strides=[?,1]>, dim_map=[1, 0]>
    %c_tiles = make_partition_view %c
      : partition_view<tile=(128x128), tensor_view<?x?xi32, strides=[?,1]>>

    %row_tiles, %steps = get_index_space_shape %a_tiles
      : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xi8, strides=[?,1]>> -> tile<i32>

    %block_x, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zeros = constant <i32: 0> : tile<128x128xi32>
    %sum = for %k in (%zero to %steps, step %one) : tile<i32>
        iter_values(%partial = %zeros) -> (tile<128x128xi32>) {
      %a_tile, %a_read = load_view_tko weak %a_tiles[%block_x, %k]
        : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xi8, strides=[?,1]>>, tile<i32>
        -> tile<128x64xi8>, token
      %b_tile, %b_read = load_view_tko weak %b_tiles[%k, %block_y]
        : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xi8, strides=[?,1]>, dim_map=[1, 0]>,
          tile<i32> -> tile<64x128xi8>, token
      %next = mmai %a_tile, %b_tile, %partial signed signed : tile<128x64xi8>, tile<64x128xi8>, tile<128x128xi32>
      continue %next : tile<128x128xi32>
    }
    %written = store_view_tko weak %sum, %c_tiles[%block_x, %block_y]
      : tile<128x128xi32>, partition_view<tile=(128x128), tensor_view<?x?xi32, strides=[?,1]>>, tile<i32> -> token
  }
}
