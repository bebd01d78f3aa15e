// C = A * B with f16 inputs and f32 sums: the example gemm_views with a B that is not transposed.
cuda_tile.module @gemm {
  entry @gemm_views(%A: tile<ptr<f16>>, %B: tile<ptr<f16>>, %C: tile<ptr<f32>>,
                    %M: tile<i32>, %N: tile<i32>, %K: tile<i32>,
                    %stride_a: tile<i32>, %stride_b: tile<i32>, %stride_c: tile<i32>) {
    %A_aligned = assume div_by<16>, %A : tile<ptr<f16>>
    %B_aligned = assume div_by<16>, %B : tile<ptr<f16>>
    %C_aligned = assume div_by<16>, %C : tile<ptr<f32>>
    %ld_a = assume div_by<8>, %stride_a : tile<i32>
    %ld_b = assume div_by<8>, %stride_b : tile<i32>
    %ld_c = assume div_by<8>, %stride_c : tile<i32>

    // A `?` in the type of a view is given by an operand: extents and strides need not be known in advance.
    %a = make_tensor_view %A_aligned, shape = [%M, %K], strides = [%ld_a, 1]
      : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %b = make_tensor_view %B_aligned, shape = [%K, %N], strides = [%ld_b, 1]
      : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %c = make_tensor_view %C_aligned, shape = [%M, %N], strides = [%ld_c, 1]
      : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %a_tiles = make_partition_view %a
      : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %b_tiles = make_partition_view %b
      : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %c_tiles = make_partition_view %c
      : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>

    // How many tiles lie along k: the second extent of A's grid of tiles.
    %row_tiles, %steps = get_index_space_shape %a_tiles
      : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>> -> tile<i32>

    %block_x, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zeros = constant <f32: 0.0> : tile<128x128xf32>
    %sum = for %k in (%zero to %steps, step %one) : tile<i32>
        iter_values(%partial = %zeros) -> (tile<128x128xf32>) {
      %a_tile, %a_read = load_view_tko weak %a_tiles[%block_x, %k]
        : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32>
        -> tile<128x64xf16>, token
      %b_tile, %b_read = load_view_tko weak %b_tiles[%k, %block_y]
        : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>,
          tile<i32> -> tile<64x128xf16>, token
      %next = mmaf %a_tile, %b_tile, %partial : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      continue %next : tile<128x128xf32>
    }
    %written = store_view_tko weak %sum, %c_tiles[%block_x, %block_y]
      : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  }
}
